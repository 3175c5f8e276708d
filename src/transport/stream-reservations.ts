import { randomBytes } from 'node:crypto';
import type { Principal } from '../domain/principal.ts';
import { callerOf, type EventStream } from './event-stream.ts';

/** Where results go: an event stream, or a place for one that is about to be opened. */
export interface Reader {
  readonly principal: Principal;
  /** The stream, once its client reads it; null when none will come. */
  readonly stream: Promise<EventStream | null>;
  /** How many operations write to it. */
  operations: number;
  /** Settles `stream`; only the first call counts. */
  open(stream: EventStream | null): void;
}

export function newReader(principal: Principal): Reader {
  const { promise, resolve } = Promise.withResolvers<EventStream | null>();
  return { principal, stream: promise, operations: 0, open: resolve };
}

/** The streams of graphql-sse's single connection mode in this process, by their tokens. */
export interface StreamReservations {
  /** @param onEnd told when it is over */
  add(token: string, reader: Reader, onEnd: () => void): void;
  /**
   * The reader of a token. It is of use to the caller that reserved it, and to nobody else.
   * @param principal null: a browser's EventSource, which can send no credential but the token
   */
  find(token: string, principal: Principal | null): Reader | null;
  end(token: string): void;
}

/** The library's own tokens come from Math.random and serve whoever presents them: one caller could guess and read another's stream. */
export function newStreamToken(): string {
  return randomBytes(24).toString('base64url');
}

export function createStreamReservations(): StreamReservations {
  const reserved = new Map<string, { readonly reader: Reader; readonly onEnd: () => void }>();
  return {
    add(token, reader, onEnd) {
      reserved.set(token, { reader, onEnd });
    },
    find(token, principal) {
      const reader = reserved.get(token)?.reader;
      if (!reader || (principal && callerOf(principal) !== callerOf(reader.principal))) return null;
      return reader;
    },
    end(token) {
      const known = reserved.get(token);
      reserved.delete(token);
      known?.reader.open(null);
      known?.onEnd();
    },
  };
}
