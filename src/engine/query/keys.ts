import { CommandError } from '../errors.ts';
import { compareBytes } from './compare.ts';
import { type Direction, EMPTY_ARRAY, encodeKey } from './key-encoding.ts';
import { isIndex, splitPath } from './path.ts';
import { asDoc, type Doc, getField } from './types.ts';

export { type Direction, EMPTY_ARRAY, encodeKey };

export interface IndexEntries {
  /** The distinct keys, in ascending byte order. */
  keys: Uint8Array[];
  /** True if any of the paths goes through or ends in an array, even an empty array or one with a single element. */
  multikey: boolean;
  /** The fields of the index whose paths go through or end in an array: the sum of `fieldBit` of their positions. */
  arrays: number;
}

/** An index with fewer fields than this knows which of them have arrays. */
const FIELD_BITS = 30;
/** All fields. Also stands for the fields with arrays of an index that has too many fields to know which have arrays. */
export const EVERY_FIELD = -1;

/** The bit of a field of an index by its position. */
export function fieldBit(position: number): number {
  return position < FIELD_BITS ? 1 << position : EVERY_FIELD;
}

interface KeyPattern {
  readonly paths: readonly string[][];
  readonly directions: readonly Direction[];
  readonly isSparse: boolean;
}

/** The state of an index field during the descent: the value reached and the remaining path components. */
interface Field {
  value: unknown;
  rest: string[];
}

/**
 * Compiles the paths of an index. The result returns a document's keys in the index (ascending, distinct). An array
 * gives one key for each element, an empty array the key of BSON's undefined. A sparse index has no key for a document,
 * or an array element, in which no path leads to a value.
 * @throws CommandError (from the result) CannotIndexParallelArrays when two different arrays lie on the paths, 16746
 *   when a numeric component is both an array position and a field name in that array.
 */
export function compileIndex(
  fields: readonly (readonly [path: string, direction: Direction])[],
  isSparse = false,
): (doc: Doc) => IndexEntries {
  const paths = fields.map(([path]) => splitPath(path));
  const pattern = { paths, directions: fields.map(([, direction]) => direction), isSparse };
  return (doc) => {
    const entries: IndexEntries = { keys: [], multikey: false, arrays: 0 };
    expand(
      paths.map((rest) => ({ value: doc, rest })),
      entries,
      pattern,
    );
    if (entries.keys.length > 1) entries.keys = distinct(entries.keys);
    return entries;
  };
}

function expand(start: Field[], entries: IndexEntries, pattern: KeyPattern): void {
  const { paths, directions, isSparse } = pattern;
  const fields = start.map(descend);
  let array: unknown[] | undefined;
  let arrayPlace = '';
  for (let i = 0; i < fields.length; i += 1) {
    const { value, rest } = fields[i] as Field;
    // An array that is itself an array element (marked by `DONE`) is one key as a whole.
    if (!Array.isArray(value) || rest === DONE) continue;
    const place = (paths[i] as string[]).slice(0, (paths[i] as string[]).length - rest.length).join('.');
    if (array !== undefined && arrayPlace !== place) {
      throw new CommandError('CannotIndexParallelArrays', `cannot index parallel arrays [${place}] [${arrayPlace}]`);
    }
    array = value;
    arrayPlace = place;
  }
  if (array === undefined) {
    const values = fields.map(({ value }) => value);
    if (!isSparse || values.some((value) => value !== undefined)) entries.keys.push(encodeKey(values, directions));
    return;
  }
  entries.multikey = true;
  const whole = array;
  for (const [position, { value, rest }] of fields.entries())
    if (value === whole && rest !== DONE) entries.arrays |= fieldBit(position);
  if (whole.length === 0) {
    expand(
      fields.map((field) =>
        field.value === whole && field.rest !== DONE
          ? { value: field.rest.length === 0 ? EMPTY_ARRAY : undefined, rest: DONE }
          : field,
      ),
      entries,
      pattern,
    );
    return;
  }
  for (const element of whole) {
    expand(
      fields.map((field) => (field.value === whole && field.rest !== DONE ? enter(element, field.rest) : field)),
      entries,
      pattern,
    );
  }
}

const DONE: string[] = [];

function enter(element: unknown, rest: string[]): Field {
  if (rest.length === 0) return { value: element, rest: DONE };
  return asDoc(element) === undefined ? { value: undefined, rest: DONE } : { value: element, rest };
}

/**
 * Descends to the end of the path or to the first array that must be expanded. An array at the end of the path that was
 * reached by a position in another one is not expanded.
 */
function descend(field: Field): Field {
  let { value, rest } = field;
  if (rest === DONE) return field;
  let at = 0;
  let byPosition = false;
  while (at < rest.length) {
    const name = rest[at] as string;
    const doc = asDoc(value);
    byPosition = Array.isArray(value);
    if (doc !== undefined) value = getField(doc, name);
    else if (Array.isArray(value)) {
      if (!isIndex(name) || Number(name) >= value.length) break;
      refuseAmbiguous(value, name);
      value = value[Number(name)];
    } else return { value: undefined, rest: DONE };
    at += 1;
  }
  if (at > 0) rest = rest.slice(at);
  if (byPosition && rest.length === 0) return { value, rest: DONE };
  return Array.isArray(value) ? { value, rest } : { value, rest: DONE };
}

function refuseAmbiguous(array: unknown[], name: string): void {
  for (const element of array) {
    const doc = asDoc(element);
    if (doc !== undefined && Object.hasOwn(doc, name)) {
      throw new CommandError(
        16746,
        `Ambiguous field name found in array (do not use numeric field names in embedded elements in an array), field: '${name}' for array: ${JSON.stringify(array)}`,
      );
    }
  }
}

function distinct(keys: Uint8Array[]): Uint8Array[] {
  return keys.sort(compareBytes).filter((key, i) => i === 0 || compareBytes(key, keys[i - 1] as Uint8Array) !== 0);
}
