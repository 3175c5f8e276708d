import type { LaneGate } from '../invoice/lanes.ts';
import { every, type StopRepeating } from '../kit/every.ts';
import type { LiveGate } from './live-gate.ts';

/** The places of the lane of live transmissions: as many as the gate of the authority allows, 0 while it is shut. */
export interface TransmissionLane extends LaneGate {
  /** Reads the shared state, then keeps it fresh. @throws what the store throws */
  start(): Promise<void>;
  stop(): Promise<void>;
  /** Number of invoices of this process at the authority. */
  inFlight(): number;
}

export interface TransmissionLaneParts {
  readonly gate: LiveGate;
  /** See `InvoiceTransitions.releaseHeldUp`. */
  readonly releaseHeldUp: (from: number, to: number) => Promise<void>;
  /** Called when the state was read. */
  readonly onTick?: () => void;
  /** Receives the failures of background work. */
  readonly report: (message: string, error: unknown) => void;
}

/**
 * Interval at which the shared state is read, milliseconds, and while the authority is away. The second one lets all
 * workers continue at about the same time after an outage. Otherwise the worker that ended it would send a second of
 * its range's backlog before the others send anything.
 */
const [TICK_MS, AWAY_TICK_MS] = [1000, 200];
/**
 * Maximum number of runs for each place. A run leaves its place before it stores the answer, so that another run can
 * use the place. The maximum limits the runs while the store is slow.
 */
const RUNS_A_PLACE = 2;
/** Number of ticks after the end of an outage in which the invoices that it held up are released. */
const RELEASES = 5;

export function createTransmissionLane({
  gate,
  releaseHeldUp,
  onTick = () => undefined,
  report,
}: TransmissionLaneParts): TransmissionLane {
  let listener: () => void = () => undefined;
  /** The latest outage after whose end the invoices were released that it had held up, and how often. */
  let released = { outage: 0, times: 0 };
  let stopTicking: StopRepeating = async () => {};

  /** Whether an outage has ended whose held-up invoices do not have their places by age yet. */
  function isToRelease(): boolean {
    return (gate.excused()?.outage ?? 0) > released.outage;
  }

  /**
   * Gives the invoices that an outage held up their places by age. Invoices that failed before the outage opened still
   * wait for their next attempt, for hours at the worst, and invoices that were tried in it wait behind the others. The
   * outage excuses those failures, so all of them wait by age, the oldest first. Every worker does this, also after a
   * start, because the worker that ended the outage may have died. It does so before it sends the next invoice, and
   * again for a few seconds, because another worker may put an invoice back before it knows of the end.
   * @param most maximum number of repetitions after an outage
   */
  async function release(most: number): Promise<void> {
    const over = gate.excused();
    if (over === null) return;
    const times = over.outage === released.outage ? released.times : 0;
    if (times >= most) return;
    await releaseHeldUp(over.from, over.to);
    released = { outage: over.outage, times: times + 1 };
  }

  /** A failed release is tried again at the next tick. */
  function changed(): void {
    (isToRelease() ? release(1) : Promise.resolve())
      .then(listener)
      .catch((error: unknown) => report('the invoices that an outage held up could not be released', error));
  }

  const failed = (error: unknown) => report('the state of the tax authority could not be read', error);

  async function tick(): Promise<void> {
    await gate.refresh();
    onTick();
    await release(RELEASES);
    listener();
    // Not awaited: a probe may take longer than the state may go unread.
    gate.probe().catch(failed);
  }

  return {
    free: (running) => (isToRelease() ? 0 : Math.min(gate.free(), gate.places() * RUNS_A_PLACE - running)),
    inFlight: () => gate.inFlight(),
    places: () => gate.places(),
    reserve: (invoiceId) => gate.reserve(invoiceId),
    cancel: (invoiceId) => gate.cancel(invoiceId),
    onChange(changes) {
      listener = changes;
    },
    async start() {
      await gate.refresh();
      gate.onChange(changed);
      stopTicking = every(() => (gate.isAway() ? AWAY_TICK_MS : TICK_MS), tick, failed, { firstMs: 0 });
    },
    async stop() {
      gate.onChange(() => undefined);
      await stopTicking();
    },
  };
}
