import { parseArgs } from 'node:util';
import { type Command, type ParsedArguments, UsageError } from './command.ts';

/**
 * Parses the arguments of a command, without the command's name.
 * @returns null when `--help` is one of them
 * @throws {UsageError} for an argument that is unknown, missing or not one of the choices
 */
export function parseArguments(command: Command, args: readonly string[]): ParsedArguments | null {
  const { values, positionals } = parse(command, args);
  if (values.help === true) return null;
  const given = new Map<string, string>();
  for (const [name, { required, choices }] of Object.entries(command.options)) {
    const value = values[name];
    if (typeof value === 'string' && value.trim() === '') throw new UsageError(noValue(name));
    if (typeof value === 'string') given.set(name, value);
    else if (required) throw new UsageError(`--${name} is required`);
    if (typeof value === 'string' && choices && !choices.includes(value)) {
      throw new UsageError(`--${name} must be ${choices.join(' or ')}, not '${value}'`);
    }
  }
  const [extra] = positionals.slice(command.positionals.length);
  if (extra !== undefined) throw new UsageError(`unexpected argument '${extra}'`);
  for (const [index, name] of command.positionals.entries()) {
    const value = positionals[index];
    if (!value) throw new UsageError(`${name} is missing`);
    given.set(name, value);
  }
  return {
    get(name) {
      const value = given.get(name);
      if (value === undefined) throw new Error(`the command has no required argument ${name}`);
      return value;
    },
    find: (name) => given.get(name) ?? null,
    has: (flag) => values[flag] === true,
  };
}

function parse({ options }: Command, args: readonly string[]) {
  const types = Object.fromEntries(
    Object.entries(options).map(([name, { value }]) => [
      name,
      { type: value === undefined ? ('boolean' as const) : ('string' as const) },
    ]),
  );
  try {
    return parseArgs({
      args: [...args],
      options: { ...types, help: { type: 'boolean', short: 'h' } },
      allowPositionals: true,
      strict: true,
    }) as { values: Record<string, string | boolean | undefined>; positionals: string[] };
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    // In `--key $KEY --url …` with KEY unset, the next option is taken for the value.
    const name = /--([\w-]+)/.exec(message)?.[1] ?? '';
    if (code === 'ERR_PARSE_ARGS_INVALID_OPTION_VALUE' && options[name]?.value !== undefined)
      throw new UsageError(noValue(name));
    // The first sentence of Node's message names the fault; the rest is advice about syntax.
    const [sentence = ''] = message.split(/\.\s|\n/, 1);
    throw new UsageError(sentence.charAt(0).toLowerCase() + sentence.slice(1).replace(/\.$/, ''));
  }
}

function noValue(option: string): string {
  return `--${option} needs a value, but it is empty: if it comes from a variable, check that the variable is set`;
}
