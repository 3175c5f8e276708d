import type { DocumentNode, ExecutionArgs } from 'graphql';
import type { MemoryBudget } from '../domain/kit/memory-budget.ts';
import { callerOf, type Principal, sharerOf } from '../domain/principal.ts';
import type { GraphQLContext } from '../graphql/context.ts';
import { documentBytes, type Gate } from '../graphql/gate.ts';
import { subscribe } from '../graphql/subscribe.ts';

/**
 * The function `subscribe` of src/graphql, extended to count the document as long as the subscription runs.
 * @param drop closes the connection that gets the results: a subscription that the service ends for its own reasons is
 * never completed, so clients begin it again
 */
export type Subscribe = (
  args: ExecutionArgs,
  drop: () => void,
  paced?: Parameters<typeof subscribe>[1],
) => ReturnType<typeof subscribe>;

/**
 * Counts the documents of running subscriptions among the memory that clients hold in a process. All subscriptions with
 * the same text share one document, which is counted once, for one of the callers that run it. When clients hold too
 * much, that caller's subscriptions with the document are dropped, and it is counted for the next caller.
 */
export function countingDocuments(gate: Gate, unread: MemoryBudget): Subscribe {
  const running = new Map<DocumentNode, RunningDocument>();
  return (args, drop, paced) => {
    const { document } = args;
    const { principal } = args.contextValue as GraphQLContext;
    const hold = (end: () => void) => {
      let one = running.get(document);
      if (!one) {
        const forget = gate.keep(document);
        one = new RunningDocument(documentBytes(document), unread, () => {
          running.delete(document);
          forget();
        });
        running.set(document, one);
      }
      // Dropped first: an end would tell the client that the subscription is complete.
      return one.add(principal, () => {
        drop();
        end();
      });
    };
    return subscribe(args, paced, hold, drop);
  };
}

/** The subscriptions of a caller with one document. */
interface Run {
  readonly sharer: string;
  readonly caller: string;
  readonly drops: Set<() => void>;
}

class RunningDocument {
  readonly #bytes: number;
  readonly #unread: MemoryBudget;
  readonly #forget: () => void;
  /** The runs by caller. The caller that has run the document longest comes first. */
  readonly #runs = new Map<string, Run>();
  #charge: { readonly run: Run; uncount: () => void } | null = null;

  /** @param forget called when no subscription runs any more */
  constructor(bytes: number, unread: MemoryBudget, forget: () => void) {
    this.#bytes = bytes;
    this.#unread = unread;
    this.#forget = forget;
  }

  /** @returns a function that removes the subscription */
  add(principal: Principal, drop: () => void): () => void {
    const [sharer, caller] = [sharerOf(principal), callerOf(principal)];
    const run = this.#runs.get(caller) ?? { sharer, caller, drops: new Set() };
    this.#runs.set(caller, run);
    run.drops.add(drop);
    if (!this.#charge) this.#chargeNext();
    return () => {
      run.drops.delete(drop);
      if (run.drops.size === 0 && this.#runs.get(caller) === run) this.#remove(run);
    };
  }

  #chargeNext(): void {
    const [run] = this.#runs.values();
    if (!run) {
      this.#forget();
      return;
    }
    const charge = { run, uncount: (): void => undefined };
    this.#charge = charge;
    const counted = { bytes: this.#bytes, drop: () => this.#remove(run) };
    // `add` may drop the document before it returns, and then starts the next charge, so each charge is an object of
    // its own.
    charge.uncount = this.#unread.add(run.sharer, counted, run.caller);
  }

  /** Drops all subscriptions of the caller with this document. */
  #remove(run: Run): void {
    this.#runs.delete(run.caller);
    if (this.#charge?.run === run) {
      this.#charge.uncount();
      this.#chargeNext();
    }
    for (const drop of run.drops) drop();
  }
}
