import { LRUCache } from 'lru-cache';
import { createGroup, type Outcome } from '../kit/group.ts';
import type { Owner } from '../tenant/tenant.ts';
import { type Claim, ClaimLost, type InvoiceChange, type InvoiceReading, NumberTaken } from './repository.ts';
import { type AwaitingNumber, legalNumber, type ReservedNumber, type SeriesNumber, seriesOf } from './series-number.ts';

/** The change that assigns a number, and the result that was prepared with it. */
export interface Prepared<Made> {
  readonly change: InvoiceChange & { readonly series: SeriesNumber };
  readonly made: Made;
}

/** An invoice that has been assigned its number. */
export interface Numbered<Made> {
  readonly claim: Claim;
  readonly made: Made;
}

/** Assigns the numbers of the legal series, in order, without gaps and without a counter (docs/decisions/0015). */
export interface Numbering<Made> {
  /**
   * Assigns a number to a claimed invoice. Invoices of the series that were created earlier and have no number yet get
   * theirs first, whichever worker processes them later. The next number is assigned only when the previous one is
   * known to be written, so there are no gaps. Consecutive numbers are written all or none.
   * @param prepare makes the change for a number; called again with another number if the first was taken meanwhile
   * @throws {ClaimLost} and what `prepare` throws
   */
  assign(claim: Claim, prepare: (series: SeriesNumber) => Promise<Prepared<Made>>): Promise<Numbered<Made>>;
}

/**
 * Lets processes that number invoices of the same series take turns. Without turns they would all try the same numbers,
 * and all but one would prepare documents in vain. Turns only save work; the ids of the numbers guarantee uniqueness.
 */
export interface SeriesTurns {
  /**
   * Waits until no other process has its turn, two seconds at most. Never rejects.
   * @returns a function that ends the turn; never throws
   */
  enter(series: string): Promise<() => void>;
}

interface Waiting<Made> {
  readonly claim: Claim;
  readonly prepare: (series: SeriesNumber) => Promise<Prepared<Made>>;
}

/** The next invoice of a series, and the item that waits for its number in this process. */
interface Entry<Made> {
  readonly invoiceId: string;
  /** The order key; null for an invoice whose place does not show that earlier ones have numbers. */
  readonly order: string | null;
  readonly item: Waiting<Made> | null;
}

interface Ready<Made> extends Prepared<Made> {
  readonly item: Waiting<Made>;
}

/** Writes all changes and the numbers of other invoices, or nothing. @throws {ClaimLost} @throws {NumberTaken} */
export type ChangeAll = (
  changes: readonly (readonly [Claim, InvoiceChange])[],
  reserved?: readonly ReservedNumber[],
) => Promise<Claim[]>;

/** Maximum number of series whose last number this process remembers. */
const REMEMBERED = 10_000;
/** How long processes take turns at a series after one found a number taken, milliseconds. */
const CONTENDED_MS = 30_000;
/** Maximum number of claimed invoices that get their numbers together, and of all invoices including unclaimed ones. */
const TOGETHER = { claimed: 32, all: 128 } as const;

/** Creates the numbering. @param changeAll see `InvoiceRepository.changeAll` */
export function createNumbering<Made>(
  invoices: Pick<InvoiceReading, 'highestSerial' | 'awaitingNumber' | 'seriesNumbersOf'>,
  turns: SeriesTurns,
  changeAll: ChangeAll,
): Numbering<Made> {
  const groups = new Map<string, (item: Waiting<Made>) => Promise<Numbered<Made>>>();
  // Only a cache, which saves reads for all but the first invoice of a series in this process. The ids of the taken
  // numbers decide.
  const lastSerial = new LRUCache<string, number>({ max: REMEMBERED });
  /** For each series, the order key up to which all invoices have numbers. */
  const numberedUpTo = new LRUCache<string, string>({ max: REMEMBERED });
  /** The series that other processes number, too, as long as they take turns at them. */
  const contended = new LRUCache<string, true>({ max: REMEMBERED, ttl: CONTENDED_MS });

  /** Numbers the invoices of a series, in turn with other processes if there are any. */
  async function number(name: string, items: readonly Waiting<Made>[]): Promise<Outcome<Numbered<Made>>[]> {
    const held: (() => void)[] = [];
    try {
      return await numberInTurn(name, items, async () => {
        if (held.length > 0 || !contended.has(name)) return;
        held.push(await turns.enter(name));
        // During the wait other processes may have assigned numbers.
        lastSerial.delete(name);
      });
    } finally {
      for (const leave of held) leave();
    }
  }

  /**
   * Numbers the invoices of a series. A number that one invoice cannot use is given to the next invoice.
   * @param awaitTurn called before each attempt
   */
  async function numberInTurn(
    name: string,
    items: readonly Waiting<Made>[],
    awaitTurn: () => Promise<void>,
  ): Promise<Outcome<Numbered<Made>>[]> {
    const outcomes = new Map<Waiting<Made>, Outcome<Numbered<Made>>>();
    let together = true;
    for (let rest = items; rest.length > 0; rest = items.filter((item) => !outcomes.has(item))) {
      await awaitTurn();
      const inLine = nextInLine(name, rest);
      // Read before searching for other invoices: if another process numbers one meanwhile, this number is found to be
      // taken.
      const before = lastSerial.get(name) ?? (await highest(rest));
      const following = inLine ?? (await nextOf(rest, outcomes));
      const entries = together ? following : following.slice(0, 1);
      const [first] = entries;
      // Other processes have numbered all of them.
      if (first === undefined) continue;
      const ready: Ready<Made>[] = [];
      const reserved: ReservedNumber[] = [];
      const prepared = await Promise.allSettled(
        entries.map(({ invoiceId, item }, index) => {
          const series = placeOf(rest, before + 1 + index);
          if (item === null) reserved.push({ invoice: { ...ownerOf(rest), id: invoiceId }, series });
          return item?.prepare(series);
        }),
      );
      for (const [index, result] of prepared.entries()) {
        const item = entries[index]?.item ?? null;
        if (item === null) continue;
        if (result.status === 'rejected') outcomes.set(item, { error: result.reason });
        else if (result.value) ready.push({ ...result.value, item });
      }
      // The numbers after one that is not used would leave a gap.
      if (ready.length + reserved.length < entries.length) continue;
      const failure = await take(name, before, ready, reserved, outcomes);
      if (failure === null) passed(name, entries);
      if (failure instanceof NumberTaken) contended.set(name, true);
      if (failure === null || failure instanceof NumberTaken) continue;
      if (entries.length === 1 && first.item) outcomes.set(first.item, { error: failure });
      // If others have changed one of several invoices, the next attempt takes a single one.
      else if (failure instanceof ClaimLost) together = false;
      else for (const item of rest) outcomes.set(item, { error: failure });
    }
    return items.map((item) => outcomes.get(item) ?? { error: new Error('an invoice got no number') });
  }

  /**
   * Returns the next invoices of the series if they are certainly those of this process: each was created right after
   * an invoice that has its number or is in the list. Null if other invoices may come before them.
   */
  function nextInLine(name: string, rest: readonly Waiting<Made>[]): Entry<Made>[] | null {
    let upTo = numberedUpTo.get(name);
    // Without the last number in the cache, another process may have numbered them.
    if (upTo === undefined || !lastSerial.has(name)) return null;
    const entries = rest.map((item): Entry<Made> => entryOf(item)).toSorted(byOrder);
    for (const { order, item } of entries) {
      const after = item?.claim.place?.after ?? null;
      // An invoice at or before that position got its number from another run.
      if (order === null || after === null || after > upTo || order <= upTo) return null;
      upTo = order;
    }
    return entries;
  }

  /** Reads the next invoices of the series from the store, up to the last one that waits here. */
  async function nextOf(
    rest: readonly Waiting<Made>[],
    outcomes: Map<Waiting<Made>, Outcome<Numbered<Made>>>,
  ): Promise<Entry<Made>[]> {
    const { tenantId, environment } = ownerOf(rest);
    const series = seriesOf(invoiceOf(rest));
    const found = await invoices.awaitingNumber(tenantId, environment, series, TOGETHER.all);
    const waiting = new Map(rest.map((item) => [item.claim.invoice.id, item]));
    const all = found.map(({ invoiceId, order }) => ({ invoiceId, order, item: waiting.get(invoiceId) ?? null }));
    const listed = new Set(found.map(({ invoiceId }) => invoiceId));
    const last = found.length === TOGETHER.all ? (found.at(-1) as AwaitingNumber).order : null;
    const unlisted = rest.filter(({ claim }) => !listed.has(claim.invoice.id));
    // Invoices behind the last one found are numbered after it.
    const isBehind = ({ claim }: Waiting<Made>) => last !== null && (claim.place?.order ?? '') > last;
    const unmarked = await numberedElsewhere(
      unlisted.filter((item) => !isBehind(item)),
      outcomes,
    );
    const needed = unlisted.some(isBehind) ? all.length : all.findLastIndex(({ item }) => item !== null) + 1;
    return [...all.slice(0, needed), ...unmarked.map((item) => ({ ...entryOf(item), order: null }))];
  }

  /**
   * Continues with invoices that got their numbers from another run or process.
   * @returns the items without a number: they are numbered last, although no mark says that they wait
   */
  async function numberedElsewhere(
    items: readonly Waiting<Made>[],
    outcomes: Map<Waiting<Made>, Outcome<Numbered<Made>>>,
  ): Promise<readonly Waiting<Made>[]> {
    if (items.length === 0) return items;
    const numbers = await invoices.seriesNumbersOf(items.map(({ claim }) => claim.invoice.id));
    const withNumber = items.flatMap((item) => {
      const series = numbers.get(item.claim.invoice.id);
      return series ? [{ item, series }] : [];
    });
    await Promise.all(
      withNumber.map(async ({ item, series }) => {
        try {
          outcomes.set(item, { result: await keepNumber(item, series) });
        } catch (error) {
          outcomes.set(item, { error });
        }
      }),
    );
    return items.filter(({ claim }) => !numbers.has(claim.invoice.id));
  }

  /** Writes the change of an invoice that has its number. */
  async function keepNumber({ claim, prepare }: Waiting<Made>, series: SeriesNumber): Promise<Numbered<Made>> {
    const { change, made } = await prepare(series);
    const { series: _written, ...rest } = change;
    const invoice = { ...claim.invoice, number: legalNumber(series) };
    const [changed] = await changeAll([[{ ...claim, invoice }, rest]]);
    return { claim: changed as Claim, made };
  }

  /** Writes the numbers. @returns why nothing was written; null if everything was */
  async function take(
    name: string,
    before: number,
    ready: readonly Ready<Made>[],
    reserved: readonly ReservedNumber[],
    outcomes: Map<Waiting<Made>, Outcome<Numbered<Made>>>,
  ): Promise<unknown> {
    lastSerial.delete(name);
    try {
      const claims = await changeAll(
        ready.map(({ item, change }) => [item.claim, change] as const),
        reserved,
      );
      for (const [index, { item, made }] of ready.entries())
        outcomes.set(item, { result: { claim: claims[index] as Claim, made } });
    } catch (error) {
      return error;
    }
    lastSerial.set(name, before + ready.length + reserved.length);
    return null;
  }

  /** Remembers that all invoices of the series up to the last of these have their numbers. */
  function passed(name: string, entries: readonly Entry<Made>[]): void {
    const last = entries.findLast(({ order }) => order !== null)?.order ?? '';
    if (last <= (numberedUpTo.get(name) ?? '')) return;
    numberedUpTo.set(name, last);
  }

  function placeOf(rest: readonly Waiting<Made>[], serial: number): SeriesNumber {
    return { name: seriesOf(invoiceOf(rest)), serial };
  }

  function highest(rest: readonly Waiting<Made>[]): Promise<number> {
    const { tenantId, environment } = ownerOf(rest);
    return invoices.highestSerial(tenantId, environment, seriesOf(invoiceOf(rest)));
  }

  return {
    assign(claim, prepare) {
      const { tenantId, environment } = claim.invoice;
      const name = `${tenantId} ${environment} ${seriesOf(claim.invoice)}`;
      let group = groups.get(name);
      if (group === undefined) {
        const onIdle = () => void groups.delete(name);
        group = createGroup((items) => number(name, items), { maxItems: TOGETHER.claimed, onIdle });
        groups.set(name, group);
      }
      return group({ claim, prepare });
    },
  };
}

/** Returns any of the invoices, which all belong to one series. */
function invoiceOf<Made>(items: readonly Waiting<Made>[]): Claim['invoice'] {
  return (items[0] as Waiting<Made>).claim.invoice;
}

function ownerOf<Made>(items: readonly Waiting<Made>[]): Owner {
  const { tenantId, environment } = invoiceOf(items);
  return { tenantId, environment };
}

function entryOf<Made>(item: Waiting<Made>): Entry<Made> {
  return { invoiceId: item.claim.invoice.id, order: item.claim.place?.order ?? null, item };
}

function byOrder({ order: a }: Entry<unknown>, { order: b }: Entry<unknown>): number {
  return (a ?? '') < (b ?? '') ? -1 : Number((a ?? '') > (b ?? ''));
}
