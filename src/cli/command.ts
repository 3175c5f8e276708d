import type { localSender, openAdministration, trustedSigners, verifyDocument } from '../app/administration.ts';
import type { startApp } from '../app/app.ts';
import type { diagnoseMail, diagnoseMasterKey, diagnoseRenderer, signingCertificate } from '../app/diagnosis.ts';
import type { Config } from '../config.ts';
import type { Terminal } from './terminal.ts';

/** One command of the command line: what it takes, as data for the parser and the help, and what it does. */
export interface Command {
  /** `keys create`: one or two words. */
  readonly name: string;
  /** One line, without a full stop. */
  readonly summary: string;
  /** Names of the positional arguments, all required: `KEY_ID`. */
  readonly positionals: readonly string[];
  readonly options: Readonly<Record<string, Option>>;
  /** More to know, in the command's own help. */
  readonly details?: string;
  /** @returns the exit code @throws with a message for the person who typed the command */
  run(input: ParsedArguments, context: CommandContext): Promise<number>;
}

export interface Option {
  readonly description: string;
  /** What stands for its value in the help; a flag has none. */
  readonly value?: string;
  readonly required?: boolean;
  /** The only values that it takes. */
  readonly choices?: readonly string[];
}

/** What was typed for a command, checked against what it takes. */
export interface ParsedArguments {
  /** A positional argument or a required option. */
  get(name: string): string;
  /** An option's value; null when it was not given. */
  find(name: string): string | null;
  /** Whether a flag was given. */
  has(flag: string): boolean;
}

/** What commands work with. */
export interface CommandContext {
  readonly terminal: Terminal;
  /** The settings. @throws {ConfigError} */
  readonly config: () => Config;
  /** The key of the environment, FATOURA_KEY: where no `--key` is given. null: there is none. */
  readonly environmentKey: () => string | null;
  readonly parts: CommandParts;
}

/** What the composition root offers to the command line. */
export interface CommandParts {
  readonly openAdministration: typeof openAdministration;
  readonly verifyDocument: typeof verifyDocument;
  readonly trustedSigners: typeof trustedSigners;
  readonly signingCertificate: typeof signingCertificate;
  readonly diagnoseMasterKey: typeof diagnoseMasterKey;
  readonly diagnoseRenderer: typeof diagnoseRenderer;
  readonly diagnoseMail: typeof diagnoseMail;
  readonly localSender: typeof localSender;
  readonly startApp: typeof startApp;
  /** The list of the files' operations, and of these texts of our own. @throws {Error} that names the file and what is wrong */
  readonly operationList: (
    files: readonly { readonly name: string; readonly text: string }[],
    own: readonly string[],
  ) => Promise<ReadonlyMap<string, string>>;
}

/** What was given is wrong or can't be read, the settings included: exit code 2. */
export class InputError extends Error {}

/** The command can't be understood: exit code 2, with the usage. */
export class UsageError extends InputError {}
