import type { Context } from 'koa';
import { expect, it } from 'vitest';
import { openApiDocument } from '../../../src/transport/rest/openapi.ts';
import { route } from '../../../src/transport/rest/route.ts';

const ending = route({
  method: 'GET',
  path: '/v0/invoices',
  operation: 'listOld',
  group: 'Invoices',
  summary: 'Old',
  description: 'Old.',
  useCase: 'invoices',
  answers: { 200: { description: 'Nothing.' } },
  deprecation: {
    since: new Date('2026-01-31T12:00:00Z'),
    sunset: new Date('2027-01-31T12:00:00Z'),
    link: 'https://example.com/v1',
  },
  handle: () => undefined,
});

it('an operation that will end says so: Deprecation (RFC 9745), Sunset (RFC 8594), Link, and in the OpenAPI document', async () => {
  const headers: Record<string, string> = {};
  const ctx = { query: {}, set: (name: string, value: string) => Object.assign(headers, { [name]: value }) };
  await ending.handle(ctx as unknown as Context, {} as never, {} as never);
  expect(headers).toEqual({
    Deprecation: '@1769860800',
    Sunset: 'Sun, 31 Jan 2027 12:00:00 GMT',
    Link: '<https://example.com/v1>; rel="deprecation"',
  });
  expect(openApiDocument([ending])).toMatchObject({ paths: { '/v0/invoices': { get: { deprecated: true } } } });
});

it('a query parameter that is not in the row is refused', async () => {
  const ctx = { query: { limit: '1' }, set: () => undefined } as unknown as Context;
  await expect(ending.handle(ctx, {} as never, {} as never)).rejects.toMatchObject({ status: 400, param: 'limit' });
});
