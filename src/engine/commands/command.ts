import type { Connection } from '../connection.ts';
import type { Steps } from '../query/pause.ts';
import type { Doc } from '../query/types.ts';
import type { Store } from '../store/store.ts';
import type { Snapshot } from '../store/versions.ts';
import type { Arguments } from './arguments.ts';
import type { FailPoints } from './fail-points.ts';

/** Facts about the server for the commands that report them. */
export interface ServerInfo {
  /** `host:port`, or the path of the socket. */
  host: string;
  startedAt: Date;
  connections(): { current: number; created: number };
}

/** The connection that sent a command, and the server that runs it. */
export interface Caller {
  store: Store;
  server: ServerInfo;
  connection: Connection;
  /** Undefined unless the server runs with test commands enabled. */
  failPoints: FailPoints | undefined;
}

/** A running command with its arguments. */
export interface Context extends Caller {
  command: Command;
  /** The command name as sent. */
  name: string;
  db: string;
  args: Arguments;
  /** The id of the logical session in hex, if the command has one. */
  session: string | undefined;
  /**
   * The snapshot that the command reads, in a transaction or with `readConcern: snapshot`. Undefined for the current
   * data.
   */
  snapshot?: Snapshot;
  /** The ids of the other collections that the command's pipeline reads. Set once the pipeline is compiled. */
  alsoReads?: ReadonlySet<number>;
  /** The time limit from `maxTimeMS`, in milliseconds since the epoch; Infinity without it. */
  deadline: number;
}

export interface Command {
  /** Options beyond the common ones of all commands; any other option is error 40415. */
  options: readonly string[];
  /** Whether the command writes: it then runs atomically as part of the next commit. */
  writes?: boolean | ((context: Context) => boolean);
  /** Whether a repeated `txnNumber` is answered from the retry record. */
  retryable?: boolean;
  /** Whether the command is allowed in a transaction. */
  transactional?: boolean;
  /** Whether `readConcern: {level: 'snapshot'}` is allowed outside transactions. */
  readsSnapshots?: boolean;
  /**
   * Whether the command uses an existing cursor, which has its own snapshot. Drivers send the read concern of a
   * snapshot session with such commands, too.
   */
  ofCursor?: boolean;
  /** Whether the command cannot run again after a failed commit, because it continues a cursor or a backup. */
  runsOnce?: boolean;
  /** Whether unknown options are ignored, because drivers may add new ones to `hello`. */
  handshake?: boolean;
  /**
   * Prepares the command's statements. Outside transactions, the command may pause between and within them.
   * @throws CommandError for invalid statements
   */
  statements?: (context: Context) => Statements;
  /** Returns the answer without `ok`. */
  run(context: Context): Doc | Promise<Doc>;
}

/** The counts of a write command's answer: `n`, and `nModified` of updates. */
export type Counts = Readonly<Record<string, number>>;

/**
 * The outcome of a statement: its counts, which are added to the command's, and the `_id` of the document that an
 * upsert inserted.
 */
export interface StatementOutcome {
  readonly counts: Counts;
  readonly upserted?: unknown;
  /** The answer of the command, if the command is a single statement. */
  readonly reply?: Doc;
}

/** The statements of a write command. It may pause between them, as in MongoDB. */
export interface Statements {
  readonly count: number;
  /** Whether the first error ends the command. */
  readonly isOrdered: boolean;
  /** Whether the command is a single statement. Its error is then the command's error, and its `reply` the answer. */
  readonly isCommand?: boolean;
  /** The counts in the answer before any statement has run. */
  readonly counts: Counts;
  /**
   * Called at the start and after each pause, because others may have changed the collection.
   * @returns a function that runs the statement at an index, or returns the steps of its search
   */
  begin(): (index: number) => StatementOutcome | Steps<Parts>;
}

/** The writes of a statement, known when its search has ended. The statement may pause between two parts. */
export interface Parts {
  readonly count: number;
  /** Called at the start and after each pause. @returns a function that runs the part at an index */
  begin(): (index: number) => StatementOutcome;
}
