import { isDeepStrictEqual } from 'node:util';
import type { AnyBulkWriteOperation, ClientSession, Collection, Db, UpdateFilter } from 'mongodb';
import type { InvoiceStatus } from '../domain/invoice/lifecycle.ts';
import { NO_SUMS, plus, type StatusSums, type Sums, sumsOfOne } from '../domain/invoice/periods/day-sums.ts';
import type { PeriodSums } from '../domain/invoice/periods/ports.ts';
import type { SummedInvoice } from '../domain/invoice/periods/summed-invoice.ts';
import { later } from '../domain/later.ts';
import { additionOf, DAY_SUMS_COLLECTION, type DaySumsDocument, dayKey, daySumsOf } from './day-sums.ts';
import { type InvoiceDocument, invoiceOf } from './invoice-document.ts';
import { sweep } from './leases.ts';
import { storeClock } from './store-clock.ts';
import { outageOf } from './unavailable.ts';

/** Maximum number of documents in one transaction. */
const MAX_DOCUMENTS = 200;
/**
 * How long a document must have no event before the sweep sums it, milliseconds. In a burst most documents wait for
 * seconds, and each one summed by the sweep costs the workers a second transaction later: with 5 s, three workers took
 * twice as long for 600 invoices.
 */
const WAITING_MS = 60_000;
/** Hint to find documents by id: without it some servers use another index. */
const BY_ID = { hint: { _id: 1 } } as const;

/** The fields of a document that are read before it is summed. */
type Known = Pick<InvoiceDocument, '_id' | 'summed' | 'searchTerms' | 'unsummed' | 'withheld'> & {
  readonly outbox?: Pick<NonNullable<InvoiceDocument['outbox']>, 'sequence'>;
};
const KNOWN = { summed: 1, searchTerms: 1, unsummed: 1, withheld: 1, 'outbox.sequence': 1 } as const;

/** Whether a stored document is still as it was when it was published or found. */
type IsSame<Row> = (row: Row, stored: Known) => boolean;

/** Returns when the sweep sums a document that is created or gets its number now, unless an event comes first. */
export function afterWaiting(now: Date): Date {
  return later(now, WAITING_MS);
}

/** Keeps the sums in the collection `day_sums`, one document per day of a tenant in an environment. */
export function createPeriodSums(db: Db): PeriodSums {
  const invoices = db.collection<InvoiceDocument>('invoices');
  const days = db.collection<DaySumsDocument>(DAY_SUMS_COLLECTION);
  const clock = storeClock(db.client);

  async function recordAll<Row extends SummedInvoice>(rows: readonly Row[], isSame: IsSame<Row>): Promise<void> {
    for (let first = 0; first < rows.length; first += MAX_DOCUMENTS)
      await recordSome(rows.slice(first, first + MAX_DOCUMENTS), isSame);
  }

  /**
   * Records rows in one transaction. If that fails, records each half separately, so that a failing row does not block
   * others.
   */
  async function recordSome<Row extends SummedInvoice>(rows: readonly Row[], isSame: IsSame<Row>): Promise<void> {
    try {
      await db.client.withSession((session) =>
        session.withTransaction(() => recordIn(session, { invoices, days }, rows, isSame)),
      );
    } catch (error) {
      if (rows.length === 1 || outageOf(error) !== null) throw error;
      const middle = Math.ceil(rows.length / 2);
      const halves = [rows.slice(0, middle), rows.slice(middle)];
      const failures: unknown[] = [];
      for (const half of halves) await recordSome(half, isSame).catch((failure) => failures.push(failure));
      if (failures.length > 0) throw failures[0];
    }
  }

  return {
    record: (published) => recordAll(published, ({ sequence }, { outbox }) => outbox?.sequence === sequence),

    // An event removes the mark, and a number sets another one. So an equal mark means that the document is unchanged.
    recordWaiting: (summed, mark) => recordAll(summed, (_, { unsummed }) => unsummed?.getTime() === mark.getTime()),

    async takeWaiting(limit, pauseMs) {
      const now = clock();
      const mark = later(now, pauseMs);
      const found = await sweep(invoices, 'unsummed', { limit, now, update: { $set: { unsummed: mark } } });
      return { invoices: found.map(invoiceOf), mark };
    },

    async days(owner, dates) {
      const found = days.find({ _id: { $in: dates.map((date) => dayKey(owner, date)) } });
      return (await found.toArray()).map(daySumsOf);
    },
  };
}

/**
 * Reads each document's status in the sums and updates both. A concurrent transaction on one of them causes a retry.
 */
async function recordIn<Row extends SummedInvoice>(
  session: ClientSession,
  { invoices, days }: { invoices: Collection<InvoiceDocument>; days: Collection<DaySumsDocument> },
  rows: readonly Row[],
  isSame: IsSame<Row>,
): Promise<void> {
  const ids = rows.map(({ invoiceId }) => invoiceId);
  const found = await invoices
    .find({ _id: { $in: ids } }, { session, batchSize: MAX_DOCUMENTS, ...BY_ID })
    .project<Known>(KNOWN)
    .toArray();
  const stored = new Map(found.map((each) => [each._id, each]));
  const same = rows.flatMap((row) => {
    const known = stored.get(row.invoiceId);
    return known && isSame(row, known) ? [{ row, known }] : [];
  });
  if (same.length === 0) return;
  // The erasure of a tenant removes the sums; documents that it has withheld must not bring them back.
  const kept = same.filter(({ known }) => known.withheld === undefined);
  const additions = additionsOf(kept.map(({ row, known }) => ({ row, earlier: known.summed ?? null })));
  // The sums come first, because they are few: a server may repeat a transaction's earlier writes for each later one.
  if (additions.size > 0)
    await days.bulkWrite(
      [...additions].map(([_id, sums]) => ({
        updateOne: { filter: { _id }, update: additionOf(sums), upsert: true },
      })),
      { session },
    );
  await invoices.bulkWrite(updatesOf(same), { session });
}

/** A document to record, and its stored fields. */
interface Recorded {
  readonly row: SummedInvoice;
  readonly known: Known;
}

/** Returns the updates of recorded documents: one for each document with new search terms, and few for all others. */
function updatesOf(recorded: readonly Recorded[]): AnyBulkWriteOperation<InvoiceDocument>[] {
  const $unset = { outbox: '', unsummed: '' } as const;
  const hasNewTerms = ({ row: { searchTerms }, known }: Recorded) =>
    !known.withheld && !isDeepStrictEqual(searchTerms, known.searchTerms);
  const byTerms = Map.groupBy(recorded, hasNewTerms);
  const found = (byTerms.get(true) ?? []).map(({ row: { invoiceId, status, searchTerms } }) => ({
    updateOne: {
      filter: { _id: invoiceId },
      update: { $set: { summed: status, searchTerms }, $unset } as UpdateFilter<InvoiceDocument>,
      ...BY_ID,
    },
  }));
  const byStatus = Map.groupBy(byTerms.get(false) ?? [], ({ row, known }) => (known.withheld ? null : row.status));
  const moved = [...byStatus].map(([status, each]) => ({
    updateMany: {
      filter: { _id: { $in: each.map(({ row }) => row.invoiceId) } },
      update: { ...(status !== null && { $set: { summed: status } }), $unset } as UpdateFilter<InvoiceDocument>,
      ...BY_ID,
    },
  }));
  return [...found, ...moved];
}

/** Returns the changes of the sums that these documents cause, by the key of the day. */
function additionsOf(
  changed: readonly { readonly row: SummedInvoice; readonly earlier: InvoiceStatus | null }[],
): Map<string, StatusSums[]> {
  const byDay = Map.groupBy(changed, ({ row }) => dayKey(row, row.date));
  const additions = [...byDay].map(([key, each]) => {
    const sums = new Map<string, StatusSums>();
    const add = ({ kind }: SummedInvoice, status: InvoiceStatus, one: Sums, sign: 1 | -1) => {
      const name = `${kind} ${status}`;
      sums.set(name, { kind, status, ...plus(sums.get(name) ?? NO_SUMS, one, sign) });
    };
    for (const { row, earlier } of each) {
      if (earlier === row.status) continue;
      const one = sumsOfOne(row);
      add(row, row.status, one, 1);
      if (earlier !== null) add(row, earlier, one, -1);
    }
    return [key, [...sums.values()].filter(isChange)] as const;
  });
  return new Map(additions.filter(([, sums]) => sums.length > 0));
}

function isChange({ count, amount, withheld, rates }: Sums): boolean {
  if (count !== 0 || amount !== 0n || withheld !== 0n) return true;
  return [...rates.values()].some(({ net, tax }) => net !== 0n || tax !== 0n);
}
