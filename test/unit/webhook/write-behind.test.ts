import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { newId } from '../../../src/domain/ids.ts';
import { type ClaimedDelivery, type Delivery, deliveryId } from '../../../src/domain/webhook/delivery.ts';
import type { AttemptRecord, DeliveryLedger, NewDelivery } from '../../../src/domain/webhook/delivery-ports.ts';
import { createWriteBehind } from '../../../src/domain/webhook/write-behind.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const endpointId = newId('we');
const now = () => new Date();

function newDelivery(earlier: readonly string[] = [], lease = true): NewDelivery {
  const eventId = newId('evt');
  const delivery = { id: deliveryId(eventId, endpointId), endpointId, eventId, earlier } as Delivery;
  return {
    delivery,
    lease: lease ? { token: newId('evt'), end: Date.now() + 30_000 } : null,
    isNew: true,
    manual: false,
  };
}

function claimOf({ delivery, lease }: NewDelivery): ClaimedDelivery {
  return { ...delivery, tries: 0, retry: false, manual: false, token: lease?.token ?? '', leaseEnd: lease?.end ?? 0 };
}

function recordOf(row: NewDelivery): AttemptRecord {
  return { claim: claimOf(row), attempt: {} as AttemptRecord['attempt'], outcome: { state: 'delivered' } };
}

/** A ledger that knows of nothing, and of which only what a test needs is there. */
function behindOf(parts: Partial<DeliveryLedger>) {
  const problems: unknown[] = [];
  const all = (rows: readonly NewDelivery[]) => new Set(rows.map(({ delivery }) => delivery.id));
  const ledger = {
    insert: vi.fn(async (rows: readonly NewDelivery[]) => all(rows)),
    insertAttempted: vi.fn(async (rows: readonly NewDelivery[]) => all(rows)),
    record: vi.fn(async () => undefined),
    find: vi.fn(async () => null),
    untriedBefore: vi.fn(async () => new Map<string, string[]>()),
    ...parts,
  };
  const behind = createWriteBehind(ledger as unknown as DeliveryLedger, now, (...problem) => problems.push(problem));
  return { ledger, behind, problems };
}

describe('a store that does not answer', () => {
  it('gets one write at a time: those who ask wait for the same, and no timers gather', async () => {
    const answers: (() => void)[] = [];
    const insert = vi.fn(
      () => new Promise<Set<string>>((_done, fail) => answers.push(() => fail(new Error('no answer')))),
    );
    const { behind } = behindOf({ insert });
    let failed = 0;
    for (let turn = 0; turn < 20; turn++) {
      await behind.insert([newDelivery()], now());
      behind.find('ten', 'test', 'dlv').catch(() => failed++);
      await vi.advanceTimersByTimeAsync(300);
    }
    // What is under way, what the reads wait for, and what the timer stores.
    for (let turn = 0; turn < 3; turn++) {
      answers.splice(0).forEach((fail) => void fail());
      await vi.advanceTimersByTimeAsync(0);
    }
    expect(failed).toBe(20);
    expect(insert.mock.calls.length).toBeLessThanOrEqual(3);
  });

  it('is asked again every second, until it has what is held', async () => {
    let down = true;
    const insert = vi.fn(async () => (down ? Promise.reject(new Error('the store is away')) : new Set<string>()));
    const { behind, problems } = behindOf({ insert });
    await behind.insert([newDelivery()], now());
    await vi.advanceTimersByTimeAsync(10_000);
    expect(problems.length).toBeGreaterThanOrEqual(8);
    expect(problems.length).toBeLessThanOrEqual(11);
    down = false;
    await vi.advanceTimersByTimeAsync(1000);
    const asked = insert.mock.calls.length;
    await vi.advanceTimersByTimeAsync(10_000);
    expect(insert).toHaveBeenCalledTimes(asked);
    await expect(behind.stored()).resolves.toBeUndefined();
  });

  it('delays nothing that is not held', async () => {
    const stuck = newDelivery();
    const insert = vi.fn(async (rows: readonly NewDelivery[]) =>
      rows.some(({ delivery }) => delivery.id === stuck.delivery.id)
        ? new Promise<never>(() => undefined)
        : new Set<string>(),
    );
    const { behind } = behindOf({ insert });
    await behind.insert([stuck], now());
    await vi.advanceTimersByTimeAsync(600);
    expect(insert).toHaveBeenCalledTimes(1);
    const other = newDelivery([], false);
    void behind.insert([other], now());
    await vi.advanceTimersByTimeAsync(0);
    expect(insert).toHaveBeenLastCalledWith([other], expect.anything());
  });
});

it('what is known to be stored goes up to what is held the longest', async () => {
  const { behind } = behindOf({});
  const [first, second] = [newDelivery(), newDelivery()];
  expect(behind.storedUntil()).toBe(Number.POSITIVE_INFINITY);
  const start = performance.now();
  await behind.insert([first], now());
  await vi.advanceTimersByTimeAsync(100);
  await behind.insert([second], now());
  expect(behind.storedUntil()).toBe(start);
  await behind.record([recordOf(first)]);
  expect(behind.storedUntil()).toBe(start + 100);
  await behind.stored();
  expect(behind.storedUntil()).toBe(Number.POSITIVE_INFINITY);
});

it('a delivery whose outcome waits to be recorded is not stored before it, unless that takes too long', async () => {
  const { ledger, behind } = behindOf({});
  const [answered, slow, lost] = [newDelivery(), newDelivery(), newDelivery()];
  await behind.insert([answered, slow, lost], now());
  for (const { delivery } of [answered, lost]) behind.answered(delivery.id);
  await vi.advanceTimersByTimeAsync(5000);
  expect(vi.mocked(ledger.insert).mock.calls.map(([rows]) => rows)).toEqual([[slow]]);
  await behind.record([recordOf(answered)]);
  expect(ledger.record).not.toHaveBeenCalled();
  await vi.advanceTimersByTimeAsync(60_000);
  expect(vi.mocked(ledger.insert).mock.calls.map(([rows]) => rows)).toEqual([[slow], [lost]]);
  expect(vi.getTimerCount()).toBe(0);
});

it('two outcomes are recorded beside each other, and neither beside a write of what is held', async () => {
  const answers: (() => void)[] = [];
  const pending = <Result>(result: Result) => new Promise<Result>((done) => answers.push(() => done(result)));
  const ids = ({ delivery }: NewDelivery) => delivery.id;
  const { ledger, behind } = behindOf({
    insert: vi.fn((rows: readonly NewDelivery[]) => pending(new Set(rows.map(ids)))),
    insertAttempted: vi.fn((rows: readonly { delivery: Delivery }[]) =>
      pending(new Set(rows.map(({ delivery }) => delivery.id))),
    ) as never,
  });
  const rows = [newDelivery(), newDelivery(), newDelivery()] as const;
  await behind.insert(rows, now());
  const recorded = Promise.all([behind.record([recordOf(rows[0])]), behind.record([recordOf(rows[1])])]);
  const stored = behind.stored();
  const last = behind.record([recordOf(rows[2])]);
  await vi.advanceTimersByTimeAsync(0);
  expect([ledger.insertAttempted, ledger.insert].map((each) => vi.mocked(each).mock.calls.length)).toEqual([2, 0]);
  for (const answer of answers.splice(0)) answer();
  await recorded;
  await vi.advanceTimersByTimeAsync(0);
  expect(vi.mocked(ledger.insert).mock.calls.map(([given]) => given)).toEqual([[rows[2]]]);
  expect(ledger.record).not.toHaveBeenCalled();
  for (const answer of answers.splice(0)) answer();
  await stored;
  await vi.advanceTimersByTimeAsync(0);
  for (const answer of answers.splice(0)) answer();
  await last;
  // It had been stored with its lease.
  expect(vi.mocked(ledger.insertAttempted).mock.calls.map(([given]) => given.length)).toEqual([1, 1, 0]);
  expect(ledger.record).toHaveBeenCalledTimes(1);
});

describe('the order', () => {
  it('counts a delivery that is held among those that were not attempted', async () => {
    const { behind } = behindOf({ insert: () => Promise.reject(new Error('the store is away')) });
    const first = newDelivery();
    const second = claimOf(newDelivery([first.delivery.eventId]));
    await behind.insert([first], now());
    expect(await behind.untriedBefore([second])).toEqual(new Map([[second.id, [first.delivery.id]]]));
    await behind.record([recordOf(first)]);
    expect(await behind.untriedBefore([second])).toEqual(new Map());
  });

  it('misses none that is stored while the ledger is asked', async () => {
    const asked = Promise.withResolvers<Map<string, string[]>>();
    const { behind } = behindOf({ untriedBefore: () => asked.promise });
    const first = newDelivery();
    const second = claimOf(newDelivery([first.delivery.eventId]));
    await behind.insert([first], now());
    const answer = behind.untriedBefore([second]);
    await behind.stored();
    asked.resolve(new Map());
    expect(await answer).toEqual(new Map([[second.id, [first.delivery.id]]]));
  });

  it('knows of what waits before a later event of the same call is in the ledger', async () => {
    const first = newDelivery();
    const second = newDelivery([first.delivery.eventId], false);
    let seen: unknown;
    const { behind } = behindOf({
      async insert() {
        // Whoever claims it now is not to overtake.
        seen = await behind.untriedBefore([claimOf(second)]);
        throw new Error('the answer was lost');
      },
    });
    await expect(behind.insert([first, second], now())).rejects.toThrow('the answer was lost');
    const before = new Map([[second.delivery.id, [first.delivery.id]]]);
    expect(seen).toEqual(before);
    expect(await behind.untriedBefore([claimOf(second)])).toEqual(before);
  });
});

describe('a delivery that is held', () => {
  it('is stored by nobody else while its outcome is, also where others of the batch fail', async () => {
    const written = Promise.withResolvers<Set<string>>();
    const [heldOne, storedOne] = [newDelivery(), newDelivery()];
    const { behind, ledger } = behindOf({
      insertAttempted: () => written.promise,
      record: () => Promise.reject(new Error('the store is away')),
    });
    await behind.insert([heldOne], now());
    const recorded = behind.record([recordOf(heldOne), recordOf(storedOne)]).catch(() => 'failed');
    const stored = behind.stored();
    await vi.advanceTimersByTimeAsync(1000);
    expect(ledger.insert).not.toHaveBeenCalled();
    written.resolve(new Set([heldOne.delivery.id]));
    expect(await recorded).toBe('failed');
    await stored;
  });

  it('is not held twice', async () => {
    const { behind, ledger } = behindOf({});
    const row = newDelivery();
    expect(await behind.insert([row], now())).toEqual(new Set([row.delivery.id]));
    const again = { ...row, lease: { token: 'another', end: Date.now() + 30_000 } };
    await behind.insert([again], now());
    expect(vi.mocked(ledger.insert).mock.calls.map(([rows]) => rows)).toEqual([[row], [again]]);
  });

  it.each([
    ...(['find', 'ofEvents', 'attempts', 'page', 'summaries', 'keys', 'reopen', 'cancelPending'] as const),
    ...(['release', 'cancel'] as const),
  ])('is stored before the ledger is asked to %s', async (method) => {
    const calls: string[] = [];
    const { behind } = behindOf({
      insert: async () => {
        calls.push('insert');
        return new Set();
      },
      [method]: async () => void calls.push(method),
    });
    const row = newDelivery();
    await behind.insert([row], now());
    await (behind[method] as (...given: unknown[]) => Promise<unknown>)([claimOf(row)], now());
    expect(calls).toEqual(['insert', method]);
  });

  it('is one of ten thousand at most', async () => {
    const { behind, ledger } = behindOf({});
    await behind.insert(
      Array.from({ length: 10_000 }, () => newDelivery()),
      now(),
    );
    expect(ledger.insert).not.toHaveBeenCalled();
    const next = newDelivery();
    await behind.insert([next], now());
    expect(ledger.insert).toHaveBeenCalledWith([next], expect.anything());
  });
});
