import type { Connection } from '../connection.ts';
import type { Doc } from '../query/types.ts';
import type { Store } from '../store/store.ts';
import type { Snapshot } from '../store/versions.ts';
import type { Arguments } from './arguments.ts';
import type { FailPoints } from './fail-points.ts';

/** What a command knows of the server that runs it. */
export interface ServerInfo {
  /** host:port, or the socket's path. */
  host: string;
  startedAt: Date;
  connections(): { current: number; created: number };
}

/** Who runs a command, and where. */
export interface Caller {
  store: Store;
  server: ServerInfo;
  connection: Connection;
  /** Failures to be made on purpose; only of a server with test commands. */
  failPoints: FailPoints | undefined;
}

/** One command being run. */
export interface Context extends Caller {
  command: Command;
  /** Name as it was sent. */
  name: string;
  db: string;
  args: Arguments;
  /** The logical session's id (hex), when there is one. */
  session: string | undefined;
  /** The data that it sees when that is not the present: a transaction's, or that of a snapshot read. */
  snapshot?: Snapshot;
  /** When `maxTimeMS` is over, in milliseconds since the epoch; Infinity without. */
  deadline: number;
}

export interface Command {
  /** Options besides those that every command takes; anything else is error 40415. */
  options: readonly string[];
  /** Runs inside the next commit, all or nothing. */
  writes?: boolean | ((context: Context) => boolean);
  /** Answers a repeated `txnNumber` from its record. */
  retryable?: boolean;
  /** May be part of a transaction. */
  transactional?: boolean;
  /** May read by `readConcern: {level: 'snapshot'}` outside transactions. */
  readsSnapshots?: boolean;
  /** Takes any option: a client's hello may carry what this server does not know. */
  handshake?: boolean;
  /** Gives the answer without `ok`. */
  run(context: Context): Doc | Promise<Doc>;
}
