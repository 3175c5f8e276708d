import type { openAdministration } from '../app/administration.ts';
import type { startApp } from '../app/app.ts';
import type { receiveBackup, sendBackup } from '../app/backup/backup-stream.ts';
import type { followStore } from '../app/backup/follow-store.ts';
import type { restoreBackup } from '../app/backup/restore-backup.ts';
import type { takeBackup } from '../app/backup/take-backup.ts';
import type { checkStore } from '../app/check-store.ts';
import type {
  diagnoseAuthority,
  diagnoseLive,
  diagnoseMail,
  diagnoseMasterKey,
  diagnoseOpenFiles,
  diagnoseRenderer,
  failingEndpoints,
  signingCertificate,
  timeZoneData,
} from '../app/diagnosis.ts';
import type { endDataKey, resealStoredSecrets, rotateDataKey, rotateMasterKey } from '../app/key-rotation.ts';
import type { localSender } from '../app/local-sender.ts';
import type { abandonData, moveData } from '../app/migration.ts';
import type { OpenReconciliation } from '../app/reconciliation.ts';
import type { exportTenantTo, verifyExport } from '../app/tenant-data.ts';
import type { trustedSigners, verifyDocument } from '../app/verification.ts';
import type { Config } from '../config.ts';
import type { Terminal } from './terminal.ts';

/** A command of the command line: its arguments as data for the parser and the help, and its implementation. */
export interface Command {
  /** `keys create`: one or two words. */
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
  /** Value of a positional argument or of a required option. */
  get(name: string): string;
  /** Value of an option; null when it was not given. */
  find(name: string): string | null;
  /** Whether a flag was given. */
  has(flag: string): boolean;
}

/** The parts that a command gets from its environment. */
export interface CommandContext {
  readonly terminal: Terminal;
  /** The settings. @throws {ConfigError} */
  readonly config: () => Config;
  /** The value of FATOURA_KEY, which is used when `--key` is not given; null when it is not set. */
  readonly environmentKey: () => string | null;
  readonly parts: CommandParts;
}

/** A function whose module is loaded by its first call, because each command needs only few of the large ones. */
type Loaded<F extends (...args: never[]) => unknown> = (...args: Parameters<F>) => Promise<Awaited<ReturnType<F>>>;

/** Functions of the composition root that commands use. */
export interface CommandParts {
  readonly openAdministration: Loaded<typeof openAdministration>;
  /** @throws when no live authority is configured, or the store cannot be opened */
  readonly openReconciliation: (config: Config) => Promise<OpenReconciliation>;
  readonly verifyDocument: Loaded<typeof verifyDocument>;
  readonly trustedSigners: Loaded<typeof trustedSigners>;
  readonly signingCertificate: Loaded<typeof signingCertificate>;
  readonly diagnoseMasterKey: Loaded<typeof diagnoseMasterKey>;
  readonly diagnoseRenderer: Loaded<typeof diagnoseRenderer>;
  readonly diagnoseAuthority: Loaded<typeof diagnoseAuthority>;
  readonly diagnoseLive: Loaded<typeof diagnoseLive>;
  readonly failingEndpoints: Loaded<typeof failingEndpoints>;
  readonly timeZoneData: Loaded<typeof timeZoneData>;
  readonly diagnoseMail: Loaded<typeof diagnoseMail>;
  readonly diagnoseOpenFiles: Loaded<typeof diagnoseOpenFiles>;
  readonly rotateMasterKey: Loaded<typeof rotateMasterKey>;
  readonly rotateDataKey: Loaded<typeof rotateDataKey>;
  readonly endDataKey: Loaded<typeof endDataKey>;
  readonly resealStoredSecrets: Loaded<typeof resealStoredSecrets>;
  readonly moveData: Loaded<typeof moveData>;
  readonly abandonData: Loaded<typeof abandonData>;
  readonly localSender: Loaded<typeof localSender>;
  readonly startApp: Loaded<typeof startApp>;
  readonly takeBackup: Loaded<typeof takeBackup>;
  readonly sendBackup: Loaded<typeof sendBackup>;
  readonly receiveBackup: Loaded<typeof receiveBackup>;
  readonly followStore: Loaded<typeof followStore>;
  readonly checkStore: Loaded<typeof checkStore>;
  readonly restoreBackup: Loaded<typeof restoreBackup>;
  readonly exportTenantTo: Loaded<typeof exportTenantTo>;
  readonly verifyExport: Loaded<typeof verifyExport>;
  /**
   * The GraphQL operations of the files and of the texts `own`, by SHA-256.
   * @throws {Error} naming the file and the fault
   */
  readonly operationList: (
    files: readonly { readonly name: string; readonly text: string }[],
    own: readonly string[],
  ) => Promise<ReadonlyMap<string, string>>;
}

/** Exit code of a command that a signal ended. */
export const INTERRUPTED = 130;

/** An input (argument, file or setting) is wrong or cannot be read: exit code 2. */
export class InputError extends Error {}

/** The arguments are wrong: exit code 2, and the usage is shown. */
export class UsageError extends InputError {}
