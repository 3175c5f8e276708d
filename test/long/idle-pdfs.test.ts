import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { doomedServer } from '../support/chaos-server.ts';
import { Client, invoiceBody } from '../support/client.ts';

it('survives kill -9 in the middle of drawing: every PDF is drawn after the next start', async ({ signal }) => {
  const dataDir = await mkdtemp(join(tmpdir(), 'idle-'));
  const server = doomedServer({ DATA_DIR: dataDir, RATE_LIMIT_SECRET: '1000000', LOG_LEVEL: 'error' });
  signal.addEventListener('abort', () => void server.kill());
  const ready = async (): Promise<number> => {
    const asked = new Client(await server.url(), server.secretKey());
    const { body } = await asked.graphql('{ invoices(first: 20) { edges { node { documents { pdf { ready } } } } } }');
    const nodes = body.data.invoices.edges as { node: { documents: { pdf: { ready: boolean } } | null } }[];
    return nodes.filter(({ node }) => node.documents?.pdf.ready).length;
  };
  try {
    await server.start();
    const doomed = new Client(await server.url(), server.secretKey());
    await Promise.all(Array.from({ length: 12 }, () => doomed.post('/v1/invoices', invoiceBody())));
    await expect.poll(ready, { timeout: 60_000, interval: 20 }).toBeGreaterThan(0);
    expect(await ready()).toBeLessThan(12);
    await server.kill();
    await server.start();
    await expect.poll(ready, { timeout: 60_000 }).toBe(12);
    expect(server.seen.complaints).toEqual([]);
  } finally {
    await server.kill();
    await rm(dataDir, { recursive: true, force: true, maxRetries: 3 });
  }
}, 150_000);
