import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { z } from 'zod';
import type { Control } from './control.ts';
import type { Command } from './control-commands.ts';

const MAX_BODY_BYTES = 1024 * 1024;

/** Creates the server of the control port: JSON over plain HTTP on loopback. `GET /` lists the commands. */
export function createControlServer(commands: readonly Command[], control: Control): Server {
  return createServer((request, response) => {
    serve(commands, control, request, response).catch((error: unknown) => {
      const isTheirs = error instanceof z.ZodError || error instanceof RangeError || error instanceof SyntaxError;
      if (!isTheirs) console.error(error);
      const message = error instanceof z.ZodError ? z.prettifyError(error) : String((error as Error).message);
      if (!response.headersSent) answer(response, isTheirs ? 400 : 500, { error: message });
    });
  });
}

async function serve(
  commands: readonly Command[],
  control: Control,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  // A page in a browser may reach a loopback port by a name of its own.
  if (!/^(localhost|127\.0\.0\.1|\[::1\])(:\d+)?$/.test(request.headers.host ?? ''))
    return answer(response, 403, { error: 'only by a loopback address' });
  const [path = '/'] = (request.url ?? '/').split('?');
  if (path === '/') {
    const list = commands.map(({ method, path: at, text }) => `${method} ${at}: ${text}`);
    return answer(response, 200, { commands: [...list, 'GET /documents/:id: a submitted document'] });
  }
  const [, documentId] = /^\/documents\/([^/]+)$/.exec(path) ?? [];
  if (documentId !== undefined && request.method === 'GET') {
    const document = await control.document(decodeURIComponent(documentId));
    if (document === null) return answer(response, 404, { error: 'not held' });
    response.writeHead(200, { 'content-type': 'application/xml', 'content-length': document.length }).end(document);
    return;
  }
  for (const command of commands) {
    const match = new RegExp(`^${command.path.replace(':id', '([^/]+)')}$`).exec(path);
    if (match === null || command.method !== request.method) continue;
    const result = await command.run(await readJson(request), decodeURIComponent(match[1] ?? ''));
    return answer(response, result === null ? 404 : 200, result ?? { error: 'not held' });
  }
  answer(response, 404, { error: 'no such command: GET / lists them' });
}

async function readJson(request: IncomingMessage): Promise<unknown> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of request) {
    length += chunk.length;
    if (length > MAX_BODY_BYTES) throw new RangeError('the body is too long');
    chunks.push(chunk);
  }
  return length === 0 ? {} : JSON.parse(Buffer.concat(chunks).toString());
}

function answer(response: ServerResponse, status: number, body: unknown): void {
  const bytes = Buffer.from(`${JSON.stringify(body, null, 2)}\n`);
  response.writeHead(status, { 'content-type': 'application/json', 'content-length': bytes.length }).end(bytes);
}
