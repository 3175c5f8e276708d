import { type Doc, isDoc, typeName } from '../query/types.ts';
import type { IndexScan } from './bounds.ts';

const COMPARISONS = ['$eq', '$gt', '$gte', '$lt', '$lte'];
/** Types whose index keys are equal only for equal values, and never equal those of an array or a missing field. */
const SCALARS = ['string', 'int', 'long', 'double', 'objectId', 'bool', 'date'];

/**
 * Whether an index scan returns exactly the documents that match the filter: every condition compares a field that
 * bounds the scan with a scalar, and no document has an array in the index. Always true for an empty filter.
 */
export function isExact({ index, bounds }: IndexScan, filter: Doc): boolean {
  const paths = Object.keys(filter);
  if (paths.length === 0) return true;
  if (index.multikey) return false;
  const bound = index.fields.slice(0, bounds.points + (bounds.rangeEnds > 0 ? 1 : 0)).map(([path]) => path);
  return paths.every((path) => bound.includes(path) && isComparison(filter[path]));
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
