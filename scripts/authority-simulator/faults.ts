import { randomNumbers } from '../random-numbers.ts';

/** The calls of the protocol; `callback` is the authority's own. */
export const CALLS = [
  'token',
  'capabilities',
  'submit',
  'lookup',
  'lookup_by_digest',
  'cleared',
  'receipt',
  'changes',
  'status',
  'callback',
] as const satisfies readonly string[];
export type CallName =
  | 'token'
  | 'capabilities'
  | 'submit'
  | 'lookup'
  | 'lookup_by_digest'
  | 'cleared'
  | 'receipt'
  | 'changes'
  | 'status'
  | 'callback';

const ANSWERED: readonly CallName[] = CALLS.filter((name) => name !== 'callback') as CallName[];
const WITH_TOKEN = ANSWERED.filter((name) => name !== 'token');
const SUBMISSION: readonly CallName[] = ['submit', 'lookup', 'lookup_by_digest'];

interface FaultKindFacts {
  /** The calls that it can affect; a rule without `calls` applies to all of them. */
  readonly calls: readonly CallName[];
  /**
   * Whether the call is carried out (a submission is registered) before its answer is changed; rules can override it.
   */
  readonly registers: boolean;
  /** Whether `mixed` includes it: after it, the protocol proves the true state without an operator. */
  readonly mixed: boolean;
  readonly text: string;
}

const fault = (calls: readonly CallName[], registers: boolean, mixed: boolean, text: string): FaultKindFacts => ({
  calls,
  registers,
  mixed,
  text,
});

/** Every fault. */
export const FAULT_KINDS = {
  unavailable: fault(ANSWERED, false, true, '503 `unavailable` with Retry-After (`retry_after` seconds)'),
  'bare-error': fault(ANSWERED, false, true, 'a 5xx (`status`) without an error body'),
  'timeout-before-body': fault(ANSWERED, false, true, 'the request is not read and never answered'),
  'timeout-after-body': fault(ANSWERED, true, true, 'the call is carried out and never answered'),
  'reset-after-body': fault(ANSWERED, false, true, 'the request is read, then the connection is reset'),
  'lost-reply': fault(ANSWERED, true, true, 'the call is carried out, then the connection is cut'),
  slow: fault(ANSWERED, true, true, 'the answer comes after `delay`'),
  'proxy-page': fault(ANSWERED, false, true, 'an HTML page of a proxy with `status`, without Authority-Protocol'),
  'truncated-json': fault(ANSWERED, true, true, 'the answer ends in the middle'),
  'no-protocol': fault(ANSWERED, true, true, 'the answer lacks Authority-Protocol'),
  'wrong-id': fault(SUBMISSION, true, true, 'the answer speaks of another id'),
  'wrong-digest': fault(SUBMISSION, true, true, 'the answer speaks of another digest'),
  'duplicate-own': fault(['submit'], true, true, '409 whose original is this very submission'),
  'duplicate-true': fault(['submit'], true, false, '409: the document is held under another id'),
  'duplicate-false': fault(['submit'], false, false, "409 whose original is another's document"),
  stuck: fault(['submit'], true, false, 'processing for `delay`, or until control decides'),
  'status-lies': fault(['status'], true, false, 'the status page says the opposite of what is true'),
  'token-invalid': fault(WITH_TOKEN, false, true, '401 `token_invalid`'),
  'token-expired': fault(WITH_TOKEN, false, true, '401 `token_expired`'),
  'invalid-grant': fault(['token'], false, true, '400 `invalid_grant` of the token endpoint'),
  'rate-limited': fault(ANSWERED, false, true, '429 `rate_limited` with Retry-After (`retry_after` seconds)'),
  error: fault(ANSWERED, false, false, 'an error with `status` and `code`, such as 403 `forbidden`'),
  'wrong-receipt': fault(
    ['receipt'],
    true,
    false,
    'a receipt with a wrong `what`: signature, digest, id, status, signer',
  ),
  'cleared-missing': fault(['cleared'], false, false, '404 for a cleared document that should be there'),
  'callback-lost': fault(['callback'], false, true, 'the decision is not announced'),
  'callback-forged': fault(['callback'], false, true, 'the announcement is signed with another secret'),
  'callback-replayed': fault(['callback'], true, true, 'the announcement comes three times'),
  'callback-late': fault(['callback'], true, true, 'the announcement comes after `delay`'),
} as const satisfies Record<string, FaultKindFacts>;

export type FaultKind = keyof typeof FAULT_KINDS;
export const WRONG_RECEIPTS = ['signature', 'digest', 'id', 'status', 'signer'] as const;

/** The conditions of a fault. Every given condition must hold. */
export interface FaultRule {
  /**
   * `mixed`: one of `kinds` that the call can have, with equal probability; by default all kinds that are harmless by
   * the protocol.
   */
  readonly kind: FaultKind | 'mixed';
  readonly kinds?: readonly FaultKind[] | undefined;
  readonly calls?: readonly CallName[] | undefined;
  /** The submission's id. */
  readonly submission?: string | undefined;
  /** The invoice's number, known once the document was read. */
  readonly number?: string | undefined;
  /** Only the nth call that meets the other conditions. */
  readonly nth?: number | undefined;
  /** Maximum number of times. */
  readonly times?: number | undefined;
  /** Share of the calls, 0 to 1. */
  readonly rate?: number | undefined;
  /** Whether the call is carried out first; each kind has its default. */
  readonly registered?: boolean | undefined;
  readonly status?: number | undefined;
  readonly code?: string | undefined;
  /** Seconds. */
  readonly retry_after?: number | undefined;
  /** Milliseconds. */
  readonly delay?: number | undefined;
  readonly what?: (typeof WRONG_RECEIPTS)[number] | undefined;
}

/** A fault that happens to a call. */
export interface Fault {
  readonly kind: FaultKind;
  readonly registers: boolean;
  readonly rule: FaultRule;
}

export interface Faults {
  /** @returns the rule's id @throws {RangeError} when the rule can never apply */
  add(rule: FaultRule): string;
  remove(id: string): boolean;
  clear(): void;
  list(): readonly (FaultRule & { readonly id: string; readonly fired: number })[];
  /**
   * Returns the fault of a call, by the first rule that applies. Called twice for a submission: before its document is
   * read, with `number` undefined and without rules by number; and after it, with these rules only.
   */
  choose(call: CallName, subject: { readonly id?: string | undefined; readonly number?: string | null }): Fault | null;
  /** Faults that happened, by kind. */
  readonly happened: Readonly<Record<string, number>>;
}

interface Active {
  readonly id: string;
  readonly rule: FaultRule;
  readonly random: () => number;
  seen: number;
  fired: number;
}

/** Faults by rate are the same for the same seed and order of calls. */
export function createFaults(seed: number, rules: readonly FaultRule[] = []): Faults {
  let active: Active[] = [];
  let added = 0;
  const happened: Record<string, number> = {};

  /** Returns the kind that a rule chooses for a call; null when the rule does not apply to it. */
  function kindOf({ rule, random }: Active, call: CallName): FaultKind | null {
    if (rule.calls !== undefined && !rule.calls.includes(call)) return null;
    const kinds = kindsOf(rule).filter((kind) => (FAULT_KINDS[kind].calls as readonly string[]).includes(call));
    return kinds.length < 2 ? (kinds[0] ?? null) : (kinds[Math.floor(random() * kinds.length)] ?? null);
  }

  function fires(each: Active): boolean {
    const { nth, times, rate } = each.rule;
    each.seen++;
    if (nth !== undefined && each.seen !== nth) return false;
    if (times !== undefined && each.fired >= times) return false;
    if (rate !== undefined && each.random() >= rate) return false;
    each.fired++;
    return true;
  }

  function add(rule: FaultRule): string {
    const possible = kindsOf(rule).some((kind) =>
      (FAULT_KINDS[kind].calls as readonly CallName[]).some((call) => rule.calls?.includes(call) ?? true),
    );
    if (!possible) throw new RangeError(`${rule.kind} cannot happen on ${rule.calls?.join(', ') || 'any call'}`);
    if (rule.number !== undefined && kindsOf(rule).includes('timeout-before-body'))
      throw new RangeError('a number is known only after the body was read: name the submission');
    const id = `f${++added}`;
    active.push({ id, rule, random: randomNumbers(seed * 1000 + added), seen: 0, fired: 0 });
    return id;
  }

  for (const rule of rules) add(rule);
  return {
    add,
    remove(id) {
      const before = active.length;
      active = active.filter((each) => each.id !== id);
      return active.length < before;
    },
    clear() {
      active = [];
    },
    list: () => active.map(({ id, rule, fired }) => ({ id, ...rule, fired })),
    choose(call, { id, number }) {
      for (const each of active) {
        const { rule } = each;
        if ((rule.submission ?? id) !== id) continue;
        // A document that has no number was read and matches no rule by number.
        if (rule.number === undefined ? call === 'submit' && number !== undefined : rule.number !== number) continue;
        const kind = kindOf(each, call);
        if (kind === null || !fires(each)) continue;
        happened[kind] = (happened[kind] ?? 0) + 1;
        return { kind, rule, registers: rule.registered ?? FAULT_KINDS[kind].registers };
      }
      return null;
    },
    happened,
  };
}

function kindsOf({ kind, kinds, number }: FaultRule): readonly FaultKind[] {
  if (kind !== 'mixed') return [kind];
  const harmless = (Object.keys(FAULT_KINDS) as FaultKind[]).filter((each) => FAULT_KINDS[each].mixed);
  return kinds ?? harmless.filter((each) => number === undefined || each !== 'timeout-before-body');
}
