import { z } from 'zod';
import { MAINTENANCE_SCOPES } from './authority.ts';
import { timestamp } from './clock.ts';
import type { Control, ControlParts } from './control.ts';
import { milliseconds } from './duration.ts';
import { CALLS, FAULT_KINDS, type FaultKind, WRONG_RECEIPTS } from './faults.ts';
import { ROTATABLE } from './identity.ts';

/** A command of the control port. */
export interface Command {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  /** `:id` stands for a part of the address. */
  readonly path: string;
  readonly text: string;
  /** @param body the request's JSON, `{}` where there is none @throws {z.ZodError | RangeError} when it is wrong */
  run(body: unknown, id: string): unknown;
}

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

const finding = z.strictObject({
  code: z.string(),
  path: z.string().nullable().default(null),
  message: z.string(),
});

const decideRequest = z.union([
  z.strictObject({ id: z.string(), problems: z.array(finding).optional() }),
  z.strictObject({ all: z.literal(true) }),
]);

const maintenanceRequest = z.strictObject({
  scope: z.enum(MAINTENANCE_SCOPES),
  until: z.iso.datetime().nullable().default(null),
  retry_after: z.number().positive().default(60),
});

const callbackRequest = z.strictObject({
  id: z.string(),
  status: z.string().default('accepted'),
  forged: z.boolean().optional(),
  age: duration.optional(),
  count: z.int().min(1).max(100_000).default(1),
});

/** Returns the commands of the control port. */
export function commandsOf(control: Control, parts: ControlParts): Command[] {
  return [...faultCommands(control, parts), ...ledgerCommands(control, parts), ...stateCommands(control, parts)];
}

function faultCommands(control: Control, { faults }: ControlParts): Command[] {
  const list = () => ({
    rules: faults.list(),
    happened: faults.happened,
    kinds: Object.fromEntries(kindNames.map((kind) => [kind, FAULT_KINDS[kind].text])),
  });
  return [
    command('GET', '/faults', 'active rules, what happened, and every kind', list),
    command('POST', '/faults', 'add a rule; answers its id', (body) => ({
      id: control.addFault(faultRule.parse(body)),
    })),
    command('DELETE', '/faults', 'remove all rules', () => {
      faults.clear();
      return list();
    }),
    command('DELETE', '/faults/:id', 'remove a rule', (_body, id) => ({ removed: control.removeFault(id) })),
    command('POST', '/callbacks', '{"id": …, "forged"?, "age"?, "count"?}: send callbacks', (body) =>
      control.callback(callbackRequest.parse(body)),
    ),
  ];
}

function ledgerCommands(control: Control, { ledger, authority }: ControlParts): Command[] {
  return [
    command('GET', '/ledger', 'submissions in the order of receipt', () => ({ data: control.ledger() })),
    command('GET', '/ledger/:id', 'one submission', (_body, id) => control.find(id)),
    command('POST', '/decide', '{"id": …, "problems"?: […]} or {"all": true}: decide now', async (body) => {
      const request = decideRequest.parse(body);
      if ('id' in request) return control.decide(request.id, request.problems);
      const undecided = [...ledger.byId.values()].filter(({ decided }) => decided === null);
      await Promise.all(undecided.map((entry) => authority.decisions.decide(entry)));
      return { decided: undecided.length };
    }),
    command('GET', '/counters', 'calls, answers, concurrent PUTs, look-ups, entries', () => control.counters()),
    command('DELETE', '/counters', 'start counting anew', () => {
      control.resetCounters();
      return control.counters();
    }),
  ];
}

function stateCommands(control: Control, { authority, clock }: ControlParts): Command[] {
  const clockState = () => ({ now: timestamp(clock.now()), offset: clock.offset });
  const rotatable = ROTATABLE.map((each) => `"${each}"`).join(' | ');
  return [
    command('GET', '/clock', 'the time, and how far it is off', clockState),
    command('PUT', '/clock', '{"offset": "-10m"}: set the clock off', (body) => {
      control.setClock(z.strictObject({ offset: duration }).parse(body).offset);
      return clockState();
    }),
    command('PUT', '/maintenance', '{"scope": "off" | "submissions" | "all"}: what is out of service', (body) => {
      const { scope, until, retry_after: retryAfter } = maintenanceRequest.parse(body);
      control.setMaintenance({ scope, until, retryAfter });
      return authority.maintenance;
    }),
    command('POST', '/tokens/revoke', '{"refuse_for"?: "30s"}: all tokens invalid, no new ones for a while', (body) => {
      control.revokeTokens(z.strictObject({ refuse_for: duration.optional() }).parse(body).refuse_for);
      return {};
    }),
    command('POST', '/rotate', `{"what": ${rotatable}}: another key`, async (body) => {
      await control.rotate(z.strictObject({ what: z.enum(ROTATABLE) }).parse(body).what);
      return {};
    }),
    command('PUT', '/listening', '{"listening": false}: refuse connections', async (body) => {
      await control.setListening(z.strictObject({ listening: z.boolean() }).parse(body).listening);
      return {};
    }),
    command('POST', '/reset', 'no faults, the clock right, no maintenance', () => {
      control.reset();
      return {};
    }),
  ];
}

function command(method: Command['method'], path: string, text: string, run: Command['run']): Command {
  return { method, path, text, run };
}
