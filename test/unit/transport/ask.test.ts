import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import Koa from 'koa';
import { expect, it } from 'vitest';
import { serviceError } from '../../../src/domain/errors.ts';
import { ask } from '../../../src/transport/ask.ts';
import { readText } from '../../../src/transport/body.ts';
import { beginRequest } from '../../support/slow-request.ts';

/** A server whose question takes `delay` milliseconds, is counted, and is refused from `refuseFrom` on. */
async function asking(delay: number, refuseFrom = Number.POSITIVE_INFINITY) {
  let asked = 0;
  const koa = new Koa();
  koa.use(async (ctx) => {
    try {
      await ask(ctx, async () => {
        if (++asked >= refuseFrom) throw serviceError('api_key_revoked', 'revoked');
        if (delay > 0) await sleep(delay);
      });
      ctx.body = ctx.method === 'GET' ? 'read' : `acted on ${(await readText(ctx)).length}`;
    } catch (error) {
      ctx.status = (error as { status: number }).status;
      ctx.body = (error as Error).message;
    }
  });
  const server = createServer(koa.callback()).listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    asked: () => asked,
    [Symbol.dispose]: () => void server.close(),
  };
}

it.each([0, 20])(
  'asks once where the body came with the headers, or none comes (a look-up of %i ms)',
  async (delay) => {
    using server = await asking(delay);
    expect(await (await fetch(server.url)).text()).toBe('read');
    expect(server.asked()).toBe(1);
    for (const length of [1, 2000, 20_000])
      expect(await (await fetch(server.url, { method: 'POST', body: 'x'.repeat(length) })).text()).toBe(
        `acted on ${length}`,
      );
    expect(await (await fetch(server.url, { method: 'POST' })).text()).toBe('acted on 0');
    expect(server.asked()).toBe(5);
  },
);

it.each([0, 20])('asks again when the body came later, and acts by that answer (a look-up of %i ms)', async (delay) => {
  using allowed = await asking(delay);
  using refused = await asking(delay, 2);
  for (const [{ url, asked }, status, text] of [
    [allowed, 200, 'acted on 5'],
    [refused, 401, 'revoked'],
  ] as const) {
    const slow = await beginRequest(url, { method: 'POST', path: '/', headers: {}, body: 'abcde' });
    await expect.poll(asked).toBe(1);
    // The look-up has ended.
    await sleep(60);
    expect(asked()).toBe(1);
    expect(await slow.finish()).toMatchObject({ status, text });
    expect(asked()).toBe(2);
  }
});
