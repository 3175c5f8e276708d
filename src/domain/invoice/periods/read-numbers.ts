import { moroccanDate } from '../../morocco/time.ts';
import { type Page, type PageSpan, placeInList } from '../../page.ts';
import type { Owner } from '../../tenant/tenant.ts';
import type { Call, UseCase } from '../../use-case.ts';
import { KIND_NAMES, KINDS, type Kind } from '../kinds.ts';
import { legalNumber, type SeriesNumber, seriesNumberOf } from '../series-number.ts';
import {
  entryOf,
  type IssuedNumbers,
  type LedgerEntry,
  type LedgerPlace,
  type NumberedDocument,
  type NumberRange,
  placesOf,
  type SerialRange,
} from './number-ledger.ts';
import { type Period, periodNamed } from './period.ts';
import { highestOf, serialsOf } from './series-bounds.ts';

/** Maximum number of passed-over ranges that are listed. An operator makes each of them after a restore. */
const MOST_LOST = 100;
/** Maximum number of credit notes that are read with a page. A page ends before a document that would exceed it. */
const MOST_CORRECTIONS = 1000;
const LONGEST_NUMBER = 30;

interface Needs {
  readonly issuedNumbers: IssuedNumbers;
  readonly now: () => Date;
}

/** Returns the series that a period may use, in the order of the ledger. A period lies within one year. */
function seriesIn({ from }: Period): { readonly kind: Kind; readonly name: string }[] {
  return KIND_NAMES.map((kind) => ({ kind, name: `${KINDS[kind].seriesPrefix}${from.slice(0, 4)}` }));
}

/**
 * Reads a page of the ledger of numbers of a period: the invoices' numbers, then the credit notes' numbers, in order,
 * with the gaps between them.
 * @throws {ServiceError} invalid_request for a text that names no period, or a cursor outside of its numbers
 */
export async function readNumbers(
  { issuedNumbers, now }: Needs,
  owner: Owner,
  name: string,
  span: PageSpan,
): Promise<Pick<Page<LedgerEntry>, 'rows' | 'hasMore' | 'hasOthers'>> {
  const period = periodNamed(name);
  const today = moroccanDate(now());
  const series = seriesIn(period);
  const { limit, cursor } = await placeInList(span, async (id) => {
    const number = id.length <= LONGEST_NUMBER ? seriesNumberOf(id) : null;
    return number && series.some((each) => each.name === number.name) ? { order: id } : null;
  });
  const at = cursor && seriesNumberOf(cursor.order);
  const isBackwards = cursor?.direction === 'before';
  const order = isBackwards ? series.toReversed() : series;
  const places: LedgerPlace[] = [];
  for (const { name: each } of order.slice(at ? order.findIndex((one) => one.name === at.name) : 0)) {
    const left = limit + 1 - places.length;
    if (left <= 0) break;
    const range = await serialsOf(issuedNumbers, owner, each, period, today);
    const here = at?.name === each ? at : null;
    if (isBackwards) places.unshift(...(await placesBefore(issuedNumbers, owner, each, range, here, left)));
    else {
      const above = Math.max(range.above, here?.serial ?? 0);
      places.push(...placesOf(each, above, await issuedNumbers.taken(owner, each, { ...range, above }, left)));
    }
  }
  const page = isBackwards ? places.slice(-limit) : places.slice(0, limit);
  const documents = await issuedNumbers.documents(page.flatMap((each) => ('gap' in each ? [] : each.invoiceId)));
  const kept = withinCorrections(page, documents, isBackwards);
  const rows = await entriesOf(issuedNumbers, kept, documents);
  return { rows, hasMore: kept.length < places.length, hasOthers: async () => cursor !== null };
}

/**
 * Reads up to `limit` places before the cursor's number; before the end of the range if the cursor is of another
 * series.
 */
async function placesBefore(
  numbers: IssuedNumbers,
  owner: Owner,
  series: string,
  { above, upTo }: SerialRange,
  cursor: SeriesNumber | null,
  limit: number,
): Promise<LedgerPlace[]> {
  const last = cursor ? Math.min(cursor.serial, upTo ?? cursor.serial) : upTo;
  // Two more: the cursor's own number, and the number before the page, from which the first gap is counted.
  const most = limit + 2;
  const found = (await numbers.taken(owner, series, { above, upTo: last }, most, true)).toReversed();
  const isCut = found.length === most;
  const places = placesOf(series, (isCut && found[0]?.serial) || above, isCut ? found.slice(1) : found);
  const isOwn = cursor !== null && places.at(-1)?.id === legalNumber(cursor);
  return (isOwn ? places.slice(0, -1) : places).slice(-limit);
}

/** Shortens a page, so that the number of credit notes read with it is limited. */
function withinCorrections(
  page: readonly LedgerPlace[],
  documents: ReadonlyMap<string, NumberedDocument>,
  isBackwards: boolean,
): readonly LedgerPlace[] {
  let corrections = 0;
  const inOrder = isBackwards ? page.toReversed() : page;
  const beyond = inOrder.findIndex((place, index) => {
    corrections += 'gap' in place ? 0 : (documents.get(place.invoiceId)?.credits.length ?? 0);
    return index > 0 && corrections > MOST_CORRECTIONS;
  });
  if (beyond === -1) return page;
  return isBackwards ? page.slice(-beyond) : page.slice(0, beyond);
}

async function entriesOf(
  numbers: IssuedNumbers,
  page: readonly LedgerPlace[],
  documents: ReadonlyMap<string, NumberedDocument>,
): Promise<LedgerEntry[]> {
  const others = page.flatMap((place) => {
    const document = 'gap' in place ? undefined : documents.get(place.invoiceId);
    if (!document) return [];
    return [...document.credits.map(({ creditNoteId }) => creditNoteId), ...(document.replacedById ?? [])];
  });
  const related = await numbers.documents([...new Set(others)]);
  const all = new Map([...documents, ...related]);
  return page.map((place) => entryOf(place, all));
}

/** Returns the summary of the numbers of a period, one row for each series. */
export async function readRanges({ issuedNumbers, now }: Needs, owner: Owner, name: string): Promise<NumberRange[]> {
  const period = periodNamed(name);
  const today = moroccanDate(now());
  return Promise.all(
    seriesIn(period).map(async ({ kind, name: series }) => {
      const range = await serialsOf(issuedNumbers, owner, series, period, today);
      const numberOf = (serial: number) => legalNumber({ name: series, serial });
      const last = range.upTo ?? (await highestOf(issuedNumbers, owner, series));
      if (last <= range.above) return { series, kind, first: null, last: null, count: 0, lost: [] };
      const noted = await issuedNumbers.lost(owner, series, { ...range, upTo: last }, MOST_LOST + 1);
      const lost = noted.slice(0, MOST_LOST);
      const passed = lost.reduce((sum, { from, through }) => sum + through - from + 1, 0);
      return {
        series,
        kind,
        first: numberOf(range.above + 1),
        last: numberOf(last),
        count: noted.length > MOST_LOST ? null : last - range.above - passed,
        lost: lost.map(({ from, through }) => ({ number: numberOf(from), through: numberOf(through) })),
      };
    }),
  );
}

/** The ledger of numbers of a period, as {@link readNumbers} and {@link readRanges} read it. */
export const NUMBER_USE_CASES = {
  periodNumbers: {
    scope: 'read',
    run: (needs: Needs, { by: { tenant, environment } }: Call, name: string, span: PageSpan) =>
      readNumbers(needs, { tenantId: tenant.id, environment }, name, span),
  },
  periodSeries: {
    scope: 'read',
    run: (needs: Needs, { by: { tenant, environment } }: Call, name: string) =>
      readRanges(needs, { tenantId: tenant.id, environment }, name),
  },
} as const satisfies Readonly<Record<string, UseCase>>;
