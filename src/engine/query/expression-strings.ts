import { Int32 } from 'bson';
import { CommandError } from '../errors.ts';
import { compareStrings, regexParts, stringOf } from './compare.ts';
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
  $strcasecmp: operator(
    2,
    2,
    ([a, b], name) => new Int32(compareStrings(printable(a, name).toUpperCase(), printable(b, name).toUpperCase())),
  ),
  $strLenCP: operator(1, 1, ([value], name) => new Int32([...text(value, 34471, name)].length)),
  $strLenBytes: operator(1, 1, ([value], name) => new Int32(Buffer.byteLength(text(value, 34473, name)))),
  $substrCP: operator(3, 3, ([value, start, count], name) => {
    const points = [...printable(value, name)];
    const from = offset(start, 34450, `${name}: starting index`);
    const length = offset(count, 34452, `${name}: length`);
    return points.slice(from, from + length).join('');
  }),
  $substrBytes: operator(3, 3, substringOfBytes),
  $substr: operator(3, 3, substringOfBytes),
  $split: operator(2, 2, ([value, separator], name) => {
    if (isNullish(value) || isNullish(separator)) return null;
    const [whole, by] = [text(value, 40085, name), text(separator, 40086, name)];
    return by === '' ? fail(40087, `${name} requires a non-empty separator`) : whole.split(by);
  }),
  $trim: trim(true, true),
  $ltrim: trim(true, false),
  $rtrim: trim(false, true),
  $indexOfCP: operator(2, 4, ([value, part, start, stop], name) => {
    if (isNullish(value)) return null;
    const points = [...text(value, 40093, name)];
    const searched = text(part, 40094, name);
    const from = start === undefined ? 0 : offset(start, 40097, `${name}: starting index`);
    const to =
      stop === undefined ? points.length : Math.min(offset(stop, 40097, `${name}: ending index`), points.length);
    for (let i = from; i <= to - [...searched].length; i += 1) {
      if (points.slice(i, i + [...searched].length).join('') === searched) return new Int32(i);
    }
    return new Int32(-1);
  }),
  $replaceOne: replace((input, find, replacement) => input.replace(find, () => replacement)),
  $replaceAll: replace((input, find, replacement) => input.replaceAll(find, () => replacement)),
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
 * The string that `$toLower`, `$substr` and similar operators work on: numbers and dates are formatted, null and
 * missing become the empty string.
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

function substringOfBytes([value, start, count]: readonly unknown[], name: string): string {
  const bytes = Buffer.from(printable(value, name));
  const whole = (part: unknown, code: number): number =>
    Number(
      (isNumber(part) ? wholeNumber(part) : undefined) ??
        fail(code, `${name} requires numeric index and length, not ${typeName(part)}`),
    );
  const from = whole(start, 16034);
  const length = whole(count, 16035);
  if (from < 0) return fail(50752, `${name}: starting index must be non-negative (got: ${from})`);
  const end = length < 0 ? bytes.length : Math.min(from + length, bytes.length);
  const inside = (position: number) => position < bytes.length && ((bytes[position] as number) & 0xc0) === 0x80;
  if (inside(from)) return fail(28656, `${name}: Invalid range, starting index is a UTF-8 continuation byte.`);
  if (inside(end)) return fail(28657, `${name}: Invalid range, ending index is in the middle of a UTF-8 character.`);
  return bytes.subarray(from, Math.max(from, end)).toString();
}

const WHITESPACE = new Set(
  '\0\t\n\v\f\r \u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a',
);

function trim(left: boolean, right: boolean): Operator {
  return (operand, compile, name) => {
    const named = namedOperands(operand, name, ['input', 'chars'], ['input'], 50696);
    const input = compile(named.input);
    const chars = Object.hasOwn(named, 'chars') ? compile(named.chars) : undefined;
    return (environment) => {
      const value = input(environment);
      const given = chars?.(environment);
      if (isNullish(value) || (chars !== undefined && isNullish(given))) return null;
      const points = [...text(value, 50699, name)];
      const cut = given === undefined ? WHITESPACE : new Set(text(given, 50700, name));
      let [from, to] = [0, points.length];
      while (left && from < to && cut.has(points[from] as string)) from += 1;
      while (right && to > from && cut.has(points[to - 1] as string)) to -= 1;
      return points.slice(from, to).join('');
    };
  };
}

function replace(perform: (input: string, find: string, replacement: string) => string): Operator {
  return (operand, compile, name) => {
    const fields = ['input', 'find', 'replacement'];
    const named = namedOperands(operand, name, fields, fields, 51751);
    const parts = fields.map((field) => compile(named[field]));
    return (environment) => {
      const values = parts.map((part) => part(environment));
      const wrong = values.find((value) => !isNullish(value) && !isText(value));
      if (wrong !== undefined)
        return fail(51746, `${name} requires that its arguments be strings, found: ${typeName(wrong)}`);
      if (values.some(isNullish)) return null;
      const [input, find, replacement] = values.map(stringOf) as [string, string, string];
      return perform(input, find, replacement);
    };
  };
}
