import { connect } from 'node:net';

/** An answer as it was received on a connection. */
export interface RawAnswer {
  readonly status: number;
  /** Names in lower case. Of equal headers, the last one. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/**
 * Sends bytes to a service and reads its first answer until the connection ends. For requests that no HTTP client would
 * send.
 */
export async function sendRaw(url: string, ...parts: readonly (string | Uint8Array)[]): Promise<RawAnswer> {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  for (const part of parts) socket.write(typeof part === 'string' ? Buffer.from(part, 'latin1') : part);
  let text = '';
  socket.setEncoding('latin1');
  try {
    for await (const chunk of socket) text += chunk;
  } catch (error) {
    // A server that has answered need not read further data.
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

/** Makes a request of these lines whose connection is closed after the answer. */
export function rawRequest(line: string, headers: readonly string[], body = ''): string {
  return `${[`${line} HTTP/1.1`, 'Host: localhost', 'Connection: close', ...headers].join('\r\n')}\r\n\r\n${body}`;
}
