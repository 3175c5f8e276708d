import { isDeepStrictEqual } from 'node:util';
import type { ClientSession, Db, Filter } from 'mongodb';
import { KIND_NAMES } from '../domain/invoice/kinds.ts';
import { NO_SUMS, plus, type StatusSums, type Sums, sumsOfOne } from '../domain/invoice/periods/day-sums.ts';
import { datedAmountsOf } from '../domain/invoice/periods/summed-invoice.ts';
import { termsOf } from '../domain/invoice/search/terms.ts';
import { ENVIRONMENTS, type Owner } from '../domain/tenant/tenant.ts';
import { DAY_SUMS_COLLECTION, type DaySumsDocument, dayKey, daySumsOf } from './day-sums.ts';
import { type InvoiceDocument, invoiceOf } from './invoice-document.ts';
import { presentTenants } from './present-documents.ts';

/** Number of tenants that are read together. */
const TENANTS = 100;

/** The fields of an invoice that determine its part in the sums. */
const SUMMED_FIELDS = [
  '_id',
  'tenantId',
  'environment',
  'kind',
  'status',
  'summed',
  'order',
  'createdAt',
  'amount',
  'lines',
  'discount',
  'charge',
  'credit',
  'deduction',
  'withholding',
] as const satisfies readonly (keyof InvoiceDocument)[];
const PROJECTION = Object.fromEntries(SUMMED_FIELDS.map((field) => [field, 1]));

/** The fields of an invoice that determine its search terms, and those that show whether it is summed. */
export const SUMMED_STATE = [
  '_id',
  'tenantId',
  'status',
  'summed',
  'unsummed',
  'outbox',
  'withheld',
  'searchTerms',
  'customer',
  'metadata',
  'references',
  'terms',
  'series',
  'ownNumber',
  'dgiId',
] as const satisfies readonly (keyof InvoiceDocument)[];
export type SummedState = Pick<InvoiceDocument, (typeof SUMMED_STATE)[number]>;

/** The sums of a day, computed from its invoices, and the first and the last order key of these. */
interface CountedDay {
  first: string;
  last: string;
  readonly sums: Map<string, StatusSums>;
}

/**
 * Returns the invoices that the sums do not contain under their status, or whose search terms are outdated, although no
 * pending work would correct this.
 */
export async function unsummedInvoices(
  db: Db,
  invoices: readonly SummedState[],
): Promise<{ readonly id: string; readonly text: string }[]> {
  const settled = invoices.filter(({ unsummed, outbox, withheld }) => !outbox && !unsummed && !withheld);
  const faulty = settled.filter((invoice) => invoice.summed !== invoice.status || !hasItsTerms(invoice));
  if (faulty.length === 0) return [];
  const present = await presentTenants(db, [...new Set(faulty.map(({ tenantId }) => tenantId))]);
  return faulty
    .filter(({ tenantId }) => present.has(tenantId))
    .map(({ _id, status, summed }) => {
      if (summed === status) return { id: _id, text: 'a search does not find it by what it states' };
      const how = summed === undefined ? 'not at all' : `as ${summed}`;
      return { id: _id, text: `it is ${status}, and the sums of its day have it ${how}` };
    });
}

function hasItsTerms({ searchTerms, ...invoice }: SummedState): boolean {
  // `invoiceOf` uses only the fields of {@link SUMMED_STATE} for this.
  const stated = invoiceOf({ ...invoice, lines: [], events: [] } as unknown as InvoiceDocument);
  return isDeepStrictEqual(searchTerms, termsOf(stated));
}

/**
 * Compares the sums of each day with the invoices that are marked as summed. Skips erased tenants.
 * @returns yields a text for each fault; returns the number of days
 */
export async function* checkedDays(db: Db): AsyncGenerator<string, number> {
  let checked = 0;
  const tenants = db.collection<{ _id: string; erasure?: object }>('tenants');
  for (let after = ''; ; ) {
    const found = await tenants
      .find({ _id: { $gt: after } }, { projection: { erasure: 1 } })
      .sort({ _id: 1 })
      .limit(TENANTS)
      .toArray();
    const last = found.at(-1);
    if (last === undefined) return checked;
    for (const { _id: tenantId, erasure } of found)
      if (!erasure)
        for (const environment of ENVIRONMENTS) checked += yield* checkedDaysOf(db, { tenantId, environment });
    after = last._id;
  }
}

async function* checkedDaysOf(db: Db, owner: Owner): AsyncGenerator<string, number> {
  const counted = await countedDays(db, owner, { from: '' });
  const newest = [...counted.values()].reduce((last, { first }) => (first > last ? first : last), '');
  const days = db.collection<DaySumsDocument>(DAY_SUMS_COLLECTION);
  const range = { $gte: dayKey(owner, ''), $lt: dayKey(owner, '~') };
  const stored = new Map((await days.find({ _id: range }).toArray()).map((each) => [daySumsOf(each).date, each]));
  const dates = [...new Set([...counted.keys(), ...stored.keys()])].sort();
  for (const [place, date] of dates.entries()) {
    if (textOf(stored.get(date)) === textOfCounted(counted.get(date))) continue;
    // The service may have changed the sums or the invoices meanwhile. Both are read again in one transaction.
    const from = counted.get(date)?.first ?? newest;
    // New invoices belong to the last day or, about midnight, to the day before. Their keys then follow keys of the
    // next day, so the range ends with the last key of the next day.
    const through = counted.get(dates[place + 1] ?? '')?.last;
    const isSame = await db.client.withSession((session) =>
      session.withTransaction(async () => {
        const again = await days.findOne({ _id: dayKey(owner, date) }, { session });
        const found = await countedDays(db, owner, { from, through }, session);
        return textOf(again ?? undefined) === textOfCounted(found.get(date));
      }),
    );
    if (isSame || !(await presentTenants(db, [owner.tenantId])).has(owner.tenantId)) continue;
    yield `sums of ${dayKey(owner, date)}: they are not those of its invoices`;
  }
  return dates.length;
}

/** Sums the invoices that are marked as summed, in a range of order keys, by the day of issue. */
async function countedDays(
  db: Db,
  { tenantId, environment }: Owner,
  { from, through }: { readonly from: string; readonly through?: string | undefined },
  session?: ClientSession,
): Promise<Map<string, CountedDay>> {
  const days = new Map<string, CountedDay>();
  const order = { $gte: from, ...(through !== undefined && { $lte: through }) };
  const invoices = db.collection<InvoiceDocument>('invoices');
  for (const kind of KIND_NAMES) {
    const filter = { tenantId, environment, kind, order } as Filter<InvoiceDocument>;
    const found = invoices.find(filter, { projection: PROJECTION, hint: 'list', ...(session && { session }) });
    for await (const document of found) {
      const { rates, date, amount, withheld } = datedAmountsOf(
        // `invoiceOf` uses only the fields that were read.
        invoiceOf({ ...document, metadata: [], customer: {}, seller: {}, events: [] } as unknown as InvoiceDocument),
      );
      const day = days.get(date) ?? { first: document.order, last: document.order, sums: new Map() };
      days.set(date, day);
      if (document.order < day.first) day.first = document.order;
      if (document.order > day.last) day.last = document.order;
      if (document.summed === undefined) continue;
      const name = `${kind} ${document.summed}`;
      const sums: Sums = plus(day.sums.get(name) ?? NO_SUMS, sumsOfOne({ amount, withheld, rates }));
      day.sums.set(name, { kind, status: document.summed, ...sums });
    }
  }
  return days;
}

function textOf(stored: DaySumsDocument | undefined): string {
  return stored === undefined ? '' : textOfSums(daySumsOf(stored).sums);
}

function textOfCounted(day: CountedDay | undefined): string {
  return textOfSums([...(day?.sums.values() ?? [])]);
}

/** Rates whose sums are zero count as absent. */
function textOfSums(sums: readonly StatusSums[]): string {
  return sums
    .map(({ kind, status, count, amount, withheld, rates }) => {
      const ofRates = [...rates].filter(([, { net, tax }]) => net !== 0n || tax !== 0n).sort(([a], [b]) => a - b);
      return [kind, status, count, amount, withheld, ...ofRates.map(([rate, { net, tax }]) => [rate, net, tax])].join();
    })
    .sort()
    .join(' ');
}
