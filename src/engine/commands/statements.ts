import { calculateObjectSize, Int32 } from 'bson';
import { CommandError } from '../errors.ts';
import { compileFilter } from '../query/match.ts';
import { isNumber } from '../query/numbers.ts';
import type { Steps } from '../query/pause.ts';
import { asDoc, type Doc } from '../query/types.ts';
import type { Collection } from '../store/catalog.ts';
import { type Match, type Query, readMatch, rowsToWrite, rowToWrite } from '../store/read.ts';
import { RowLocked } from '../store/transactions.ts';
import { decodeDocument, encodeDocument } from '../wire/bson.ts';
import type { Arguments } from './arguments.ts';
import type { Command, Context, Counts, Parts, StatementOutcome, Statements } from './command.ts';
import { validateQuery } from './find.ts';

/** The progress of a command, and its answer so far. */
export interface Progress {
  /** Number of statements that have run; the number of all if an error has ended the command. */
  readonly done: number;
  /** The next statement, if it has begun and paused. */
  readonly current?: RunningStatement;
  readonly counts: Counts;
  readonly upserted: readonly Doc[];
  readonly writeErrors: readonly Doc[];
  readonly reply?: Doc;
  /** Bytes that the answer may still have for messages and details of errors. */
  readonly left: number;
  /** Bytes that the answer may still have for ids of upserted documents. */
  readonly room: number;
}

/** Errors that end the whole command instead of one statement. */
const FATAL = [
  'MaxTimeMSExpired',
  'DataCorruptionDetected',
  'WriteConflict',
  'SnapshotUnavailable',
  'TransactionTooLarge',
];

/**
 * Maximum bytes of error messages and details in an answer. Later errors have only their code, so that the answer fits
 * in a message.
 */
const MOST_TOLD = 1024 * 1024;
/** Maximum bytes of upserted ids in an answer, so that it fits in a message. */
const MOST_IDS = 15 * 1024 * 1024;
/** Maximum bytes of an array element in addition to its document. */
const ENTRY_BYTES = 8;
/**
 * Maximum number of statements of a command that are all kept decoded. The statements of a longer command are decoded
 * when they run, to save memory, because a paused command may wait for a long time.
 */
const FEW = 64;

/** A retryable command with a list of statements. Outside transactions it may pause (`runWrite`). */
export function statementsCommand(options: readonly string[], prepare: (context: Context) => Statements): Command {
  return {
    options: [...options, 'ordered', 'stmtId', 'stmtIds'],
    writes: true,
    transactional: true,
    retryable: true,
    statements: prepare,
    run: (context) => runAtOnce(prepare(context)),
  };
}

/** Wraps a command that has a single statement. */
export function onlyStatement(begin: () => Steps<Parts>): Statements {
  return { count: 1, isCommand: true, isOrdered: true, counts: {}, begin: () => begin };
}

/** Runs statements without a pause. @returns the answer */
export function runAtOnce(statements: Statements): Doc {
  return answerOf(runSome(statements, beginningOf(statements)));
}

export function beginningOf({ counts }: Statements): Progress {
  return { done: 0, counts, upserted: [], writeErrors: [], left: MOST_TOLD, room: MOST_IDS };
}

/** Reads the command's array of statements. @param check called here for each statement; throws for an invalid one */
export function entriesOf(args: Arguments, name: string, check: (entry: Doc) => void) {
  const raw = args.rawDocuments(name);
  const few = raw.length <= FEW ? raw.map(decodeDocument) : null;
  for (const each of raw) if (!few) check(decodeDocument(each));
  few?.forEach(check);
  return { count: raw.length, at: (index: number): Doc => few?.[index] ?? decodeDocument(raw[index] as Uint8Array) };
}

/** The outcome of a part that writes nothing. */
const NOTHING: StatementOutcome = { counts: {} };

/** The parts of a statement that writes a single document, once the document is found. */
export const single = (run: () => StatementOutcome): Parts => ({ count: 1, begin: () => run });

/**
 * Splits a write into a search, which may pause, and a part for each document. After a pause a document is written only
 * if it still matches. If the statement writes a single document, the caller must run its part right after the search,
 * before any other command.
 * @param writing called at the start and after each pause; returns the function that writes a document
 * @param otherwise called if no document matches
 */
export function* partsOf(
  { store, db, args, deadline }: Context,
  query: Query,
  writing: (collection: Collection) => (match: Match) => Counts,
  otherwise: () => StatementOutcome = () => NOTHING,
): Steps<Parts> {
  const name = args.collection();
  const found = store.catalog.find(db, name);
  if (!found) {
    validateQuery(query);
    return single(otherwise);
  }
  const present = (): Collection => {
    const collection = store.catalog.find(db, name);
    // Ids are reused, so the UUID decides.
    if (collection && Buffer.compare(collection.uuid.buffer, found.uuid.buffer) === 0) return collection;
    const why = 'was dropped or renamed';
    throw new CommandError('QueryPlanKilled', `the write to ${found.ns} was ended: the collection ${why}`);
  };
  if (query.limit === 1) {
    const match = yield* rowToWrite(store, found, query, deadline);
    return single(match ? () => ({ counts: writing(present())(match) }) : otherwise);
  }
  const matches = compileFilter(query.filter, query.variables);
  let { last } = store.oplog;
  const rids = yield* rowsToWrite(store, found, query, deadline);
  let mayDiffer = false;
  let hasMatched = false;
  return {
    count: rids.length + 1,
    begin() {
      mayDiffer ||= store.oplog.last !== last;
      const write = writing(present());
      return (index) => {
        if (index === rids.length) return hasMatched ? NOTHING : otherwise();
        const match = readMatch(store, rids[index] as number);
        if (!match || (mayDiffer && !matches(match.doc))) return NOTHING;
        hasMatched = true;
        const counts = write(match);
        ({ last } = store.oplog);
        return { counts };
      };
    },
  };
}

/** A statement that has begun: from its search to its last part. */
class RunningStatement {
  readonly #begin: () => Steps<Parts>;
  #search: Steps<Parts>;
  #parts: Parts | undefined;
  #done = 0;
  #hasWritten = false;
  #counts: Counts = {};

  constructor(search: Steps<Parts>, begin: () => Steps<Parts>) {
    this.#search = search;
    this.#begin = begin;
  }

  /** Whether a part of the statement has written. */
  get hasWritten(): boolean {
    return this.#hasWritten;
  }

  get isSearching(): boolean {
    return !this.#parts;
  }

  /**
   * Continues until it is time to pause.
   * @returns the outcome when the statement is complete; undefined at a pause
   * @throws {RowLocked} before anything is written in this call
   */
  run(pauses: { readonly search: () => boolean; readonly write: () => boolean }): StatementOutcome | undefined {
    while (!this.#parts) {
      const { done, value } = this.#search.next();
      if (done) this.#parts = value;
      else if (pauses.search()) return undefined;
    }
    const write = this.#parts.begin();
    for (let hasRun = false; ; hasRun = true) {
      try {
        const outcome = write(this.#done);
        this.#counts = added(this.#counts, outcome.counts);
        this.#hasWritten ||= outcome !== NOTHING;
        this.#done++;
        if (this.#done === this.#parts.count) return { ...outcome, counts: this.#counts };
        if (pauses.write()) return undefined;
      } catch (error) {
        if (!(error instanceof RowLocked)) throw error;
        if (hasRun) return undefined;
        // Searched again, because another document may be the one to write after the wait.
        if (!this.hasWritten) this.searchAgain();
        throw error;
      }
    }
  }

  /** Restarts the search, because the data that it reads has changed in a way that it cannot detect. */
  searchAgain(): void {
    this.end();
    this.#search = this.#begin();
    this.#parts = undefined;
    this.#done = 0;
  }

  end(): void {
    this.#search.return(undefined as never);
  }
}

function added(counts: Counts, more: Counts): Counts {
  const sums: Record<string, number> = { ...counts };
  for (const name of Object.keys(more)) sums[name] = (sums[name] ?? 0) + (more[name] ?? 0);
  return sums;
}

/**
 * Error 72 for a statement that writes many documents in a retryable write, because it could not be continued after a
 * crash.
 */
export function checkRetryable({ args }: Context, isOfMany: boolean): void {
  if (isOfMany && args.has('txnNumber') && !args.has('autocommit'))
    throw new CommandError('InvalidOptions', 'Cannot use (or request) retryable writes with multi=true or limit=0');
}

/** Decides when to pause. */
export interface Pauses {
  /** @param hasRun whether statements have run since the last pause */
  readonly search: (hasRun: boolean) => boolean;
  readonly write: () => boolean;
}

const NEVER: Pauses = { search: () => false, write: () => false };

/**
 * Runs statements from where the command left off, until it is time to pause. An error in a statement becomes an entry
 * of `writeErrors`. For any other exception, and for the errors in `FATAL`, the caller must roll back all that ran
 * here.
 * @throws {RowLocked} when the first write here is blocked by an open transaction
 */
export function runSome(statements: Statements, from: Progress, pauses: Pauses = NEVER): Progress {
  const run = statements.begin();
  let { counts } = from;
  const [upserted, writeErrors] = [[...from.upserted], [...from.writeErrors]];
  let { done, current, left, room, reply } = from;
  let hasRun = false;
  const runStatement = (index: number): StatementOutcome | undefined => {
    if (!current) {
      const begun = run(index);
      if (!('next' in begun)) return begun;
      current = new RunningStatement(begun, () => run(index) as Steps<Parts>);
    }
    return current.run({ search: () => pauses.search(hasRun), write: pauses.write });
  };
  while (done < statements.count) {
    try {
      const outcome = runStatement(done);
      if (!outcome) break;
      counts = added(counts, outcome.counts);
      reply = outcome.reply;
      if (outcome.upserted !== undefined) {
        const entry = { index: new Int32(done), _id: outcome.upserted };
        upserted.push(entry);
        room -= calculateObjectSize(entry) + ENTRY_BYTES;
      }
      done++;
    } catch (error) {
      if (error instanceof RowLocked && hasRun) break;
      if (!(error instanceof CommandError) || statements.isCommand || FATAL.includes(error.codeName)) throw error;
      const told = { errmsg: error.message, ...error.details };
      if (left > 0) left -= calculateObjectSize(told);
      writeErrors.push({
        index: new Int32(done),
        code: new Int32(error.code),
        ...(left > 0 ? told : { errmsg: '' }),
      });
      done = statements.isOrdered ? statements.count : done + 1;
    }
    current = undefined;
    hasRun = true;
    if (room < 0) throw new CommandError('BSONObjectTooLarge', 'the ids of the upserted documents exceed an answer');
    if (pauses.write()) break;
  }
  return { done, ...(current && { current }), counts, upserted, writeErrors, ...(reply && { reply }), left, room };
}

/** The answer of a command whose statements have all run. */
export function answerOf({ counts, upserted, writeErrors, reply }: Progress): Doc {
  if (reply) return reply;
  return {
    ...Object.fromEntries(Object.entries(counts).map(([name, count]) => [name, new Int32(count)])),
    ...(upserted.length > 0 && { upserted }),
    ...(writeErrors.length > 0 && { writeErrors }),
  };
}

/** Encodes the retry record of a command that is not complete. */
export function encodeProgress(progress: Progress): Uint8Array {
  return encodeDocument({ progress });
}

/** Decodes the progress from a retry record; undefined if the record has the answer of a complete command. */
export function progressIn(record: Doc): Progress | undefined {
  const progress = asDoc(record.progress);
  if (!progress) return undefined;
  const { done, counts, upserted, writeErrors, left, room } = progress;
  const sums = Object.entries(asDoc(counts) ?? {}).map(([name, count]) => [name, isNumber(count) ? Number(count) : 0]);
  return {
    done: Number(done),
    counts: Object.fromEntries(sums),
    upserted: upserted as Doc[],
    writeErrors: writeErrors as Doc[],
    left: Number(left),
    room: Number(room),
  };
}
