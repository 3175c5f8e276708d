import { readFileSync } from 'node:fs';
import { parseEnv } from 'node:util';
import { ConfigError } from './values.ts';

/** The file that is read where ENV_FILE names none; it may be missing. */
const USUAL_FILE = '.env';
/**
 * Matches a variable. A value in quotes may have several lines. A value without quotes ends with its line, as in Node.
 */
const ENTRY =
  /[^\S\n]*(?:export[^\S\n]+)?[A-Za-z_][A-Za-z0-9_.-]*[^\S\n]*=[^\S\n]*(?:"[^"]*"|'[^']*'|`[^`]*`|(?!["'`])[^\n]*)/y;
const REST_OF_LINE = /[^\S\n]*(?:#[^\n]*)?(?:\n|$)/y;

/**
 * Adds the variables of the file that ENV_FILE names, by default `.env` in the working directory, to `env`, as Node's
 * `--env-file` would: variables that the environment already has, even empty ones, stay as they are. Unlike Node,
 * refuses a line that is not a variable, because that setting would silently not apply. If ENV_FILE is empty, no file
 * is read.
 * @returns the names of the file's variables
 * @throws {ConfigError} when the file cannot be read or has such a line; then nothing was added
 */
export function loadEnvFile(env: NodeJS.ProcessEnv = process.env): string[] {
  if (env.ENV_FILE === '') return [];
  const file = env.ENV_FILE ?? USUAL_FILE;
  const text = readText(file, env.ENV_FILE === undefined);
  if (text === null) return [];
  const line = brokenLine(text);
  if (line !== null)
    throw new ConfigError(`${file}, line ${line}: must be NAME=value, with quotes closed, or a # comment`);
  const variables = parseEnv(text);
  for (const [name, value] of Object.entries(variables)) env[name] ??= value;
  return Object.keys(variables);
}

function readText(file: string, mayBeMissing: boolean): string | null {
  let bytes: Buffer;
  try {
    bytes = readFileSync(file);
  } catch (error) {
    if (mayBeMissing && (error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw new ConfigError(`${file} cannot be read: ${(error as Error).message}`);
  }
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes).replaceAll('\r\n', '\n');
  } catch {
    throw new ConfigError(`${file} is not UTF-8 text`);
  }
}

/** @returns the number of the first line that is neither a variable, nor a comment, nor empty; null without one */
function brokenLine(text: string): number | null {
  for (let at = 0; at < text.length; ) {
    const begin = at;
    ENTRY.lastIndex = at;
    if (ENTRY.test(text)) at = ENTRY.lastIndex;
    REST_OF_LINE.lastIndex = at;
    if (!REST_OF_LINE.test(text)) return text.slice(0, begin).split('\n').length;
    at = REST_OF_LINE.lastIndex;
  }
  return null;
}
