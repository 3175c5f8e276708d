import { type Binary, type Long, type MongoClient, Timestamp } from 'mongodb';

/** A backup of the embedded engine, under way: what its commands answer (docs/engine.md, "Backup"). */
export interface BackupSource {
  /** Path of the data file. */
  readonly file: string;
  /** Path of its write-ahead log. */
  readonly log: string;
  /** Size of the data file at the begin, bytes. */
  readonly fileBytes: number;
  /** The state of the data at the begin. */
  readonly history: DataState;
  /** Whether the data has been in the state that was asked for; null when none was. */
  readonly continues: boolean | null;
  /** Tells the engine how many bytes of the present log are copied. */
  askLog(read: number): Promise<LogState>;
  end(): Promise<void>;
}

/** A state in the history of an installation's data. */
export interface DataState {
  /** Of the installation: the same for its data and all copies of it. */
  readonly id: string;
  /** Time of the newest change, UNIX seconds, and its number in that second. */
  readonly seconds: number;
  readonly increment: number;
  /** Checksum of that change. */
  readonly sum: number;
  /** Whether only data that still has that change continues it: other data was refused before. */
  readonly exact?: boolean | undefined;
}

/** Where the log ends, or how it ended. */
export type LogState =
  | { readonly isMoved: false; readonly end: number; readonly at: Date; readonly history: DataState }
  | { readonly isMoved: true; readonly from: number; readonly rest: Uint8Array };

/**
 * Begins a backup of the engine that the client is connected to. It ends with the connection.
 * @param since the state of a copy, which the engine looks for in the history of its data
 */
export async function beginBackup(client: MongoClient, since?: DataState): Promise<BackupSource> {
  const admin = client.db('admin');
  const begin = { beginBackup: 1, ...(since && { since: encoded(since) }) };
  const { backup, file, log, fileBytes, history, continues = null } = await admin.command(begin);
  return {
    file,
    log,
    fileBytes: Number(fileBytes as number | Long),
    history: decoded(history),
    continues,
    async askLog(read) {
      const { end, at, rest, restFrom, history } = await admin.command({ backupLog: backup, read });
      if (rest) return { isMoved: true, from: Number(restFrom), rest: (rest as Binary).buffer };
      return { isMoved: false, end: Number(end), at, history: decoded(history) };
    },
    async end() {
      await admin.command({ endBackup: backup });
    },
  };
}

/** A state in the form of the engine's commands. */
interface EncodedState {
  readonly id: number | Long;
  readonly time: Timestamp;
  readonly sum: number | Long;
  readonly exact?: true;
}

const ID_DIGITS = 12;

function decoded({ id, time, sum }: EncodedState): DataState {
  const digits = Number(id).toString(16).padStart(ID_DIGITS, '0');
  return { id: digits, seconds: time.t, increment: time.i, sum: Number(sum) };
}

function encoded({ id, seconds, increment, sum, exact }: DataState): EncodedState {
  const time = new Timestamp({ t: seconds, i: increment });
  return { id: Number.parseInt(id, 16), time, sum, ...(exact && { exact: true }) };
}
