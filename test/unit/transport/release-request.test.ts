import { once } from 'node:events';
import { createServer, get } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep, setImmediate as turn } from 'node:timers/promises';
import Koa, { type Context } from 'koa';
import { expect, it, onTestFinished } from 'vitest';
import { releasable, releaseRequest } from '../../../src/transport/release-request.ts';
import { whenGone } from '../../../src/transport/when-gone.ts';

/** Serves a request by this middleware, and the path that middleware around it sees afterwards. */
async function served(middleware: (ctx: Context) => Promise<void>) {
  const paths: unknown[] = [];
  const app = new Koa();
  app.silent = true;
  app.use(releasable());
  app.use(async (ctx, next) => {
    await next();
    paths.push(ctx.path);
  });
  app.use(middleware);
  const server = createServer(app.callback()).listen(0, '127.0.0.1');
  onTestFinished(() => void server.close());
  await once(server, 'listening');
  return { paths, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/events` };
}

it('a request whose client is gone keeps its path until all middleware has returned', async () => {
  let context: Context | null = null;
  const begun = Promise.withResolvers<void>();
  const left = Promise.withResolvers<void>();
  const { paths, url } = await served(async (ctx) => {
    context = ctx;
    ctx.respond = false;
    whenGone(ctx.res, () => releaseRequest(ctx));
    ctx.res.once('close', left.resolve);
    begun.resolve();
    await left.promise;
    await sleep(5);
  });
  const request = get(url).on('error', () => undefined);
  await begun.promise;
  request.destroy();
  await expect.poll(() => paths).toEqual(['/events']);
  await turn();
  expect((context as Context | null)?.req).toMatchObject({ url: '', headers: {} });
});

it('an open answer is released as soon as its middleware has returned', async () => {
  let context: Context | null = null;
  const { paths, url } = await served(async (ctx) => {
    context = ctx;
    ctx.respond = false;
    ctx.res.writeHead(200);
    ctx.res.write('data: 1\n\n');
    releaseRequest(ctx);
    await sleep(5);
  });
  const request = get(url).on('error', () => undefined);
  await once(request, 'response');
  await expect.poll(() => (context as Context | null)?.req.url).toBe('');
  expect(paths).toEqual(['/events']);
  request.destroy();
});
