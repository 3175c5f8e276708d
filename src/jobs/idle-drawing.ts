import { setTimeout as sleep } from 'node:timers/promises';
import type { InvoiceRepository } from '../domain/invoice/repository.ts';

/** The process is idle when it has run no stage for this long, milliseconds. */
const QUIET_MS = 1000;
/** Pause between two searches that find nothing, milliseconds. */
const SEARCH_MS = 1000;
/** A PDF that has waited for this long is drawn although the process is busy, milliseconds. */
const LATE_MS = 10 * 60_000;
/** One of this many oldest invoices is taken at random, so that several idle processes rarely meet at the same one. */
const OLDEST = 8;

export interface IdleDrawing {
  /** Runs an invoice's due stages; the process counts as busy meanwhile. */
  run(invoiceId: string): Promise<void>;
  start(): void;
  /** Begins no further PDF, and waits up to `timeoutMs` for one in progress. */
  stop(timeoutMs: number): Promise<void>;
}

/**
 * Draws the PDFs that nobody has asked for, one at a time, while the process has nothing else to do. A process that is
 * never idle draws those that have waited for ten minutes, and rests after each for as long as it took.
 * @param runInvoice runs an invoice's due stages, as `Pipeline.run`
 * @param report receives failures; the search goes on
 */
export function createIdleDrawing(
  invoices: Pick<InvoiceRepository, 'idle' | 'overdue'>,
  runInvoice: (invoiceId: string) => Promise<void>,
  report: (message: string, error: unknown) => void,
): IdleDrawing {
  const end = new AbortController();
  let running = 0;
  let lastEnded = performance.now();
  let done: Promise<void> = Promise.resolve();

  const isQuiet = () => running === 0 && performance.now() - lastEnded >= QUIET_MS;
  const pause = (ms: number) => sleep(ms, undefined, { signal: end.signal, ref: false }).catch(() => undefined);

  /** The oldest idle work that may be done now. */
  async function candidates(): Promise<{ readonly ids: readonly string[]; readonly late: boolean }> {
    const late = !isQuiet() || (await invoices.overdue(1)).length > 0;
    return { ids: await invoices.idle(OLDEST, new Date(Date.now() - (late ? LATE_MS : 0))), late };
  }

  /** @returns how long to pause before the next search, milliseconds */
  async function drawOne(): Promise<number> {
    const { ids, late } = await candidates();
    const id = ids[Math.floor(Math.random() * ids.length)];
    // A stage may have begun during the search.
    if (id === undefined || end.signal.aborted || !(late || isQuiet())) return SEARCH_MS;
    const begun = performance.now();
    await runInvoice(id);
    return late ? performance.now() - begun : 0;
  }

  async function draw(): Promise<void> {
    while (!end.signal.aborted) {
      const rest = await drawOne().catch((error) => {
        report('a PDF could not be drawn in idle time', error);
        return SEARCH_MS;
      });
      if (rest > 0) await pause(rest);
    }
  }

  return {
    async run(invoiceId) {
      running += 1;
      try {
        await runInvoice(invoiceId);
      } finally {
        running -= 1;
        lastEnded = performance.now();
      }
    },
    start() {
      done = draw();
    },
    async stop(timeoutMs) {
      end.abort();
      await Promise.race([done, sleep(timeoutMs, undefined, { ref: false })]);
    },
  };
}
