import { type Document, EJSON } from 'bson';

/**
 * Known differences of the reference server (`TEST_MONGODB_URL` with its replica set's name) from MongoDB's manual. The
 * manual is authoritative: these cases are not sent to the reference server. This is the only list of them for the
 * random suites and the suites of storage.
 */
const onReference = process.env.TEST_MONGODB_URL?.includes('secantus') === true;

/**
 * Values that it handles differently: symbols can be neither indexed nor compared; code with a scope sorts among code
 * without one; decimals compare as the nearest double, very large and very small ones as equal; an index misses some of
 * the strings and binaries in a range; a sparse index misses missing fields that are greater than MinKey.
 */
const UNSURE =
  /"\$symbol"|"\$scope"|"-?[\d.]+[eE][+-]?\d{2,}"|"\$numberDecimal":"-?\d{10,}|"\$[gl]te?":("|\{"\$(binary|minKey|maxKey)")/;

export const deviates = {
  /** Whether it does not store, compare or sort this value of a document, filter or update as MongoDB does. */
  value: (value: Document): boolean => onReference && UNSURE.test(EJSON.stringify(value, { relaxed: false })),
  /** It accepts sorts by parallel arrays. */
  parallelArrays: onReference,
  /** It refuses `$add` and `$subtract` of dates in the pipeline of an update. */
  dateArithmetic: onReference,
};
