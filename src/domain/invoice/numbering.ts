import type { Invoice } from './invoice.ts';
import { seriesYear } from './legal-invoice.ts';
import { type InvoiceRepository, NumberTaken, type SeriesNumber } from './repository.ts';

/** Assigns the numbers of the legal series, without gaps and without a counter (docs/decisions/0015). */
export interface Numbering {
  /**
   * Calls `claim` with the next number of the series until it does not throw `NumberTaken`. A number is used only if
   * the single update of `claim` succeeds, so there are no gaps. Within a process the calls for a series run one after
   * the other.
   */
  withNext<T>(invoice: Invoice, claim: (series: SeriesNumber) => Promise<T>): Promise<T>;
}

/** Maximum number of series whose last number this process remembers. */
const REMEMBERED = 10_000;

export function createNumbering(invoices: Pick<InvoiceRepository, 'highestSerial'>): Numbering {
  const tails = new Map<string, Promise<unknown>>();
  // Only a hint: the unique index decides. It saves a read for all but the first invoice of a series in this process.
  const lastSerial = new Map<string, number>();

  async function next<T>(name: string, invoice: Invoice, claim: (series: SeriesNumber) => Promise<T>): Promise<T> {
    const year = seriesYear(invoice.createdAt);
    for (;;) {
      const last = lastSerial.get(name) ?? (await invoices.highestSerial(invoice.tenantId, invoice.environment, year));
      try {
        const result = await claim({ year, serial: last + 1 });
        if (lastSerial.size >= REMEMBERED) lastSerial.clear();
        lastSerial.set(name, last + 1);
        return result;
      } catch (error) {
        lastSerial.delete(name);
        if (!(error instanceof NumberTaken)) throw error;
      }
    }
  }

  return {
    withNext(invoice, claim) {
      const name = `${invoice.tenantId} ${invoice.environment} ${seriesYear(invoice.createdAt)}`;
      const turn = (tails.get(name) ?? Promise.resolve()).then(
        () => next(name, invoice, claim),
        () => next(name, invoice, claim),
      );
      tails.set(name, turn);
      const forget = () => {
        if (tails.get(name) === turn) tails.delete(name);
      };
      turn.then(forget, forget);
      return turn;
    },
  };
}
