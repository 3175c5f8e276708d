import { Binary, Int32, Long, Timestamp } from 'bson';
import { CommandError } from '../errors.ts';
import type { Doc } from '../query/types.ts';
import type { HistoryState } from '../store/history.ts';
import { seqOf, timestampOf } from '../store/oplog.ts';
import type { Store } from '../store/store.ts';
import { Arguments, checkFields } from './arguments.ts';
import type { Command, Context } from './command.ts';

// Clients copy the data file while it is in use. See `store/backups.ts`.

/**
 * Begins a backup, which ends with `endBackup` or when the connection closes. Returns its id (`backup`), and the paths
 * of the data file and its write-ahead log, which the client reads itself on the same machine. `history` is the state
 * of the data. If the client gives `since`, the state of a copy, `continues` says whether the data has been in that
 * state.
 */
export const beginBackup: Command = {
  options: ['since'],
  runsOnce: true,
  run(context) {
    const { commit, history } = atAdmin(context).store;
    const since = sinceOf(context);
    commit.write(() => history.begin());
    return betweenCommits(context, ({ backups }) => {
      const compared = {
        history: encoded(history.state()),
        ...(since && { continues: history.includes(since, since.isExact) }),
      };
      const { id, file, log, fileBytes } = backups.begin();
      context.connection.onClose(() => backups.end(id));
      return {
        backup: new Int32(id),
        file,
        log,
        fileBytes: Long.fromNumber(fileBytes),
        ...compared,
      };
    });
  },
};

/**
 * Records that the client has `read` bytes of the log. Returns where the log ends (`end`) and a time (`at`): the log
 * contains all commits that were acknowledged before that time. `history` is the state of the data after these commits.
 * If the log was moved into the file since the last call, `rest` is the end of the moved log, from position `restFrom`
 * on, and the new log begins at 0.
 */
export const backupLog: Command = {
  options: ['read'],
  runsOnce: true,
  run: (context) =>
    betweenCommits(context, ({ backups, history }) => {
      const at = new Date();
      const { end, rest } = backups.log(numberOf(context), context.args.count('read') ?? 0);
      const moved = rest && { rest: new Binary(rest.bytes), restFrom: Long.fromNumber(rest.from) };
      return { end: Long.fromNumber(end), at, history: encoded(history.state()), ...moved };
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

function encoded({ id, seq, sum }: HistoryState): Doc {
  return { id: Long.fromNumber(id), time: timestampOf(seq), sum: Long.fromNumber(sum) };
}

/** Parses `since`, a state in the form in which these commands return it. */
function sinceOf({ args, name }: Context): (HistoryState & { readonly isExact: boolean }) | undefined {
  const given = args.document('since');
  if (!given) return undefined;
  checkFields(given, `${name}.since`, ['id', 'time', 'sum', 'exact']);
  const state = new Arguments(`${name}.since`, given);
  const [id, sum] = [state.count('id'), state.count('sum')];
  if (id !== undefined && sum !== undefined && given.time instanceof Timestamp)
    return { id, seq: seqOf(given.time), sum, isExact: state.flag('exact') };
  throw new CommandError(
    'TypeMismatch',
    `BSON field '${name}.since' must be a state that beginBackup or backupLog answered`,
  );
}

function numberOf({ args, name }: Context): number {
  const id = args.integer(name);
  if (id !== undefined) return id;
  throw new CommandError('TypeMismatch', `BSON field '${name}' must be the number of a backup`);
}

/** Requires the database `admin`, because a backup contains all databases. */
function atAdmin(context: Context): Context {
  if (context.db === 'admin') return context;
  throw new CommandError('Unauthorized', `${context.name} may only be run against the admin database.`);
}

/** Runs `work` when no SQLite transaction is open. */
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
