import { CommandError } from '../errors.ts';
import { BoundedRegex } from './bounded-regex.ts';

const NEWLINE_AT_END = '(?=\\n?(?![^]))';
const POSIX: Readonly<Record<string, string>> = {
  alpha: 'A-Za-z',
  digit: '0-9',
  alnum: 'A-Za-z0-9',
  upper: 'A-Z',
  lower: 'a-z',
  space: '\\t-\\r ',
  blank: ' \\t',
  punct: '!-\\/:-@\\[-`{-~',
  xdigit: '0-9A-Fa-f',
  word: '\\w',
  cntrl: '\\x00-\\x1f\\x7f',
  print: ' -~',
  graph: '!-~',
};

/**
 * Translates a PCRE pattern with MongoDB's options (`imsxu`) to an equivalent JS expression. In PCRE, `$` also matches
 * before a final newline, `.` matches anything but `\n`, and `\s` is ASCII only. PCRE also has `\A \z \Z \h \Q…\E`,
 * POSIX classes, a leading `(?i)`, and with `x` comments and whitespace. Matching time is limited (`BoundedRegex`).
 * @throws CommandError 51091 for a pattern that is invalid or cannot be translated, 51108 for an unknown option,
 *   BadValue for a NUL character.
 */
export function compileRegex(pattern: string, options: string): RegExp {
  const invalid = /[^imsxu]/.exec(options);
  if (invalid) throw new CommandError(51108, `invalid flag in regex options: ${invalid[0]}`);
  if (pattern.includes('\0'))
    throw new CommandError('BadValue', 'Regular expression cannot contain an embedded null byte');
  const inline = /^\(\?([imsx]+)\)/.exec(pattern);
  const flags = new Set(options + (inline?.[1] ?? ''));
  const source = translate(inline ? pattern.slice(inline[0].length) : pattern, flags);
  const fail = (reason: string): never => {
    throw new CommandError(51091, `Regular expression is invalid: ${reason}`);
  };
  if (typeof source !== 'string') return fail(source.unsupported);
  const kept = flags.has('i') ? 'i' : '';
  try {
    return new BoundedRegex(source, `${kept}u`);
  } catch {
    try {
      return new BoundedRegex(source, kept);
    } catch (error) {
      return fail((error as Error).message);
    }
  }
}

function translate(pattern: string, flags: ReadonlySet<string>): string | { unsupported: string } {
  const dot = flags.has('s') ? '[^]' : '[^\\n]';
  const start = flags.has('m') ? '(?<![^\\n])' : '(?<![^])';
  const end = flags.has('m') ? '(?![^\\n])' : NEWLINE_AT_END;
  let out = '';
  for (let i = 0; i < pattern.length; i += 1) {
    const char = pattern[i] as string;
    if (char === '\\') {
      const letter = pattern[i + 1];
      if (letter === undefined) return { unsupported: '\\ at end of pattern' };
      if (letter === 'Q') {
        const close = pattern.indexOf('\\E', i + 2);
        const quoted = pattern.slice(i + 2, close < 0 ? undefined : close);
        out += quoted.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&');
        i = close < 0 ? pattern.length : close + 1;
        continue;
      }
      const translated = translateEscape(letter, false);
      if (translated === undefined) return { unsupported: `unsupported escape \\${letter}` };
      out += translated;
      i += 1;
    } else if (char === '[') {
      const set = translateClass(pattern, i);
      if (typeof set !== 'object' || 'unsupported' in set) return set;
      out += set.source;
      i = set.end;
    } else if (char === '.') out += dot;
    else if (char === '^') out += start;
    else if (char === '$') out += end;
    else if (char === '(' && pattern[i + 1] === '?') {
      const group = /^\(\?(?:[:=!]|<[=!]|P?<[A-Za-z_]\w*>|#[^)]*\))/.exec(pattern.slice(i));
      if (!group) return { unsupported: 'unsupported group (?' };
      if (!group[0].startsWith('(?#')) out += group[0].replace('(?P<', '(?<');
      i += group[0].length - 1;
    } else if (flags.has('x') && /\s/.test(char)) continue;
    else if (flags.has('x') && char === '#') {
      const newline = pattern.indexOf('\n', i);
      i = newline < 0 ? pattern.length : newline;
    } else if (char === '{' && !/^\{\d+(,\d*)?\}/.test(pattern.slice(i))) out += '\\{';
    else if (char === '}' && !/\{\d+(,\d*)?$/.test(out)) out += '\\}';
    else if (char === ']') out += '\\]';
    else out += char;
  }
  return out;
}

/** Translates an escape to JS; undefined if JS interprets it differently from PCRE and there is no translation. */
function translateEscape(letter: string, inClass: boolean): string | undefined {
  switch (letter) {
    case 'A':
      return inClass ? undefined : '(?<![^])';
    case 'z':
      return inClass ? undefined : '(?![^])';
    case 'Z':
      return inClass ? undefined : NEWLINE_AT_END;
    case 'a':
      return '\\x07';
    case 'e':
      return '\\x1b';
    case 'h':
      return inClass ? ' \\t\\xa0' : '[ \\t\\xa0]';
    case 's':
      return inClass ? '\\t-\\r ' : '[\\t-\\r ]';
    case 'S':
      return inClass ? undefined : '[^\\t-\\r ]';
    case 'R':
      return inClass ? undefined : '(?:\\r\\n|[\\n-\\r\\x85\\u2028\\u2029])';
    default:
  }
  if (/[dDwWtnrfv0-9x]/.test(letter) || (!inClass && /[bBk]/.test(letter))) return `\\${letter}`;
  if (inClass && letter === 'b') return '\\b';
  if (letter === 'p' || letter === 'P') return `\\${letter}`;
  if (/[A-Za-z]/.test(letter)) return undefined;
  return /[\\^$.*+?()[\]{}|/-]/.test(letter) ? (letter === '-' && !inClass ? '-' : `\\${letter}`) : letter;
}

function translateClass(pattern: string, open: number): { source: string; end: number } | { unsupported: string } {
  let out = '[';
  let i = open + 1;
  if (pattern[i] === '^') {
    out += '^';
    i += 1;
  }
  if (pattern[i] === ']') {
    out += '\\]';
    i += 1;
  }
  for (; i < pattern.length; i += 1) {
    const char = pattern[i] as string;
    if (char === ']') return { source: `${out}]`, end: i };
    if (char === '\\') {
      const letter = pattern[i + 1] ?? '';
      const translated = translateEscape(letter, true);
      if (translated === undefined) return { unsupported: `unsupported escape \\${letter} in a class` };
      out += translated;
      i += 1;
    } else if (char === '[') {
      const posix = /^\[:(\^?)(\w+):\]/.exec(pattern.slice(i));
      if (posix) {
        const set = POSIX[posix[2] as string];
        if (set === undefined || posix[1] === '^') return { unsupported: `unsupported POSIX class ${posix[0]}` };
        out += set;
        i += posix[0].length - 1;
      } else out += '\\[';
    } else out += char;
  }
  return { unsupported: 'missing terminating ] for character class' };
}

/** Returns the literal text at the start of every match: `^abc` → `abc`. Empty if there is none. */
export function literalPrefix(pattern: string, options: string): string {
  if (/[imx]/.test(options) || pattern.includes('|')) return '';
  const literal = /^\^((?:[^\\^$.*+?()[\]{}|]|\\[^A-Za-z0-9])*)/.exec(pattern);
  if (!literal) return '';
  const next = pattern[literal[0].length];
  let prefix = literal[1] as string;
  // A quantifier applies to the last character, which may then be absent.
  if (next !== undefined && '*?{'.includes(next)) prefix = prefix.replace(/(?:\\.|.)$/su, '');
  return prefix.replace(/\\(.)/gsu, '$1');
}
