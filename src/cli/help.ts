import type { Command } from './command.ts';
import { columns } from './terminal.ts';

const PROGRAM = 'npm run -s cli --';

/** What is there to type: all commands, or those of a group (`keys`). */
export function overview(commands: readonly Command[]): string {
  return [
    `Usage: ${PROGRAM} COMMAND`,
    '',
    columns(commands.map((command) => [`  ${[command.name, ...command.positionals].join(' ')}`, command.summary])),
    '',
    `${PROGRAM} help COMMAND tells more.`,
    'Exit codes: 0, done; 1, it failed, or what was checked is not right; 2, wrong usage or settings, or a file that can not be read.',
    `Where there are others, the command's own help names them.`,
  ].join('\n');
}

/** One line: `Usage: … keys create --tenant T …`. */
export function usage({ name, positionals, options }: Command): string {
  const parts = Object.entries(options).map(([option, { value, required, choices }]) => {
    const text = value === undefined ? `--${option}` : `--${option} ${choices?.join('|') ?? value}`;
    return required ? text : `[${text}]`;
  });
  return `Usage: ${[PROGRAM, name, ...positionals, ...parts].join(' ')}`;
}

/** All there is to say of one command. */
export function commandHelp(command: Command): string {
  const options = Object.entries(command.options).map(([option, { value, description, choices }]) => [
    `  --${option}${value === undefined ? '' : ` ${choices?.join('|') ?? value}`}`,
    description,
  ]);
  return [
    usage(command),
    '',
    `${command.summary}.`,
    ...(command.details === undefined ? [] : ['', command.details]),
    ...(options.length === 0 ? [] : ['', 'Options:', columns(options)]),
  ].join('\n');
}
