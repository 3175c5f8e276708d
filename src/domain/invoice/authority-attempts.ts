import type { ClearedAnswer, LookUpAnswer, ReceiptAnswer, SubmitAnswer } from '../authority/ports.ts';
import type { AttemptOutcome, AttemptPurpose, AuthorityAttempt } from './authority-attempt.ts';

/** Numbers of the first and of the last attempts that an invoice keeps. */
export const [FIRST_ATTEMPTS, LAST_ATTEMPTS] = [10, 60] as const;
/** Maximum number of attempts that an invoice keeps. */
export const MOST_ATTEMPTS = FIRST_ATTEMPTS + LAST_ATTEMPTS;
/**
 * Number of look-ups that an invoice's record certainly still contains: half of the last attempts, because a submission
 * may follow each look-up.
 */
export const MOST_COUNTED = LAST_ATTEMPTS / 2;
const MAX_MESSAGE = 500;

/** Appends attempts to a record, which keeps only the first and the last ones. */
export function recorded(
  before: readonly AuthorityAttempt[],
  further: readonly AuthorityAttempt[],
): readonly AuthorityAttempt[] {
  const all = [...before, ...further];
  return all.length <= FIRST_ATTEMPTS + LAST_ATTEMPTS
    ? all
    : [...all.slice(0, FIRST_ATTEMPTS), ...all.slice(-LAST_ATTEMPTS)];
}

/** A fetched document that is wrong. */
export interface InvalidAnswer {
  readonly kind: 'invalid';
  readonly requestId: string | null;
  readonly message: string;
}

type Answer = SubmitAnswer | LookUpAnswer | ReceiptAnswer | ClearedAnswer | InvalidAnswer;

/** Collects the calls to the authority between two updates of an invoice. */
export class AttemptLog {
  /** The calls since the last update, in order. */
  readonly made: AuthorityAttempt[] = [];

  /**
   * Makes a call to the authority and records the outcome.
   * @returns the result of `call`
   * @throws the error of `call`
   */
  async call<Given extends Answer>(purpose: AttemptPurpose, call: () => Promise<Given>): Promise<Given> {
    const at = new Date();
    const start = performance.now();
    const note = (outcome: AttemptOutcome, message: string | null, requestId: string | null) =>
      this.made.push({
        at,
        purpose,
        outcome,
        requestId,
        message: message?.slice(0, MAX_MESSAGE).toWellFormed() ?? null,
        milliseconds: Math.round(performance.now() - start),
      });
    try {
      const answer = await call();
      if (isKeptBack(answer)) return answer;
      const [outcome, message] = noteOf(answer, purpose);
      note(outcome, message, answer.requestId);
      return answer;
    } catch (error) {
      // The text of an internal error belongs in our own log only.
      note('unknown', 'The call failed with an internal error of this service.', null);
      throw error;
    }
  }
}

/** Whether the client sent nothing in order to stay within the authority's limits. */
function isKeptBack(answer: Answer): boolean {
  return answer.kind === 'unknown'
    ? answer.deferred === true
    : answer.kind === 'not_held' && answer.reason === 'deferred';
}

function noteOf(answer: Answer, purpose: AttemptPurpose): [AttemptOutcome, string | null] {
  switch (answer.kind) {
    case 'held': {
      const { decision } = answer.submission;
      if (decision === null) return ['received', null];
      if (decision.outcome === 'accepted') return ['accepted', null];
      return ['rejected', decision.problems.map(({ message }) => message).join(' ')];
    }
    case 'not_held':
      return ['not_received', answer.message];
    case 'absent':
      return [purpose === 'look_up' ? 'not_received' : 'not_available', null];
    case 'receipt':
    case 'document':
      return ['fetched', null];
    case 'invalid':
      return ['invalid', answer.message];
    case 'unknown':
      return [answer.heldDigest === undefined ? 'unknown' : 'conflict', answer.message];
    case 'refused':
      return ['refused', answer.message];
    case 'duplicate':
      return ['refused', `The authority holds another document with this number, as ${answer.original}.`];
    case 'digest_mismatch':
      return ['conflict', `The authority holds another document under this id; its digest is ${answer.heldDigest}.`];
  }
}
