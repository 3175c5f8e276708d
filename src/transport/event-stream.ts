import type { Context } from 'koa';
import { serviceError } from '../domain/errors.ts';
import type { Principal } from '../domain/principal.ts';
import { whenGone } from './when-gone.ts';

/** An answer of `text/event-stream` (WHATWG HTML, section 9.2) that goes on. */
export interface EventStream {
  /** Whether the client is gone, or the stream was ended. */
  readonly closed: boolean;
  /** Sends whole messages. Before the next ones `ready` is to be awaited: that is what keeps memory bounded. */
  write(messages: string): void;
  /** Resolves when the client has read what there was, or is gone. */
  ready(): Promise<void>;
  /** Ends it in order. */
  end(): void;
}

/** The open event streams of this process, by whichever protocol. */
export interface EventStreams {
  /**
   * Begins an answer. From then on it has heartbeats; it is ended when the caller's key is revoked or the service stops, and broken off when
   * the client does not read.
   * @throws {ServiceError} rate_limit_exceeded: the caller has too many open
   */
  open(ctx: Context, principal: Principal): EventStream;
  /** How many there are. */
  count(): number;
  /** Ends all of them, and those that are opened from now on at once: their clients resume elsewhere. */
  close(): void;
}

export const HEARTBEAT_MS = 15_000;
/** How long a client whose time is up may take for what it has not read yet. */
const LINGER_MS = 5000;
const COMMENT = ':\n\n';

/** Streams at a time. A publishable key may serve every live page of its tenant, a client_secret those of one invoice. */
export const MAX_STREAMS: Readonly<Record<Principal['kind'], number>> = {
  secret: 10_000,
  publishable: 10_000,
  client: 100,
};

export const EVENT_STREAM_HEADERS = {
  'Content-Type': 'text/event-stream; charset=utf-8',
  // Proxies must pass each message on at once.
  'Cache-Control': 'no-store, no-transform',
  'X-Accel-Buffering': 'no',
};

/** @param follow calls back when a key is revoked, and answers how to stop that */
export function createEventStreams(
  follow: (keyId: string, onRevoked: () => void) => () => void,
  heartbeatMs: number = HEARTBEAT_MS,
): EventStreams {
  const open = new Set<EventStream>();
  const byCaller = new Map<string, number>();
  let closing = false;

  /** @returns takes it off again */
  function admit(ctx: Context, principal: Principal): () => void {
    const caller = callerOf(principal);
    const others = byCaller.get(caller) ?? 0;
    const most = MAX_STREAMS[principal.kind];
    if (others >= most) {
      ctx.set('Retry-After', '60');
      throw serviceError('rate_limit_exceeded', `This credential has ${most} streams open already. Close some first.`);
    }
    byCaller.set(caller, others + 1);
    return () => {
      const left = (byCaller.get(caller) ?? 1) - 1;
      if (left > 0) byCaller.set(caller, left);
      else byCaller.delete(caller);
    };
  }

  return {
    open(ctx, principal) {
      const leave = admit(ctx, principal);
      const { res } = ctx;
      let unread: PromiseWithResolvers<void> | null = null;
      let sluggish = false;
      const caughtUp = () => {
        unread?.resolve();
        unread = null;
        sluggish = false;
      };
      const stream: EventStream = {
        get closed() {
          return res.writableEnded || res.destroyed;
        },
        write(messages) {
          if (!stream.closed) res.write(messages);
        },
        async ready() {
          if (!res.writableNeedDrain || stream.closed) return;
          unread ??= Promise.withResolvers();
          await unread.promise;
        },
        end() {
          if (stream.closed) return;
          res.end();
          const timer = setTimeout(() => res.destroy(), LINGER_MS).unref();
          whenGone(res, () => clearTimeout(timer));
        },
      };
      /** A client that has read nothing between two beats, though there is something, is given up: it resumes if it lives. */
      const beat = setInterval(() => {
        if (!res.writableNeedDrain) stream.write(COMMENT);
        else if (sluggish) res.destroy();
        else sluggish = true;
      }, heartbeatMs);
      const unfollow = principal.kind === 'client' ? () => {} : follow(principal.keyId, stream.end);
      open.add(stream);
      res.on('drain', caughtUp);
      whenGone(res, () => {
        clearInterval(beat);
        unfollow();
        leave();
        open.delete(stream);
        caughtUp();
      });
      ctx.respond = false;
      res.writeHead(200, EVENT_STREAM_HEADERS);
      // Some browsers do not tell of an answer before its first bytes.
      stream.write(COMMENT);
      if (closing) stream.end();
      return stream;
    },
    count: () => open.size,
    close() {
      closing = true;
      for (const stream of open) stream.end();
    },
  };
}

/** Whose streams a credential's are: a key's, or those of the holders of one invoice's client_secret. */
export function callerOf(principal: Principal): string {
  return principal.kind === 'client' ? principal.invoiceId : principal.keyId;
}
