import { type Answer, errorAnswer, laterAnswer } from './answer.ts';
import { type SimulatedAuthority, strangeId, strangeSubmission, type Treatment } from './authority.ts';
import type { Clock } from './clock.ts';
import type { Fault } from './faults.ts';
import type { Identity } from './identity.ts';
import type { Entry, Ledger } from './ledger.ts';
import { receiptFacts, wrongReceipt } from './papers.ts';
import type { SubmissionBody } from './submission.ts';

/** What the effect of a fault depends on. */
export interface FaultScene {
  readonly authority: SimulatedAuthority;
  readonly ledger: Ledger;
  readonly identity: Identity;
  readonly clock: Clock;
  /** The submission's id, or the receipt's, or null. */
  readonly subject: string | null;
  /** Carries the call out. */
  run(treatment?: Treatment): Promise<Answer>;
}

/** How long an answer that never comes keeps the connection: longer than any client waits. */
const NEVER = 3_600_000;
const SLOW = 5_000;
const PAGE = (status: number) =>
  `<!DOCTYPE html><html><head><title>${status}</title></head><body><h1>${status}</h1><p>The requested URL was rejected. Please consult with your administrator. Support ID: 1808764295361124</p></body></html>`;

/** The answer to a call that a fault happens to. */
export async function faulty({ kind, registers, rule }: Fault, scene: FaultScene): Promise<Answer> {
  const { run, authority, clock } = scene;
  const { status, retry_after: after = 1, delay } = rule;
  switch (kind) {
    case 'stuck':
      return run({ decisionIn: delay ?? null });
    case 'duplicate-true':
      return asDuplicate(await run({ registerAs: strangeId() }));
    case 'wrong-receipt':
      return spoiltReceipt(rule.what ?? 'signature', await run(), scene);
  }
  const answer = registers ? await run() : null;
  const json = answer !== null && answer.body !== null && 'json' in answer.body ? answer.body.json : {};
  const right: Answer = answer ?? { status: 200, body: { json } };
  switch (kind) {
    case 'unavailable':
      return laterAnswer(503, after);
    case 'rate-limited':
      return laterAnswer(429, after);
    case 'bare-error':
      return { status: status ?? 500, body: null };
    case 'timeout-before-body':
    case 'timeout-after-body':
      return { ...right, instead: 'silent', delay: delay ?? NEVER };
    case 'reset-after-body':
      return { ...right, instead: 'reset' };
    case 'lost-reply':
      return { ...right, instead: 'close' };
    case 'slow':
      return { ...right, delay: (right.delay ?? 0) + (delay ?? SLOW) };
    case 'proxy-page':
      return { status: status ?? 502, body: { html: PAGE(status ?? 502) }, isOwn: false };
    case 'truncated-json': {
      const text = JSON.stringify(json);
      return { ...right, body: { text: text.slice(0, Math.ceil(text.length / 2)) } };
    }
    case 'no-protocol':
      return { ...right, isOwn: false };
    case 'wrong-id':
      return { ...right, body: { json: spoilt(json, 'id') } };
    case 'wrong-digest':
      return { ...right, body: { json: spoilt(json, 'digest') } };
    case 'duplicate-own':
      return asDuplicate(right);
    case 'duplicate-false':
      return errorAnswer(409, 'duplicate', { original: anothers(scene) });
    case 'status-lies': {
      const lie = authority.maintenance.scope === 'off' ? 'maintenance' : 'up';
      return { status: 200, body: { json: { status: lie, until: null } } };
    }
    case 'token-invalid':
    case 'token-expired':
      return errorAnswer(401, kind.replace('-', '_'));
    case 'invalid-grant':
      return { status: 400, body: { json: { error: 'invalid_grant', error_description: 'revoked' } } };
    case 'error':
      return errorAnswer(status ?? 403, rule.code ?? 'forbidden', {
        ...(rule.code === 'digest_mismatch' && strange(clock)),
      });
    case 'cleared-missing':
      return errorAnswer(404, 'no_cleared_document');
    default:
      return right;
  }
}

/** A submission's answer, told as a duplicate of itself. Any other answer stays. */
function asDuplicate(answer: Answer): Answer {
  if (![200, 202].includes(answer.status) || answer.body === null || !('json' in answer.body)) return answer;
  return errorAnswer(409, 'duplicate', { original: answer.body.json });
}

/** Somebody else's submission: another of the ledger, or one that nobody made. */
function anothers({ ledger, authority, clock, subject }: FaultScene): SubmissionBody {
  const other = ledger.decisions.findLast(({ received }) => received.id !== subject);
  return other === undefined ? strangeSubmission(clock.now()) : authority.show(other);
}

function strange(clock: Clock): object {
  return { held_digest: strangeSubmission(clock.now()).digest };
}

/** A submission, or a list of them, with another id or digest. */
function spoilt(json: object, member: 'id' | 'digest'): object {
  if ('data' in json && Array.isArray(json.data))
    return { ...json, data: json.data.map((each) => spoilt(each, member)) };
  return { ...json, [member]: strangeSubmission(0)[member] };
}

async function spoiltReceipt(
  what: Parameters<typeof wrongReceipt>[0],
  answer: Answer,
  { ledger, subject, identity, clock }: FaultScene,
): Promise<Answer> {
  const entry: Entry | undefined = ledger.byDgiId.get(subject ?? '');
  if (answer.status !== 200 || entry === undefined) return answer;
  return { status: 200, body: { xml: await wrongReceipt(what, receiptFacts(entry), identity.receipts, clock.now()) } };
}
