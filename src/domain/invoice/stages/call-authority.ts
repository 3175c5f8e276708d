import type { Gate, Pass } from '../../authority/gate.ts';
import {
  type Authority,
  type ClearedAnswer,
  type HeldSubmission,
  type LookUpAnswer,
  NOT_HELD,
  type ReceiptAnswer,
  type Submission,
  type SubmitAnswer,
  type Unknown,
} from '../../authority/ports.ts';
import type { AttemptPurpose } from '../authority-attempt.ts';
import type { AttemptLog } from '../authority-attempts.ts';
import type { Invoice } from '../invoice.ts';

/** The outcome of the calls of one run. */
export type Outcome =
  | { readonly kind: 'held'; readonly submission: HeldSubmission }
  /** Nothing was sent, and the invoice waits in the queue. */
  | { readonly kind: 'not_sent'; readonly outcomeUnknown: boolean }
  /** Nothing was sent. A look-up must come first, and waits because of the authority's limits. */
  | { readonly kind: 'deferred'; readonly waitMs: number }
  | Failed
  | Extract<SubmitAnswer, { readonly kind: 'refused' | 'duplicate' | 'digest_mismatch' }>;

/** A call failed. The authority does not hold the document, or it is unknown whether it does. */
export interface Failed {
  readonly kind: 'failed';
  /** Whether the delay of the next run depends on the number of attempts or on the number of runs. */
  readonly waitsBy: 'attempts' | 'runs';
  readonly outcomeUnknown: boolean;
  /** All failed attempts so far, including this one if it counts. */
  readonly failures: readonly number[];
  readonly retryAfterMs: number | null;
  readonly message: string;
  readonly needsOperator: boolean;
}

export interface Calls {
  readonly authority: Authority;
  readonly gate: Gate;
  readonly pass: Pass;
  readonly log: AttemptLog;
  readonly invoice: Invoice;
  readonly read: () => Promise<Uint8Array>;
  readonly asksFirst: boolean;
  /** Receives errors that the adapter throws, which are defects of this service. */
  readonly onDefect: (error: unknown) => void;
  /** Number of attempts after which an invoice has failed. */
  readonly attempts: number;
}

/** The answer of a call that failed by a defect of this service. */
const DEFECT: Unknown = {
  kind: 'unknown',
  requestId: null,
  message: 'an internal error of this service',
  retryAfterMs: null,
};

/**
 * Whether a request was sent. If not, this service has a defect or kept to the authority's limits, so the answer says
 * nothing about the authority.
 */
export function wasSent({ requestId }: { readonly requestId: string | null }): boolean {
  return requestId !== null;
}

/** Whether the authority answered, even if only with one of its limits. Then there is no outage. */
export function isAnswered(answer: LookUpAnswer | ReceiptAnswer | ClearedAnswer): boolean {
  return answer.kind !== 'unknown' || answer.rateLimited === true;
}

/** Makes and records a call to the authority. @returns {@link DEFECT} if it throws */
export async function recordedCall<Answer extends SubmitAnswer | LookUpAnswer>(
  { log, onDefect }: Pick<Calls, 'log' | 'onDefect'>,
  purpose: AttemptPurpose,
  call: () => Promise<Answer>,
): Promise<Answer | Unknown> {
  try {
    return await log.call(purpose, call);
  } catch (error) {
    onDefect(error);
    return DEFECT;
  }
}

/**
 * Makes the calls of one run of the stage: a look-up if an earlier outcome is unknown, then a submission if the
 * authority does not hold the document and attempts are left. After the last failed attempt a look-up follows as well,
 * because an earlier submission may have arrived late.
 */
export async function callAuthority(calls: Calls): Promise<Outcome> {
  const { gate, pass, invoice, asksFirst, attempts } = calls;
  const failures = invoice.work?.failures ?? [];
  if (asksFirst) {
    const found = await lookUp(calls);
    if (found.kind === 'held') {
      await pass.found();
      return found;
    }
    if (found.kind === 'unknown') {
      if (found.deferred) return { kind: 'deferred', waitMs: found.retryAfterMs ?? 0 };
      if (wasSent(found) && !isAnswered(found)) await pass.lookUpFailed(found.retryAfterMs);
      return unknown('runs', found, failures);
    }
    // The look-up has shown that no attempt has arrived.
    if (gate.counted(failures).length >= attempts)
      return {
        kind: 'failed',
        waitsBy: 'attempts',
        outcomeUnknown: false,
        failures,
        retryAfterMs: null,
        message: '',
        needsOperator: false,
      };
  }
  const outcome = await submit(calls, failures);
  if (outcome.kind !== 'failed' || outcome.outcomeUnknown || gate.counted(outcome.failures).length < attempts)
    return outcome;
  const found = await lookUp(calls);
  // Without an answer to this look-up, the outcome of the submissions is unknown.
  if (found.kind === 'unknown') return unknown('runs', found, outcome.failures);
  return found.kind === 'held' ? found : outcome;
}

async function lookUp(calls: Calls) {
  const { authority, gate, invoice } = calls;
  const submission = { submissionId: invoice.id, sha256: digestOf(invoice) };
  const answer = await recordedCall(calls, 'look_up', () => authority.lookUp(submission));
  if (isAnswered(answer)) gate.answered();
  return answer;
}

async function submit(calls: Calls, failures: readonly number[]): Promise<Outcome> {
  const { authority, pass, invoice, read } = calls;
  const submission: Submission = {
    submissionId: invoice.id,
    customerIce: invoice.customer.ice,
    sha256: digestOf(invoice),
    document: await read(),
  };
  const answer = await recordedCall(calls, 'submit', () => authority.submit(submission));
  // A defect says nothing about the authority and must not use up the attempts. Repeated defects make the invoice need
  // attention.
  if (answer === DEFECT) return unknown('runs', answer, failures);
  const failure = await pass.submitted(answer);
  switch (answer.kind) {
    case 'held':
    case 'refused':
    case 'duplicate':
    case 'digest_mismatch':
      return answer;
    case 'unknown':
      return unknown('attempts', answer, withFailure(failures, failure));
    case 'not_held': {
      const { reason, retryAfterMs, message } = answer;
      const { counts, isFailure } = NOT_HELD[reason];
      // The authority accepts nothing at present, or the client holds back because of its limits. This says nothing
      // about the invoice.
      if (!isFailure) return { kind: 'not_sent', outcomeUnknown: false };
      return {
        kind: 'failed',
        waitsBy: 'attempts',
        outcomeUnknown: false,
        retryAfterMs,
        message,
        failures: counts ? withFailure(failures, failure) : failures,
        needsOperator: reason === 'forbidden',
      };
    }
  }
}

function unknown(
  waitsBy: Failed['waitsBy'],
  { retryAfterMs, message }: Pick<Failed, 'retryAfterMs' | 'message'>,
  failures: readonly number[],
): Failed {
  return { kind: 'failed', waitsBy, outcomeUnknown: true, failures, retryAfterMs, message, needsOperator: false };
}

function withFailure(failures: readonly number[], failure: number | null): readonly number[] {
  return failure === null ? failures : [...failures, failure];
}

function digestOf({ id, xml }: Invoice): string {
  if (!xml) throw new Error(`invoice ${id} is transmitted without a signed document`);
  return xml.sha256;
}
