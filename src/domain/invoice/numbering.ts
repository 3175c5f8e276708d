import { createGroup, type Outcome } from '../grouped.ts';
import type { Invoice } from './invoice.ts';
import { seriesYear } from './legal-invoice.ts';
import {
  type Claim,
  ClaimLost,
  type InvoiceChange,
  type InvoiceRepository,
  NumberTaken,
  type SeriesNumber,
} from './repository.ts';

/** The change that takes a number, and what was made with the number. */
export interface Prepared<Made> {
  readonly change: InvoiceChange & { readonly series: SeriesNumber };
  readonly made: Made;
}

/** An invoice that has taken its number. */
export interface Numbered<Made> {
  readonly claim: Claim;
  readonly made: Made;
}

/** Assigns the numbers of the legal series, without gaps and without a counter (docs/decisions/0015). */
export interface Numbering<Made> {
  /**
   * Gives a claimed invoice the next number of its series. The next number is taken only when the last one is known to
   * be written, so there are no gaps. Invoices of a series that wait at the same time take consecutive numbers, all or
   * none.
   * @param prepare makes the change for a number; called again with another one if the number was taken meanwhile
   * @throws {ClaimLost} and what `prepare` throws
   */
  assign(claim: Claim, prepare: (series: SeriesNumber) => Promise<Prepared<Made>>): Promise<Numbered<Made>>;
}

/**
 * Turns at a series, for the processes that number invoices of it at the same time: without them each takes the same
 * numbers, and all but one have prepared their documents in vain. Only a courtesy: the ids of the numbers decide.
 */
export interface SeriesTurns {
  /**
   * Waits until no other process has its turn, two seconds at most. Never rejects.
   * @returns ends the turn; never throws
   */
  enter(series: string): Promise<() => void>;
}

interface Waiting<Made> {
  readonly claim: Claim;
  readonly prepare: (series: SeriesNumber) => Promise<Prepared<Made>>;
}

interface Ready<Made> extends Prepared<Made> {
  readonly item: Waiting<Made>;
}

/** Maximum number of series whose last number this process remembers. */
const REMEMBERED = 10_000;
/** How long the processes take turns at a series after one of them found a number taken, milliseconds. */
const CONTENDED_MS = 30_000;
/** Maximum number of invoices that take their numbers together. */
const TOGETHER = 32;

/** @param changeAll writes all changes or none; see `InvoiceRepository.changeAll` */
export function createNumbering<Made>(
  invoices: Pick<InvoiceRepository, 'highestSerial'>,
  turns: SeriesTurns,
  changeAll: (changes: readonly (readonly [Claim, InvoiceChange])[]) => Promise<Claim[]>,
): Numbering<Made> {
  const groups = new Map<string, (item: Waiting<Made>) => Promise<Numbered<Made>>>();
  // Only a hint: the ids of the taken numbers decide. It saves the reads for all but the first invoice of a series in this process.
  const lastSerial = new Map<string, number>();
  /** The series that other processes number, too: until when they take turns at it, UNIX milliseconds. */
  const contended = new Map<string, number>();

  /** Numbers the invoices of a series, in turn with other processes if there are any. */
  async function number(name: string, items: readonly Waiting<Made>[]): Promise<Outcome<Numbered<Made>>[]> {
    const held: (() => void)[] = [];
    try {
      return await numberInTurn(name, items, async () => {
        if (held.length > 0 || !isContended(name)) return;
        held.push(await turns.enter(name));
        // Others have had their turns.
        lastSerial.delete(name);
      });
    } finally {
      for (const leave of held) leave();
    }
  }

  /**
   * Numbers the invoices of a series. A number that one of them does not take is given to the next one.
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
      const [first] = rest;
      if (first === undefined) break;
      await awaitTurn();
      const before = lastSerial.get(name) ?? (await highest(first.claim.invoice));
      const ready: Ready<Made>[] = [];
      const prepared = await Promise.allSettled(
        (together ? rest : [first]).map((item, index) => item.prepare(place(item, before + 1 + index))),
      );
      for (const [index, result] of prepared.entries()) {
        const item = rest[index] as Waiting<Made>;
        if (result.status === 'rejected') outcomes.set(item, { error: result.reason });
        else ready.push({ ...result.value, item });
      }
      // The numbers behind one that is not taken would leave a gap.
      if (ready.length < prepared.length) continue;
      const failure = await take(name, before, ready, outcomes);
      if (failure instanceof NumberTaken) contend(name);
      if (failure === null || failure instanceof NumberTaken) continue;
      if (ready.length === 1) outcomes.set(first, { error: failure });
      else if (failure instanceof ClaimLost) together = false;
      else for (const { item } of ready) outcomes.set(item, { error: failure });
    }
    return items.map((item) => outcomes.get(item) ?? { error: new Error('an invoice got no number') });
  }

  /** @returns why nothing was written; null if everything was */
  async function take(
    name: string,
    before: number,
    ready: readonly Ready<Made>[],
    outcomes: Map<Waiting<Made>, Outcome<Numbered<Made>>>,
  ): Promise<unknown> {
    lastSerial.delete(name);
    try {
      const claims = await changeAll(ready.map(({ item, change }) => [item.claim, change] as const));
      for (const [index, { item, made }] of ready.entries())
        outcomes.set(item, { result: { claim: claims[index] as Claim, made } });
    } catch (error) {
      return error;
    }
    if (lastSerial.size >= REMEMBERED) lastSerial.clear();
    lastSerial.set(name, before + ready.length);
    return null;
  }

  function isContended(name: string): boolean {
    const until = contended.get(name);
    if (until !== undefined && until < Date.now()) contended.delete(name);
    return contended.has(name);
  }

  function contend(name: string): void {
    if (contended.size >= REMEMBERED) contended.clear();
    contended.set(name, Date.now() + CONTENDED_MS);
  }

  function place({ claim }: Waiting<Made>, serial: number): SeriesNumber {
    return { year: seriesYear(claim.invoice.createdAt), serial };
  }

  function highest({ tenantId, environment, createdAt }: Invoice): Promise<number> {
    return invoices.highestSerial(tenantId, environment, seriesYear(createdAt));
  }

  return {
    assign(claim, prepare) {
      const { tenantId, environment, createdAt } = claim.invoice;
      const name = `${tenantId} ${environment} ${seriesYear(createdAt)}`;
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
