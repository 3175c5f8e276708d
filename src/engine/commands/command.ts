import type { Connection } from '../connection.ts';
import type { Doc } from '../query/types.ts';
import type { Store } from '../store/store.ts';
import type { Arguments } from './arguments.ts';

/** What a command knows of the server that runs it. */
export interface ServerInfo {
  /** host:port, or the socket's path. */
  host: string;
  startedAt: Date;
  connections(): { current: number; created: number };
}

/** One command being run. */
export interface Context {
  store: Store;
  server: ServerInfo;
  connection: Connection;
  /** Name as it was sent. */
  name: string;
  db: string;
  args: Arguments;
  /** The logical session's id (hex), when there is one. */
  session: string | undefined;
  /** When `maxTimeMS` is over, in milliseconds since the epoch; Infinity without. */
  deadline: number;
}

export interface Command {
  /** Options besides those that every command takes; anything else is error 40415. */
  options: readonly string[];
  /** Runs inside the next commit, all or nothing. */
  writes?: boolean;
  /** Answers a repeated `txnNumber` from its record. */
  retryable?: boolean;
  /** Takes any option: a client's hello may carry what this server does not know. */
  handshake?: boolean;
  /** Gives the answer without `ok`. */
  run(context: Context): Doc | Promise<Doc>;
}
