import { MongoServerError } from 'mongodb';

/** MongoDB's code `DuplicateKey`. */
export const DUPLICATE_KEY = 11000;

/** Whether a write failed because a unique index, that of `_id` included, has its key already. */
export function isDuplicateKey(error: unknown): boolean {
  return error instanceof MongoServerError && error.code === DUPLICATE_KEY;
}
