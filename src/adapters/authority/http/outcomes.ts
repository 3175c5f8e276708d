import type {
  ChangesAnswer,
  ClearedAnswer,
  LookUpAnswer,
  NotHeldReason,
  Submission,
  SubmitAnswer,
  Unknown,
} from '../../../domain/authority/ports.ts';
import { type ReportedError, readChanges, readError, readFound, readSubmission } from './answers.ts';
import { isCompleteXml } from './complete-xml.ts';
import type { Answer, Exchange } from './connection.ts';
import { retryAfterOf } from './retry-after.ts';
import type { NoToken } from './token.ts';

/** The outcome of a call: the exchange with the authority, or why there was none. */
export type Outcome = Exchange | NoToken;

/** The fields of the submission that the answer is compared with. */
type Sent = Pick<Submission, 'submissionId' | 'sha256'>;

/** A row of a table below: how to read an answer of the authority itself with one of these statuses. */
interface Case<Context, Result> {
  readonly status: readonly number[];
  /** The error codes that the row applies to; `any`: every error body. Absent: the row is about a success. */
  readonly code?: readonly string[] | 'any';
  /** Returns the result, or a text that says why the answer is unusable and nothing may be concluded from it. */
  readonly read: (answer: OwnAnswer, context: Context) => Result | string;
}

interface OwnAnswer extends Answer {
  /** The content of an error body; empty for a success. */
  readonly error: ReportedError;
}

const NO_ERROR: ReportedError = { code: '', message: '' };

/**
 * The outcomes of a submission, row by row as in the protocol. Any other answer is unknown: see {@link classify}.
 * `no_token` and `not_sent` are handled before this table, because they have no answer.
 */
const SUBMIT: readonly Case<Sent, SubmitAnswer>[] = [
  { status: [200, 202], read: held },
  { status: [400, 413, 415], code: 'any', read: refused },
  { status: [401], code: ['token_expired', 'token_invalid'], read: notHeld('token_refused') },
  { status: [403], code: 'any', read: notHeld('forbidden') },
  { status: [409], code: ['digest_mismatch'], read: mismatch },
  { status: [409], code: ['duplicate'], read: duplicate },
  { status: [429], code: ['rate_limited'], read: notHeld('rate_limited') },
  { status: [503], code: ['unavailable'], read: notHeld('unavailable') },
];

const LOOK_UP_BY_ID: readonly Case<Sent, LookUpAnswer>[] = [
  { status: [200], read: heldOrForeign },
  { status: [404], code: ['unknown_submission'], read: absent },
];

const LOOK_UP_BY_DIGEST: readonly Case<Sent, LookUpAnswer>[] = [
  { status: [200], read: found },
  { status: [404], code: ['unknown_submission'], read: absent },
];

/** The outcomes of requests for a cleared document, and for a receipt, which is verified later. */
const DOCUMENT: readonly Case<null, ClearedAnswer>[] = [
  {
    status: [200],
    // A document that was truncated in transit is not the authority's statement, neither valid nor invalid.
    read: ({ requestId, body }) =>
      isCompleteXml(body) ? { kind: 'document', requestId, document: body } : 'its document is not complete',
  },
  { status: [404], code: 'any', read: absent },
];

const CHANGES: readonly Case<null, ChangesAnswer>[] = [
  {
    status: [200],
    read({ requestId, body }) {
      const page = readChanges(body);
      return page === null ? BROKEN : { kind: 'changes', requestId, ...page };
    },
  },
];

const BROKEN = 'its body is not what the protocol says';

export function submitOutcome(outcome: Outcome, sent: Sent): SubmitAnswer {
  switch (outcome.kind) {
    case 'no_token':
      return { ...outcome, kind: 'not_held', reason: 'no_token' };
    case 'not_sent': {
      const { requestId, message } = outcome;
      return { kind: 'not_held', reason: 'unreachable', requestId, message, retryAfterMs: null };
    }
    default:
      return classify(SUBMIT, outcome, sent);
  }
}

export function lookUpOutcome(by: 'id' | 'digest', outcome: Outcome, sent: Sent): LookUpAnswer {
  return classify(by === 'id' ? LOOK_UP_BY_ID : LOOK_UP_BY_DIGEST, outcome, sent);
}

export function documentOutcome(outcome: Outcome): ClearedAnswer {
  return classify(DOCUMENT, outcome, null);
}

export function changesOutcome(outcome: Outcome): ChangesAnswer {
  return classify(CHANGES, outcome, null);
}

/** Whether the authority refused the token of a call. The call may then be repeated immediately with a new token. */
export function isTokenRefusal(outcome: Outcome): boolean {
  if (outcome.kind !== 'answer' || outcome.status !== 401 || !isOwn(outcome)) return false;
  return ['token_expired', 'token_invalid'].includes(readError(outcome.body)?.code ?? '');
}

/** Whether an answer comes from the authority itself, not from a proxy in between. */
export function isOwn({ headers }: Answer): boolean {
  return headers.get('authority-protocol') === '1';
}

/** Describes an unusable outcome in a sentence. */
export function troubleOf(outcome: Outcome, why?: string): string {
  if (outcome.kind !== 'answer') return outcome.message;
  const { status } = outcome;
  if (!isOwn(outcome)) {
    const version = outcome.headers.get('authority-protocol');
    return version === undefined
      ? `Something other than the authority answered with status ${status} (no Authority-Protocol header).`
      : `The authority answered with status ${status} in another version of the protocol (${version.slice(0, 20)}).`;
  }
  const error = readError(outcome.body);
  if (why === undefined && error)
    return `The authority answered with status ${status}, ${error.code}: ${error.message}`;
  return `The authority answered with status ${status}, but ${why ?? BROKEN}.`;
}

/** Applies the first row that fits. If none fits the outcome is unknown: nothing may be concluded from it. */
function classify<Context, Result>(
  cases: readonly Case<Context, Result>[],
  outcome: Outcome,
  context: Context,
): Result | Unknown {
  const unknown = (why?: string) => unknownOf(outcome, why);
  if (outcome.kind === 'no_token') return { ...unknown(), retryAfterMs: outcome.retryAfterMs };
  if (outcome.kind !== 'answer' || !isOwn(outcome)) return unknown();
  const error = readError(outcome.body);
  const row = cases.find(
    ({ status, code }) =>
      status.includes(outcome.status) &&
      (code === undefined || (error !== null && (code === 'any' || code.includes(error.code)))),
  );
  if (row === undefined) return unknown();
  const result = row.read({ ...outcome, error: error ?? NO_ERROR }, context);
  return typeof result === 'string' ? unknown(result) : result;
}

/** Returns the result of a call from which nothing may be concluded. @param why see {@link troubleOf} */
export function unknownOf(outcome: Outcome, why?: string): Unknown {
  const own = outcome.kind === 'answer' && isOwn(outcome) ? outcome : null;
  return {
    kind: 'unknown',
    requestId: outcome.requestId,
    message: troubleOf(outcome, why),
    retryAfterMs: own && retryAfterOf(own),
    ...(own?.status === 429 && { rateLimited: true }),
  };
}

/**
 * Reads the answer to a submission, a repeated one included, or to a look-up by id. It must be about the same
 * submission.
 */
function held({ requestId, body }: OwnAnswer, sent: Sent): Extract<SubmitAnswer, { kind: 'held' }> | string {
  const reported = readSubmission(body);
  if (reported === null) return BROKEN;
  const { sha256, ...submission } = reported;
  if (submission.submissionId !== sent.submissionId) return 'it is about another submission';
  if (sha256 !== sent.sha256) return `the document that it holds under this id has the digest ${sha256}`;
  return { kind: 'held', requestId, submission };
}

/**
 * Reads the answer to a look-up by id. If the authority holds another document under this id, the outcome stays
 * unknown, but its digest is reported to operators.
 */
function heldOrForeign(answer: OwnAnswer, sent: Sent): LookUpAnswer | string {
  const found = held(answer, sent);
  if (typeof found !== 'string') return found;
  const reported = readSubmission(answer.body);
  const isForeign = reported?.submissionId === sent.submissionId && reported.sha256 !== sent.sha256;
  return isForeign ? { ...unknownOf(answer, found), heldDigest: reported.sha256 } : found;
}

/** Reads the answer to a look-up by digest. A document with our digest is ours, whatever its id. */
function found({ requestId, body }: OwnAnswer, sent: Sent): LookUpAnswer | string {
  const all = readFound(body);
  if (all === null) return BROKEN;
  if (all.some(({ sha256 }) => sha256 !== sent.sha256)) return 'it is about another document';
  const reported = all.find(({ submissionId }) => submissionId === sent.submissionId) ?? all[0];
  if (reported === undefined) return { kind: 'absent', requestId };
  const { sha256: _, ...submission } = reported;
  return { kind: 'held', requestId, submission };
}

function absent({ requestId }: OwnAnswer): { kind: 'absent'; requestId: string } {
  return { kind: 'absent', requestId };
}

function refused({ requestId, error }: OwnAnswer): SubmitAnswer {
  return { kind: 'refused', requestId, code: error.code, message: error.message };
}

function notHeld(reason: NotHeldReason): (answer: OwnAnswer) => SubmitAnswer {
  return (answer) => {
    const { requestId, status, error } = answer;
    const message = `The authority answered with status ${status}, ${error.code}: ${error.message}`;
    return { kind: 'not_held', reason, requestId, message, retryAfterMs: retryAfterOf(answer) };
  };
}

function mismatch({ requestId, error }: OwnAnswer, sent: Sent): SubmitAnswer | string {
  const heldDigest = error.held_digest ?? null;
  if (heldDigest === sent.sha256) return 'the digest that it calls another one is that of this document';
  return { kind: 'digest_mismatch', requestId, heldDigest };
}

/** Reads the answer `duplicate`. It is trusted only as far as the digest and id of the original confirm it. */
function duplicate({ requestId, error: { original } }: OwnAnswer, sent: Sent): SubmitAnswer | string {
  if (!original) return 'it does not say of what the document is a duplicate';
  const { sha256, ...submission } = original;
  if (sha256 === sent.sha256) return { kind: 'held', requestId, submission };
  if (submission.submissionId === sent.submissionId) return { kind: 'digest_mismatch', requestId, heldDigest: sha256 };
  return { kind: 'duplicate', requestId, original: submission.submissionId };
}
