import { type Token, tokenize } from './tokens.ts';

/** One import of a module. */
export interface ModuleImport {
  /** As written (`../errors.ts`, `node:fs`, `koa`); null where it is computed. */
  specifier: string | null;
  /**
   * `type`: erased (`import type`, `export type … from`); `value`: static; `dynamic`: `import()`, and `require()`
   * where the module makes one;
   * `url`: `new URL('./worker.ts', import.meta.url)`, a module that runs elsewhere (a worker thread, a process).
   */
  kind: 'type' | 'value' | 'dynamic' | 'url';
  line: number;
}

/** What a module's text says about its surroundings. */
export interface ModuleReading {
  imports: ModuleImport[];
  /** Lines on which the process environment is read. */
  environmentReads: number[];
}

/**
 * Reads a TypeScript module's imports, the type-only ones too, and its reads of `process.env`.
 * `import { type A } from` counts as a value import: Node loads the module for it.
 * @throws Error where the text cannot be split into tokens.
 */
export function readModule(source: string): ModuleReading {
  const tokens = tokenize(source);
  const imports: ModuleImport[] = [];
  const environmentReads: number[] = [];
  const hasRequire = tokens.some(({ kind, text: word }) => kind === 'word' && word === 'createRequire');
  tokens.forEach((token, i) => {
    if (token.kind !== 'word') return;
    if (token.text === 'process' && readsEnvironment(tokens, i)) environmentReads.push(token.line);
    if (isProperty(tokens, i)) return;
    const found =
      token.text === 'import' || token.text === 'export'
        ? readDeclaration(tokens, i)
        : token.text === 'require' && hasRequire
          ? readCall(tokens, i)
          : token.text === 'URL'
            ? readUrl(tokens, i)
            : undefined;
    if (found) imports.push(found);
    if (found && /^(node:)?process$/.test(found.specifier ?? '') && names(tokens, i).includes('env')) {
      environmentReads.push(token.line);
    }
  });
  return { imports, environmentReads };
}

const text = (tokens: Token[], i: number): string | undefined =>
  tokens[i]?.kind === 'string' ? undefined : tokens[i]?.text;

/** Whether the word is a member (`a.import`) or a key (`{ import: 1 }`) and not the keyword or global of that name. */
function isProperty(tokens: Token[], i: number): boolean {
  const before = text(tokens, i - 1);
  if (before === '.' ? text(tokens, i - 2) !== '.' : before === '?.') return true;
  return text(tokens, i + 1) === ':' && (before === '{' || before === ',');
}

/** `import 'a'`, `import … from 'a'`, `export … from 'a'`, `import('a')`. */
function readDeclaration(tokens: Token[], i: number): ModuleImport | undefined {
  const { line, text: keyword } = tokens[i] as Token;
  const next = tokens[i + 1];
  if (keyword === 'import' && next?.kind === 'string') return { specifier: next.text, kind: 'value', line };
  if (text(tokens, i + 1) === '(') return keyword === 'import' ? readCall(tokens, i) : undefined;
  const from = findFrom(tokens, i, keyword);
  if (from === undefined) return undefined;
  const isType = text(tokens, i + 1) === 'type' && i + 2 !== from && text(tokens, i + 2) !== ',';
  return { specifier: (tokens[from + 1] as Token).text, kind: isType ? 'type' : 'value', line };
}

/** The index of the declaration's `from`, or undefined where it has none (`export const`, `import.meta`). */
function findFrom(tokens: Token[], start: number, keyword: string): number | undefined {
  let inBraces = false;
  for (let i = start + 1; i < tokens.length; i++) {
    const token = tokens[i] as Token;
    if (!inBraces && token.text === 'from' && tokens[i + 1]?.kind === 'string') return i;
    if (token.text === '{') inBraces = true;
    else if (token.text === '}') inBraces = false;
    else if (token.text === '*' || token.text === ',' || (inBraces && token.kind === 'string')) continue;
    else if (token.kind !== 'word') return undefined;
    else if (!inBraces && keyword === 'export' && token.text !== 'type' && text(tokens, i - 1) !== 'as') {
      if (token.text !== 'as') return undefined;
    }
  }
  return undefined;
}

/** `import('a')` and `require('a')`; the specifier is null unless it is one string. */
function readCall(tokens: Token[], i: number): ModuleImport | undefined {
  if (text(tokens, i + 1) !== '(') return undefined;
  const argument = tokens[i + 2];
  const after = text(tokens, i + 3);
  const literal = argument?.kind === 'string' && (after === ')' || after === ',');
  return { specifier: literal ? argument.text : null, kind: 'dynamic', line: (tokens[i] as Token).line };
}

/** `URL('./worker.ts', import.meta.url)`, where it names a module. */
function readUrl(tokens: Token[], i: number): ModuleImport | undefined {
  const argument = tokens[i + 2];
  if (text(tokens, i + 1) !== '(' || argument?.kind !== 'string' || !/\.[cm]?[jt]s$/.test(argument.text))
    return undefined;
  const base = tokens.slice(i + 3, i + 9).map((token) => token.text);
  if (base.join('').startsWith(',import.meta.url')) {
    return { specifier: argument.text, kind: 'url', line: argument.line };
  }
  return undefined;
}

/** `process.env`, `process?.env`, `process['env']`, `{ env } = process`. */
function readsEnvironment(tokens: Token[], i: number): boolean {
  const [first, second] = [tokens[i + 1]?.text, tokens[i + 2]?.text];
  if ((first === '.' || first === '?.' || first === '[') && second === 'env') return true;
  return tokens[i - 1]?.text === '=' && tokens[i - 2]?.text === '}' && names(tokens, i - 2, -1).includes('env');
}

/** The words between a declaration's braces, read on from `i` or, with step -1, back from its closing brace. */
function names(tokens: Token[], i: number, step: 1 | -1 = 1): string[] {
  const found: string[] = [];
  for (let at = i + step; at >= 0 && at < tokens.length; at += step) {
    const { kind, text: word } = tokens[at] as Token;
    if (kind === 'string' || word === ';' || (step === 1 ? word === '}' : word === '{')) break;
    if (kind === 'word') found.push(word);
  }
  return found;
}
