import type { ServerResponse } from 'node:http';
import type { Context } from 'koa';
import { serviceError } from '../domain/errors.ts';
import type { Principal } from '../domain/principal.ts';
import { abandon } from './abandon.ts';
import { whenGone } from './when-gone.ts';

/** What a stream tells. */
export interface Source<Value> {
  readonly values: AsyncIterator<Value>;
  /** A value as messages of the stream, their data JSON; none: an empty text. */
  readonly print: (value: Value) => string;
  /** Messages after the last value; not when the stream was broken off. */
  readonly last?: string;
}

/** An answer of `text/event-stream` (WHATWG HTML, section 9.2) that goes on. */
export interface EventStream {
  /** Resolves when the client has read what there was, or is gone. */
  ready(): Promise<void>;
  /** Ends it in order. @param last messages that go before the end */
  end(last?: string): void;
}

/** The open event streams of this process, by whichever protocol. */
export interface EventStreams {
  /**
   * Begins an answer, and returns: the values are sent as they come. Each is asked for when the client has read those before, so that memory
   * is bounded. The stream has heartbeats; it is ended when the source or the caller's key is, or when the service stops, and broken off
   * when the client does not read. The source is ended with it.
   * @throws {ServiceError} rate_limit_exceeded: the caller has too many open
   */
  open<Value>(ctx: Context, principal: Principal, source: Source<Value>): EventStream;
  /** Calls back when the caller's key is revoked, if it is a key. @returns ends that */
  whenRevoked(principal: Principal, onRevoked: () => void): () => void;
  /** How many there are. */
  count(): number;
  /** Ends all of them, and those that are opened from now on at once, with a `retry:`: their clients resume elsewhere. */
  close(): void;
}

export const HEARTBEAT_MS = 15_000;
/** How long a client whose time is up may take for what it has not read yet. */
const LINGER_MS = 5000;
const COMMENT = ':\n\n';
/** Clients that a stop cuts off come back within so many milliseconds, not all at once. */
const RETURN_MS = [1000, 4000] as const;

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

export interface EventStreamParts {
  /** Calls back when a key is revoked, and answers how to stop that. */
  readonly follow: (keyId: string, onRevoked: () => void) => () => void;
  /** Is told of a source that has failed. */
  readonly report: (error: unknown) => void;
  readonly heartbeatMs?: number;
}

export function createEventStreams({ follow, report, heartbeatMs = HEARTBEAT_MS }: EventStreamParts): EventStreams {
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

  const whenRevoked: EventStreams['whenRevoked'] = (principal, onRevoked) =>
    principal.kind === 'client' ? () => undefined : follow(principal.keyId, onRevoked);

  return {
    whenRevoked,
    open(ctx, principal, source) {
      const { res } = ctx;
      whenGone(res, () => void source.values.return?.());
      const leave = admit(ctx, principal);
      const stream = sending(res, heartbeatMs);
      const unfollow = whenRevoked(principal, () => stream.end());
      open.add(stream);
      whenGone(res, () => {
        unfollow();
        leave();
        open.delete(stream);
      });
      ctx.respond = false;
      res.writeHead(200, EVENT_STREAM_HEADERS);
      // Some browsers do not tell of an answer before its first bytes.
      res.write(COMMENT);
      if (closing) stream.end(comeBack());
      else
        send(res, stream, source)
          .catch(report)
          .finally(() => stream.end());
      return stream;
    },
    count: () => open.size,
    close() {
      closing = true;
      for (const stream of open) stream.end(comeBack());
    },
  };
}

/** Tells a client when to open its stream again (WHATWG HTML, section 9.2.6). */
function comeBack(): string {
  const [least, most] = RETURN_MS;
  return `retry: ${least + Math.floor(Math.random() * (most - least))}\n\n`;
}

function isOver(res: ServerResponse): boolean {
  return res.writableEnded || res.destroyed;
}

async function send<Value>(res: ServerResponse, stream: EventStream, source: Source<Value>): Promise<void> {
  for (let next = await source.values.next(); !next.done; next = await source.values.next()) {
    if (isOver(res)) return;
    const messages = escapeLineEnds(source.print(next.value));
    if (messages !== '') res.write(messages);
    if (res.writableNeedDrain) await stream.ready();
  }
  if (source.last !== undefined && !isOver(res)) res.write(source.last);
}

/** Other line ends than the protocol's stand in strings of JSON only: as escapes, because many clients' readers of lines take them for its own. */
export function escapeLineEnds(messages: string): string {
  return messages.replaceAll(/[\u0085\u2028\u2029]/g, (end) => `\\u${end.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

function giveUp(res: ServerResponse): void {
  if (res.socket) abandon(res.socket);
  else res.destroy();
}

function sending(res: ServerResponse, heartbeatMs: number): EventStream {
  let unread: PromiseWithResolvers<void> | null = null;
  let sluggish = false;
  const caughtUp = () => {
    unread?.resolve();
    unread = null;
    sluggish = false;
  };
  /** A client that has read nothing between two beats, though there is something, is given up: it resumes if it lives. */
  const beat = setInterval(() => {
    if (!res.writableNeedDrain) res.write(COMMENT);
    else if (sluggish) giveUp(res);
    else sluggish = true;
  }, heartbeatMs);
  res.on('drain', caughtUp);
  whenGone(res, () => {
    clearInterval(beat);
    caughtUp();
  });
  return {
    async ready() {
      if (!res.writableNeedDrain || isOver(res)) return;
      unread ??= Promise.withResolvers();
      await unread.promise;
    },
    end(last = '') {
      if (isOver(res)) return;
      clearInterval(beat);
      res.end(last);
      const timer = setTimeout(() => giveUp(res), LINGER_MS).unref();
      whenGone(res, () => clearTimeout(timer));
    },
  };
}

/** Whose streams a credential's are: a key's, or those of the holders of one invoice's client_secret. */
export function callerOf(principal: Principal): string {
  return principal.kind === 'client' ? principal.invoiceId : principal.keyId;
}
