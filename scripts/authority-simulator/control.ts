import { z } from 'zod';
import { MAINTENANCE_SCOPES, type Maintenance, NO_MAINTENANCE, type SimulatedAuthority } from './authority.ts';
import type { Callbacks } from './callbacks.ts';
import { type Clock, timestamp } from './clock.ts';
import type { Counters, CountersReport } from './counters.ts';
import { milliseconds } from './duration.ts';
import { CALLS, FAULT_KINDS, type FaultKind, type FaultRule, type Faults, WRONG_RECEIPTS } from './faults.ts';
import { ROTATABLE, type Rotatable } from './identity.ts';
import type { Entry, Ledger } from './ledger.ts';
import type { SubmissionBody } from './submission.ts';

/** Milliseconds, as a number or as text with a unit. */
const duration = z.union([z.number(), z.string().transform(milliseconds)]).refine((value) => Number.isFinite(value), {
  error: 'must be milliseconds or a text such as 10s, 5m',
});
const kindNames = Object.keys(FAULT_KINDS) as FaultKind[];
const count = z.int().min(1);

/** A rule of faults as JSON. */
export const faultRule = z.strictObject({
  kind: z.enum([...kindNames, 'mixed']),
  kinds: z.array(z.enum(kindNames)).min(1).optional(),
  calls: z.array(z.enum(CALLS)).min(1).optional(),
  submission: z.string().optional(),
  number: z.string().optional(),
  nth: count.optional(),
  times: count.optional(),
  rate: z.number().min(0).max(1).optional(),
  registered: z.boolean().optional(),
  status: z.int().min(200).max(599).optional(),
  code: z.string().optional(),
  retry_after: z.number().positive().optional(),
  delay: duration.optional(),
  what: z.enum(WRONG_RECEIPTS).optional(),
});

const empty = z.strictObject({});
const finding = z.strictObject({
  code: z.string(),
  path: z.string().nullable().default(null),
  message: z.string(),
});

/** What control can do, in this process and over its port. */
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
  /** The submitted document, or null. */
  document(id: string): Promise<Buffer | null>;
  /** How far the clock is ahead of the machine's, milliseconds. */
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
  /** Sends a callback `count` times, 8 at a time. @returns how often each status was answered; 0: no answer */
  callback(request: z.output<typeof callbackRequest>): Promise<Record<string, number>>;
}

/** What the ledger holds; each submission and each document must be there once. */
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

const callbackRequest = z.strictObject({
  id: z.string(),
  status: z.string().default('accepted'),
  forged: z.boolean().optional(),
  age: duration.optional(),
  count: z.int().min(1).max(100_000).default(1),
});

/** A command of the control port. */
export interface Command {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  /** `:id` stands for a part of the address. */
  readonly path: string;
  readonly text: string;
  /** @param body the request's JSON, `{}` where there is none @throws {z.ZodError | RangeError} when it is wrong */
  run(body: unknown, id: string): unknown;
}

/** The commands of the control port. */
export function commandsOf(control: Control, { faults, ledger, authority, clock }: ControlParts): Command[] {
  const command = (method: Command['method'], path: string, text: string, run: Command['run']): Command => ({
    method,
    path,
    text,
    run,
  });
  const maintenance = z.strictObject({
    scope: z.enum(MAINTENANCE_SCOPES),
    until: z.iso.datetime().nullable().optional(),
    retry_after: z.number().positive().optional(),
  });
  const faultList = () => ({
    rules: faults.list(),
    happened: faults.happened,
    kinds: Object.fromEntries(kindNames.map((kind) => [kind, FAULT_KINDS[kind].text])),
  });
  const clockState = () => ({ now: timestamp(clock.now()), offset: clock.offset });
  return [
    command('GET', '/faults', 'active rules, what happened, and every kind', faultList),
    command('POST', '/faults', 'add a rule; answers its id', (body) => ({
      id: control.addFault(faultRule.parse(body)),
    })),
    command('DELETE', '/faults', 'remove all rules', (body) => {
      empty.parse(body);
      faults.clear();
      return faultList();
    }),
    command('DELETE', '/faults/:id', 'remove a rule', (_body, id) => ({ removed: control.removeFault(id) })),
    command('GET', '/counters', 'calls, answers, concurrent PUTs, look-ups, entries', () => control.counters()),
    command('DELETE', '/counters', 'start counting anew', () => {
      control.resetCounters();
      return control.counters();
    }),
    command('GET', '/ledger', 'submissions in the order of receipt', () => ({ data: control.ledger() })),
    command('GET', '/ledger/:id', 'one submission', (_body, id) => control.find(id)),
    command('GET', '/clock', 'the time, and how far it is off', clockState),
    command('PUT', '/clock', '{"offset": "-10m"}: set the clock off', (body) => {
      control.setClock(z.strictObject({ offset: duration }).parse(body).offset);
      return clockState();
    }),
    command('POST', '/decide', '{"id": …, "problems"?: […]} or {"all": true}: decide now', async (body) => {
      const request = z
        .union([
          z.strictObject({ id: z.string(), problems: z.array(finding).optional() }),
          z.strictObject({ all: z.literal(true) }),
        ])
        .parse(body);
      if ('id' in request) return control.decide(request.id, request.problems);
      const undecided = [...ledger.byId.values()].filter(({ decided }: Entry) => decided === null);
      await Promise.all(undecided.map((entry) => authority.decisions.decide(entry)));
      return { decided: undecided.length };
    }),
    command('PUT', '/maintenance', '{"scope": "off" | "submissions" | "all"}: what is out of service', (body) => {
      const { scope, until = null, retry_after: retryAfter = 60 } = maintenance.parse(body);
      control.setMaintenance({ scope, until, retryAfter });
      return authority.maintenance;
    }),
    command('POST', '/tokens/revoke', '{"refuse_for"?: "30s"}: all tokens invalid, no new ones for a while', (body) => {
      control.revokeTokens(z.strictObject({ refuse_for: duration.optional() }).parse(body).refuse_for);
      return {};
    }),
    command(
      'POST',
      '/rotate',
      `{"what": ${ROTATABLE.map((each) => `"${each}"`).join(' | ')}}: another key`,
      async (body) => {
        await control.rotate(z.strictObject({ what: z.enum(ROTATABLE) }).parse(body).what);
        return {};
      },
    ),
    command('PUT', '/listening', '{"listening": false}: refuse connections', async (body) => {
      await control.setListening(z.strictObject({ listening: z.boolean() }).parse(body).listening);
      return {};
    }),
    command('POST', '/callbacks', '{"id": …, "forged"?, "age"?, "count"?}: send callbacks', (body) =>
      control.callback(callbackRequest.parse(body)),
    ),
    command('POST', '/reset', 'no faults, the clock right, no maintenance', () => {
      control.reset();
      return {};
    }),
  ];
}
