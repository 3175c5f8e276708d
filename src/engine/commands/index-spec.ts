import { Int32 } from 'bson';
import { type CodeName, CommandError } from '../errors.ts';
import { valuesEqual } from '../query/compare.ts';
import { compileFilter } from '../query/match.ts';
import { asDoc, type Doc, isDoc, typeName } from '../query/types.ts';
import { checkCollation } from './arguments.ts';

const OPTIONS = [
  'v',
  'key',
  'name',
  'unique',
  'sparse',
  'hidden',
  'partialFilterExpression',
  'expireAfterSeconds',
  'collation',
  'background',
  // Ignored, as MongoDB has done since 3.0.
  'dropDups',
  'ns',
];
const NUMBERS = ['int', 'long', 'double', 'decimal'];
const FLAGS = ['unique', 'sparse', 'hidden', 'background'] as const;
/** Operators allowed in a partial filter, as in MongoDB. */
const PARTIAL = ['$eq', '$exists', '$gt', '$gte', '$lt', '$lte', '$type', '$and', '$or', '$in'];
const MAX_TTL = 2 ** 31 - 1;

/** Validates the specification of an index to create, and returns it as listIndexes shows it. Errors 67, 197, 14. */
export function indexSpec(asked: Doc): Doc {
  for (const name of Object.keys(asked)) {
    if (OPTIONS.includes(name)) continue;
    throw new CommandError(
      'InvalidIndexSpecificationOption',
      `The field '${name}' is not valid for an index specification. Specification: ${JSON.stringify(asked)}`,
    );
  }
  const key = asDoc(asked.key);
  if (!key) throw missingOrWrong('key', asked.key, 'an object');
  checkKey(key);
  if (typeof asked.name !== 'string' || asked.name === '' || asked.name === '*')
    throw missingOrWrong('name', typeof asked.name === 'string' ? undefined : asked.name, 'a string');
  checkCollation(asked.collation);
  const spec: Doc = { v: new Int32(2), key, name: asked.name };
  for (const flag of FLAGS) {
    if (asked[flag] === undefined) continue;
    const isSet = isOn(flag, asked[flag]);
    // MongoDB stores `background` whenever it is given, and the other flags only if they are true.
    if (isSet || flag === 'background') spec[flag] = isSet;
  }
  checkPartial(asked, spec);
  checkTtl(asked, spec, key);
  return isIdKey(key) ? idSpec(asked, key) : spec;
}

/** Removes unknown options, for `ignoreUnknownIndexOptions`: old dumps contain some. */
export function knownOptions(asked: Doc): Doc {
  return Object.fromEntries(Object.entries(asked).filter(([name]) => OPTIONS.includes(name)));
}

/**
 * Returns the specification of an index after a `collMod`, which can change `expireAfterSeconds` and `hidden`. Errors
 * 72 and 14 for values that `createIndexes` would refuse, 2 for hiding the `_id` index.
 */
export function changedSpec(spec: Doc, { expireAfterSeconds, hidden }: Doc): Doc {
  const changed = { ...spec };
  const key = spec.key as Doc;
  if (expireAfterSeconds !== undefined) {
    if (!NUMBERS.includes(typeName(expireAfterSeconds)))
      throw new CommandError('TypeMismatch', "BSON field 'collMod.index.expireAfterSeconds' must be a number");
    checkTtl({ expireAfterSeconds }, changed, key, 'InvalidOptions');
  }
  if (hidden !== undefined) {
    if (isIdKey(key)) throw new CommandError('BadValue', "can't hide _id index");
    changed.hidden = isOn('hidden', hidden);
  }
  return changed;
}

/** Whether two specifications describe the same index: equal keys, filter, `unique` and `sparse`, as in MongoDB. */
export function sameIndex(a: Doc, b: Doc): boolean {
  if (isIdKey(a.key as Doc) && isIdKey(b.key as Doc)) return true;
  return (
    JSON.stringify(directions(a.key as Doc)) === JSON.stringify(directions(b.key as Doc)) &&
    valuesEqual(a.partialFilterExpression, b.partialFilterExpression) &&
    (a.unique === true) === (b.unique === true) &&
    (a.sparse === true) === (b.sparse === true)
  );
}

function checkKey(key: Doc): void {
  const fields = Object.entries(key);
  if (fields.length === 0) throw new CommandError('CannotCreateIndex', 'Index keys cannot be empty.');
  if (fields.length > 32) throw new CommandError('CannotCreateIndex', 'Index key pattern has more than 32 fields');
  for (const [path, direction] of fields) {
    if (typeof direction === 'string') {
      throw new CommandError('CannotCreateIndex', `index type '${direction}' is not supported by this server`);
    }
    if (!NUMBERS.includes(typeName(direction)) || Number(direction) === 0 || Number.isNaN(Number(direction))) {
      throw new CommandError(
        'CannotCreateIndex',
        `Values in the index key pattern must be non-zero numbers, got ${JSON.stringify(direction)} for '${path}'`,
      );
    }
    const parts = path.split('.');
    if (parts.some((part) => part === ''))
      throw new CommandError('CannotCreateIndex', 'Index keys cannot contain an empty field.');
    if (parts.includes('$**'))
      throw new CommandError('CannotCreateIndex', 'wildcard indexes are not supported by this server');
    if (parts[0]?.startsWith('$'))
      throw new CommandError(
        'CannotCreateIndex',
        `Index key contains an illegal field name: field name starts with '$'.`,
      );
  }
}

function checkPartial(asked: Doc, spec: Doc): void {
  if (asked.partialFilterExpression === undefined) return;
  const filter = asDoc(asked.partialFilterExpression);
  if (!filter) throw new CommandError('TypeMismatch', "The field 'partialFilterExpression' must be an object");
  compileFilter(filter);
  checkOperators(filter);
  if (asked.sparse === true)
    throw new CommandError('CannotCreateIndex', 'cannot mix "partialFilterExpression" and "sparse" options');
  spec.partialFilterExpression = filter;
}

function checkOperators(value: unknown): void {
  if (Array.isArray(value)) {
    for (const item of value) checkOperators(item);
    return;
  }
  if (!isDoc(value)) return;
  for (const [name, field] of Object.entries(value)) {
    if (name.startsWith('$') && !PARTIAL.includes(name)) {
      throw new CommandError('CannotCreateIndex', `Expression not supported in partial index: ${name}`);
    }
    if (name === '$exists' && field === false) {
      throw new CommandError('CannotCreateIndex', 'Expression not supported in partial index: $exists: false');
    }
    if (name !== '$eq' && name !== '$in') checkOperators(field);
  }
}

/** @param wrongKey the error for an index whose keys do not allow an expiry time */
function checkTtl(asked: Doc, spec: Doc, key: Doc, wrongKey: CodeName = 'CannotCreateIndex'): void {
  const seconds = asked.expireAfterSeconds;
  if (seconds === undefined) return;
  if (!NUMBERS.includes(typeName(seconds)))
    throw new CommandError('CannotCreateIndex', 'TTL index expireAfterSeconds option must be numeric');
  if (!(Number(seconds) >= 0 && Number(seconds) <= MAX_TTL)) {
    throw new CommandError('InvalidOptions', `TTL index expireAfterSeconds option must be within 0 and ${MAX_TTL}`);
  }
  if (Object.keys(key).length > 1 || isIdKey(key)) {
    throw new CommandError(
      wrongKey,
      'TTL indexes are single-field indexes, compound indexes and _id do not support TTL',
    );
  }
  spec.expireAfterSeconds = seconds;
}

function isOn(name: string, value: unknown): boolean {
  if (typeof value === 'boolean') return value;
  if (NUMBERS.includes(typeName(value))) return Number(value) !== 0;
  throw new CommandError(
    'TypeMismatch',
    `The field '${name}' has value ${JSON.stringify(value)}, which is not convertible to bool`,
  );
}

function isIdKey(key: Doc): boolean {
  return Object.keys(key).length === 1 && Number(key._id) === 1;
}

/** Checks the specification of the `_id` index, which allows no optional settings. */
function idSpec(asked: Doc, key: Doc): Doc {
  for (const option of ['sparse', 'partialFilterExpression', 'hidden']) {
    if (asked[option] !== undefined && asked[option] !== false) {
      throw new CommandError(
        'InvalidIndexSpecificationOption',
        `The field '${option}' is not valid for an _id index specification.`,
      );
    }
  }
  return { v: new Int32(2), key, name: '_id_' };
}

function directions(key: Doc): [string, number][] {
  return Object.entries(key).map(([path, direction]) => [path, Number(direction)]);
}

function missingOrWrong(field: string, value: unknown, expected: string): CommandError {
  return value === undefined
    ? new CommandError('FailedToParse', `The '${field}' field is a required property of an index specification`)
    : new CommandError('TypeMismatch', `The field '${field}' must be ${expected}, but got ${typeName(value)}`);
}
