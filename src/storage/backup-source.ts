import type { Binary, Long, MongoClient } from 'mongodb';

/** A backup of the embedded engine, under way: what its commands answer (docs/engine.md, "Backup"). */
export interface BackupSource {
  /** Path of the data file. */
  readonly file: string;
  /** Path of its write-ahead log. */
  readonly log: string;
  /** Size of the data file at the begin, bytes. */
  readonly fileBytes: number;
  /** Tells the engine how many bytes of the present log are copied. */
  askLog(read: number): Promise<LogState>;
  end(): Promise<void>;
}

/** Where the log ends, or how it ended. */
export type LogState =
  | { readonly isMoved: false; readonly end: number; readonly at: Date }
  | { readonly isMoved: true; readonly from: number; readonly rest: Uint8Array };

/** Begins a backup of the engine that the client is connected to. It ends with the connection. */
export async function beginBackup(client: MongoClient): Promise<BackupSource> {
  const admin = client.db('admin');
  const { backup, file, log, fileBytes } = await admin.command({ beginBackup: 1 });
  return {
    ...{ file, log, fileBytes: Number(fileBytes as number | Long) },
    async askLog(read) {
      const { end, at, rest, restFrom } = await admin.command({ backupLog: backup, read });
      if (rest) return { isMoved: true, from: Number(restFrom), rest: (rest as Binary).buffer };
      return { isMoved: false, end: Number(end), at };
    },
    async end() {
      await admin.command({ endBackup: backup });
    },
  };
}
