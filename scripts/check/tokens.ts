/** A token of a TypeScript module. Comments and regular expressions are left out; a string's `text` is its content. */
export interface Token {
  kind: 'word' | 'string' | 'punctuation';
  text: string;
  line: number;
}

/** After one of these words a slash starts a regular expression. */
const BEFORE_EXPRESSION = new Set(
  'return typeof instanceof in of new delete void throw case do else yield await default extends'.split(' '),
);
const CONDITION = new Set(['if', 'while', 'for', 'with']);
const WORD = /[\p{ID_Start}$_#@\d][\p{ID_Continue}$\u200c\u200d]*/uy;
const REGULAR_EXPRESSION = /\/(?:[^\\/[\n]|\\.|\[(?:[^\]\\\n]|\\.)*\])+\/\w*/y;

/**
 * Splits a module into tokens, as far as finding its imports needs: template literals yield the tokens of their
 * substitutions and, without any, one string.
 * @throws Error for a string, template or comment without an end: the reading went astray and must not pass as clean.
 */
export function tokenize(source: string): Token[] {
  const tokens: Token[] = [];
  /** What each open bracket is: for `${` the template goes on after its end, for `(` whether a condition was opened. */
  const open: { bracket: string; condition: boolean }[] = [];
  let at = 0;
  let line = 1;
  let regexAllowed = true;

  const fail = (what: string): never => {
    throw new Error(`line ${line}: ${what} has no end`);
  };
  const push = (kind: Token['kind'], text: string, nextMayBeRegex: boolean): void => {
    tokens.push({ kind, text, line });
    regexAllowed = nextMayBeRegex;
  };

  const match = (pattern: RegExp): string | undefined => {
    pattern.lastIndex = at;
    return pattern.exec(source)?.[0];
  };

  const skipTo = (end: string, what: string): void => {
    const found = source.indexOf(end, at);
    if (found < 0) fail(what);
    for (let i = at; i < found; i++) if (source[i] === '\n') line++;
    at = found + end.length;
  };

  const readString = (quote: string): void => {
    let text = '';
    for (at++; source[at] !== quote; at++) {
      if (at >= source.length || source[at] === '\n') fail('a string');
      if (source[at] === '\\') {
        at++;
        if (source[at] === '\n') line++;
      }
      text += source[at];
    }
    at++;
    push('string', text, false);
  };

  /** Reads from the opening back-tick, or on from a substitution's end, to the next `${` or the closing back-tick. */
  const readTemplate = (starts: boolean): void => {
    let text = '';
    let lines = 0;
    for (at++; source[at] !== '`'; at++) {
      if (at >= source.length) fail('a template');
      if (source[at] === '\\') at++;
      else if (source.startsWith('${', at)) {
        push('punctuation', '${', true);
        open.push({ bracket: '${', condition: false });
        line += lines;
        at += 2;
        return;
      }
      if (source[at] === '\n') lines++;
      text += source[at];
    }
    at++;
    if (starts) push('string', text, false);
    line += lines;
    regexAllowed = false;
  };

  const readPunctuation = (char: string): void => {
    if (char === '(' || char === '[' || char === '{') {
      open.push({ bracket: char, condition: char === '(' && CONDITION.has(tokens.at(-1)?.text ?? '') });
    }
    const closed = char === ')' || char === ']' || char === '}' ? open.pop() : undefined;
    if (closed?.bracket === '${') {
      readTemplate(false);
      return;
    }
    const text = ['?.', '++', '--'].find((operator) => source.startsWith(operator, at)) ?? char;
    at += text.length;
    if (text === '++' || text === '--' || text === '!')
      push('punctuation', text, regexAllowed); // behind an operand: still one
    else push('punctuation', text, closed?.condition === true || (char !== ')' && char !== ']'));
  };

  while (at < source.length) {
    const char = source[at] as string;
    if (char === '\n') {
      line++;
      at++;
    } else if (/\s/.test(char)) at++;
    else if (source.startsWith('//', at) || source.startsWith('#!', at)) {
      const end = source.indexOf('\n', at);
      at = end < 0 ? source.length : end;
    } else if (source.startsWith('/*', at)) {
      at += 2;
      skipTo('*/', 'a comment');
    } else if (char === "'" || char === '"') readString(char);
    else if (char === '`') readTemplate(true);
    else {
      const regex = char === '/' && regexAllowed ? match(REGULAR_EXPRESSION) : undefined;
      const word = match(WORD);
      if (regex !== undefined) {
        at += regex.length;
        regexAllowed = false;
      } else if (word !== undefined) {
        at += word.length;
        push('word', word, BEFORE_EXPRESSION.has(word) && tokens.at(-1)?.text !== '.');
      } else readPunctuation(char);
    }
  }
  if (open.length > 0) fail('a bracket');
  return tokens;
}
