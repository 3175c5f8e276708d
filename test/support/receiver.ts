import { createHmac, timingSafeEqual } from 'node:crypto';
import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';

/** A delivery as a receiver got it. */
export interface Received {
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into whatever was sent
  readonly event: any;
  readonly at: number;
}

/** A webhook receiver on the loopback. */
export interface Receiver {
  readonly url: string;
  readonly received: Received[];
  /** Answers with this handler from now on; before the first call the answer is 200. */
  answer(handler: (request: IncomingMessage, response: ServerResponse, received: Received) => void): void;
  close(): Promise<void>;
}

export async function startReceiver(): Promise<Receiver> {
  const received: Received[] = [];
  let handler: Parameters<Receiver['answer']>[0] = (_request, response) => response.end('ok');
  const listener: RequestListener = (request, response) => {
    let body = '';
    request.setEncoding('utf8');
    request.on('data', (chunk) => {
      body += chunk;
    });
    request.on('end', () => {
      const delivery: Received = {
        path: request.url ?? '',
        headers: request.headers as Record<string, string>,
        body,
        event: JSON.parse(body),
        at: Date.now(),
      };
      received.push(delivery);
      handler(request, response, delivery);
    });
  };
  const server = createServer(listener);
  const sockets = new Set<Socket>();
  server.on('connection', (socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    received,
    answer(next) {
      handler = next;
    },
    async close() {
      const closed = new Promise((resolve) => server.close(resolve));
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
}

/** Verifies a delivery as the contract describes, in the ten lines that a receiver needs. */
export function verifies({ headers, body }: Received, secret: string, now = Date.now()): boolean {
  const parts = (headers['service-signature'] ?? '').split(',').map((part) => part.split('=') as [string, string]);
  const t = Number(parts.find(([name]) => name === 't')?.[1]);
  if (!(Math.abs(now / 1000 - t) <= 300)) return false;
  const expected = createHmac('sha256', secret).update(`${t}.${body}`).digest();
  return parts.some(([name, hex]) => {
    const given = Buffer.from(name === 'v1' ? hex : '', 'hex');
    return given.length === expected.length && timingSafeEqual(given, expected);
  });
}
