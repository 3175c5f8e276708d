import type { ServerResponse } from 'node:http';
import type { Context } from 'koa';
import { serviceError } from '../domain/errors.ts';
import type { Principal } from '../domain/principal.ts';
import { abandon } from './abandon.ts';
import { whenGone } from './when-gone.ts';

/** The source of a stream's messages. */
export interface Source<Value> {
  readonly values: AsyncIterator<Value>;
  /** Converts a value to messages with JSON data; an empty text for no message. */
  readonly print: (value: Value) => string;
  /** Messages after the last value. Not sent if the stream ends earlier. */
  readonly last?: string;
}

/** An open answer of the type `text/event-stream` (WHATWG HTML, section 9.2). */
export interface EventStream {
  /** Resolves when the client has read what was sent, or has disconnected. */
  ready(): Promise<void>;
  /** Ends the answer in an orderly way. @param last messages to send before the end */
  end(last?: string): void;
}

/** The open event streams of this process, of all protocols. */
export interface EventStreams {
  /**
   * Starts an answer and returns; values are sent as they arrive. The next value is requested when the client has read
   * the previous ones, which bounds the memory. The stream sends heartbeats. It ends when the source ends, when the
   * caller's key is revoked, or when the service stops, and it is reset when the client does not read. The source ends
   * with the stream.
   * @throws {ServiceError} rate_limit_exceeded when the caller has too many open streams
   */
  open<Value>(ctx: Context, principal: Principal, source: Source<Value>): EventStream;
  /**
   * Calls `onRevoked` when the caller's key is revoked, if the credential is a key.
   * @returns a function that stops this
   */
  whenRevoked(principal: Principal, onRevoked: () => void): () => void;
  /** Number of open streams. */
  count(): number;
  /** Ends all streams, also those opened later, with a `retry:` field. The clients resume with another process. */
  close(): void;
}

export const HEARTBEAT_MS = 15_000;
/** How long a client may take to read the rest of an ended stream, milliseconds. */
const LINGER_MS = 5000;
const COMMENT = ':\n\n';
/** Range of the random delay after which clients reconnect when the service stops, milliseconds. */
const RECONNECT_MS = [1000, 4000] as const;

/**
 * Maximum number of open streams of a credential. A publishable key may serve every open page of its tenant, a
 * client_secret those of one invoice.
 */
export const MAX_STREAMS: Readonly<Record<Principal['kind'], number>> = {
  secret: 10_000,
  publishable: 10_000,
  client: 100,
};

export const EVENT_STREAM_HEADERS = {
  'Content-Type': 'text/event-stream; charset=utf-8',
  // Proxies must forward each message at once.
  'Cache-Control': 'no-store, no-transform',
  'X-Accel-Buffering': 'no',
};

export interface EventStreamParts {
  /** Calls `onRevoked` when a key is revoked. Returns a function that stops this. */
  readonly follow: (keyId: string, onRevoked: () => void) => () => void;
  /** Receives the error of a source. */
  readonly report: (error: unknown) => void;
  readonly heartbeatMs?: number;
}

export function createEventStreams({ follow, report, heartbeatMs = HEARTBEAT_MS }: EventStreamParts): EventStreams {
  const open = new Set<EventStream>();
  const byCaller = new Map<string, number>();
  let closing = false;

  /** Counts a stream of the caller. @returns a function that removes it from the count */
  function admit(ctx: Context, principal: Principal): () => void {
    const caller = callerOf(principal);
    const others = byCaller.get(caller) ?? 0;
    const most = MAX_STREAMS[principal.kind];
    if (others >= most) {
      ctx.set('Retry-After', '60');
      throw serviceError('rate_limit_exceeded', `This credential already has ${most} open streams. Close some first.`);
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
      const release = admit(ctx, principal);
      const stream = sending(res, heartbeatMs);
      const unfollow = whenRevoked(principal, () => stream.end());
      open.add(stream);
      whenGone(res, () => {
        unfollow();
        release();
        open.delete(stream);
      });
      ctx.respond = false;
      res.writeHead(200, EVENT_STREAM_HEADERS);
      // Some browsers do not report an answer before its first bytes.
      res.write(COMMENT);
      if (closing) stream.end(reconnectField());
      else
        send(res, stream, source)
          .catch(report)
          .finally(() => stream.end());
      return stream;
    },
    count: () => open.size,
    close() {
      closing = true;
      for (const stream of open) stream.end(reconnectField());
    },
  };
}

/** The field that tells a client when to reconnect (WHATWG HTML, section 9.2.6). */
function reconnectField(): string {
  const [least, most] = RECONNECT_MS;
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

/**
 * Escapes U+0085, U+2028 and U+2029, which occur in JSON strings only. They are no line ends of the protocol, but many
 * clients treat them as such.
 */
export function escapeLineEnds(messages: string): string {
  return messages.replaceAll(/[\u0085\u2028\u2029]/g, (end) => `\\u${end.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

function giveUp(res: ServerResponse): void {
  if (res.socket) abandon(res.socket);
  else res.destroy();
}

function sending(res: ServerResponse, heartbeatMs: number): EventStream {
  let unread: PromiseWithResolvers<void> | null = null;
  let stalled = false;
  const caughtUp = () => {
    unread?.resolve();
    unread = null;
    stalled = false;
  };
  /** Resets a client that has unread data and read nothing between two heartbeats. It can resume. */
  const beat = setInterval(() => {
    if (!res.writableNeedDrain) res.write(COMMENT);
    else if (stalled) giveUp(res);
    else stalled = true;
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

/** The caller that a stream counts for: a key, or an invoice for all holders of its client_secret. */
export function callerOf(principal: Principal): string {
  return principal.kind === 'client' ? principal.invoiceId : principal.keyId;
}
