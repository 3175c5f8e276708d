import { connect } from 'node:net';

/** What came back on a connection, as it came. */
export interface RawAnswer {
  readonly status: number;
  /** Lower-case names; the last of equal ones. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** Sends bytes to a service and reads its first answer to the end of the connection: for requests that no HTTP client would send. */
export async function sendRaw(url: string, ...parts: readonly (string | Uint8Array)[]): Promise<RawAnswer> {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  for (const part of parts) socket.write(typeof part === 'string' ? Buffer.from(part, 'latin1') : part);
  let text = '';
  socket.setEncoding('latin1');
  try {
    for await (const chunk of socket) text += chunk;
  } catch (error) {
    // A server that has answered need not read what else comes.
    const { code = '' } = error as NodeJS.ErrnoException;
    if (!['ECONNRESET', 'EPIPE'].includes(code) || text === '') throw error;
  }
  const [head = '', ...rest] = text.split('\r\n\r\n');
  const [statusLine = '', ...lines] = head.split('\r\n');
  const headers = lines.map((line) => {
    const [, name = '', value = ''] = /^([^:]*): (.*)$/.exec(line) ?? [];
    return [name.toLowerCase(), value];
  });
  return {
    status: Number(statusLine.split(' ')[1]),
    headers: Object.fromEntries(headers),
    body: Buffer.from(rest.join('\r\n\r\n'), 'latin1').toString('utf8'),
  };
}

/** A request with its lines, closed after its answer. */
export function rawRequest(line: string, headers: readonly string[], body = ''): string {
  return `${[`${line} HTTP/1.1`, 'Host: localhost', 'Connection: close', ...headers].join('\r\n')}\r\n\r\n${body}`;
}
