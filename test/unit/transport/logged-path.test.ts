import { expect, it } from 'vitest';
import { loggedPath } from '../../../src/transport/middleware/request.ts';

it.each([
  ['/v1/invoices/inv_1/stream', '/v1/invoices/inv_1/stream'],
  ['/files/inv_1/AbC-_9.pdf', '/files/inv_1/…'],
  ['/FILES/inv_1/AbC-_9.pdf', '/FILES/inv_1/…'],
  ['/v1/invoices/inv_1_secret_AbC-_9', '/v1/invoices/inv_1_secret_…'],
  ['/v1/invoices/inv_1_secret_AbC-_9/stream', '/v1/invoices/inv_1_secret_…/stream'],
])('%s is logged without the secret in it', (path, logged) => {
  expect(loggedPath(path)).toBe(logged);
});

it('is never long', () => {
  expect(loggedPath(`/${'x'.repeat(10_000)}`).length).toBe(200);
});
