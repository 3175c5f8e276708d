import type { Binary, Decimal128, ObjectId, Timestamp } from 'bson';
import { CommandError } from '../errors.ts';
import { EMPTY_ARRAY, encodeKey } from '../query/keys.ts';
import { asDoc, type Doc, getField, typeName } from '../query/types.ts';
import type { Collection, Index } from './catalog.ts';

/** Error 11000 with MongoDB's message, for a key that another document already has. */
export function duplicateKey(collection: Collection, index: Index, doc: Doc, key: Uint8Array): CommandError {
  const paths = index.fields.map(([path]) => path);
  const directions = index.fields.map(([, direction]) => direction);
  const values = keyValues(
    paths.map((path) => candidates(doc, path.split('.'))),
    (combination) => Buffer.compare(encodeKey(combination, directions), key) === 0,
  );
  // The key of an empty array is BSON's undefined, which the driver's BSON library cannot distinguish from null.
  const keyValue = Object.fromEntries(
    paths.map((path, n) => [path, values?.[n] === EMPTY_ARRAY ? null : (values?.[n] ?? null)]),
  );
  const shown = paths
    .map((path, n) => `${path}: ${values?.[n] === EMPTY_ARRAY ? 'undefined' : show(keyValue[path])}`)
    .join(', ');
  return new CommandError(
    'DuplicateKey',
    `E11000 duplicate key error collection: ${collection.ns} index: ${index.name} dup key: { ${shown} }`,
    { keyPattern: Object.fromEntries(index.fields), keyValue },
  );
}

/** Lists every value that the index key of a path may come from, including the elements of arrays along the path. */
function candidates(value: unknown, path: string[]): unknown[] {
  if (Array.isArray(value)) {
    if (value.length === 0 && path.length === 0) return [EMPTY_ARRAY];
    const [name] = path;
    const own = name !== undefined && /^\d+$/.test(name) ? candidates(value[Number(name)], path.slice(1)) : [];
    return [...own, ...value.flatMap((element) => (path.length === 0 ? [element] : candidates(element, path)))];
  }
  if (path.length === 0) return [value];
  const doc = asDoc(value);
  return doc ? candidates(getField(doc, path[0] as string), path.slice(1)) : [undefined];
}

function keyValues(choices: unknown[][], fits: (combination: unknown[]) => boolean): unknown[] | undefined {
  const combination: unknown[] = [];
  const search = (depth: number): boolean => {
    if (depth === choices.length) return fits(combination);
    return (choices[depth] as unknown[]).some((choice) => {
      combination[depth] = choice;
      return search(depth + 1);
    });
  };
  return search(0) ? combination : undefined;
}

/** Formats a value as MongoDB's error messages do. */
function show(value: unknown): string {
  switch (typeName(value)) {
    case 'missing':
    case 'null':
      return 'null';
    case 'string':
      return JSON.stringify(value);
    case 'double':
      return Number.isInteger(Number(value)) ? Number(value).toFixed(1) : String(Number(value));
    case 'decimal':
      return (value as Decimal128).toString();
    case 'objectId':
      return `ObjectId('${(value as ObjectId).toHexString()}')`;
    case 'date':
      return `new Date(${(value as Date).getTime()})`;
    case 'timestamp':
      return `Timestamp(${(value as Timestamp).t}, ${(value as Timestamp).i})`;
    case 'binData': {
      const { buffer, sub_type } = value as Binary;
      return `BinData(${sub_type}, ${Buffer.from(buffer).toString('hex').toUpperCase()})`;
    }
    case 'array':
      return `[ ${(value as unknown[]).map(show).join(', ')} ]`;
    case 'object':
      return `{ ${Object.entries(asDoc(value) as Doc)
        .map(([name, field]) => `${name}: ${show(field)}`)
        .join(', ')} }`;
    case 'minKey':
      return 'MinKey';
    case 'maxKey':
      return 'MaxKey';
    default:
      return String(value);
  }
}
