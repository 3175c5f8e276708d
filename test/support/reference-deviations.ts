import { type Document, EJSON } from 'bson';

/**
 * Where the reference server (`TEST_MONGODB_URL` with its replica set's name) is known to differ from MongoDB's manual. The manual wins: these
 * cases are not put to it, and this is the only list of them for the random suites.
 */
const onReference = process.env.TEST_MONGODB_URL?.includes('secantus') === true;

/**
 * Symbols can be neither indexed nor compared; code with a scope sorts among code without; a decimal is taken for the nearest double, very
 * large and very small ones for one another; an index misses some of the strings and binaries
 * in a range, and a sparse one the missing fields that are greater than MinKey.
 */
const UNSURE =
  /"\$symbol"|"\$scope"|"-?[\d.]+[eE][+-]?\d{2,}"|"\$numberDecimal":"-?\d{10,}|"\$[gl]te?":("|\{"\$(binary|minKey|maxKey)")/;

export const deviates = {
  /** Values that it does not hold, compare or sort as MongoDB does: in documents, filters and updates. */
  value: (value: Document): boolean => onReference && UNSURE.test(EJSON.stringify(value, { relaxed: false })),
  /** Sorts by parallel arrays are accepted. */
  parallelArrays: onReference,
};
