import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { createClientActivity } from '../../../src/app/client-activity.ts';
import { tenantNumber } from '../../../src/domain/invoice/lanes.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const [A, B] = ['ten_a', 'ten_b'];
const request = (tenantId: string | null, changes = {}) => ({
  route: '/v1/invoices',
  status: 200,
  tenantId,
  ...changes,
});

it('tells whether clients are answered, and whether they are those of other tenants', () => {
  const clients = createClientActivity();
  const seen = () => [clients.isRecent(), clients.isRecent(tenantNumber(A)), clients.isRecent(tenantNumber(B))];
  expect(seen()).toEqual([false, false, false]);
  clients.note(request(A));
  expect(seen()).toEqual([true, false, true]);
  vi.advanceTimersByTime(200);
  clients.note(request(B));
  clients.note(request(B));
  expect(seen()).toEqual([true, true, true]);
  vi.advanceTimersByTime(100);
  expect(seen()).toEqual([true, true, false]);
  vi.advanceTimersByTime(200);
  expect(seen()).toEqual([false, false, false]);
});

it('counts readers of single invoices for every tenant, and nothing without a credential or beside the API', () => {
  const clients = createClientActivity();
  clients.note(request(null, { status: 401 }));
  expect([clients.isRecent(), clients.isRecent(tenantNumber(A))]).toEqual([true, false]);
  clients.note(request(null));
  expect(clients.isRecent(tenantNumber(A))).toBe(true);
  vi.advanceTimersByTime(300);
  clients.note(request(B, { route: '/metrics' }));
  expect(clients.isRecent()).toBe(false);
});
