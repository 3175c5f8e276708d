import { deliveryId } from './delivery.ts';
import type { DeliveryLedger, NewDelivery } from './delivery-ports.ts';

/** How long a delivery may be attempted before it is stored: most receivers answer sooner, milliseconds. */
const HOLD_MS = 250;
/** Beyond so many a delivery is stored before it is attempted. */
const HELD = 10_000;
/** Beyond this an outcome that waits is not waited for any more: it could not be recorded, milliseconds. */
const ANSWERED_MS = 60_000;
/** How long it rests when they could not be stored, milliseconds. */
const RETRY_MS = 1000;

interface Held {
  readonly row: NewDelivery;
  /** By the process's monotonic clock, milliseconds. */
  readonly since: number;
  answered: boolean;
}

/** A ledger that stores a new delivery with the outcome of its first attempt, in one write instead of two. */
export interface WriteBehind extends DeliveryLedger {
  /** Resolves when all that was inserted is stored. Rejects when it can not be; it is tried again. */
  stored(): Promise<void>;
  /** All that was inserted before this instant is stored: of the process's monotonic clock, milliseconds. */
  storedUntil(): number;
  /** The outcome of this delivery's first attempt is known, and waits to be recorded. */
  answered(deliveryId: string): void;
}

/**
 * Holds new deliveries while they are attempted, for a moment; what takes longer is stored with its lease, as it would have been.
 *
 * What a crash may cost: until it is stored a delivery is known only here and by its invoice's outbox, so the outbox must not be marked
 * before (`stored`, `storedUntil`). Who finds it there publishes it once more: an attempt may be repeated, none is lost.
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
  const held = new Map<string, Held>();
  let storingSlow = false;
  /** What stores all that is held, until it begins: whoever asks meanwhile waits for the same. */
  let storingAll: Promise<void> | null = null;
  let last: Promise<unknown> = Promise.resolve();
  const recordings = new Set<Promise<void>>();

  /** After all that has begun: so a delivery that is held is not being stored while its outcome is. */
  function inTurn<Result>(work: () => Promise<Result>): Promise<Result> {
    const result = Promise.allSettled([last, ...recordings]).then(work);
    last = result.catch(() => undefined);
    return result;
  }

  /** After what is done in turn, beside other outcomes: nobody else has these deliveries. */
  function beside(work: () => Promise<void>): Promise<void> {
    const result = last.then(work);
    recordings.add(result);
    return result.finally(() => recordings.delete(result));
  }

  /** Stores those of these deliveries that are held. */
  async function store(ids: readonly string[]): Promise<void> {
    if (ids.some((id) => held.has(id))) await inTurn(() => write(ids));
  }

  async function write(ids: readonly string[]): Promise<void> {
    const rows = ids.flatMap((id) => held.get(id)?.row ?? []);
    if (rows.length === 0) return;
    await ledger.insert(rows, now());
    for (const { delivery } of rows) held.delete(delivery.id);
  }

  async function stored(): Promise<void> {
    if (held.size === 0) return;
    storingAll ??= inTurn(() => {
      storingAll = null;
      return write([...held.keys()]);
    });
    await storingAll;
  }

  /** One timer at a time, until nothing is held; it keeps no process alive, since the outbox knows what is held. */
  function storeSlowLater(delayMs = HOLD_MS): void {
    if (storingSlow || held.size === 0) return;
    storingSlow = true;
    setTimeout(async () => {
      const done = await storeSlow();
      storingSlow = false;
      storeSlowLater(done ? HOLD_MS : RETRY_MS);
    }, delayMs).unref();
  }

  async function storeSlow(): Promise<boolean> {
    const instant = performance.now();
    const isSlow = ({ since, answered }: Held) => since <= instant - (answered ? ANSWERED_MS : HOLD_MS);
    try {
      await store([...held].filter(([, each]) => isSlow(each)).map(([id]) => id));
      return true;
    } catch (error) {
      report('deliveries could not be stored yet', error);
      return false;
    }
  }

  async function insertNow(rows: readonly NewDelivery[], at: Date): Promise<Set<string>> {
    if (rows.length === 0) return new Set();
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

    storedUntil() {
      const [oldest] = held.values();
      return oldest?.since ?? Number.POSITIVE_INFINITY;
    },

    answered(id) {
      const each = held.get(id);
      if (each) each.answered = true;
    },

    async insert(rows, at) {
      const mayWait = ({ delivery, lease, isNew }: NewDelivery) =>
        isNew && lease !== null && held.size < HELD && !held.has(delivery.id);
      const { waiting = [], others = [] } = Object.groupBy(rows, (row) => (mayWait(row) ? 'waiting' : 'others'));
      // Held before the others are stored: one of these may be a later event of the same invoice, which somebody claims.
      const since = performance.now();
      for (const row of waiting) held.set(row.delivery.id, { row, since, answered: false });
      storeSlowLater();
      const ids = await insertNow(others, at);
      for (const { delivery } of waiting) ids.add(delivery.id);
      return ids;
    },

    async untriedBefore(claims) {
      // Looked at first: what is stored meanwhile, the ledger knows.
      const heldBefore = claims.map(({ id, earlier, endpointId }) => ({
        id,
        ids: earlier.map((eventId) => deliveryId(eventId, endpointId)).filter((each) => held.has(each)),
      }));
      const before = await ledger.untriedBefore(claims);
      for (const { id, ids } of heldBefore) {
        if (ids.length > 0) before.set(id, [...new Set([...(before.get(id) ?? []), ...ids])]);
      }
      return before;
    },

    record: (records) =>
      beside(async () => {
        const attempted = records.flatMap((record) => {
          const row = held.get(record.claim.id)?.row;
          return row ? [{ delivery: row.delivery, record }] : [];
        });
        const inserted = await ledger.insertAttempted(attempted, now());
        // The others are stored with their leases; so may be what is held, when the answer to an insert was lost.
        const leased = records.filter(({ claim }) => !inserted.has(claim.id));
        if (leased.length > 0) await ledger.record(leased);
        for (const { claim } of records) held.delete(claim.id);
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
