import { type Doc, isDoc, typeName } from '../query/types.ts';
import { hasArrays, type IndexScan } from './bounds.ts';

const COMPARISONS = ['$eq', '$gt', '$gte', '$lt', '$lte'];
/** Types whose index keys are equal only for equal values, and never equal those of an array or a missing field. */
const SCALARS = ['string', 'int', 'long', 'double', 'objectId', 'bool', 'date'];

/**
 * Whether an index scan returns exactly the documents that match the filter: every condition compares a field that
 * bounds the scan with a scalar, and each document has one key in the scan. Always true for an empty filter.
 */
export function isExact(scan: IndexScan, filter: Doc): boolean {
  const paths = Object.keys(filter);
  if (paths.length === 0) return true;
  if (!hasOneKeyEach(scan)) return false;
  const { index, bounds } = scan;
  const bound = index.fields.slice(0, bounds.points + (bounds.rangeEnds > 0 ? 1 : 0)).map(([path]) => path);
  return paths.every((path) => {
    const place = bound.indexOf(path);
    if (place < 0) return false;
    return hasArrays(index, place) ? isEqualElement(path, filter[path]) : isComparison(filter[path]);
  });
}

/** Whether a scan finds each document by one key: each field that has arrays is bound to one value. */
export function hasOneKeyEach({ index, bounds }: IndexScan): boolean {
  // `arrays` is negative for an index that does not know which of its fields have arrays.
  return index.arrays >= 0 && index.arrays < 2 ** bounds.constants;
}

/**
 * Whether a condition compares the elements of an array with one scalar. Returns false for several operators, because
 * each may match another element, and for a path below an array, because there may be further arrays.
 */
function isEqualElement(path: string, condition: unknown): boolean {
  if (path.includes('.')) return false;
  if (!isDoc(condition)) return isScalar(condition);
  const [[name, value] = [], ...others] = Object.entries(condition);
  return name === '$eq' && others.length === 0 && isScalar(value);
}

function isComparison(condition: unknown): boolean {
  if (!isDoc(condition)) return isScalar(condition);
  const operators = Object.entries(condition);
  return (
    operators.length > 0 &&
    operators.every(([name, value]) =>
      name === '$in' ? Array.isArray(value) && value.every(isScalar) : COMPARISONS.includes(name) && isScalar(value),
    )
  );
}

function isScalar(value: unknown): boolean {
  return SCALARS.includes(typeName(value)) && !Number.isNaN(Number(typeName(value) === 'double' ? value : 0));
}
