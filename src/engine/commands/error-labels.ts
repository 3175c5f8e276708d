import { CODES, type CommandError } from '../errors.ts';
import type { Context } from './command.ts';

const code = (...names: (keyof typeof CODES)[]): ReadonlySet<number> => new Set(names.map((name) => CODES[name]));

/** After these a driver may send a retryable write once more. */
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

/** After these a driver may run the whole transaction once more, also when it was being committed. */
const TRANSIENT = code(
  'LockTimeout',
  'WriteConflict',
  'SnapshotUnavailable',
  'SnapshotTooOld',
  'NoSuchTransaction',
  'PreparedTransactionInProgress',
);

/** After these a driver opens a change stream anew where it was. */
const RESUMABLE = new Set([
  ...RETRYABLE_WRITE,
  ...code('RetryChangeStream', 'FailedToSatisfyReadPreference', 'StaleConfig', 'StaleEpoch'),
]);

/** The `errorLabels` that MongoDB gives an error's code where this command met it. */
export function labelsOf({ code }: CommandError, context: Context): string[] {
  const labels: string[] = [];
  const transient = TRANSIENT.has(code) || (RETRYABLE_WRITE.has(code) && !endsTransaction(context));
  if (context.args.has('autocommit') && transient) labels.push('TransientTransactionError');
  if (isRetryable(context) && RETRYABLE_WRITE.has(code)) labels.push('RetryableWriteError');
  return labels;
}

/** The same for a write that was done, and whose write concern failed. */
export function writeConcernLabels(writeConcernCode: number, context: Context): string[] {
  return isRetryable(context) && RETRYABLE_WRITE.has(writeConcernCode) ? ['RetryableWriteError'] : [];
}

/** The labels of an error met while changes were read. */
export function changeStreamLabels(errorCode: number): string[] {
  return RESUMABLE.has(errorCode) ? ['ResumableChangeStreamError'] : [];
}

function endsTransaction({ name }: Context): boolean {
  return name === 'commitTransaction' || name === 'abortTransaction';
}

function isRetryable(context: Context): boolean {
  return endsTransaction(context) || (context.args.has('txnNumber') && !context.args.has('autocommit'));
}
