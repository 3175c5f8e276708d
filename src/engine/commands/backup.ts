import { Binary, Int32, Long } from 'bson';
import { CommandError } from '../errors.ts';
import type { Doc } from '../query/types.ts';
import type { Store } from '../store/store.ts';
import type { Command, Context } from './command.ts';

// A client copies the data file while it is in use: see `store/backups.ts`.

/**
 * Begins a backup, which ends with `endBackup` or with the connection. Answers its number, and the paths of the file and
 * of its write-ahead log, which a client on this machine reads.
 */
export const beginBackup: Command = {
  options: [],
  runsOnce: true,
  run: (context) =>
    betweenCommits(context, ({ backups }) => {
      const { id, file, log, fileBytes, fileVersion } = backups.begin();
      context.connection.onClose(() => backups.end(id));
      return {
        ...{ backup: new Int32(id), file, log },
        ...{ fileBytes: Long.fromNumber(fileBytes), fileVersion: new Int32(fileVersion) },
      };
    }),
};

/**
 * Tells how much of the log the client has: `read` bytes. Answers where the log ends, and `at`: whatever was acknowledged
 * before is in the log up to there. With `rest` the log was moved into the file since the last call: these bytes, from
 * `restFrom` on, were its end, and the present log begins at 0.
 */
export const backupLog: Command = {
  options: ['read'],
  runsOnce: true,
  run: (context) =>
    betweenCommits(context, ({ backups }) => {
      const at = new Date();
      const { end, rest } = backups.log(numberOf(context), context.args.count('read') ?? 0);
      const moved = rest && { rest: new Binary(rest.bytes), restFrom: Long.fromNumber(rest.from) };
      return { end: Long.fromNumber(end), at, ...moved };
    }),
};

export const endBackup: Command = {
  options: [],
  run: (context) =>
    betweenCommits(context, ({ backups }) => {
      backups.end(numberOf(context));
      return {};
    }),
};

function numberOf({ args, name }: Context): number {
  const id = args.integer(name);
  if (id !== undefined) return id;
  throw new CommandError('TypeMismatch', `BSON field '${name}' must be the number of a backup`);
}

/** Backups are of the whole file, and so of all databases. */
function atAdmin(context: Context): Context {
  if (context.db === 'admin') return context;
  throw new CommandError('Unauthorized', `${context.name} may only be run against the admin database.`);
}

/** Runs `work` when no transaction of SQLite is open. */
function betweenCommits(context: Context, work: (store: Store) => Doc): Promise<Doc> {
  const { store } = atAdmin(context);
  return new Promise((resolve, reject) => {
    store.commit.afterCommit(() => {
      try {
        resolve(work(store));
      } catch (error) {
        reject(error);
      }
    });
  });
}
