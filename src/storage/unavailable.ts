import { MongoError, MongoErrorLabel, MongoNetworkError, MongoServerSelectionError } from 'mongodb';
import { type ServiceError, serviceError } from '../domain/errors.ts';

/** What the driver throws when it has no server to talk to; the classes of some of these are not exported. */
const NAMES = /^Mongo(PoolClear|PoolClosed|TopologyClosed|NotConnected|WaitQueueTimeout|OperationTimeout)/;

/** MongoDB's code `OutOfDiskSpace`. */
const OUT_OF_DISK_SPACE = 14031;

/** Why nothing can be stored: the store does not answer, or has no room. */
export type Outage = 'away' | 'full';

/**
 * The store's absence as clients see it: 503, worth another try. Null for any other failure.
 * Whether a write that failed so was done is not known: an Idempotency-Key makes another try safe.
 */
export function unavailability(error: unknown): ServiceError | null {
  if (outageOf(error) === null) return null;
  return serviceError('internal_error', 'The service is not available at the moment. Try again.', null, 503);
}

/** What outage of the store a failure tells of; null: of none. */
export function outageOf(error: unknown): Outage | null {
  if (error instanceof MongoError && error.code === OUT_OF_DISK_SPACE) return 'full';
  return isAway(error) ? 'away' : null;
}

function isAway(error: unknown): boolean {
  if (error instanceof MongoError) {
    return (
      error instanceof MongoNetworkError ||
      error instanceof MongoServerSelectionError ||
      NAMES.test(error.name) ||
      error.hasErrorLabel(MongoErrorLabel.RetryableWriteError)
    );
  }
  // The driver lets Node's own error through when it writes to a connection that the server has ended.
  return error instanceof Error && 'code' in error && (error.code === 'EPIPE' || error.code === 'ECONNRESET');
}
