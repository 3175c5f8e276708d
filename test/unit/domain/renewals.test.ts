import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { createRenewals } from '../../../src/domain/invoice/renewals.ts';
import type { Claim } from '../../../src/domain/invoice/repository.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const claimOf = (id: string) => ({ invoice: { id }, token: id }) as unknown as Claim;

function renewed() {
  const commands: string[][] = [];
  const renewals = createRenewals({
    async renew(leases) {
      commands.push(leases.map(({ claim, leaseMs }) => `${claim.invoice.id} ${leaseMs}`));
      throw new Error('the store is away');
    },
  });
  return { renewals, commands };
}

it('renews the leases that are old together, each well within 4 s, and goes on after a failure', async () => {
  const { renewals, commands } = renewed();
  renewals.hold(claimOf('a'), 4000);
  await vi.advanceTimersByTimeAsync(100);
  renewals.hold(claimOf('b'), 9000);
  await vi.advanceTimersByTimeAsync(1000);
  expect(commands).toEqual([]);
  await vi.advanceTimersByTimeAsync(900);
  expect(commands.flat().toSorted()).toEqual(['a 4000', 'b 9000']);
  await vi.advanceTimersByTimeAsync(1700);
  expect(commands.flat().toSorted()).toEqual(['a 4000', 'a 4000', 'b 9000', 'b 9000']);
});

it('64 runs that began at the same time cost one command a renewal', async () => {
  const { renewals, commands } = renewed();
  for (let i = 0; i < 64; i++) renewals.hold(claimOf(`inv_${i}`), 4000);
  await vi.advanceTimersByTimeAsync(2000);
  expect(commands.map(({ length }) => length)).toEqual([64]);
});

it('renews no lease after its run, and keeps no timer when nothing runs', async () => {
  const { renewals, commands } = renewed();
  const [endA, endB] = ['a', 'b'].map((id) => renewals.hold(claimOf(id), 4000));
  endA?.();
  await vi.advanceTimersByTimeAsync(2000);
  expect(commands).toEqual([['b 4000']]);
  endB?.();
  expect(vi.getTimerCount()).toBe(0);
  await vi.advanceTimersByTimeAsync(5000);
  expect(commands).toHaveLength(1);
});
