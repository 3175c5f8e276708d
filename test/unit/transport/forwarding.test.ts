import type { Context } from 'koa';
import { expect, it } from 'vitest';
import { untrustedForwarding } from '../../../src/transport/forwarding.ts';

/** Requests with these headers, and what is logged of them. */
function asked(trustedProxies: number, requests: readonly Record<string, string>[]) {
  const logged: unknown[] = [];
  const log = { warn: (fields: unknown) => void logged.push(fields) };
  const forwarded = untrustedForwarding(trustedProxies, log as Parameters<typeof untrustedForwarding>[1]);
  return { answers: requests.map((headers) => forwarded({ headers } as unknown as Context)), logged };
}

it('the first request through a proxy that is not trusted is logged, and each is told', () => {
  const { answers, logged } = asked(0, [{ host: 'x' }, { 'x-forwarded-for': '192.0.2.1' }, { forwarded: 'for=x' }]);
  expect(answers).toEqual([false, true, true]);
  expect(logged).toEqual([{ header: 'x-forwarded-for' }]);
});

it('trusted proxies are no concern', () => {
  expect(asked(1, [{ 'x-forwarded-for': '192.0.2.1' }])).toEqual({ answers: [false], logged: [] });
});
