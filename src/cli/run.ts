import { readFileSync } from 'node:fs';
import { ServiceError } from '../domain/errors.ts';
import { type Command, type CommandContext, InputError, UsageError } from './command.ts';
import { commandHelp, overview, type Program, usage } from './help.ts';
import { parseArguments } from './parse.ts';
import type { Terminal } from './terminal.ts';

/**
 * Runs a command line.
 * @param typed the arguments after the program's name; `help COMMAND` equals `COMMAND --help`
 * @param program the program that the commands belong to; default: that of the operators
 * @returns the exit code of the command; 1 when it failed, 2 for wrong usage or unusable input; standard error has the
 * reason
 */
export async function runCommandLine(
  typed: readonly string[],
  commands: readonly Command[],
  context: CommandContext,
  program: Program = OPERATORS,
): Promise<number> {
  const { terminal } = context;
  const args = typed[0] === 'help' ? [...typed.slice(1), '--help'] : typed;
  const command = commands.find(({ name }) => isPrefix(name.split(' '), args));
  if (!command) return withoutCommand(args, commands, terminal, program);
  try {
    const input = parseArguments(command, args.slice(command.name.split(' ').length));
    if (input !== null) return await command.run(input, context);
    terminal.print(commandHelp(command, program));
    return 0;
  } catch (error) {
    terminal.remark(messageOf(error));
    if (error instanceof UsageError) terminal.remark(usage(command, program));
    return error instanceof InputError ? 2 : 1;
  }
}

const HELP: ReadonlySet<string> = new Set(['--help', '-h']);

function withoutCommand(
  args: readonly string[],
  commands: readonly Command[],
  terminal: Terminal,
  program: Program,
): number {
  if (args[0] === '--version' || args[0] === '-v') {
    terminal.print(program.version());
    return 0;
  }
  const words = args.filter((arg) => !arg.startsWith('-'));
  const group = commands.filter(({ name }) => words[0] !== undefined && name.startsWith(`${words[0]} `));
  const help = overview(group.length > 0 ? group : commands, program);
  const unknown = args.find((arg, index) => !HELP.has(arg) && !(index === 0 && group.length > 0));
  if (args.length > 0 && unknown === undefined && words.length !== args.length) {
    terminal.print(help);
    return 0;
  }
  const asked = args.filter((arg) => !HELP.has(arg));
  if (unknown !== undefined) terminal.remark(`There is no command '${asked.join(' ')}'.`);
  terminal.remark(help);
  return 2;
}

const OPERATORS: Program = {
  name: 'npm run -s cli --',
  version() {
    const { name, version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'));
    return `${name} ${version}`;
  },
};

function isPrefix(words: readonly string[], args: readonly string[]): boolean {
  return words.every((word, index) => args[index] === word);
}

/** Returns the message of an error on one line, with all its problems. */
function messageOf(error: unknown): string {
  const text =
    error instanceof ServiceError
      ? error.problems.map(({ message }) => message).join(' ')
      : error instanceof Error
        ? error.message || error.name
        : String(error);
  return text.trim().replaceAll(/\s*\n\s*/g, '; ');
}
