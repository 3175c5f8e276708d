import { randomBytes } from 'node:crypto';
import type { MemoryBudget } from '../domain/kit/memory-budget.ts';
import { callerOf, credentialOf, type Principal, sharerOf } from '../domain/principal.ts';
import type { EventStream } from './open-stream.ts';

/**
 * The destination of results in single connection mode: an event stream, or a reservation for one that the client is
 * about to open. Its operations run one after the other, each when the client has read the previous result. So
 * operations wait, never results.
 */
export class Reader {
  readonly principal: Principal;
  readonly #unread: MemoryBudget;
  readonly #opened = Promise.withResolvers<EventStream | null>();
  /** Resolves when the last turn that was requested has ended. */
  #last: Promise<void> = Promise.resolve();
  /** Number of operations that write to this reader. */
  operations = 0;
  /** Ends the stream or the reservation, to free its memory. */
  drop: () => void = () => undefined;

  /** @param unread counts the operations that wait */
  constructor(principal: Principal, unread: MemoryBudget) {
    this.principal = principal;
    this.#unread = unread;
  }

  /**
   * Sets the stream of this reader. Only the first call has an effect.
   * @param stream null if the client will never open it
   */
  open(stream: EventStream | null): void {
    if (stream) this.drop = () => stream.reset();
    this.#opened.resolve(stream);
  }

  /**
   * Waits until earlier turns have ended and the client is ready to read a result.
   * @param bytes memory that is kept while waiting, bytes; the reader may be dropped if all waiting work takes too much
   * @returns a function that ends the turn once the result has been handed over; null if the client is gone
   */
  async turn(bytes: number): Promise<(() => void) | null> {
    const waiting = { bytes, drop: () => this.drop() };
    const uncount = this.#unread.add(sharerOf(this.principal), waiting, callerOf(this.principal));
    const { promise, resolve } = Promise.withResolvers<void>();
    const before = this.#last;
    this.#last = promise;
    await before;
    const stream = await this.#opened.promise;
    await stream?.ready();
    uncount();
    if (stream && !stream.isOver) {
      // Delayed until the stream has received the result, so that the next turn waits for the client to read it.
      return () => void setImmediate(resolve);
    }
    resolve();
    return null;
  }
}

/**
 * Makes a random token. The library's tokens use Math.random, so a caller could guess one and read another caller's
 * stream.
 */
export function newStreamToken(): string {
  return randomBytes(24).toString('base64url');
}

/** Creates the register of this process's streams in graphql-sse's single connection mode, by token. */
export function createStreamReservations() {
  const reserved = new Map<string, { readonly reader: Reader; readonly onEnd: () => void }>();
  return {
    /** Adds a reservation. @param onEnd called when the reservation ends */
    add(token: string, reader: Reader, onEnd: () => void): void {
      reserved.set(token, { reader, onEnd });
    },
    /**
     * Finds the reader of a token, if the same credential reserved it; otherwise null. The stream ends when that
     * credential is revoked.
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
