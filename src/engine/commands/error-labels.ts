import { CODES, type CommandError } from '../errors.ts';
import type { Context } from './command.ts';

const code = (...names: (keyof typeof CODES)[]): ReadonlySet<number> => new Set(names.map((name) => CODES[name]));

/** Errors after which a driver may retry a retryable write. */
const RETRYABLE_WRITE = code(
  'InterruptedAtShutdown',
  'InterruptedDueToReplStateChange',
  'NotWritablePrimary',
  'NotPrimaryNoSecondaryOk',
  'NotPrimaryOrSecondary',
  'PrimarySteppedDown',
  'ShutdownInProgress',
  'HostNotFound',
  'HostUnreachable',
  'NetworkTimeout',
  'SocketException',
  'ExceededTimeLimit',
);

/** Errors after which a driver may retry the whole transaction, even if they occur on commit. */
const TRANSIENT = code(
  'LockTimeout',
  'WriteConflict',
  'SnapshotUnavailable',
  'SnapshotTooOld',
  'NoSuchTransaction',
  'PreparedTransactionInProgress',
);

/** Errors after which a driver resumes a change stream. */
const RESUMABLE = new Set([
  ...RETRYABLE_WRITE,
  ...code('RetryChangeStream', 'FailedToSatisfyReadPreference', 'StaleConfig', 'StaleEpoch'),
]);

/** The `errorLabels` that MongoDB adds to an error of this command. */
export function labelsOf({ code }: CommandError, context: Context): string[] {
  const labels: string[] = [];
  const transient = TRANSIENT.has(code) || (RETRYABLE_WRITE.has(code) && !endsTransaction(context));
  if (context.args.has('autocommit') && transient) labels.push('TransientTransactionError');
  if (isRetryable(context) && RETRYABLE_WRITE.has(code)) labels.push('RetryableWriteError');
  return labels;
}

/** The `errorLabels` for a write that succeeded but whose write concern failed. */
export function writeConcernLabels(writeConcernCode: number, context: Context): string[] {
  return isRetryable(context) && RETRYABLE_WRITE.has(writeConcernCode) ? ['RetryableWriteError'] : [];
}

/** The `errorLabels` for an error of a change stream. */
export function changeStreamLabels(errorCode: number): string[] {
  return RESUMABLE.has(errorCode) ? ['ResumableChangeStreamError'] : [];
}

function endsTransaction({ name }: Context): boolean {
  return name === 'commitTransaction' || name === 'abortTransaction';
}

function isRetryable(context: Context): boolean {
  return endsTransaction(context) || (context.args.has('txnNumber') && !context.args.has('autocommit'));
}
