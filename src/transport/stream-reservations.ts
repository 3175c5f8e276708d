import { randomBytes } from 'node:crypto';
import { credentialOf, type Principal } from '../domain/principal.ts';
import type { EventStream } from './open-stream.ts';

/** The destination of results: an event stream, or a reservation for one that the client is about to open. */
export interface Reader {
  readonly principal: Principal;
  /** Resolves to the stream when the client has opened it, or to null when it never will. */
  readonly stream: Promise<EventStream | null>;
  /** Number of operations that write to it. */
  operations: number;
  /** Resolves `stream`. Only the first call has an effect. */
  open(stream: EventStream | null): void;
}

export function newReader(principal: Principal): Reader {
  const { promise, resolve } = Promise.withResolvers<EventStream | null>();
  return { principal, stream: promise, operations: 0, open: resolve };
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
