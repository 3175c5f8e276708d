import type { BSONRegExp } from 'bson';
import { CommandError } from '../errors.ts';
import { regexParts } from './compare.ts';
import { parseBits } from './filter-bits.ts';
import { isNumber, toDouble } from './numbers.ts';
import { compileRegex } from './regex.ts';
import { asDoc, type Doc, isDoc, isTruthy, RANK, TYPE_NUMBERS, typeRank, wholeNumber } from './types.ts';

export type Comparison = 'eq' | 'gt' | 'gte' | 'lt' | 'lte';
export type BitTest = 'bitsAllSet' | 'bitsAllClear' | 'bitsAnySet' | 'bitsAnyClear';

/** A predicate on the values at a path. */
export type Leaf =
  | { op: Comparison; value: unknown }
  | { op: 'in'; values: unknown[]; regexes: RegexLeaf[] }
  | RegexLeaf
  | { op: 'exists' }
  | { op: 'type'; types: ReadonlySet<number>; number: boolean }
  | { op: 'mod'; divisor: bigint; remainder: bigint }
  | { op: 'size'; size: number }
  | { op: BitTest; positions: number[] }
  | { op: 'elemObject'; filter: Node }
  | { op: 'elemValue'; tests: Node[] };

export interface RegexLeaf {
  op: 'regex';
  regex: RegExp;
  pattern: string;
  options: string;
}

/** A parsed filter. */
export type Node =
  | { kind: 'and' | 'or'; children: Node[] }
  | { kind: 'not'; child: Node }
  | { kind: 'leaf'; path: string; leaf: Leaf }
  | { kind: 'expr'; expression: unknown }
  | { kind: 'never' };

const bad = (message: string): never => {
  throw new CommandError('BadValue', message);
};

/**
 * Parses a query filter.
 * @throws CommandError BadValue, FailedToParse and MongoDB's specific codes for unknown or invalid operators.
 */
export function parseFilter(filter: Doc): Node {
  const children: Node[] = [];
  for (const name of Object.keys(filter)) {
    const value = filter[name];
    if (name.startsWith('$')) {
      const node = parseTopLevel(name, value);
      if (node !== undefined) children.push(node);
    } else {
      children.push(...parseField(name, value));
    }
  }
  return all(children);
}

/** Splits a parsed filter into its conjuncts, the conditions that must all hold. */
export function flatten(node: Node): Node[] {
  return node.kind === 'and' ? node.children.flatMap(flatten) : [node];
}

function all(children: Node[]): Node {
  return children.length === 1 ? (children[0] as Node) : { kind: 'and', children };
}

function parseTopLevel(name: string, value: unknown): Node | undefined {
  switch (name) {
    case '$and':
      return { kind: 'and', children: parseList(name, value) };
    case '$or':
      return { kind: 'or', children: parseList(name, value) };
    case '$nor':
      return { kind: 'not', child: { kind: 'or', children: parseList(name, value) } };
    case '$expr':
      return { kind: 'expr', expression: value };
    case '$comment':
      return undefined;
    case '$alwaysFalse':
    case '$alwaysTrue':
      if (wholeNumber(value) !== 1n) throw new CommandError('FailedToParse', `${name} must be an integer value of 1`);
      return name === '$alwaysTrue' ? undefined : { kind: 'never' };
    case '$text':
      throw new CommandError('IndexNotFound', 'text index required for $text query');
    case '$where':
    case '$jsonSchema':
    case '$sampleRate':
      throw new CommandError('NotImplemented', `${name} is not supported by this server`);
    default:
      return bad(
        `unknown top level operator: ${name}. If you have a field name that starts with a '$' symbol, consider using $getField or $setField.`,
      );
  }
}

function parseList(name: string, value: unknown): Node[] {
  if (!Array.isArray(value)) return bad(`${name} must be an array`);
  if (value.length === 0) return bad('$and/$or/$nor must be a nonempty array');
  return value.map((entry) => {
    const doc = asDoc(entry);
    return doc === undefined ? bad('$or/$and/$nor entries need to be full objects') : parseFilter(doc);
  });
}

/** Whether a value is a document of operators, that is, its first field name starts with `$`. */
export function isOperatorDoc(value: unknown): value is Doc {
  if (!isDoc(value)) return false;
  const first = Object.keys(value)[0];
  return first?.startsWith('$') === true;
}

function leaf(path: string, leafNode: Leaf): Node {
  return { kind: 'leaf', path, leaf: leafNode };
}

function parseField(path: string, value: unknown): Node[] {
  if (isOperatorDoc(value)) return parseOperators(path, value);
  if (value === undefined) return bad('cannot compare to undefined');
  if (typeRank(value) === RANK.regex) return [leaf(path, regexLeaf(value))];
  return [leaf(path, { op: 'eq', value })];
}

function parseOperators(path: string, operators: Doc): Node[] {
  return Object.keys(operators).flatMap((name) => {
    const node = parseOperator(path, name, operators[name], operators);
    return node === undefined ? [] : [node];
  });
}

const COMPARISONS: Readonly<Record<string, Comparison>> = {
  $eq: 'eq',
  $gt: 'gt',
  $gte: 'gte',
  $lt: 'lt',
  $lte: 'lte',
};

function parseOperator(path: string, name: string, value: unknown, siblings: Doc): Node | undefined {
  const comparison = Object.hasOwn(COMPARISONS, name) ? COMPARISONS[name] : undefined;
  if (comparison !== undefined) {
    if (value === undefined) return bad('cannot compare to undefined');
    if (comparison !== 'eq' && typeRank(value) === RANK.regex) {
      return bad(`Can't have RegEx as arg to predicate over field '${path}'.`);
    }
    return leaf(path, { op: comparison, value });
  }
  switch (name) {
    case '$ne':
      if (value === undefined) return bad('cannot compare to undefined');
      if (typeRank(value) === RANK.regex) return bad("Can't have regex as arg to $ne.");
      return { kind: 'not', child: leaf(path, { op: 'eq', value }) };
    case '$in':
      return leaf(path, parseIn(name, value));
    case '$nin':
      return { kind: 'not', child: leaf(path, parseIn(name, value)) };
    case '$not':
      return { kind: 'not', child: parseNot(path, value) };
    case '$exists': {
      const exists = leaf(path, { op: 'exists' });
      return isTruthy(value) ? exists : { kind: 'not', child: exists };
    }
    case '$type':
      return leaf(path, parseType(path, value));
    case '$regex':
      return leaf(path, parseRegex(value, siblings));
    case '$options':
      return Object.hasOwn(siblings, '$regex') ? undefined : bad('$options needs a $regex');
    case '$mod':
      return leaf(path, parseMod(value));
    case '$size':
      return leaf(path, parseSize(value));
    case '$all':
      return parseAll(path, value);
    case '$elemMatch':
      return leaf(path, parseElemMatch(value));
    case '$bitsAllSet':
    case '$bitsAllClear':
    case '$bitsAnySet':
    case '$bitsAnyClear':
      return leaf(path, { op: name.slice(1) as BitTest, positions: parseBits(name, value) });
    case '$near':
    case '$nearSphere':
    case '$geoWithin':
    case '$geoIntersects':
    case '$within':
      throw new CommandError('NotImplemented', `${name} is not supported by this server`);
    default:
      return bad(`unknown operator: ${name}`);
  }
}

function regexLeaf(value: unknown): RegexLeaf {
  const { pattern, options } = regexParts(value);
  return { op: 'regex', regex: compileRegex(pattern, options), pattern, options };
}

function parseRegex(value: unknown, siblings: Doc): RegexLeaf {
  const given = siblings.$options;
  if (Object.hasOwn(siblings, '$options') && typeof given !== 'string') return bad('$options has to be a string');
  if (typeof value === 'string') return regexLeaf({ pattern: value, options: given ?? '' } as BSONRegExp);
  if (typeRank(value) !== RANK.regex) return bad('$regex has to be a string');
  const { pattern, options } = regexParts(value);
  if (options !== '' && given !== undefined) {
    throw new CommandError(51075, 'options set in both $regex and $options');
  }
  return regexLeaf({ pattern, options: given ?? options } as BSONRegExp);
}

function parseIn(name: string, value: unknown): Leaf {
  if (!Array.isArray(value)) return bad(`${name} needs an array`);
  const values: unknown[] = [];
  const regexes: RegexLeaf[] = [];
  for (const entry of value) {
    if (entry === undefined) return bad('InMatchExpression equality cannot be undefined');
    if (isOperatorDoc(entry)) return bad(`cannot nest $ under ${name}`);
    if (typeRank(entry) === RANK.regex) regexes.push(regexLeaf(entry));
    else values.push(entry);
  }
  return { op: 'in', values, regexes };
}

function parseNot(path: string, value: unknown): Node {
  if (typeRank(value) === RANK.regex) return leaf(path, regexLeaf(value));
  if (!isDoc(value)) return bad('$not needs a regex or a document');
  if (Object.keys(value).length === 0) return bad('$not cannot be empty');
  if (!isOperatorDoc(value)) return bad(`unknown operator: ${Object.keys(value)[0]}`);
  return all(parseOperators(path, value));
}

function parseType(path: string, value: unknown): Leaf {
  const types = new Set<number>();
  let number = false;
  for (const entry of Array.isArray(value) ? value : [value]) {
    if (typeof entry === 'string') {
      if (entry === 'number') number = true;
      else
        types.add(
          Object.hasOwn(TYPE_NUMBERS, entry)
            ? (TYPE_NUMBERS[entry] as number)
            : bad(`Unknown type name alias: ${entry}`),
        );
    } else if (isNumber(entry)) {
      const code = toDouble(entry);
      if (!Object.values(TYPE_NUMBERS).includes(code)) return bad(`Invalid numerical type code: ${code}`);
      types.add(code);
    } else throw new CommandError('TypeMismatch', 'type must be represented as a number or a string');
  }
  if (types.size === 0 && !number) throw new CommandError('FailedToParse', `${path} must match at least one type`);
  return { op: 'type', types, number };
}

function parseMod(value: unknown): Leaf {
  if (!Array.isArray(value)) return bad('malformed mod, needs to be an array');
  if (value.length < 2) return bad('malformed mod, not enough elements');
  if (value.length > 2) return bad('malformed mod, too many elements');
  const [divisor, remainder] = value.map((entry, i) => {
    const role = i === 0 ? 'divisor' : 'remainder';
    if (!isNumber(entry)) return bad(`malformed mod, ${role} not a number`);
    return wholeNumber(entry) ?? truncated(entry) ?? bad(`malformed mod, ${role} value is invalid`);
  }) as [bigint, bigint];
  if (divisor === 0n) return bad('divisor cannot be 0');
  return { op: 'mod', divisor, remainder };
}

/** Truncates a number toward zero to an int64; undefined if it is out of range or NaN. */
export function truncated(value: unknown): bigint | undefined {
  return wholeNumber(Math.trunc(toDouble(value)));
}

function parseSize(value: unknown): Leaf {
  if (!isNumber(value)) return bad(`Failed to parse $size. Expected a number in: $size: ${JSON.stringify(value)}`);
  const size = wholeNumber(value);
  if (size === undefined) return bad(`Failed to parse $size. Expected an integer: $size: ${toDouble(value)}`);
  if (size < 0n) return bad(`Failed to parse $size. Expected a non-negative number in: $size: ${size}`);
  return { op: 'size', size: Number(size) };
}

function parseAll(path: string, value: unknown): Node {
  if (!Array.isArray(value)) return bad('$all needs an array');
  if (value.length === 0) return { kind: 'never' };
  const elemMatches = isOperatorDoc(value[0]) && Object.keys(value[0])[0] === '$elemMatch';
  return all(
    value.map((entry) => {
      if (elemMatches) {
        if (!isDoc(entry) || Object.keys(entry)[0] !== '$elemMatch') return bad('$all/$elemMatch has to be consistent');
        return leaf(path, parseElemMatch(entry.$elemMatch));
      }
      if (isOperatorDoc(entry)) return bad('no $ expressions in $all');
      return parseField(path, entry)[0] as Node;
    }),
  );
}

function parseElemMatch(value: unknown): Leaf {
  const doc = asDoc(value);
  if (doc === undefined) return bad('$elemMatch needs an Object');
  if (isOperatorDoc(doc) && !['$and', '$or', '$nor', '$where', '$expr'].includes(Object.keys(doc)[0] as string)) {
    return { op: 'elemValue', tests: parseOperators('', doc) };
  }
  return { op: 'elemObject', filter: parseFilter(doc) };
}
