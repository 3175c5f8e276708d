import { expect, it } from 'vitest';
import { nextAddress } from '../../../src/dashboard/workspace/session.ts';

const MEMBERSHIPS = [{ tenantId: 'ten_1' }];

it.each([
  'https://evil.example/',
  '//evil.example',
  '/\\evil.example',
  'javascript:alert(1)',
  'tenants',
  '',
  // Three that a browser or the router would read as an address of evil.example, and others that are no page to go on with.
  '/\t/evil.example',
  '/\n/evil.example',
  '/.//evil.example',
  '/docs/..//evil.example',
  '/docsy',
  '/sign-in',
])('signing in does not lead to %j', (next) => {
  const search = `?${new URLSearchParams({ next })}`;
  expect(nextAddress(search, MEMBERSHIPS)).toBe('/tenants/ten_1/test/home');
  expect(nextAddress(search, [])).toBe('/account');
});

it('signing in leads back to the page of this service', () => {
  expect(nextAddress('?next=%2Ftenants%2Ften_2%2Flive%2Finvoices%3Fstatus%3Drejected', MEMBERSHIPS)).toBe(
    '/tenants/ten_2/live/invoices?status=rejected',
  );
  expect(nextAddress('?next=%2Fdocs', MEMBERSHIPS)).toBe('/docs');
  expect(nextAddress('?next=%2Fdocs%2Ffr%2Fquick-start%232-le-suivre', MEMBERSHIPS)).toBe(
    '/docs/fr/quick-start#2-le-suivre',
  );
});
