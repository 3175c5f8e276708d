import { connect } from 'node:net';

/** A request whose body has begun to arrive. */
export interface SlowRequest {
  /** Sends the rest of the body, and reads the answer. */
  finish(): Promise<{ readonly status: number; readonly headers: string; readonly text: string }>;
  /** Resets the connection. */
  abandon(): void;
}

export interface Sent {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** Sends the headers of a request and the first byte of its body. */
export async function beginRequest(url: string, { method, path, headers, body }: Sent): Promise<SlowRequest> {
  const { hostname, port } = new URL(url);
  const socket = connect({ host: hostname, port: Number(port), noDelay: true });
  await new Promise<void>((resolve, reject) => socket.once('connect', resolve).once('error', reject));
  const chunks: Buffer[] = [];
  socket.on('data', (chunk) => chunks.push(chunk)).on('error', () => undefined);
  const ended = new Promise<void>((resolve) => socket.once('close', () => resolve()));
  const bytes = Buffer.from(body);
  const all = { Host: `${hostname}:${port}`, 'Content-Type': 'application/json', Connection: 'close', ...headers };
  const lines = Object.entries({ ...all, 'Content-Length': String(bytes.length) });
  socket.write(`${method} ${path} HTTP/1.1\r\n${lines.map(([name, value]) => `${name}: ${value}\r\n`).join('')}\r\n`);
  socket.write(bytes.subarray(0, 1));
  return {
    async finish() {
      socket.write(bytes.subarray(1));
      await ended;
      const [head = '', ...rest] = Buffer.concat(chunks).toString('utf8').split('\r\n\r\n');
      return { status: Number(head.split(' ')[1]), headers: head, text: rest.join('\r\n\r\n') };
    },
    abandon: () => void socket.resetAndDestroy(),
  };
}
