import { MongoServerError } from 'mongodb';

/** MongoDB's code `DuplicateKey`. */
const DUPLICATE_KEY = 11000;

/** Whether a write failed because its key already exists in a unique index, including that of `_id`. */
export function isDuplicateKey(error: unknown): boolean {
  return error instanceof MongoServerError && error.code === DUPLICATE_KEY;
}
