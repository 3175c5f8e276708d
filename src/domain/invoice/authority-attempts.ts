import type { AttemptOutcome, AttemptPurpose, AuthorityAttempt } from './authority-attempt.ts';
import { type Decision, NotReceived, OutcomeUnknown, type Receipt } from './ports.ts';

/** How many of the first and of the last attempts an invoice keeps. */
export const [FIRST_ATTEMPTS, LAST_ATTEMPTS] = [10, 40] as const;
/** Maximum number of attempts that an invoice keeps. */
export const MOST_ATTEMPTS = FIRST_ATTEMPTS + LAST_ATTEMPTS;
const MAX_MESSAGE = 500;

/** Appends attempts to a record, which keeps the first and the last of all. */
export function recorded(
  before: readonly AuthorityAttempt[],
  further: readonly AuthorityAttempt[],
): readonly AuthorityAttempt[] {
  const all = [...before, ...further];
  return all.length <= FIRST_ATTEMPTS + LAST_ATTEMPTS
    ? all
    : [...all.slice(0, FIRST_ATTEMPTS), ...all.slice(-LAST_ATTEMPTS)];
}

/** Collects the calls to the authority between two updates of an invoice. */
export class AttemptLog {
  /** The calls since the last update, in order. */
  readonly made: AuthorityAttempt[] = [];

  /** Calls the authority and records the outcome. @returns the result of `call` @throws the error of `call` */
  async call<Answer extends Receipt | null>(purpose: AttemptPurpose, call: () => Promise<Answer>): Promise<Answer> {
    const at = new Date();
    const note = (outcome: AttemptOutcome, message: string | null) =>
      this.made.push({ at, purpose, outcome, message: message?.slice(0, MAX_MESSAGE).toWellFormed() ?? null });
    try {
      const answer = await call();
      if (answer === null) note('not_received', null);
      else if (answer.decision === null) note('received', null);
      else note(answer.decision.outcome, wordsOf(answer.decision));
      return answer;
    } catch (error) {
      if (error instanceof NotReceived) note('not_received', error.message);
      // The text of an internal error belongs in our own log only.
      else
        note(
          'unknown',
          error instanceof OutcomeUnknown ? error.message : 'The call failed with an internal error of this service.',
        );
      throw error;
    }
  }
}

function wordsOf(decision: Decision): string | null {
  return decision.outcome === 'rejected' ? decision.reason : null;
}
