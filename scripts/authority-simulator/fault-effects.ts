import { type Answer, errorAnswer, laterAnswer } from './answer.ts';
import type { SimulatedAuthority } from './authority.ts';
import type { Clock } from './clock.ts';
import type { Fault, FaultKind, FaultRule } from './faults.ts';
import type { Identity } from './identity.ts';
import type { Ledger } from './ledger.ts';
import { receiptFacts, wrongReceipt } from './papers.ts';
import { type SubmissionBody, strangeId, strangeSubmission } from './submission.ts';
import type { Treatment } from './submit.ts';

/** The circumstances that the effect of a fault depends on. */
export interface FaultScene {
  readonly authority: SimulatedAuthority;
  readonly ledger: Ledger;
  readonly identity: Identity;
  readonly clock: Clock;
  /** The id in the address (of a submission or a receipt) or the digest; null where there is none. */
  readonly subject: string | null;
  /** Carries the call out. */
  run(treatment?: Treatment): Promise<Answer>;
}

/** Time for which an answer that never comes keeps the connection, milliseconds: longer than any client waits. */
const NEVER = 3_600_000;
const SLOW = 5_000;
const PAGE = (status: number) =>
  `<!DOCTYPE html><html><head><title>${status}</title></head><body><h1>${status}</h1><p>The requested URL was rejected. Please consult with your administrator. Support ID: 1808764295361124</p></body></html>`;

type Effect = (right: Answer, rule: FaultRule, scene: FaultScene) => Answer | Promise<Answer>;

/** The effect of each fault on the answer of a call; a call that was not carried out has the answer `{}` with 200. */
const EFFECTS: Readonly<Record<Exclude<FaultKind, `callback-${string}`>, Effect>> = {
  unavailable: (_right, { retry_after: after = 1 }) => laterAnswer(503, after),
  'rate-limited': (_right, { retry_after: after = 1 }) => laterAnswer(429, after),
  'bare-error': (_right, { status = 500 }) => ({ status, body: null }),
  'timeout-before-body': (right, { delay = NEVER }) => ({ ...right, instead: 'silent', delay }),
  'timeout-after-body': (right, { delay = NEVER }) => ({ ...right, instead: 'silent', delay }),
  'reset-after-body': (right) => ({ ...right, instead: 'reset' }),
  'lost-reply': (right) => ({ ...right, instead: 'close' }),
  slow: (right, { delay = SLOW }) => ({ ...right, delay: (right.delay ?? 0) + delay }),
  'proxy-page': (_right, { status = 502 }) => ({ status, body: { html: PAGE(status) }, isOwn: false }),
  'truncated-json': (right) => {
    if (right.body !== null && 'xml' in right.body)
      return { ...right, body: { xml: right.body.xml.subarray(0, right.body.xml.length / 2) } };
    const text = JSON.stringify(jsonOf(right));
    return { ...right, body: { text: text.slice(0, Math.ceil(text.length / 2)) } };
  },
  'no-protocol': (right) => ({ ...right, isOwn: false }),
  'wrong-id': (right) => ({ ...right, body: { json: spoilt(jsonOf(right), 'id') } }),
  'wrong-digest': (right) => ({ ...right, body: { json: spoilt(jsonOf(right), 'digest') } }),
  'duplicate-own': asDuplicate,
  'duplicate-true': asDuplicate,
  'duplicate-false': (_right, _rule, scene) => errorAnswer(409, 'duplicate', { original: anothers(scene) }),
  stuck: (right) => right,
  'status-lies': (_right, _rule, { authority }) => {
    const status = authority.maintenance.scope === 'off' ? 'maintenance' : 'up';
    return { status: 200, body: { json: { status, until: null } } };
  },
  'token-invalid': () => errorAnswer(401, 'token_invalid'),
  'token-expired': () => errorAnswer(401, 'token_expired'),
  'invalid-grant': () => ({
    status: 400,
    body: { json: { error: 'invalid_grant', error_description: 'The authorization was revoked.' } },
  }),
  error: (_right, { status = 403, code = 'forbidden' }, { clock }) =>
    errorAnswer(status, code, code === 'digest_mismatch' ? { held_digest: strangeSubmission(clock.now()).digest } : {}),
  'wrong-receipt': async (right, { what = 'signature' }, { ledger, subject, identity, clock }) => {
    const entry = ledger.byDgiId.get(subject ?? '');
    if (right.status !== 200 || entry === undefined) return right;
    const xml = await wrongReceipt(what, receiptFacts(entry), identity.receipts, clock.now());
    return { status: 200, body: { xml } };
  },
  'cleared-missing': () => errorAnswer(404, 'no_cleared_document'),
};

/** Returns the answer to a call that a fault happens to. */
export async function faulty({ kind, registers, rule }: Fault, scene: FaultScene): Promise<Answer> {
  const answer = registers ? await scene.run(treatmentOf(kind, rule)) : null;
  const effect: Effect | undefined = EFFECTS[kind as keyof typeof EFFECTS];
  return effect === undefined
    ? (answer ?? scene.run())
    : effect(answer ?? { status: 200, body: { json: {} } }, rule, scene);
}

function treatmentOf(kind: FaultKind, { delay }: FaultRule): Treatment {
  if (kind === 'stuck') return { decisionIn: delay ?? null };
  return kind === 'duplicate-true' ? { registerAs: strangeId() } : {};
}

function jsonOf({ body }: Answer): object {
  return body !== null && 'json' in body ? body.json : {};
}

/** Turns a submission's answer into that of a duplicate of itself. Any other answer stays. */
function asDuplicate(answer: Answer): Answer {
  return [200, 202].includes(answer.status) ? errorAnswer(409, 'duplicate', { original: jsonOf(answer) }) : answer;
}

/** Returns the submission of another client: another one of the ledger, or one that nobody made. */
function anothers({ ledger, authority, clock, subject }: FaultScene): SubmissionBody {
  const other = ledger.decisions.findLast(({ received }) => received.id !== subject);
  return other === undefined ? strangeSubmission(clock.now()) : authority.show(other);
}

/** Returns a submission, or a list of them, with another id or digest. An error stays. */
function spoilt(json: object, member: 'id' | 'digest'): object {
  if ('error' in json) return json;
  if ('data' in json && Array.isArray(json.data))
    return { ...json, data: json.data.map((each) => spoilt(each, member)) };
  return { ...json, [member]: strangeSubmission(0)[member] };
}
