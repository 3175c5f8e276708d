import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

/** What happens to a request or its answer. */
export type Fault =
  | 'pass'
  /** The connection is reset before the request is forwarded. */
  | 'refuse'
  /** The request is processed, and its answer is lost. */
  | 'lose-answer'
  /** The answer ends after its first half. */
  | 'truncate'
  /** The request is forwarded twice at the same time, and the second answer is returned. */
  | 'repeat'
  /** The answer is an HTML page of a gateway with this status. */
  | { readonly status: number; readonly retryAfter?: string; readonly location?: string; readonly html?: true }
  /**
   * The answer has status 200, as of another server, or of the service in an outage. It comes at once, or in parts of
   * one byte.
   */
  | { readonly body: string; readonly type: string; readonly retryAfter?: string; readonly byteAtATime?: true }
  /** The answer is delayed by this time, milliseconds. */
  | { readonly delayMs: number }
  /** A stream ends after this number of messages. */
  | { readonly cutAfterMessages: number }
  /** The head of the answer comes line by line, over this time, milliseconds. */
  | { readonly headMs: number }
  /** The proxy answers itself: a stream that ends after these statuses, or an invoice with the first status. */
  | Told;

/** A stream of statuses. The id of each message is its status, unless another one is stated. */
interface Told {
  readonly statuses: readonly string[];
  /** What happens in place of the stream's end: a reset, or silence. */
  readonly then?: 'reset' | 'silence';
  /** Pause between two messages, in which comments are sent, milliseconds. */
  readonly restMs?: number;
  readonly id?: string;
}

/** A request that arrived. */
interface Arrival {
  readonly method: string;
  readonly path: string;
  readonly key: string | null;
  readonly lastEventId: string | null;
  /** The time on the clock of `performance.now()`. */
  readonly at: number;
}

export interface FaultyProxy {
  readonly url: string;
  /** Applies these faults to the next requests, one each, and restarts the counts. Later requests pass. */
  next(faults: readonly Fault[]): void;
  /**
   * Assigns the next of these lists to each new idempotency key. The faults of a list apply to the attempts with the
   * key, one each, in turn. Restarts the counts. Later attempts pass.
   */
  nextOfKeys(lists: readonly (readonly Fault[])[]): void;
  /** Requests that arrived since `next` or `nextOfKeys`. */
  readonly requests: readonly Arrival[];
  /** Number of connections so far, also of those without a request. */
  connections(): number;
  close(): Promise<void>;
}

const UPDATED_AT = '2026-01-01T00:00:00Z';
/** Pause between two parts of an answer that is sent slowly, milliseconds. */
const DRIP_MS = 50;
/** Pause between two bytes that must not arrive as one part, milliseconds. */
const BYTE_MS = 2;

/** Starts a proxy between a client and a service that simulates faults of networks. */
export async function startFaultyProxy(target: string): Promise<FaultyProxy> {
  let faults: Fault[] = [];
  let lists: readonly (readonly Fault[])[] = [];
  const ofKeys = new Map<string, Fault[]>();
  const faultOf = (key: string | null): Fault => {
    if (key === null || lists.length === 0) return faults.shift() ?? 'pass';
    const left = ofKeys.get(key) ?? [...(lists[ofKeys.size % lists.length] ?? [])];
    ofKeys.set(key, left);
    return left.shift() ?? 'pass';
  };
  const requests: Arrival[] = [];
  const server = createServer((incoming, answer) => {
    const { method = '', url = '', headers } = incoming;
    const [path = ''] = url.split('?');
    const headerOf = (name: string) => (headers[name] as string | undefined) ?? null;
    const key = headerOf('idempotency-key');
    const fault = faultOf(key);
    requests.push({ method, path, key, lastEventId: headerOf('last-event-id'), at: performance.now() });
    handle(target, incoming, answer, fault).catch(() => incoming.socket.destroy());
  });
  let connections = 0;
  server.on('connection', () => connections++);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as { port: number }).port}`,
    next(given) {
      [faults, lists] = [[...given], []];
      requests.length = 0;
    },
    nextOfKeys(given) {
      [faults, lists] = [[], given];
      ofKeys.clear();
      requests.length = 0;
    },
    requests,
    connections: () => connections,
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

async function handle(target: string, incoming: IncomingMessage, answer: ServerResponse, fault: Fault): Promise<void> {
  const body = Buffer.concat(await Array.fromAsync(incoming as AsyncIterable<Buffer>));
  if (fault === 'refuse') {
    incoming.socket.resetAndDestroy();
    return;
  }
  if (typeof fault === 'object' && 'status' in fault) {
    const { status, retryAfter, location, html } = fault;
    const text = html ? '<html>Bad gateway</html>' : '';
    answer.writeHead(status, {
      ...(retryAfter !== undefined && { 'Retry-After': retryAfter }),
      ...(location !== undefined && { Location: location }),
      'Content-Type': 'text/html',
    });
    answer.end(text);
    return;
  }
  if (typeof fault === 'object' && 'body' in fault) {
    const { type, retryAfter, byteAtATime } = fault;
    answer.writeHead(200, { ...(retryAfter !== undefined && { 'Retry-After': retryAfter }), 'Content-Type': type });
    if (byteAtATime) {
      incoming.socket.setNoDelay();
      for (const byte of Buffer.from(fault.body)) {
        answer.write(Buffer.of(byte));
        await sleep(BYTE_MS);
      }
      answer.end();
    } else answer.end(fault.body);
    return;
  }
  if (typeof fault === 'object' && 'statuses' in fault) return tell(incoming.url ?? '', answer, fault);
  const forward = () => forwarded(target, incoming, body);
  const [made] = fault === 'repeat' ? (await Promise.all([forward(), forward()])).reverse() : [await forward()];
  if (!made) return;
  const isStream = made.headers['content-type']?.startsWith('text/event-stream') === true;
  if (typeof fault === 'object' && 'delayMs' in fault) await sleep(fault.delayMs);
  if (isStream) {
    answer.writeHead(made.statusCode ?? 500, made.headers);
    let left = typeof fault === 'object' && 'cutAfterMessages' in fault ? fault.cutAfterMessages : Infinity;
    if (left === 0) made.destroy();
    incoming.socket.on('close', () => made.destroy());
    for await (const part of made) {
      answer.write(part);
      left -= String(part).split('\ndata: ').length - 1;
      if (left <= 0) break;
    }
    if (left <= 0) incoming.socket.destroy();
    else answer.end();
    return;
  }
  const whole = Buffer.concat(await Array.fromAsync(made as AsyncIterable<Buffer>));
  if (fault === 'lose-answer') {
    incoming.socket.resetAndDestroy();
    return;
  }
  if (typeof fault === 'object' && 'headMs' in fault) return drip(incoming.socket, whole, fault.headMs);
  answer.writeHead(made.statusCode ?? 500, made.headers);
  if (fault !== 'truncate') {
    answer.end(whole);
    return;
  }
  answer.write(whole.subarray(0, whole.length / 2));
  await sleep(20);
  incoming.socket.destroy();
}

/** Sends a JSON answer whose head comes line by line, over `ms` milliseconds. */
async function drip(socket: Socket, whole: Buffer, ms: number): Promise<void> {
  socket.write('HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nConnection: close\r\n');
  for (let left = ms; left > 0 && !socket.destroyed; left -= DRIP_MS) {
    socket.write(`X-Left: ${left}\r\n`);
    await sleep(DRIP_MS);
  }
  socket.end(Buffer.concat([Buffer.from(`Content-Length: ${whole.length}\r\n\r\n`), whole]));
}

/** Answers as the service does for an invoice with these statuses, with a pause between two statuses. */
async function tell(path: string, answer: ServerResponse, { statuses, then, restMs, id: given }: Told): Promise<void> {
  const [id, isStream] = [path.split('/')[3], path.endsWith('/stream')];
  const messages = statuses.map((status) =>
    JSON.stringify({ id, object: 'invoice', status, dgi_id: null, rejection_reason: null, updated_at: UPDATED_AT }),
  );
  answer.writeHead(200, { 'Content-Type': isStream ? 'text/event-stream' : 'application/json' });
  if (!isStream) {
    answer.end(messages[0]);
    return;
  }
  for (const [nth, message] of messages.entries()) {
    answer.write(`id: ${given ?? statuses[nth]}\ndata: ${message}\n\n`);
    for (let left = restMs ?? 0; left > 0; left -= DRIP_MS) {
      answer.write(': here\n\n');
      await sleep(DRIP_MS);
    }
    await sleep(DRIP_MS);
  }
  if (then === 'silence') return;
  if (then === 'reset') answer.destroy();
  else answer.end();
}

function forwarded(target: string, { method, url, headers }: IncomingMessage, body: Buffer): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const options = { method, headers: { ...headers, host: new URL(target).host } } as const;
    request(target + url, options, resolve)
      .on('error', reject)
      .end(body);
  });
}
