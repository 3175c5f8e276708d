import { READ_BYTES } from '../../answer-bounds.ts';
import { addDays, isCalendarDate } from '../../calendar-date.ts';
import { serviceError } from '../../errors.ts';
import { PAGE_SIZE } from '../../limits.ts';
import { startOfMoroccanDay } from '../../morocco/time.ts';
import type { Member } from '../../principal.ts';
import type { Owner } from '../../tenant/tenant.ts';
import type { Call, UseCase } from '../../use-case.ts';
import { KIND_NAMES, type Kind } from '../kinds.ts';
import type { InvoiceStatus } from '../lifecycle.ts';
import type { InvoiceReading } from '../repository.ts';
import { searchOf } from '../search/query.ts';
import { type DaySums, NO_SUMS, plus, type StatusSums, type Sums, sumsOfOne } from './day-sums.ts';
import type { Days } from './period.ts';
import { summedOf } from './summed-invoice.ts';

/** Reads the sums of a tenant's days in order. */
export interface IssuedDays {
  /** Returns the first `limit` days on which something was issued. A null bound is open. */
  between(owner: Owner, days: { readonly [End in keyof Days]: string | null }, limit: number): Promise<DaySums[]>;
}

/** The restrictions of a list. */
export interface TotalsInput {
  readonly kind: Kind | null;
  readonly status: InvoiceStatus | null;
  readonly search: string | null;
  /** The first and the last day of issue in Morocco, `YYYY-MM-DD`. */
  readonly from: string | null;
  readonly through: string | null;
  /** Maximum size of the documents that a search reads, bytes; default 4 MiB. */
  readonly maxBytes?: number;
}

export interface FilterTotals {
  /** Number of invoices and credit notes. */
  readonly count: number;
  /** The sums of invoices less those of credit notes. */
  readonly sums: Sums;
  /** Whether there may be more documents than those summed. */
  readonly hasMore: boolean;
  /** Size of the stored documents that were read; 0 without a search. */
  readonly bytes: number;
}

/** Maximum number of found documents that are summed. */
export const MOST_TOTALLED = 1000;
/** Maximum number of days with documents that are summed: those of ten years. */
const MOST_DAYS = 3660;

interface Needs {
  readonly invoices: Pick<InvoiceReading, 'page' | 'orderOf'>;
  readonly issuedDays: IssuedDays;
}

/**
 * Sums the documents of a list. Without a search it reads the sums of the days, independent of the number of documents.
 * A search reads the documents that it finds, up to {@link MOST_TOTALLED} documents and `maxBytes`.
 * @throws {ServiceError} invalid_request for days that do not exist, or a search that is too long
 */
export const fiscalDocumentTotals = {
  scope: 'read',
  async run(needs: Needs, { by }: Call, asked: TotalsInput): Promise<FilterTotals> {
    for (const name of ['from', 'through'] as const)
      if (asked[name] !== null && !isCalendarDate(asked[name]))
        throw serviceError('invalid_request', `${name} must be a date such as 2026-11-30.`, name);
    return asked.search === null ? ofDays(needs, by, asked) : ofSearch(needs, by, { ...asked, search: asked.search });
  },
} as const satisfies UseCase;

async function ofDays(
  { issuedDays }: Needs,
  { tenant, environment }: Member,
  { kind, status, from, through }: TotalsInput,
): Promise<FilterTotals> {
  const days = await issuedDays.between({ tenantId: tenant.id, environment }, { from, through }, MOST_DAYS + 1);
  const rows = days
    .slice(0, MOST_DAYS)
    .flatMap(({ sums }) => sums)
    .filter((row) => (kind === null || row.kind === kind) && (status === null || row.status === status));
  return totalsOf(rows, days.length > MOST_DAYS, 0);
}

async function ofSearch(
  { invoices }: Needs,
  { tenant, environment }: Member,
  { kind, status, from, through, search, maxBytes = READ_BYTES }: TotalsInput & { readonly search: string },
): Promise<FilterTotals> {
  const query = {
    tenantId: tenant.id,
    environment,
    kind,
    status,
    match: null,
    limit: PAGE_SIZE.most,
    search: searchOf(search),
    createdFrom: from === null ? null : startOfMoroccanDay(from),
    createdUntil: through === null ? null : startOfMoroccanDay(addDays(through, 1)),
  };
  const rows: Pick<StatusSums, 'kind' | keyof Sums>[] = [];
  let bytes = 0;
  let cursor: { readonly direction: 'after'; readonly order: string } | null = null;
  for (;;) {
    const page = await invoices.page({ ...query, cursor, maxBytes: maxBytes - bytes });
    rows.push(...page.invoices.map((each) => ({ kind: each.kind, ...sumsOfOne(summedOf(each)) })));
    bytes += page.bytes;
    const last = page.invoices.at(-1)?.id;
    if (!page.hasMore) return totalsOf(rows, false, bytes);
    // A page that is not full ended at the maximum size, or after reading many documents.
    const isCut = page.invoices.length < query.limit || bytes >= maxBytes;
    if (rows.length >= MOST_TOTALLED || isCut || last === undefined) return totalsOf(rows, true, bytes);
    const order = await invoices.orderOf(tenant.id, environment, last);
    if (order === null) return totalsOf(rows, true, bytes);
    cursor = { direction: 'after', order };
  }
}

function totalsOf(rows: readonly (Sums & { readonly kind: Kind })[], hasMore: boolean, bytes: number): FilterTotals {
  const sumOf = (kind: Kind) => rows.reduce<Sums>((sum, row) => (row.kind === kind ? plus(sum, row) : sum), NO_SUMS);
  const [invoices, notes] = KIND_NAMES.map(sumOf) as [Sums, Sums];
  return { count: invoices.count + notes.count, sums: plus(invoices, notes, -1), hasMore, bytes };
}
