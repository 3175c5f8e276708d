import { createServer, type IncomingMessage, request, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import Koa from 'koa';
import { afterEach, expect, it } from 'vitest';
import type { Archive } from '../../../src/domain/invoice/periods/export-archive.ts';
import { periodExports } from '../../../src/transport/period-exports.ts';

const PIECE = 64 * 1024;
const SPEED = { bytes: PIECE, withinMs: 400 };
const CSV = 'declaration.csv';
const ZIP = 'documents.zip';

let server: Server | undefined;
afterEach(() => {
  server?.closeAllConnections();
  server?.close();
});

/** Serves files without an end. @param pauseMs between two pieces of them */
async function serve(pauseMs = 0) {
  const endless = async function* () {
    for (;;) {
      await sleep(pauseMs);
      yield new Uint8Array(pauseMs === 0 ? PIECE : 1);
    }
  };
  const archive: Archive = {
    documents: 1,
    incomplete: 0,
    isReady: true,
    size: 2 ** 40,
    until: new Date(),
    digest: '0'.repeat(64),
    read: endless,
  };
  const parts = {
    exportDeclaration: async () => endless(),
    exportArchive: async () => archive,
    streams: { whenRevoked: () => () => undefined },
  };
  const serveExport = periodExports(parts, SPEED);
  const app = new Koa();
  app.silent = true;
  app.use(async (ctx) => {
    const [tenant, file] = ctx.path.slice(1).split('/');
    const principal = {
      kind: 'secret',
      keyId: 'key_1',
      tenant: { id: tenant, suspendedAt: null },
      environment: 'test',
    };
    Object.assign(ctx, { params: { period: '2026-11', file } });
    Object.assign(ctx.state, { identity: { principal } });
    try {
      await serveExport(ctx as never, async () => undefined);
    } catch (error) {
      ctx.status = (error as { status: number }).status;
    }
  });
  const http = createServer(app.callback());
  server = http;
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve));
  const { port } = http.address() as AddressInfo;
  /** Asks for a file, and reads nothing of it yet. */
  const open = (tenant: string, file: string) =>
    new Promise<IncomingMessage>((resolve, reject) => {
      request({ port, host: '127.0.0.1', path: `/${tenant}/${file}`, agent: false }, resolve)
        .on('error', reject)
        .end();
    });
  const status = async (tenant: string, file = CSV) => {
    const response = await open(tenant, file);
    response.destroy();
    return response.statusCode;
  };
  return { open, status };
}

it('a client that does not read an export loses its place', async () => {
  const { open, status } = await serve();
  const unread = [await open('ten_1', CSV), await open('ten_1', ZIP)];
  const cut = unread.map((each) => new Promise((resolve) => each.on('error', resolve)));
  expect(await status('ten_1')).toBe(429);
  // Both are cut: one that is not, would be read from here on, and never end.
  const both = () => Promise.all([status('ten_1', CSV), status('ten_1', ZIP)]);
  await expect.poll(both, { timeout: 20_000 }).toEqual([200, 200]);
  for (const each of unread) each.resume();
  await Promise.all(cut);
});

it('a client that reads fast enough, or all that there is, keeps its place', async () => {
  for (const pauseMs of [0, 10]) {
    const { open } = await serve(pauseMs);
    const response = await open('ten_1', CSV);
    let isCut = false;
    response.on('close', () => {
      isCut = true;
    });
    response.resume();
    await sleep(4 * SPEED.withinMs);
    expect(isCut).toBe(false);
    response.destroy();
    server?.closeAllConnections();
    server?.close();
  }
});

it('fewer archives than declarations run at once', async () => {
  const { open } = await serve();
  const statuses = async (file: string) => {
    const all = await Promise.all(Array.from({ length: 40 }, (_, i) => open(`ten_${i}`, file)));
    const codes = all.map(({ statusCode }) => statusCode);
    for (const each of all) each.destroy();
    return codes.filter((code) => code === 200).length;
  };
  expect(await statuses(ZIP)).toBe(12);
  await expect.poll(() => statuses(CSV), { timeout: 20_000 }).toBe(32);
});
