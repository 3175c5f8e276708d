import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, it } from 'vitest';
import { operate } from '../../../src/cli/webhooks/service.ts';

const SILENCES = [
  ['before its answer', () => undefined],
  ['within its answer', (answer: ServerResponse) => void answer.writeHead(200).write('{"data":')],
] as const;

it.each(SILENCES)('a service that falls silent %s ends a command', async (_, begin) => {
  const server = createServer((_, answer) => begin(answer)).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const asked = operate({ url, secretKey: 'sk_test_x', environment: 'test' }, '{ __typename }', {}, 200);
  await expect(asked).rejects.toThrow('cannot be reached (the connection is silent).');
  server.closeAllConnections();
  server.close();
});
