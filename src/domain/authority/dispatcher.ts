import { setTimeout as sleep } from 'node:timers/promises';
import type { LiveGate } from './live-gate.ts';

/** Sends the invoices that wait in the store, as places become free: tenants in turn, the oldest of each first. */
export interface Dispatcher {
  /** Reads the shared state, then begins. @throws what the store throws */
  start(): Promise<void>;
  /** Begins no further invoice, and waits up to `timeoutMs` for those under way. */
  stop(timeoutMs: number): Promise<void>;
}

export interface DispatcherParts {
  readonly gate: LiveGate;
  /** See `InvoiceRepository.nextParked`. */
  readonly nextParked: (
    afterTenant: string | null,
    except: ReadonlySet<string>,
  ) => Promise<{ readonly invoiceId: string; readonly tenantId: string } | null>;
  /** See `InvoiceRepository.releaseHeldUp`. */
  readonly releaseHeldUp: (from: number, to: number) => Promise<void>;
  /** Runs the invoice's due stages. */
  readonly run: (invoiceId: string) => Promise<void>;
  /** Receives the failures of background work. */
  readonly report: (message: string, error: unknown) => void;
}

/** Interval at which the shared state is read and new waiting invoices are looked for, milliseconds. */
const TICK_MS = 1000;
/**
 * Runs for each place: a run has left its place while it stores the answer, so that the place is used meanwhile. More
 * are not begun when the store is slow.
 */
const RUNS_A_PLACE = 2;
/** Ticks after the end of an outage in which what it held up is released. */
const RELEASES = 5;

export function createDispatcher({ gate, nextParked, releaseHeldUp, run, report }: DispatcherParts): Dispatcher {
  const running = new Map<string, Promise<void>>();
  /** The tenant whose turn was the last. */
  let lastTenant: string | null = null;
  let timer: NodeJS.Timeout | null = null;
  let ticking: Promise<void> = Promise.resolve();
  let pumping: Promise<void> | null = null;
  let isAskedAgain = false;
  let isStopped = false;
  /** The latest outage after whose end the invoices were released that it had held up, and how often. */
  let released = { outage: 0, times: 0 };

  /** The next waiting invoice of the tenants in turn; null if none waits. */
  async function next() {
    const except = new Set(running.keys());
    const found = await nextParked(lastTenant, except);
    return found ?? (lastTenant === null ? null : nextParked(null, except));
  }

  async function fill(): Promise<void> {
    await release(1);
    while (!isStopped && running.size < gate.places() * RUNS_A_PLACE && !gate.isShut()) {
      const waiting = await next();
      gate.setWaiting(waiting !== null);
      if (waiting === null || isStopped || !(await gate.reserve(waiting.invoiceId))) return;
      lastTenant = waiting.tenantId;
      begin(waiting.invoiceId);
    }
  }

  function begin(invoiceId: string): void {
    const work = run(invoiceId)
      .catch((error: unknown) => report(`the transmission of ${invoiceId} failed`, error))
      .finally(() => {
        gate.cancel(invoiceId);
        running.delete(invoiceId);
        pump();
      });
    running.set(invoiceId, work);
  }

  /** Fills the free places. One call at a time; a call in between repeats it. */
  function pump(): void {
    if (pumping) {
      isAskedAgain = true;
      return;
    }
    isAskedAgain = false;
    pumping = fill()
      .catch((error: unknown) => report('waiting invoices could not be read', error))
      .finally(() => {
        pumping = null;
        if (isAskedAgain && !isStopped) pump();
      });
  }

  /**
   * At the end of an outage, invoices that failed before it opened still wait for their next attempt, for hours at the
   * worst, and those that were tried in it wait behind the others. The outage excuses those failures, so they all wait in
   * the queue by age: the oldest first. Every worker does this, also after a start, because the one that ended the outage
   * may have died: before it sends the next one, and for a few seconds, because another one may put an invoice back before
   * it knows of the end.
   * @param most how often it is done after an outage
   */
  async function release(most: number): Promise<void> {
    const over = gate.excused();
    if (over === null) return;
    const times = over.outage === released.outage ? released.times : 0;
    if (times >= most) return;
    await releaseHeldUp(over.from, over.to);
    released = { outage: over.outage, times: times + 1 };
  }

  function reportState(error: unknown): void {
    if (!isStopped) report('the state of the tax authority could not be read', error);
  }

  async function tick(): Promise<void> {
    try {
      await gate.refresh();
      await release(RELEASES);
      pump();
      // Not awaited: a probe may take longer than the heartbeats of this worker may be apart.
      gate.probe().catch(reportState);
    } catch (error) {
      reportState(error);
    }
    if (!isStopped) timer = setTimeout(startTick, TICK_MS);
  }

  function startTick(): void {
    ticking = tick();
  }

  return {
    async start() {
      await gate.refresh();
      gate.onChange(pump);
      startTick();
    },
    async stop(timeoutMs) {
      isStopped = true;
      gate.onChange(() => undefined);
      if (timer) clearTimeout(timer);
      const over = Promise.all([ticking, pumping, ...running.values()]);
      await Promise.race([over, sleep(timeoutMs, undefined, { ref: false })]);
      await gate.close().catch((error: unknown) => report('the heartbeat could not be removed', error));
    },
  };
}
