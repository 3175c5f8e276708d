import { mkdtemp, rm } from 'node:fs/promises';
import { Agent, type IncomingMessage, request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type DoomedServer, doomedServer } from '../support/chaos-server.ts';
import { Client, invoiceBody } from '../support/client.ts';
import { firstOf } from '../support/samples.ts';
import { startService } from '../support/service.ts';

// A service that shuts down answers the requests that it received.

const CLIENTS = 32;

it('is not ready at once, and still answers during the delay for load balancers', async () => {
  const service = await startService({ SHUTDOWN_DELAY: '2s' });
  const { secretKey } = await service.tenant();
  const client = new Client(service.url, secretKey);
  expect((await client.get('/readyz')).status).toBe(200);
  const start = performance.now();
  let isClosed = false;
  const closing = service.close().finally(() => {
    isClosed = true;
  });
  expect(await client.get('/readyz')).toMatchObject({
    status: 503,
    body: { status: 'not ready', reason: 'the service is shutting down' },
  });
  expect(await client.get('/healthz')).toMatchObject({ status: 200, body: { status: 'alive' } });
  const created = await client.post('/v1/invoices', invoiceBody());
  expect([created.status, created.headers.get('connection')]).toEqual([201, 'close']);
  expect(isClosed).toBe(false);
  await closing;
  expect(performance.now() - start).toBeGreaterThan(1900);
  await expect(client.get('/readyz')).rejects.toThrow();
});

describe('SIGTERM', () => {
  let folder: string;
  let server: DoomedServer;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'shutdown-'));
    server = doomedServer({
      DATA_DIR: folder,
      CHROMIUM_PATH: '/nonexistent',
      RATE_LIMIT_SECRET: '1000000',
      RATE_LIMIT_ADDRESS: '1000000',
      // What is in flight takes longer on a busy machine than the default.
      SHUTDOWN_GRACE: '60s',
    });
    await server.start();
  });
  afterEach(async () => {
    await server.kill();
    await rm(folder, { recursive: true, force: true, maxRetries: 3 });
  });

  interface Answer {
    readonly status: number;
    readonly connection: string | undefined;
    readonly body: string;
  }

  /**
   * Sends a request with node:http, whose errors distinguish a reset connection from a refused one.
   * @throws with a code when there is no answer
   */
  function ask(agent: Agent, url: string, path: string, body?: object): Promise<Answer> {
    const headers = { authorization: `Bearer ${server.secretKey()}`, 'content-type': 'application/json' };
    return new Promise((resolve, reject) => {
      const sent = request(
        `${url}${path}`,
        { agent, method: body ? 'POST' : 'GET', headers },
        (answer: IncomingMessage) => {
          let text = '';
          answer.setEncoding('utf8').on('data', (chunk: string) => {
            text += chunk;
          });
          answer.on('error', reject);
          answer.on('end', () =>
            resolve({ status: answer.statusCode ?? 0, connection: answer.headers.connection, body: text }),
          );
        },
      );
      sent.on('error', reject);
      sent.end(body && JSON.stringify(body));
    });
  }

  const create = (agent: Agent, url: string) => ask(agent, url, '/v1/invoices', invoiceBody());

  it('answers 32 creations in flight on fresh connections', async () => {
    // The requests are sent right before the signal, then a moment earlier.
    for (const leadMs of firstOf([0, 10])) {
      if (leadMs > 0) await server.start();
      const url = await server.url();
      const agent = new Agent({ keepAlive: false });
      await Promise.all(Array.from({ length: CLIENTS }, () => create(agent, url)));
      const asked = Array.from({ length: CLIENTS }, () => create(agent, url));
      await sleep(leadMs);
      const stopped = server.stop();
      const answers = await Promise.allSettled(asked);
      expect(answers.filter(({ status }) => status === 'rejected')).toEqual([]);
      expect(new Set(answers.map((each) => each.status === 'fulfilled' && each.value.status))).toEqual(new Set([201]));
      expect(await stopped).toBe(0);
    }
  });

  it('answers the requests of 32 clients on kept-alive connections, and tells them to close', async () => {
    const url = await server.url();
    const lost: unknown[] = [];
    let answered = 0;
    let toldToClose = 0;
    /** Sends requests until an answer has `Connection: close`. */
    const client = async () => {
      const agent = new Agent({ keepAlive: true, maxSockets: 1 });
      try {
        for (;;) {
          const { status, connection } = await create(agent, url);
          expect(status).toBe(201);
          answered++;
          if (connection === 'close') {
            toldToClose++;
            return;
          }
          await sleep(Math.random() * 300);
        }
      } catch (error) {
        lost.push(error);
      } finally {
        agent.destroy();
      }
    };
    const clients = Array.from({ length: CLIENTS }, client);
    await expect.poll(() => answered).toBeGreaterThan(CLIENTS);
    const stopped = server.stop();
    await Promise.all(clients);
    expect(lost).toEqual([]);
    expect(toldToClose).toBe(CLIENTS);
    expect(await stopped).toBe(0);
  });
});
