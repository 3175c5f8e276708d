import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { startApp } from '../../src/app/app.ts';
import { readConfig } from '../../src/config.ts';
import { newCreationMoment } from '../../src/domain/order-key.ts';

// Runs one side of `streams` in its own process: `ours` (the service without its worker) or `bare` (node:http and a
// loop).

/** The message when the process is ready, and its answers. */
export type StreamsServerMessage =
  /** Clients send these requests in turn. */
  | { port: number; requests: string[] }
  /** CPU time of the process so far, milliseconds. */
  | { cpuMs: number }
  /** Bytes of the process, and of this thread's JavaScript heap with its buffers, after garbage collection. */
  | { resident: number; heap: number }
  /** When the event was published, in nanoseconds of the machine's monotonic clock. */
  | { publishedAt: string };

const tell = (message: StreamsServerMessage) => process.send?.(message);
setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

/** Makes the event of a round, the same on both sides and different in each round. */
function eventOf(round: number) {
  const uuid = `00000000-0000-4000-8000-${String(round).padStart(12, '0')}`;
  const event = { id: `evt_${uuid}`, type: 'invoice.accepted', invoiceId: `inv_${uuid}` };
  return { ...event, body: JSON.stringify({ ...event, object: 'event', data: { status: 'accepted', metadata: {} } }) };
}

const { port, requests, publish, close } = await (process.argv[2] === 'ours' ? serveOurs() : serveBare());
process.on('message', async (message: 'memory' | 'cpu' | { publish: number }) => {
  if (message === 'cpu') {
    const { user, system } = process.cpuUsage();
    return tell({ cpuMs: (user + system) / 1000 });
  }
  if (message === 'memory') {
    collectGarbage();
    const { rss, heapUsed, external } = process.memoryUsage();
    return tell({ resident: rss, heap: heapUsed + external });
  }
  const publishedAt = process.hrtime.bigint();
  await publish(message.publish);
  tell({ publishedAt: String(publishedAt) });
});
process.once('disconnect', async () => {
  await close();
  process.exit(0);
});
tell({ port, requests });

async function serveOurs() {
  const dataDir = await mkdtemp(join(tmpdir(), 'streams-bench-'));
  const limits = { RATE_LIMIT_SECRET: '1000000000', RATE_LIMIT_ADDRESS: '1000000000' };
  const app = await startApp({
    ...readConfig({ PORT: '0', DATA_DIR: dataDir, LOG_LEVEL: 'warn', ...limits }),
    role: 'api',
  });
  if (app.url === null || app.firstStart.demo === null) throw new Error('the service has no address or no demo tenant');
  const tenant = await app.store.db.collection<{ _id: string }>('tenants').findOne({});
  // A key may have 10,000 streams.
  const other = await app.manageKeys.create(tenant?._id ?? '', 'secret', 'test');
  const keys = [app.firstStart.demo.secretKey, other.token];
  const log = app.store.db.collection<{ _id: string }>('webhook_events');
  const query = 'subscription { invoiceEvents { event { id type invoiceId body } } }';
  const body = JSON.stringify({ query });
  return {
    port: Number(new URL(app.url).port),
    requests: keys.map((key) =>
      [
        'POST /graphql/stream HTTP/1.1',
        'Host: localhost',
        `Authorization: Bearer ${key}`,
        'Accept: text/event-stream',
        'Content-Type: application/json',
        `Content-Length: ${body.length}`,
        '',
        body,
      ].join('\r\n'),
    ),
    async publish(round: number) {
      const { id, ...event } = eventOf(round);
      const { order, createdAt } = newCreationMoment();
      const place = { tenantId: tenant?._id, environment: 'test', sequence: 1, createdAt, order, place: order };
      await log.insertOne({ _id: id, ...event, ...place, storedAt: createdAt } as {
        _id: string;
      });
    },
    async close() {
      await app.close();
      await rm(dataDir, { recursive: true, force: true, maxRetries: 3 });
    },
  };
}

async function serveBare() {
  const clients = new Set<ServerResponse>();
  const server = createServer((_request, response) => {
    response.writeHead(200, { 'Content-Type': 'text/event-stream; charset=utf-8', 'Cache-Control': 'no-store' });
    response.write(':\n\n');
    clients.add(response);
    const heartbeat = setInterval(() => response.write(':\n\n'), 15_000);
    response.once('close', () => {
      clearInterval(heartbeat);
      clients.delete(response);
    });
  });
  server.listen(0, '127.0.0.1', 4096);
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    requests: [`GET /?${randomUUID()} HTTP/1.1\r\nHost: localhost\r\nAccept: text/event-stream\r\n\r\n`],
    async publish(round: number) {
      const made = eventOf(round);
      // An enum's values have `_` for the dot.
      const event = { ...made, type: made.type.replace('.', '_') };
      const message = `event: next\ndata: ${JSON.stringify({ data: { invoiceEvents: { event } } })}\n\n`;
      for (const client of clients) client.write(message);
    },
    async close() {
      server.closeAllConnections();
      server.close();
    },
  };
}
