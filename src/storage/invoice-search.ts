import type { Collection, Filter } from 'mongodb';
import { READ_BYTES } from '../domain/answer-bounds.ts';
import type { InvoicePage, InvoicePageQuery } from '../domain/invoice/invoice-queries.ts';
import { KIND_NAMES } from '../domain/invoice/kinds.ts';
import { matchesAll, type SearchedWord } from '../domain/invoice/search/query.ts';
import { orderAt } from '../domain/order-key.ts';
import { type InvoiceDocument, invoiceOf } from './invoice-document.ts';
import { decoded, highestOf, MOST_RAISED_MS, orderRange } from './pages.ts';
import { countRows, type FoundRow, rowsInOrder, rowsOf, type SearchedPlace } from './search-places.ts';
import { mergedRows } from './search-sources.ts';

/** A place with at most this many rows is read as a whole. */
const FEW = 200;
/** Number of rows that are read together from larger places. More than most pages have, because not all rows match. */
const BATCH = 100;
/** Places with more rows than this count as equally large. */
const MOST_COUNTED = 10_000;
/** Maximum number of rows that are read to choose the sources of a search. */
const MOST_PROBED = 1500;
/** Maximum number of rows that are read for a page. A page that would need more ends there. */
const MOST_READ = 2000;

type Invoices = Collection<InvoiceDocument>;
type Cursor = InvoicePageQuery['cursor'];

/**
 * Reads a page of the invoices that match all words of a search (docs/decisions/0091). Reads the invoices of the word
 * that the fewest invoices have, in the order of the list, and compares them with the other words. So no search reads
 * more than a fixed number of rows.
 */
export async function searchPage(
  invoices: Invoices,
  query: InvoicePageQuery,
  words: readonly SearchedWord[],
): Promise<InvoicePage> {
  const { cursor, limit, maxBytes } = query;
  const search = await begin(invoices, query, words);
  const hasOthers = async () => {
    if (!cursor) return false;
    const back = { direction: cursor.direction === 'after' ? 'before' : 'after', order: cursor.order } as const;
    const { ids, stoppedAt } = await search.read(back, 1, true);
    return ids.length > 0 || stoppedAt !== undefined;
  };
  const { ids, hasMore, stoppedAt } = await search.read(cursor, limit, false);
  const found = await readInOrder(invoices, ids, maxBytes);
  const page = found.found.map(invoiceOf);
  return {
    invoices: cursor?.direction === 'before' ? page.reverse() : page,
    hasMore: hasMore || found.hasMore,
    hasOthers,
    bytes: found.bytes,
    ...(stoppedAt !== undefined && !found.hasMore && { stoppedAt }),
  };
}

/** Number of found invoices that are read together. */
const AT_ONCE = 25;

/** Reads invoices in the order of `ids`, as many as fit into `maxBytes`, but at least one. */
async function readInOrder(invoices: Invoices, ids: readonly string[], maxBytes = READ_BYTES) {
  const found: InvoiceDocument[] = [];
  let bytes = 0;
  for (let from = 0; from < ids.length; from += AT_ONCE) {
    // Filters by id only: with the tenant in the filter, some servers would scan all invoices of the tenant.
    const filter = { _id: { $in: ids.slice(from, from + AT_ONCE) } };
    const raws = (await invoices.find(filter, { raw: true }).toArray()) as unknown as Uint8Array[];
    const rows = await Promise.all(
      raws.map(async (raw) => ({ document: await decoded<InvoiceDocument>(raw), size: raw.length })),
    );
    const place = new Map(ids.map((id, nth) => [id, nth]));
    rows.sort((a, b) => (place.get(a.document._id) ?? 0) - (place.get(b.document._id) ?? 0));
    for (const { document, size } of rows) {
      if (found.length > 0 && bytes + size > maxBytes) return { found, hasMore: true, bytes };
      found.push(document);
      bytes += size;
    }
  }
  return { found, hasMore: false, bytes };
}

interface Read {
  /** In the order of reading. */
  readonly ids: readonly string[];
  readonly hasMore: boolean;
  readonly stoppedAt?: string;
}

/** The sources of a page: rows that are known, or places that are in the order of the list. */
type Sources = readonly (readonly FoundRow[] | CountedPlace)[];
type Kind = (typeof KIND_NAMES)[number];
type OrderedPlace = Exclude<SearchedPlace, { beginning: string }>;
interface CountedPlace {
  readonly kind: Kind;
  readonly place: OrderedPlace;
  /** Number of its rows, counted up to {@link MOST_COUNTED}. */
  readonly rows: number;
}

async function begin(invoices: Invoices, query: InvoicePageQuery, words: readonly SearchedWord[]) {
  const kinds = query.kind === null ? KIND_NAMES : [query.kind];
  const newest = await newestOf(invoices, query, kinds);
  const passes = (row: FoundRow) => isWithin(query, row) && matchesAll(row, words);
  let chosen: Promise<Sources> | undefined;
  return {
    async read(cursor: Cursor, limit: number, isInclusive: boolean): Promise<Read> {
      if (newest === null) return { ids: [], hasMore: false };
      chosen ??= choose(invoices, query, kinds, words);
      const newestFirst = cursor?.direction !== 'before';
      const order = rangeOf(query, cursor, newest, isInclusive);
      let read = 0;
      const parts = await chosen;
      const large = parts.filter((each) => 'place' in each && each.rows > FEW).length;
      const batchOf = ({ rows }: CountedPlace) => (rows > FEW ? Math.ceil(BATCH / large) : FEW);
      const sources = parts.map((each) =>
        'place' in each
          ? rowsInOrder(invoices, query, each.kind, each.place, { order, newestFirst, batch: batchOf(each) })
          : sorted(each, newestFirst).filter((row) => isInRange(order, row)),
      );
      const ids: string[] = [];
      for await (const row of mergedRows(sources, newestFirst, () => read++)) {
        if (passes(row)) {
          if (ids.length === limit) return { ids, hasMore: true };
          ids.push(row.id);
        }
        if (read >= MOST_READ) return { ids, hasMore: true, stoppedAt: row.id };
      }
      return { ids, hasMore: false };
    },
  };
}

/** Returns the highest existing key. Up to this key all rows are complete (`pages.ts`), so no page leaves one out. */
async function newestOf(invoices: Invoices, { tenantId, environment }: InvoicePageQuery, kinds: readonly Kind[]) {
  const whole = { cursor: null, from: null, until: null };
  const tops = await Promise.all(
    kinds.map((kind) => highestOf(invoices, { tenantId, environment, kind } as Filter<InvoiceDocument>, whole, 'list')),
  );
  return (
    tops
      .filter((top) => top !== null)
      .sort()
      .at(-1) ?? null
  );
}

/**
 * Chooses the sources of a search: the places of the word that the fewest invoices have, because most of these invoices
 * match the other words, too.
 */
async function choose(
  invoices: Invoices,
  query: InvoicePageQuery,
  kinds: readonly Kind[],
  words: readonly SearchedWord[],
): Promise<Sources> {
  const candidates: (readonly (readonly SearchedPlaces[])[])[] = words.map(({ meanings }) =>
    meanings.map(({ places }) => places),
  );
  if (query.status !== null) candidates.push([[both({ status: query.status })]]);
  const [only = []] = candidates;
  // If there is a single word, and the place of each of its meanings is in the order of the list, there is no choice.
  const whole = only.flatMap(([place, ...others]) => (others.length === 0 && place ? [place] : []));
  if (
    candidates.length === 1 &&
    whole.length === only.length &&
    whole.every(({ narrow, ordered }) => narrow === ordered)
  )
    return whole.flatMap((place) =>
      kinds.map((kind) => ({ kind, place: place.ordered ?? WHOLE_LIST, rows: MOST_COUNTED })),
    );
  const probes = { left: MOST_PROBED };
  let best: { readonly rows: number; readonly sources: Sources } | null = null;
  for (const meanings of candidates) {
    const sized = await Promise.all(
      meanings.flatMap((places) => kinds.map((kind) => smallestOf(invoices, query, kind, places, probes))),
    );
    const rows = sized.reduce((sum, each) => sum + sizeOf(each), 0);
    if (!best || rows < best.rows) best = { rows, sources: sized.filter((each) => sizeOf(each) > 0) };
    if (rows <= FEW) break;
  }
  return best?.sources ?? [];
}

/** Returns the place of a meaning with the fewest rows. */
async function smallestOf(
  invoices: Invoices,
  query: InvoicePageQuery,
  kind: Kind,
  places: readonly SearchedPlaces[],
  probes: { left: number },
): Promise<Sources[number]> {
  const count = (place: SearchedPlace, most: number) => countRows(invoices, query, kind, place, most);
  const [smallest, ...others] = await Promise.all(
    places.map(async ({ ordered }) => ({
      kind,
      place: ordered ?? WHOLE_LIST,
      rows: ordered ? await count(ordered, MOST_COUNTED) : MOST_COUNTED,
    })),
  );
  if (!smallest) return [];
  const ordered = others.reduce((a, b) => (b.rows < a.rows ? b : a), smallest);
  if (ordered.rows <= FEW) return ordered;
  const beginnings = places.flatMap(({ narrow }) => ('beginning' in narrow ? [narrow] : []));
  for (const narrow of beginnings.sort((a, b) => b.beginning.length - a.beginning.length)) {
    if (probes.left <= 0) break;
    // First counts the word itself, by its index. If many invoices have it, many have words that begin with it.
    if ((await count({ term: narrow.beginning }, FEW + 1)) > FEW) continue;
    const rows = await rowsOf(invoices, query, kind, narrow, FEW + 1);
    probes.left -= rows.length;
    if (rows.length <= FEW) return rows;
  }
  return ordered;
}

function sizeOf(source: Sources[number]): number {
  return 'place' in source ? source.rows : source.length;
}

/** The places of a meaning, or of a status. */
interface SearchedPlaces {
  readonly narrow: SearchedPlace;
  readonly ordered: OrderedPlace | null;
}

function both(place: OrderedPlace): SearchedPlaces {
  return { narrow: place, ordered: place };
}

/** Read if nothing smaller is in the order of the list. Counts as large, without being counted. */
const WHOLE_LIST = { all: true } as const;

/** Whether a row has the status and was created within the limits, by the rule of `createdWithin`. */
function isWithin({ status, createdFrom, createdUntil }: InvoicePageQuery, row: FoundRow): boolean {
  if (status !== null && row.status !== status) return false;
  if (createdUntil !== null && row.createdAt >= createdUntil) return false;
  return createdFrom === null || row.createdAt >= createdFrom || row.order >= orderAt(createdFrom + MOST_RAISED_MS);
}

interface Range {
  readonly $gt?: string;
  readonly $gte?: string;
  readonly $lt?: string;
  readonly $lte: string;
}

function rangeOf(
  { createdFrom: from, createdUntil }: InvoicePageQuery,
  cursor: Cursor,
  newest: string,
  isInclusive: boolean,
): Range {
  const until = createdUntil && createdUntil + MOST_RAISED_MS;
  const range: Range = { ...orderRange({ cursor: isInclusive ? null : cursor, from, until }), $lte: newest };
  if (!isInclusive || cursor === null) return range;
  const { order } = cursor;
  if (cursor.direction === 'after') return { ...range, $lte: order < newest ? order : newest };
  return { ...range, $gte: range.$gte !== undefined && range.$gte > order ? range.$gte : order };
}

function isInRange({ $gt, $gte, $lt, $lte }: Range, { order }: FoundRow): boolean {
  return (
    order <= $lte && ($lt === undefined || order < $lt) && ($gt === undefined || order > $gt) && order >= ($gte ?? '')
  );
}

function sorted(rows: readonly FoundRow[], newestFirst: boolean): readonly FoundRow[] {
  return rows.toSorted((a, b) => (a.order < b.order ? -1 : 1) * (newestFirst ? -1 : 1));
}
