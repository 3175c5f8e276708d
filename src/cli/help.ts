import type { Command } from './command.ts';
import { columns } from './terminal.ts';

/** A program that has commands. */
export interface Program {
  /** The command line that calls it: `npm run -s cli --`. */
  readonly name: string;
  /** The text of `--version`. */
  readonly version: () => string;
}

/** Lists all commands, or those of a group (`keys`). */
export function overview(commands: readonly Command[], program: Program): string {
  return [
    `Usage: ${program.name} COMMAND`,
    '',
    columns(commands.map((command) => [`  ${[command.name, ...command.positionals].join(' ')}`, command.summary])),
    '',
    `Details of a command: ${program.name} help COMMAND`,
    'Exit codes: 0 success; 1 failure, or a check that did not pass; 2 wrong usage or settings, or a file that cannot be read.',
    'Some commands have further exit codes: see their help.',
  ].join('\n');
}

/** Returns the usage in one line: `Usage: … keys create --tenant T …`. */
export function usage({ name, positionals, options }: Command, program: Program): string {
  const parts = Object.entries(options).map(([option, { value, required, choices }]) => {
    const text = value === undefined ? `--${option}` : `--${option} ${choices?.join('|') ?? value}`;
    return required ? text : `[${text}]`;
  });
  return `Usage: ${[program.name, name, ...positionals, ...parts].join(' ')}`;
}

/** Returns the complete help of a command. */
export function commandHelp(command: Command, program: Program): string {
  const options = Object.entries(command.options).map(([option, { value, description, choices }]) => [
    `  --${option}${value === undefined ? '' : ` ${choices?.join('|') ?? value}`}`,
    description,
  ]);
  return [
    usage(command, program),
    '',
    `${command.summary}.`,
    ...(command.details === undefined ? [] : ['', command.details]),
    ...(options.length === 0 ? [] : ['', 'Options:', columns(options)]),
  ].join('\n');
}
