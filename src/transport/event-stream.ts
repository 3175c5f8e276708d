import type { Context } from 'koa';
import { serviceError } from '../domain/errors.ts';
import type { MemoryBudget } from '../domain/kit/memory-budget.ts';
import { HEARTBEAT_MS } from '../domain/limits.ts';
import { callerOf, type Principal } from '../domain/principal.ts';
import { createHeartbeats } from './heartbeats.ts';
import { type EventStream, OpenStream, type Source } from './open-stream.ts';
import { allowNothingBehind } from './pipelining.ts';
import { releaseRequest } from './release-request.ts';
import { createUnreadAnswers } from './unread-answers.ts';
import { whenGone } from './when-gone.ts';

/** The open event streams of this process, of all protocols. */
export interface EventStreams {
  /**
   * Starts an answer and returns. Values are sent as they arrive. The next value is requested when the client has read
   * the previous ones, which bounds the memory. The stream sends heartbeats. It ends when the source ends, when the
   * caller's credential ends unless the source is shared, or when the service stops. It is reset when the client does
   * not read. The source ends with the stream.
   * @throws {ServiceError} rate_limit_exceeded when the caller has too many open streams
   */
  open<Value>(ctx: Context, principal: Principal, source: Source<Value>): EventStream;
  /** Whether the caller may open another stream. */
  hasPlace(principal: Principal): boolean;
  /**
   * Calls `onRevoked` when the caller's credential ends: by revocation, at its time, or with its tenant's erasure.
   * @returns a function that removes the callback
   */
  whenRevoked(principal: Principal, onRevoked: () => void): () => void;
  /** Counts what clients of this process have not read. Streams add their long messages until these are read. */
  readonly unread: MemoryBudget;
  /** Returns the number of open streams. */
  count(): number;
  /** Ends all streams, also those opened later, with a `retry:` field. The clients then resume at another process. */
  close(): void;
}

/** Range of the random delay after which clients reconnect when the service stops, in milliseconds. */
const RECONNECT_MS = [1000, 4000] as const;

/**
 * Maximum number of open streams of a caller. A publishable key may serve every open page of its tenant, a
 * client_secret those of one invoice.
 */
export const MAX_STREAMS: Readonly<Record<Principal['kind'], number>> = {
  secret: 10_000,
  publishable: 10_000,
  person: 100,
  client: 100,
};

export const EVENT_STREAM_HEADERS = {
  'Content-Type': 'text/event-stream; charset=utf-8',
  // Proxies must forward each message immediately.
  'Cache-Control': 'no-store, no-transform',
  'X-Accel-Buffering': 'no',
};

export interface EventStreamParts {
  /** As {@link EventStreams.whenRevoked}. */
  readonly follow: (principal: Principal, onRevoked: () => void) => () => void;
  /** Receives the error of a source. */
  readonly report: (error: unknown) => void;
  readonly heartbeatMs?: number;
}

export function createEventStreams({ follow, report, heartbeatMs = HEARTBEAT_MS }: EventStreamParts): EventStreams {
  const open = new Set<OpenStream>();
  const heartbeats = createHeartbeats(heartbeatMs);
  const unread = createUnreadAnswers();
  const byCaller = new Map<string, number>();
  let closing = false;

  const openOf = (principal: Principal): number => byCaller.get(callerOf(principal)) ?? 0;
  const hasPlace = (principal: Principal): boolean => openOf(principal) < MAX_STREAMS[principal.kind];

  /** Counts a stream of the caller. */
  function admit(ctx: Context, principal: Principal): void {
    if (!hasPlace(principal)) {
      ctx.set('Retry-After', '60');
      const most = MAX_STREAMS[principal.kind];
      throw serviceError('rate_limit_exceeded', `This credential already has ${most} open streams. Close some first.`);
    }
    byCaller.set(callerOf(principal), openOf(principal) + 1);
  }

  function leave(caller: string): void {
    const left = (byCaller.get(caller) ?? 1) - 1;
    if (left > 0) byCaller.set(caller, left);
    else byCaller.delete(caller);
  }

  return {
    hasPlace,
    unread,
    whenRevoked: follow,
    open(ctx, principal, source) {
      const { res } = ctx;
      try {
        admit(ctx, principal);
      } catch (error) {
        void source.values.return?.();
        throw error;
      }
      ctx.respond = false;
      res.writeHead(200, EVENT_STREAM_HEADERS);
      const stream = new OpenStream(res, unread, principal);
      const unfollow = source.isShared ? () => undefined : follow(principal, () => stream.end());
      const caller = callerOf(principal);
      open.add(stream);
      heartbeats.add(stream);
      whenGone(res, () => {
        void source.values.return?.();
        unfollow();
        leave(caller);
        open.delete(stream);
        heartbeats.delete(stream);
        stream.release();
      });
      if (closing) stream.end(reconnectField());
      else stream.send(source, report);
      releaseRequest(ctx);
      allowNothingBehind(res, ctx.req.socket);
      return stream;
    },
    count: () => open.size,
    close() {
      closing = true;
      for (const stream of open) stream.end(reconnectField());
    },
  };
}

/** Makes the field that tells a client when to reconnect (WHATWG HTML, section 9.2.6). */
function reconnectField(): string {
  const [least, most] = RECONNECT_MS;
  return `retry: ${least + Math.floor(Math.random() * (most - least))}\n\n`;
}
