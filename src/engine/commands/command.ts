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
  /** Undefined unless the server runs with test commands. */
  failPoints: FailPoints | undefined;
}

/** A command with its arguments, while it runs. */
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
  /** The ids of the collections that its pipeline reads beside its own, once it is compiled. */
  alsoReads?: ReadonlySet<number>;
  /** The time limit from `maxTimeMS`, in milliseconds since the epoch; Infinity without it. */
  deadline: number;
}

export interface Command {
  /** Options beyond the common ones of all commands; any other option is error 40415. */
  options: readonly string[];
  /** Runs as part of the next commit, atomically. */
  writes?: boolean | ((context: Context) => boolean);
  /** A repeated `txnNumber` is answered from the retry record. */
  retryable?: boolean;
  /** Allowed in a transaction. */
  transactional?: boolean;
  /** Allowed with `readConcern: {level: 'snapshot'}` outside transactions. */
  readsSnapshots?: boolean;
  /** Is about a cursor, which has its own snapshot: drivers send the read concern of a snapshot session with it, too. */
  ofCursor?: boolean;
  /** Continues what an earlier command began, so that it cannot run twice. */
  runsOnce?: boolean;
  /** Unknown options are ignored, because drivers may add new ones to `hello`. */
  handshake?: boolean;
  /**
   * Its statements, between and within which it may pause outside of transactions.
   * @throws CommandError for invalid ones
   */
  statements?: (context: Context) => Statements;
  /** Returns the answer without `ok`. */
  run(context: Context): Doc | Promise<Doc>;
}

/** The counts of a write command's answer: `n`, and `nModified` of updates. */
export type Counts = Readonly<Record<string, number>>;

/** The outcome of a statement: the counts that it adds, and the `_id` of the document that an upsert inserted. */
export interface StatementOutcome {
  readonly counts: Counts;
  readonly upserted?: unknown;
  /** The answer of a command that is one statement. */
  readonly reply?: Doc;
}

/** The statements of a write command. It may pause between them, as in MongoDB. */
export interface Statements {
  readonly count: number;
  /** Whether the first error ends the command. */
  readonly isOrdered: boolean;
  /** Whether the command is its only statement: an error of that is the command's, and its `reply` the answer. */
  readonly isCommand?: boolean;
  /** The counts before the first statement. */
  readonly counts: Counts;
  /**
   * Called after each pause, because others may have changed the collection.
   * @returns runs the statement at an index, or begins the search for what it writes
   */
  begin(): (index: number) => StatementOutcome | Steps<Parts>;
}

/** What a statement does once its search has ended. It may pause between two parts. */
export interface Parts {
  readonly count: number;
  /** Called after each pause. @returns runs the part at an index */
  begin(): (index: number) => StatementOutcome;
}
