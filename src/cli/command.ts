import type { CommandParts } from '../app/command-parts.ts';
import type { Config } from '../config.ts';
import type { Terminal } from './terminal.ts';

/** A command: its arguments as data for the parser and the help, and its implementation. */
export interface Command {
  /** One or two words, such as `keys create`. */
  readonly name: string;
  /** One line, without a full stop. */
  readonly summary: string;
  /** Names of the positional arguments, all required: `KEY_ID`. */
  readonly positionals: readonly string[];
  readonly options: Readonly<Record<string, Option>>;
  /** Further text for the command's own help. */
  readonly details?: string;
  /** @returns the exit code @throws an error whose message is shown to the user */
  run(input: ParsedArguments, context: CommandContext): Promise<number>;
}

export interface Option {
  readonly description: string;
  /** Placeholder for the value in the help; a flag has none. */
  readonly value?: string;
  readonly required?: boolean;
  /** The allowed values. */
  readonly choices?: readonly string[];
}

/** The parsed and checked arguments of a command. */
export interface ParsedArguments {
  /** Returns the value of a positional argument or of a required option. */
  get(name: string): string;
  /** Returns the value of an option; null when it was not given. */
  find(name: string): string | null;
  /** Whether a flag was given. */
  has(flag: string): boolean;
}

/** The dependencies that a command gets. */
export interface CommandContext {
  readonly terminal: Terminal;
  /** Reads the settings. @throws {ConfigError} */
  readonly config: () => Config;
  /** Returns the value of FATOURA_KEY, used when `--key` is not given; null when it is not set. */
  readonly environmentKey: () => string | null;
  /**
   * The address of the service if neither `--url` nor the configuration states it, because the program runs outside of
   * the project.
   */
  readonly address?: () => string;
  readonly parts: CommandParts;
}

/** Exit code of a command that a signal ended. */
export const INTERRUPTED = 130;

/** An input (argument, file or setting) is wrong or cannot be read. The exit code is 2. */
export class InputError extends Error {}

/** The arguments are wrong. The exit code is 2, and the usage is shown. */
export class UsageError extends InputError {}
