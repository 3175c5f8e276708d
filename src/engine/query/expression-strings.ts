import { Int32 } from 'bson';
import { CommandError } from '../errors.ts';
import { regexParts, stringOf } from './compare.ts';
import { dateAt, folding, isNullish, namedOperands, type Operator, operator } from './expression-types.ts';
import { isNumber } from './numbers.ts';
import { compileRegex } from './regex.ts';
import { RANK, typeName, typeRank, wholeNumber } from './types.ts';

const fail = (code: number, message: string): never => {
  throw new CommandError(code, message);
};

const isText = (value: unknown): boolean => typeRank(value) === RANK.string;

/** Operators on strings. Case conversion affects ASCII letters only, as in MongoDB. */
export const STRINGS: Readonly<Record<string, Operator>> = {
  $concat: folding(
    () => '',
    (sofar, value, name) =>
      isText(value) ? sofar + stringOf(value) : fail(16702, `${name} only supports strings, not ${typeName(value)}`),
    (sofar) => sofar,
  ),
  $toLower: operator(1, 1, ([value], name) => printable(value, name).replace(/[A-Z]+/g, (part) => part.toLowerCase())),
  $toUpper: operator(1, 1, ([value], name) => printable(value, name).replace(/[a-z]+/g, (part) => part.toUpperCase())),
  $strLenCP: operator(1, 1, ([value], name) => new Int32([...text(value, 34471, name)].length)),
  $substrCP: operator(3, 3, ([value, start, count], name) => {
    const points = [...printable(value, name)];
    const from = offset(start, 34450, `${name}: starting index`);
    const length = offset(count, 34452, `${name}: length`);
    return points.slice(from, from + length).join('');
  }),
  $split: operator(2, 2, ([value, separator], name) => {
    if (isNullish(value) || isNullish(separator)) return null;
    const [whole, by] = [text(value, 40085, name), text(separator, 40086, name)];
    return by === '' ? fail(40087, `${name} requires a non-empty separator`) : whole.split(by);
  }),
  $regexMatch: (operand, compile, name) => {
    const named = namedOperands(operand, name, ['input', 'regex', 'options'], ['input', 'regex'], 51103);
    const [input, regex, options] = [compile(named.input), compile(named.regex), compile(named.options ?? null)];
    let last: { pattern: string; flags: string; compiled: RegExp } | undefined;
    return (environment) => {
      const [value, pattern, given] = [input(environment), regex(environment), options(environment)];
      if (isNullish(value) || isNullish(pattern)) return false;
      if (!isText(value)) return fail(51104, `${name} needs 'input' to be of type string`);
      const isRegex = typeRank(pattern) === RANK.regex;
      if (!isRegex && !isText(pattern)) return fail(51105, `${name} needs 'regex' to be of type string or regex`);
      const source = isRegex ? regexParts(pattern) : { pattern: stringOf(pattern), options: '' };
      const flags = isNullish(given) ? source.options : text(given, 51106, `${name}: options`);
      if (last?.pattern !== source.pattern || last.flags !== flags) {
        last = { pattern: source.pattern, flags, compiled: compileRegex(source.pattern, flags) };
      }
      return last.compiled.test(stringOf(value));
    };
  },
};

/**
 * Converts a value to the string that `$toLower`, `$substr` and similar operators work on: numbers and dates are
 * formatted, null and missing become the empty string.
 */
function printable(value: unknown, name: string): string {
  if (isNullish(value)) return '';
  if (isText(value)) return stringOf(value);
  if (isNumber(value)) return String(value);
  if (value instanceof Date) return dateAt(value.getTime()).toISOString();
  return fail(16007, `can't convert from BSON type ${typeName(value)} to String in ${name}`);
}

function text(value: unknown, code: number, name: string): string {
  return isText(value) ? stringOf(value) : fail(code, `${name} requires a string argument, found: ${typeName(value)}`);
}

function offset(value: unknown, code: number, role: string): number {
  const whole = isNumber(value) ? wholeNumber(value) : undefined;
  if (whole === undefined)
    return fail(
      code,
      `${role} must be a numeric type that is representable as a 32-bit integral value (is BSON type ${typeName(value)})`,
    );
  return whole >= 0n ? Number(whole) : fail(code + 1, `${role} must be a nonnegative integer, found: ${whole}`);
}
