import { createHash } from 'node:crypto';
import type { Problem } from '../../src/domain/authority/ports.ts';
import type { Clock } from './clock.ts';
import type { Decided, Entry, Ledger, Received } from './ledger.ts';

const MAX_TIMER = 2 ** 31 - 1;

/** Takes the decisions on submissions when they are due. */
export interface Decisions {
  /** Returns the decision on a submission, as it would be taken now. @param problems empty: it is accepted */
  of(received: Received, problems?: readonly Problem[]): Decided;
  /** Takes the decision when it is due. */
  schedule(entry: Entry): void;
  /** Takes the decision now, unless there is one. @param problems instead of its own */
  decide(entry: Entry, problems?: readonly Problem[]): Promise<void>;
  /** Takes no more decisions. Resolves when the decisions under way are on the disk. */
  close(): Promise<void>;
}

/**
 * Creates the decisions of a ledger, and schedules those that a stopped simulator had not taken yet.
 * @param onDecided called with each decision once it is on the disk
 */
export function createDecisions(
  ledger: Ledger,
  clock: Clock,
  onDecided: (entry: Entry, decided: Decided) => void,
): Decisions {
  const timers = new Map<Entry, NodeJS.Timeout>();
  const underWay = new Set<Promise<void>>();
  let isClosed = false;

  const of: Decisions['of'] = (received, problems = received.problems) => {
    const digits = createHash('sha256').update(`${received.id} ${received.digest}`).digest('hex').slice(0, 16);
    const isAccepted = problems.length === 0;
    return {
      status: isAccepted ? 'accepted' : 'rejected',
      problems,
      decidedAt: clock.now(),
      dgiId: isAccepted ? `DGI-${digits.toUpperCase()}` : null,
    };
  };

  function decide(entry: Entry, problems?: readonly Problem[]): Promise<void> {
    clearTimeout(timers.get(entry));
    timers.delete(entry);
    if (isClosed) return Promise.resolve();
    const taken = take(entry, problems).finally(() => underWay.delete(taken));
    underWay.add(taken);
    return taken;
  }

  async function take(entry: Entry, problems?: readonly Problem[]): Promise<void> {
    await entry.committed;
    if (entry.decided !== null) return;
    const decided = of(entry.received, problems);
    await ledger.decide(entry, decided);
    if (entry.decided === decided) onDecided(entry, decided);
  }

  function schedule(entry: Entry): void {
    const { dueAt } = entry.received;
    if (dueAt === null || entry.decided !== null || isClosed) return;
    const wait = Math.min(MAX_TIMER, Math.max(0, dueAt - clock.steady()));
    timers.set(
      entry,
      setTimeout(() => void decide(entry), wait),
    );
  }

  for (const entry of ledger.byId.values()) schedule(entry);
  return {
    of,
    schedule,
    decide,
    async close() {
      isClosed = true;
      for (const timer of timers.values()) clearTimeout(timer);
      timers.clear();
      await Promise.allSettled(underWay);
    },
  };
}
