import { randomBytes } from 'node:crypto';
import { credentialOf, type Principal, sharerOf } from '../domain/principal.ts';
import type { EventStream } from './open-stream.ts';
import type { UnreadAnswers } from './unread-answers.ts';

/**
 * The destination of results in single connection mode: an event stream, or a reservation for one that the client is
 * about to open. Its operations run one after the other, each when the client has read the result of the one before it:
 * what waits is an operation, never a result.
 */
export class Reader {
  readonly principal: Principal;
  readonly #unread: UnreadAnswers;
  readonly #opened = Promise.withResolvers<EventStream | null>();
  /** Resolves when the last turn that was requested has ended. */
  #last: Promise<void> = Promise.resolve();
  /** Number of operations that write to it. */
  operations = 0;
  /** Gives the reader up. */
  drop: () => void = () => undefined;

  /** @param unread counts the operations that wait */
  constructor(principal: Principal, unread: UnreadAnswers) {
    this.principal = principal;
    this.#unread = unread;
  }

  /** @param stream null if the client will never open it. Only the first call has an effect. */
  open(stream: EventStream | null): void {
    if (stream) this.drop = () => stream.reset();
    this.#opened.resolve(stream);
  }

  /**
   * Waits until the client is ready to read a result and the turns before have ended.
   * @param bytes what is kept meanwhile, bytes; if it is too much together with all that waits, the reader may be dropped
   * @returns a function that ends the turn, when the result has been handed over; null if the client is gone
   */
  async turn(bytes: number): Promise<(() => void) | null> {
    const uncount = bytes > 0 ? this.#unread.add(sharerOf(this.principal), { bytes, drop: () => this.drop() }) : null;
    const { promise, resolve } = Promise.withResolvers<void>();
    const before = this.#last;
    this.#last = promise;
    await before;
    const stream = await this.#opened.promise;
    await stream?.ready();
    uncount?.();
    if (stream && !stream.isOver) {
      // By then the stream has been given the result, and is ready when the client has read it.
      return () => void setImmediate(resolve);
    }
    resolve();
    return null;
  }
}

/** A random token. The library's use Math.random, so a caller could guess one and read another caller's stream. */
export function newStreamToken(): string {
  return randomBytes(24).toString('base64url');
}

/** The streams of this process in graphql-sse's single connection mode, by token. */
export function createStreamReservations() {
  const reserved = new Map<string, { readonly reader: Reader; readonly onEnd: () => void }>();
  return {
    /** @param onEnd called when the reservation ends */
    add(token: string, reader: Reader, onEnd: () => void): void {
      reserved.set(token, { reader, onEnd });
    },
    /**
     * The reader of a token, if the same credential reserved it, with which the stream ends; otherwise null.
     * @param principal null for a browser's EventSource, which can send no credential except the token
     */
    find(token: string, principal: Principal | null): Reader | null {
      const reader = reserved.get(token)?.reader;
      if (!reader || (principal && credentialOf(principal) !== credentialOf(reader.principal))) return null;
      return reader;
    },
    end(token: string): void {
      const known = reserved.get(token);
      reserved.delete(token);
      known?.reader.open(null);
      known?.onEnd();
    },
  };
}
