import { LRUCache } from 'lru-cache';
import type { Owner } from '../tenant/tenant.ts';
import type { Claim, InvoiceReading } from './repository.ts';
import { type AwaitingNumber, seriesOf } from './series-number.ts';

/** A claimed invoice that waits for its number in this process. */
export interface Waiting {
  readonly claim: Claim;
}

/** The next invoice of a series, and the item that waits for its number in this process. */
export interface Entry<Item extends Waiting> {
  readonly invoiceId: string;
  /** The order key; null for an invoice whose place does not show that earlier ones have numbers. */
  readonly order: string | null;
  readonly item: Item | null;
}

/** Finds the invoices of a series that get the next numbers, in order. All items of a call belong to the series. */
export interface SeriesLine<Item extends Waiting> {
  /**
   * Returns the next invoices of the series if they are certainly those of this process: each was created right after
   * an invoice that has its number or is in the list. Null if other invoices may come before them.
   * @param name of the series, with its owner
   */
  certain(name: string, items: readonly Item[]): Entry<Item>[] | null;
  /**
   * Reads the next invoices of the series from the store, up to the last one that waits here.
   * @param withoutNumber gets items that no mark shows as waiting. It returns those that have no number, which come
   *   last
   */
  read(
    items: readonly Item[],
    withoutNumber: (items: readonly Item[]) => Promise<readonly Item[]>,
  ): Promise<Entry<Item>[]>;
  /** Remembers that all invoices of the series up to the last of these have their numbers. */
  passed(name: string, entries: readonly Entry<Item>[]): void;
}

/** Maximum number of series of which a process remembers how far they are numbered. */
export const REMEMBERED = 10_000;
/** Maximum number of invoices that get their numbers together, claimed or not. */
const TOGETHER = 128;

export function createSeriesLine<Item extends Waiting>(
  invoices: Pick<InvoiceReading, 'awaitingNumber'>,
): SeriesLine<Item> {
  /** For each series, the order key up to which all invoices have numbers. */
  const numberedUpTo = new LRUCache<string, string>({ max: REMEMBERED });
  return {
    certain(name, items) {
      let upTo = numberedUpTo.get(name);
      if (upTo === undefined) return null;
      const entries = items.map((item): Entry<Item> => entryOf(item)).toSorted(byOrder);
      for (const { order, item } of entries) {
        const after = item?.claim.place?.after ?? null;
        // An invoice at or before that position got its number from another run.
        if (order === null || after === null || after > upTo || order <= upTo) return null;
        upTo = order;
      }
      return entries;
    },

    async read(items, withoutNumber) {
      const { tenantId, environment } = ownerOf(items);
      const found = await invoices.awaitingNumber(tenantId, environment, seriesOf(invoiceOf(items)), TOGETHER);
      const waiting = new Map(items.map((item) => [item.claim.invoice.id, item]));
      const all = found.map(({ invoiceId, order }) => ({ invoiceId, order, item: waiting.get(invoiceId) ?? null }));
      const listed = new Set(found.map(({ invoiceId }) => invoiceId));
      const last = found.length === TOGETHER ? (found.at(-1) as AwaitingNumber).order : null;
      const unlisted = items.filter(({ claim }) => !listed.has(claim.invoice.id));
      // Invoices behind the last one found are numbered after it.
      const isBehind = ({ claim }: Item) => last !== null && (claim.place?.order ?? '') > last;
      const unmarked = await withoutNumber(unlisted.filter((item) => !isBehind(item)));
      const needed = unlisted.some(isBehind) ? all.length : all.findLastIndex(({ item }) => item !== null) + 1;
      return [...all.slice(0, needed), ...unmarked.map((item) => ({ ...entryOf(item), order: null }))];
    },

    passed(name, entries) {
      const last = entries.findLast(({ order }) => order !== null)?.order ?? '';
      if (last <= (numberedUpTo.get(name) ?? '')) return;
      numberedUpTo.set(name, last);
    },
  };
}

/** Returns any of the invoices, which all belong to one series. */
export function invoiceOf(items: readonly Waiting[]): Claim['invoice'] {
  return (items[0] as Waiting).claim.invoice;
}

export function ownerOf(items: readonly Waiting[]): Owner {
  const { tenantId, environment } = invoiceOf(items);
  return { tenantId, environment };
}

function entryOf<Item extends Waiting>(item: Item): Entry<Item> {
  return { invoiceId: item.claim.invoice.id, order: item.claim.place?.order ?? null, item };
}

function byOrder({ order: a }: Entry<Waiting>, { order: b }: Entry<Waiting>): number {
  return (a ?? '') < (b ?? '') ? -1 : Number((a ?? '') > (b ?? ''));
}
