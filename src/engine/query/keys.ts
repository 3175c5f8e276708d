import { CommandError } from '../errors.ts';
import { compareBytes } from './compare.ts';
import { type Direction, EMPTY_ARRAY, encodeKey } from './key-encoding.ts';
import { isIndex, splitPath } from './path.ts';
import { asDoc, type Doc, getField } from './types.ts';

export { type Direction, EMPTY_ARRAY, encodeKey };

export interface IndexEntries {
  /** The distinct keys in ascending order of their bytes. */
  keys: Uint8Array[];
  /** An array lies on one of the paths, be it empty or of one element. */
  multikey: boolean;
  /** No path leads to a value: a sparse index skips the document. */
  allMissing: boolean;
}

/** A field of the index on its way down: the value that it has reached, and the components that are left. */
interface Field {
  value: unknown;
  rest: string[];
}

/**
 * Reads an index's paths once; the result gives the keys of a document in it (ascending, distinct). Arrays give a key for each
 * element, `[]` gives BSON's undefined.
 * @throws CommandError (from the result) CannotIndexParallelArrays when two different arrays lie on the paths, 16746 when a numeric
 * component is both a position and the name of a field within an array.
 */
export function compileIndex(
  fields: readonly (readonly [path: string, direction: Direction])[],
): (doc: Doc) => IndexEntries {
  const paths = fields.map(([path]) => splitPath(path));
  const directions = fields.map(([, direction]) => direction);
  return (doc) => {
    const entries: IndexEntries = { keys: [], multikey: false, allMissing: true };
    expand(
      paths.map((rest) => ({ value: doc, rest })),
      entries,
      directions,
      paths,
    );
    if (entries.keys.length > 1) entries.keys = distinct(entries.keys);
    return entries;
  };
}

function expand(
  start: Field[],
  entries: IndexEntries,
  directions: readonly Direction[],
  paths: readonly string[][],
): void {
  const fields = start.map(descend);
  let array: unknown[] | undefined;
  let arrayPlace = '';
  for (let i = 0; i < fields.length; i += 1) {
    const { value, rest } = fields[i] as Field;
    // A value that an array's element gave (marked by `done`) is a key as it stands, also when it is an array itself.
    if (!Array.isArray(value) || rest === DONE) continue;
    const place = (paths[i] as string[]).slice(0, (paths[i] as string[]).length - rest.length).join('.');
    if (array !== undefined && arrayPlace !== place) {
      throw new CommandError('CannotIndexParallelArrays', `cannot index parallel arrays [${place}] [${arrayPlace}]`);
    }
    array = value;
    arrayPlace = place;
  }
  if (array === undefined) {
    if (fields.some(({ value }) => value !== undefined)) entries.allMissing = false;
    entries.keys.push(
      encodeKey(
        fields.map(({ value }) => value),
        directions,
      ),
    );
    return;
  }
  entries.multikey = true;
  entries.allMissing = false;
  const whole = array;
  if (whole.length === 0) {
    expand(
      fields.map((field) =>
        field.value === whole && field.rest !== DONE
          ? { value: field.rest.length === 0 ? EMPTY_ARRAY : undefined, rest: DONE }
          : field,
      ),
      entries,
      directions,
      paths,
    );
    return;
  }
  for (const element of whole) {
    expand(
      fields.map((field) => (field.value === whole && field.rest !== DONE ? enter(element, field.rest) : field)),
      entries,
      directions,
      paths,
    );
  }
}

const DONE: string[] = [];

function enter(element: unknown, rest: string[]): Field {
  if (rest.length === 0) return { value: element, rest: DONE };
  return asDoc(element) === undefined ? { value: undefined, rest: DONE } : { value: element, rest };
}

/** Goes down to the path's end or to the first array that has to be expanded. One that a position gave at the path's end is taken whole. */
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
