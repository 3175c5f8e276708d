import { hash } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { Router } from '@koa/router';
import Koa from 'koa';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { ServiceError } from '../../../src/domain/errors.ts';
import { liveElement } from '../../../src/transport/live-element.ts';

let folder: string;
let server: Server;
let url: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'live-'));
  const app = new Koa();
  app.use(async (ctx, next) => {
    try {
      await next();
    } catch (error) {
      ctx.status = error instanceof ServiceError ? error.status : 500;
    }
  });
  const router = new Router();
  for (const [path, handle] of liveElement('https://invoices.example', pathToFileURL(`${folder}/`)))
    router.get(path, handle as Parameters<typeof router.get>[1]);
  server = createServer(app.use(router.routes()).callback());
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/live`;
});
afterEach(async () => {
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
  await rm(folder, { recursive: true, force: true });
});

const pinned = (text: string) => `fatoura-live-${hash('sha256', text, 'hex').slice(0, 12)}.js`;
const put = (name: string, text: string) => writeFile(join(folder, name), text);

it('serves what an earlier release had, at the address that its pages have pinned', async () => {
  await put('fatoura-live.js', 'now');
  await put(pinned('earlier'), 'earlier');
  const answer = await fetch(`${url}/v1/${pinned('earlier')}`);
  expect(await answer.text()).toBe('earlier');
  expect(answer.headers.get('cache-control')).toBe('public, max-age=31536000, immutable');
  expect(answer.headers.get('cross-origin-resource-policy')).toBe('cross-origin');
  expect(await (await fetch(`${url}/v1/${pinned('now')}`)).text()).toBe('now');
  expect(await (await fetch(`${url}/v1.json`)).json()).toEqual({
    url: `https://invoices.example/live/v1/${pinned('now')}`,
    integrity: `sha384-${hash('sha384', 'now', 'base64')}`,
    bytes: 3,
  });
});

it('serves no other file, nor one that is not what its name says', async () => {
  await put('fatoura-live.js', 'now');
  await put(pinned('earlier'), 'changed');
  await put('secret.js', 'secret');
  for (const name of [pinned('earlier'), pinned('never'), 'secret.js', 'fatoura-live.js', '..%2Ffatoura-live.js'])
    expect((await fetch(`${url}/v1/${name}`)).status).toBe(404);
});

it('answers 503 until the element is built', async () => {
  expect((await fetch(`${url}/v1.js`)).status).toBe(503);
  await put('fatoura-live.js', 'now');
  expect((await fetch(`${url}/v1.js`)).status).toBe(200);
});
