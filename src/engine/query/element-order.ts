import { compareValues } from './compare.ts';
import { isNumber, toDouble } from './numbers.ts';
import { splitPath } from './path.ts';
import { asDoc, getField } from './types.ts';

/**
 * Compiles the `$sort` of a `$push` to a comparator of array elements: by the elements themselves (1, -1) or by fields
 * of documents, where a missing field counts as null. `refuse` throws for an invalid specification.
 */
export function elementOrder(spec: unknown, refuse: (reason: string) => never): (a: unknown, b: unknown) => number {
  const direction = (value: unknown): number => {
    const sign = isNumber(value) ? toDouble(value) : 0;
    return sign === 1 || sign === -1 ? sign : refuse('The $sort element value must be either 1 or -1');
  };
  const doc = asDoc(spec);
  if (doc === undefined) {
    if (!isNumber(spec)) {
      return refuse(
        'The $sort is invalid: use 1/-1 to sort the whole element, or {field:1/-1} to sort embedded fields',
      );
    }
    const sign = direction(spec);
    return (a, b) => sign * compareValues(a, b);
  }
  const fields = Object.entries(doc).map(([path, sign]) => {
    const parts = splitPath(path);
    if (parts.includes('')) return refuse('The $sort field is a dotted field but has an empty part');
    return { parts, sign: direction(sign) };
  });
  if (fields.length === 0) return refuse('The $sort pattern is empty when it should be a set of fields.');
  return (a, b) => {
    for (const { parts, sign } of fields) {
      const order = compareValues(fieldOf(a, parts), fieldOf(b, parts));
      if (order !== 0) return sign * order;
    }
    return 0;
  };
}

function fieldOf(element: unknown, parts: readonly string[]): unknown {
  let value = element;
  for (const part of parts) value = getField(asDoc(value) ?? {}, part);
  return value ?? null;
}
