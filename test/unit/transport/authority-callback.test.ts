import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import Koa from 'koa';
import { Webhook } from 'standardwebhooks';
import { afterEach, expect, it, vi } from 'vitest';
import { callbackKey } from '../../../src/domain/authority/callback-signature.ts';
import { ServiceError } from '../../../src/domain/errors.ts';
import { authorityCallback } from '../../../src/transport/authority-callback.ts';

const SECRET = `whsec_${randomBytes(32).toString('base64')}`;
const closers: (() => void)[] = [];
afterEach(() => {
  for (const close of closers.splice(0)) close();
});

/** A server of callbacks alone, and a function that sends it one. */
async function serve(takeHint: (id: string) => Promise<void>) {
  const count = vi.fn(async () => {});
  const app = new Koa();
  app.use(async (ctx, next) => {
    await next().catch((error) => {
      ctx.status = error instanceof ServiceError ? error.status : 500;
      ctx.body = '';
    });
  });
  app.use(authorityCallback({ key: callbackKey(SECRET), takeHint }, count));
  const server = app.listen(0, '127.0.0.1');
  await once(server, 'listening');
  closers.push(() => server.close());
  const send = async (message: string, body: string, secret = SECRET) => {
    const at = new Date();
    const { status } = await fetch(`http://127.0.0.1:${(server.address() as AddressInfo).port}/authority/callback`, {
      method: 'POST',
      headers: {
        'Content-Type': 'application/json',
        'webhook-id': message,
        'webhook-timestamp': String(Math.floor(at.getTime() / 1000)),
        'webhook-signature': new Webhook(secret).sign(message, at, body),
      },
      body,
    });
    return status;
  };
  return { send, count };
}

const BODY = '{"id":"inv_1","status":"accepted"}';

it('a callback that failed is taken when it is sent again, and then no more', async () => {
  const takeHint = vi.fn(async () => {});
  takeHint.mockRejectedValueOnce(new Error('the store is away'));
  const { send } = await serve(takeHint);
  expect([await send('msg_1', BODY), await send('msg_1', BODY), await send('msg_1', BODY)]).toEqual([500, 204, 204]);
  expect(takeHint.mock.calls).toEqual([['inv_1'], ['inv_1']]);
});

it('only callbacks without a valid signature are counted for their address', async () => {
  const { send, count } = await serve(async () => {});
  expect([await send('msg_1', BODY), await send('msg_2', '{}')]).toEqual([204, 400]);
  expect(count).not.toHaveBeenCalled();
  expect(await send('msg_3', BODY, `whsec_${randomBytes(32).toString('base64')}`)).toBe(401);
  expect(count).toHaveBeenCalledOnce();
});

it('a body is taken up to 4 KiB', async () => {
  const takeHint = vi.fn(async () => {});
  const { send } = await serve(takeHint);
  expect([await send('msg_1', BODY.padEnd(4096)), await send('msg_2', BODY.padEnd(4097))]).toEqual([204, 413]);
  expect(takeHint).toHaveBeenCalledOnce();
});
