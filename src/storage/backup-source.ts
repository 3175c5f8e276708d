import { type Binary, type Long, type MongoClient, Timestamp } from 'mongodb';

/** A running backup of the embedded engine, as its commands report it (docs/engine.md, "Backup"). */
export interface BackupSource {
  /** Path of the data file. */
  readonly file: string;
  /** Path of its write-ahead log. */
  readonly log: string;
  /** Size of the data file when the backup began, bytes. */
  readonly fileBytes: number;
  /** The state of the data when the backup began. */
  readonly history: DataState;
  /**
   * Whether the history of the data contains the state passed to {@link beginBackup}; null when no state was passed.
   */
  readonly continues: boolean | null;
  /** Reports to the engine how many bytes of the current log have been copied. @returns the state of the log */
  askLog(read: number): Promise<LogState>;
  end(): Promise<void>;
}

/** A state in the history of an installation's data. */
export interface DataState {
  /** Id of the installation: its data and all copies have the same id. */
  readonly id: string;
  /** Time of the newest change in UNIX seconds; `increment` numbers the changes within that second. */
  readonly seconds: number;
  readonly increment: number;
  /** Checksum of the newest change. */
  readonly sum: number;
  /** Whether only data that still contains this change may continue this state. Set after other data was refused. */
  readonly exact?: boolean | undefined;
}

/** Where the log ends. If the engine has moved to a new log, the bytes of the old log that are not copied yet. */
export type LogState =
  | { readonly isMoved: false; readonly end: number; readonly at: Date; readonly history: DataState }
  | { readonly isMoved: true; readonly from: number; readonly rest: Uint8Array };

/**
 * Begins a backup of the engine that the client is connected to. The backup ends when the connection closes.
 * @param since the state of an earlier copy, which the engine looks up in the history of its data
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

/** A {@link DataState} as the engine's commands encode it. */
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
