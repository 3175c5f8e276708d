import { LRUCache } from 'lru-cache';
import { createGroup, type Outcome } from '../kit/group.ts';
import { type Claim, ClaimLost, type InvoiceChange, type InvoiceReading, NumberTaken } from './repository.ts';
import { createSeriesLine, type Waiting as InLine, invoiceOf, ownerOf, REMEMBERED } from './series-line.ts';
import { legalNumber, type ReservedNumber, type SeriesNumber, seriesOf } from './series-number.ts';

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

interface Waiting<Made> extends InLine {
  readonly prepare: (series: SeriesNumber) => Promise<Prepared<Made>>;
}

interface Ready<Made> extends Prepared<Made> {
  readonly item: Waiting<Made>;
}

/** Writes all changes and the numbers of other invoices, or nothing. @throws {ClaimLost} @throws {NumberTaken} */
export type ChangeAll = (
  changes: readonly (readonly [Claim, InvoiceChange])[],
  reserved?: readonly ReservedNumber[],
) => Promise<Claim[]>;

/** How long processes take turns at a series after one found a number taken, milliseconds. */
const CONTENDED_MS = 30_000;
/** Maximum number of claimed invoices that get their numbers together. */
const TOGETHER = 32;

/** Creates the numbering. @param changeAll see `InvoiceTransitions.changeAll` */
export function createNumbering<Made>(
  invoices: Pick<InvoiceReading, 'highestSerial' | 'awaitingNumber' | 'seriesNumbersOf'>,
  turns: SeriesTurns,
  changeAll: ChangeAll,
): Numbering<Made> {
  const groups = new Map<string, (item: Waiting<Made>) => Promise<Numbered<Made>>>();
  // Only a cache, which saves reads for all but the first invoice of a series in this process. The ids of the taken
  // numbers decide.
  const lastSerial = new LRUCache<string, number>({ max: REMEMBERED });
  const line = createSeriesLine<Waiting<Made>>(invoices);
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
      // Without the last number in the cache, another process may have numbered some.
      const inLine = lastSerial.has(name) ? line.certain(name, rest) : null;
      // Read before searching for other invoices: if another process numbers one meanwhile, this number is found to be
      // taken.
      const before = lastSerial.get(name) ?? (await highest(rest));
      const following = inLine ?? (await line.read(rest, (items) => numberedElsewhere(items, outcomes)));
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
      if (failure === null) line.passed(name, entries);
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
        group = createGroup((items) => number(name, items), { maxItems: TOGETHER, onIdle });
        groups.set(name, group);
      }
      return group({ claim, prepare });
    },
  };
}
