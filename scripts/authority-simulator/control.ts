import { type Maintenance, NO_MAINTENANCE, type SimulatedAuthority } from './authority.ts';
import type { Announcement, Callbacks } from './callbacks.ts';
import type { Clock } from './clock.ts';
import type { Counters, CountersReport } from './counters.ts';
import type { FaultRule, Faults } from './faults.ts';
import type { Rotatable } from './identity.ts';
import type { Ledger } from './ledger.ts';
import type { SubmissionBody } from './submission.ts';

/** The operations of control, in this process and over its port. */
export interface Control {
  /** @returns the rule's id @throws {RangeError} when it can never apply */
  addFault(rule: FaultRule): string;
  removeFault(id: string): boolean;
  /** Removes every fault; sets the clock right and the maintenance off. The ledger stays. */
  reset(): void;
  counters(): CountersReport & { readonly faults: Readonly<Record<string, number>>; readonly ledger: LedgerCounts };
  resetCounters(): void;
  /** Every submission, in the order of receipt. */
  ledger(): SubmissionBody[];
  find(id: string): SubmissionBody | null;
  /** Returns the submitted document, or null. */
  document(id: string): Promise<Buffer | null>;
  /** Sets the difference by which the clock is ahead of the machine's, milliseconds. */
  setClock(offset: number): void;
  now(): Date;
  /** Takes the decision on a submission now. @returns it; null when it is not held */
  decide(
    id: string,
    problems?: Parameters<SimulatedAuthority['decisions']['decide']>[1],
  ): Promise<SubmissionBody | null>;
  setMaintenance(maintenance: Partial<Maintenance>): void;
  /** @param refuseFor milliseconds in which no token is issued */
  revokeTokens(refuseFor?: number): void;
  rotate(what: Rotatable): Promise<void>;
  /** Refuses connections, or accepts them again. */
  setListening(listening: boolean): Promise<void>;
  /** Sends a callback `count` times, 8 at a time. @returns the number of answers with each status; 0: no answer */
  callback(request: Announcement & { readonly count: number }): Promise<Record<string, number>>;
}

/** The counts of the ledger; it must have each submission and each document once. */
export interface LedgerCounts {
  readonly entries: number;
  readonly accepted: number;
  readonly rejected: number;
  readonly processing: number;
  /** Ids and digests of which the file has more than one entry. */
  readonly doubled: readonly string[];
}

export interface ControlParts {
  readonly clock: Clock;
  readonly ledger: Ledger;
  readonly faults: Faults;
  readonly counters: Counters;
  readonly authority: SimulatedAuthority;
  readonly callbacks: Callbacks;
  readonly revokeTokens: (refuseFor: number) => void;
  readonly rotate: (what: Rotatable) => Promise<void>;
  readonly setListening: (listening: boolean) => Promise<void>;
}

export function createControl(parts: ControlParts): Control {
  const { clock, ledger, faults, counters, authority, callbacks } = parts;
  return {
    addFault: faults.add,
    removeFault: faults.remove,
    reset() {
      faults.clear();
      clock.offset = 0;
      authority.maintenance = NO_MAINTENANCE;
    },
    counters: () => ({ ...counters.report(), faults: { ...faults.happened }, ledger: countsOf(ledger) }),
    resetCounters: counters.reset,
    ledger: () => [...ledger.byId.values()].map((entry) => authority.show(entry)),
    find(id) {
      const entry = ledger.byId.get(id);
      return entry === undefined ? null : authority.show(entry);
    },
    async document(id) {
      const entry = ledger.byId.get(id);
      await entry?.committed;
      return entry === undefined ? null : ledger.read(entry, 'document');
    },
    setClock(offset) {
      clock.offset = offset;
    },
    now: () => new Date(clock.now()),
    async decide(id, problems) {
      const entry = ledger.byId.get(id);
      if (entry === undefined) return null;
      await authority.decisions.decide(entry, problems);
      return authority.show(entry);
    },
    setMaintenance(maintenance) {
      authority.maintenance = { ...NO_MAINTENANCE, ...maintenance };
    },
    revokeTokens: (refuseFor = 0) => parts.revokeTokens(refuseFor),
    rotate: parts.rotate,
    setListening: parts.setListening,
    async callback({ count: times, ...announcement }) {
      const answers: Record<string, number> = {};
      let left = times;
      const send = async () => {
        while (left-- > 0) {
          const status = await callbacks.send(announcement);
          answers[status] = (answers[status] ?? 0) + 1;
        }
      };
      await Promise.all(Array.from({ length: 8 }, send));
      return answers;
    },
  };
}

function countsOf(ledger: Ledger): LedgerCounts {
  const counts = { entries: ledger.byId.size, accepted: 0, rejected: 0, processing: 0 };
  for (const { decided } of ledger.byId.values()) counts[decided?.status ?? 'processing']++;
  return { ...counts, doubled: ledger.doubled() };
}
