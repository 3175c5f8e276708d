import type { DocumentNode, ExecutionArgs } from 'graphql';
import { sharerOf } from '../domain/principal.ts';
import type { GraphQLContext } from '../graphql/context.ts';
import { documentBytes, type Gate } from '../graphql/gate.ts';
import { subscribe } from '../graphql/subscribe.ts';
import type { UnreadAnswers } from './unread-answers.ts';

/** The function `subscribe` of src/graphql, extended to count the document as long as the subscription runs. */
export type Subscribe = (args: ExecutionArgs, paced?: Parameters<typeof subscribe>[1]) => ReturnType<typeof subscribe>;

/**
 * Counts the documents of running subscriptions among the memory that clients hold in a process. All subscriptions with
 * the same text share one document, which is counted once, for one of the sharers that run it. When clients hold too
 * much, that sharer's subscriptions with the document end, and it is counted for the next sharer.
 */
export function countingDocuments(gate: Gate, unread: UnreadAnswers): Subscribe {
  const running = new Map<DocumentNode, RunningDocument>();
  return (args, paced) => {
    const { document } = args;
    const sharer = sharerOf((args.contextValue as GraphQLContext).principal);
    return subscribe(args, paced, (end) => {
      let one = running.get(document);
      if (!one) {
        const forget = gate.keep(document);
        one = new RunningDocument(documentBytes(document), unread, () => {
          running.delete(document);
          forget();
        });
        running.set(document, one);
      }
      return one.add(sharer, end);
    });
  };
}

class RunningDocument {
  readonly #bytes: number;
  readonly #unread: UnreadAnswers;
  readonly #forget: () => void;
  /** The functions that end the subscriptions, by sharer. */
  readonly #ends = new Map<string, Set<() => void>>();
  #charge: { readonly sharer: string; uncount: () => void } | null = null;

  /** @param forget called when no subscription runs any more */
  constructor(bytes: number, unread: UnreadAnswers, forget: () => void) {
    this.#bytes = bytes;
    this.#unread = unread;
    this.#forget = forget;
  }

  /** @returns a function that removes the subscription */
  add(sharer: string, end: () => void): () => void {
    const ends = this.#ends.get(sharer) ?? new Set();
    this.#ends.set(sharer, ends.add(end));
    if (!this.#charge) this.#chargeNext();
    return () => {
      ends.delete(end);
      if (ends.size === 0 && this.#ends.get(sharer) === ends) this.#remove(sharer);
    };
  }

  /** Counts the document for the sharer that has run it longest. */
  #chargeNext(): void {
    const [sharer] = this.#ends.keys();
    if (sharer === undefined) {
      this.#forget();
      return;
    }
    const charge = { sharer, uncount: (): void => undefined };
    this.#charge = charge;
    // `add` may drop the document before it returns, and then starts the next charge, so each charge is an object of
    // its own.
    charge.uncount = this.#unread.add(sharer, { bytes: this.#bytes, drop: () => this.#remove(sharer) });
  }

  /** Ends all subscriptions of the sharer with this document. */
  #remove(sharer: string): void {
    const ends = this.#ends.get(sharer) ?? [];
    this.#ends.delete(sharer);
    if (this.#charge?.sharer === sharer) {
      this.#charge.uncount();
      this.#chargeNext();
    }
    for (const end of ends) end();
  }
}
