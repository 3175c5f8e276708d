import type { AttemptRecord, DeliveryLedger, NewDelivery } from './delivery-ports.ts';

/** How long a delivery may be attempted before it is stored: most receivers answer sooner, milliseconds. */
const HOLD_MS = 250;
/** Beyond so many a delivery is stored before it is attempted. */
const HELD = 10_000;

/** A ledger that stores a new delivery with the outcome of its first attempt, in one write instead of two. */
export interface WriteBehind extends DeliveryLedger {
  /** Resolves when all that was inserted before is stored. Rejects when it can not be; it is tried again. */
  stored(): Promise<void>;
}

/**
 * Holds new deliveries while they are attempted, for a moment; what takes longer is stored with its lease, as it would have been.
 *
 * What a crash may cost: until `stored` has resolved a delivery is known only here and by its invoice's outbox, so the outbox must not be
 * marked before. Who finds it there publishes it once more: an attempt may be repeated, none is lost.
 *
 * Only for the one process that delivers, since others do not see what is held: all that it reads itself is stored first.
 * @param now the clock of `DeliveryLedger`
 */
export function createWriteBehind(
  ledger: DeliveryLedger,
  now: () => Date,
  report: (message: string, error: unknown) => void,
): WriteBehind {
  /** In the order in which they came. */
  const held = new Map<string, { readonly row: NewDelivery; readonly since: number }>();
  let timer: NodeJS.Timeout | null = null;
  let last: Promise<unknown> = Promise.resolve();

  /** One after the other: so a delivery that is held is not being stored at the same time. */
  function inTurn<Result>(work: () => Promise<Result>): Promise<Result> {
    const result = last.then(work);
    last = result.catch(() => undefined);
    return result;
  }

  /** Stores those of these deliveries that are held. */
  function store(ids: readonly string[]): Promise<void> {
    return inTurn(async () => {
      const rows = ids.flatMap((id) => held.get(id)?.row ?? []);
      if (rows.length === 0) return;
      await ledger.insert(rows, now());
      for (const { delivery } of rows) held.delete(delivery.id);
    });
  }

  async function stored(): Promise<void> {
    if (held.size > 0) await store([...held.keys()]);
  }

  function arm(): void {
    if (timer || held.size === 0) return;
    timer = setTimeout(() => {
      timer = null;
      void storeSlow().finally(arm);
    }, HOLD_MS);
  }

  async function storeSlow(): Promise<void> {
    const latest = performance.now() - HOLD_MS;
    const slow = [...held].filter(([, { since }]) => since <= latest).map(([id]) => id);
    if (slow.length > 0) await store(slow).catch((error) => report('deliveries could not be stored yet', error));
  }

  async function storeAttempted(records: readonly AttemptRecord[]): Promise<void> {
    const attempted = records.flatMap((record) => {
      const row = held.get(record.claim.id)?.row;
      return row ? [{ delivery: row.delivery, record }] : [];
    });
    const inserted = await ledger.insertAttempted(attempted, now());
    // An insert whose answer was lost has stored it with its lease.
    const known = records.filter(({ claim }) => !inserted.has(claim.id));
    if (known.length > 0) await ledger.record(known);
    for (const { claim } of records) held.delete(claim.id);
  }

  async function insertNow(rows: readonly NewDelivery[], at: Date): Promise<Set<string>> {
    await store(rows.map(({ delivery }) => delivery.id));
    return ledger.insert(rows, at);
  }

  const afterAll =
    <Given extends unknown[], Result>(read: (...given: Given) => Promise<Result>) =>
    async (...given: Given): Promise<Result> => {
      await stored();
      return read(...given);
    };

  return {
    ...ledger,
    stored,

    async insert(rows, at) {
      const mayWait = (row: NewDelivery) => row.isNew && row.lease !== null && held.size < HELD;
      const { waiting = [], others = [] } = Object.groupBy(rows, (row) => (mayWait(row) ? 'waiting' : 'others'));
      const ids = others.length > 0 ? await insertNow(others, at) : new Set<string>();
      const since = performance.now();
      for (const row of waiting) {
        ids.add(row.delivery.id);
        held.set(row.delivery.id, { row, since });
      }
      arm();
      return ids;
    },

    record: (records) =>
      inTurn(async () => {
        const first = records.filter(({ claim }) => held.has(claim.id));
        const others = records.filter(({ claim }) => !held.has(claim.id));
        await Promise.all([others.length > 0 && ledger.record(others), first.length > 0 && storeAttempted(first)]);
      }),

    async release(claims, at) {
      await store(claims.map(({ id }) => id));
      await ledger.release(claims, at);
    },

    async cancel(claims) {
      await store(claims.map(({ id }) => id));
      await ledger.cancel(claims);
    },

    cancelPending: afterAll(ledger.cancelPending),
    find: afterAll(ledger.find),
    ofEvents: afterAll(ledger.ofEvents),
    attempts: afterAll(ledger.attempts),
    page: afterAll(ledger.page),
    summaries: afterAll(ledger.summaries),
    keys: afterAll(ledger.keys),
    reopen: afterAll(ledger.reopen),
  };
}
