import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { Router } from '@koa/router';
import Koa from 'koa';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { ServiceError } from '../../src/domain/errors.ts';
import { dashboard } from '../../src/transport/dashboard/routes.ts';

let folder: string;
let server: Server;
let url: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'pages-'));
  const pages = dashboard('https://fatoura.example/', pathToFileURL(`${folder}/built/`));
  const router = new Router().get('/i/:id', (ctx) => pages.showPage(ctx)).get('/assets/:file', pages.showAsset);
  const app = new Koa();
  app.use(async (ctx, next) => {
    try {
      await next();
    } catch (error) {
      ctx.status = error instanceof ServiceError ? error.status : 500;
    }
  });
  app.use(router.routes());
  server = createServer(app.callback());
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterEach(async () => {
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
  await rm(folder, { recursive: true, force: true });
});

async function build(): Promise<void> {
  await mkdir(join(folder, 'built/assets'), { recursive: true });
  await writeFile(join(folder, 'secret.js'), 'outside');
  await writeFile(join(folder, 'built/index.html'), '<!doctype html>');
  await writeFile(join(folder, 'built/sources.sha256'), 'digest');
  await writeFile(join(folder, 'built/assets/index-1a2b.js'), 'run()');
}

it('answers 503 until the pages are built, then serves them', async () => {
  expect((await fetch(`${url}/i/inv_1`)).status).toBe(503);
  await build();
  expect((await fetch(`${url}/i/inv_1`)).status).toBe(200);
});

it('the page has Morocco’s offsets, and the origin of the service', async () => {
  await build();
  await writeFile(
    join(folder, 'built/index.html'),
    '<!doctype html><meta name="moroccan-time" content="" /><meta name="service-origin" content="" /><title>t</title>',
  );
  expect(await (await fetch(`${url}/i/inv_1`)).text()).toMatch(
    /<meta name="moroccan-time" content="(\S+Z=\d+ )+2026-09-20T01:00:00Z=0" \/><meta name="service-origin" content="https:\/\/fatoura\.example" \/><title>/,
  );
});

it('answers the same page at each address, with a strict policy', async () => {
  await build();
  const [one, two] = await Promise.all(['inv_1', 'x'].map((id) => fetch(`${url}/i/${id}`)));
  const policy = one?.headers.get('content-security-policy') ?? '';
  expect(policy.split('; ')).toEqual(
    expect.arrayContaining([
      "default-src 'none'",
      "script-src 'self'",
      "style-src 'self'",
      "connect-src 'self'",
      "frame-ancestors 'none'",
      "require-trusted-types-for 'script'",
      "trusted-types 'none'",
      "base-uri 'none'",
    ]),
  );
  expect(policy).not.toMatch(/unsafe|data:|https?:|\*/);
  expect(two?.headers.get('etag')).toBe(one?.headers.get('etag'));
  const again = await fetch(`${url}/i/x`, { headers: { 'If-None-Match': one?.headers.get('etag') ?? '' } });
  expect(again.status).toBe(304);
});

it('serves files of the build only, and lets browsers keep them', async () => {
  await build();
  const file = await fetch(`${url}/assets/index-1a2b.js`);
  expect(file.headers.get('cache-control')).toBe('public, max-age=31536000, immutable');
  expect(file.headers.get('content-type')).toBe('text/javascript; charset=utf-8');
  expect(await file.text()).toBe('run()');
  const refused = ['index-0000.js', '..%2f..%2fsecret.js', '..%2findex.html', '%2e%2e%2fsources.sha256', 'constructor'];
  for (const name of refused) expect([name, (await fetch(`${url}/assets/${name}`)).status]).toEqual([name, 404]);
});
