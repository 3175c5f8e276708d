import { calculateObjectSize, Int32 } from 'bson';
import { CommandError } from '../errors.ts';
import { isNumber } from '../query/numbers.ts';
import { asDoc, type Doc } from '../query/types.ts';
import { RowLocked } from '../store/transactions.ts';
import { encodeDocument } from '../wire/bson.ts';
import type { Command, Context, Counts, Statements } from './command.ts';

/** How far a command has come, and its answer so far. */
export interface Progress {
  /** Number of statements that have run, or all after the error that ends the command. */
  readonly done: number;
  readonly counts: Counts;
  readonly upserted: readonly Doc[];
  readonly writeErrors: readonly Doc[];
}

/** The statement at `done` waits for a transaction, and others have run before it since the last pause. */
export class LockedAfter extends Error {
  readonly done: number;

  constructor(done: number) {
    super(`statement ${done} waits for an open transaction`);
    this.done = done;
  }
}

/** Errors that end the whole command instead of one statement. */
const FATAL = [
  'MaxTimeMSExpired',
  'DataCorruptionDetected',
  'WriteConflict',
  'SnapshotUnavailable',
  'TransactionTooLarge',
];

/** Bytes of messages and details in an answer. Further errors have their code alone, so that it fits into a message. */
const MOST_TOLD = 1024 * 1024;

/** A retryable command of several statements. Outside of transactions it may pause between them (`runWrite`). */
export function statementsCommand(options: readonly string[], prepare: (context: Context) => Statements): Command {
  return {
    options: [...options, 'ordered', 'stmtId', 'stmtIds'],
    writes: true,
    transactional: true,
    retryable: true,
    statements: prepare,
    run: (context) => {
      const statements = prepare(context);
      try {
        return answerOf(runSome(statements, beginningOf(statements), statements.count));
      } catch (error) {
        throw error instanceof LockedAfter ? error.cause : error;
      }
    },
  };
}

export function beginningOf({ counts }: Statements): Progress {
  return { done: 0, counts, upserted: [], writeErrors: [] };
}

/**
 * Runs statements from where the command has come to, until `limit` or until it is time to pause. An error in a statement
 * becomes an entry of `writeErrors`. Other exceptions, and the errors in `FATAL`, must roll back all that ran here.
 * @throws {RowLocked} when the first statement waits for an open transaction
 * @throws {LockedAfter} when a later one does; its cause is the `RowLocked`
 */
export function runSome(
  statements: Statements,
  from: Progress,
  limit: number,
  isTimeToPause: () => boolean = () => false,
): Progress {
  const run = statements.begin();
  const counts: Record<string, number> = { ...from.counts };
  const [upserted, writeErrors] = [[...from.upserted], [...from.writeErrors]];
  let left = MOST_TOLD - writeErrors.reduce((sum, error) => sum + calculateObjectSize(error), 0);
  let { done } = from;
  while (done < limit) {
    try {
      const outcome = run(done);
      for (const name of Object.keys(outcome.counts)) counts[name] = (counts[name] ?? 0) + (outcome.counts[name] ?? 0);
      if (outcome.upserted !== undefined) upserted.push({ index: new Int32(done), _id: outcome.upserted });
      done++;
    } catch (error) {
      if (error instanceof RowLocked && done > from.done) throw Object.assign(new LockedAfter(done), { cause: error });
      if (!(error instanceof CommandError) || FATAL.includes(error.codeName)) throw error;
      const told = { errmsg: error.message, ...error.details };
      if (left > 0) left -= calculateObjectSize(told);
      writeErrors.push({
        ...{ index: new Int32(done), code: new Int32(error.code) },
        ...(left > 0 ? told : { errmsg: '' }),
      });
      done = statements.isOrdered ? statements.count : done + 1;
    }
    if (isTimeToPause()) break;
  }
  return { done, counts, upserted, writeErrors };
}

/** The answer of a command that has run all of its statements. */
export function answerOf({ counts, upserted, writeErrors }: Progress): Doc {
  return {
    ...Object.fromEntries(Object.entries(counts).map(([name, count]) => [name, new Int32(count)])),
    ...(upserted.length > 0 && { upserted }),
    ...(writeErrors.length > 0 && { writeErrors }),
  };
}

/** The retry record of a command that is not over. */
export function encodeProgress({ done, counts, upserted, writeErrors }: Progress): Uint8Array {
  return encodeDocument({ progress: { done, counts, upserted, writeErrors } });
}

/** The progress in a retry record; undefined if it has the answer of a command that is over. */
export function progressIn(record: Doc): Progress | undefined {
  const progress = asDoc(record.progress);
  if (!progress) return undefined;
  const { done, counts, upserted, writeErrors } = progress;
  const sums = Object.entries(asDoc(counts) ?? {}).map(([name, count]) => [name, isNumber(count) ? Number(count) : 0]);
  return {
    done: Number(done),
    counts: Object.fromEntries(sums),
    upserted: upserted as Doc[],
    writeErrors: writeErrors as Doc[],
  };
}
