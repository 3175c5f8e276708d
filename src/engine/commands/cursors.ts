import { Long } from 'bson';
import { CommandError } from '../errors.ts';
import type { Pausing, Steps } from '../query/pause.ts';
import { type Doc, wholeNumber } from '../query/types.ts';
import { ChangeStream } from '../store/change-stream.ts';
import type { Batch, Cursor, Source } from '../store/cursors.ts';
import { IteratorSource } from '../store/cursors.ts';
import { Transaction } from '../store/transactions.ts';
import { RawArray } from '../wire/bson.ts';
import type { Command, Context } from './command.ts';
import { changeStreamLabels } from './error-labels.ts';
import { inSlices, turnOfOthers } from './slices.ts';

/** Size of the first batch when the client sets no `batchSize`. */
const FIRST_BATCH = 101;
/** Milliseconds that a getMore waits for changes when the client sets no `maxTimeMS`. */
const AWAIT_MS = 1000;

export interface BatchOptions {
  batchSize: number | undefined;
  singleBatch?: boolean;
  noTimeout?: boolean;
}

/** Returns the first batch of documents, and opens a cursor if more are left. Pauses like {@link inSlices}. */
export function firstBatch(
  context: Context,
  ns: string,
  documents: Pausing<Uint8Array>,
  options: BatchOptions,
): Doc | Promise<Doc> {
  return inSlices(context, ns, firstBatchSteps(context, ns, documents, options));
}

function* firstBatchSteps(
  context: Context,
  ns: string,
  documents: Pausing<Uint8Array>,
  options: BatchOptions,
): Steps<Doc> {
  const source = new IteratorSource(documents);
  let isOpen = false;
  try {
    const { connection } = context;
    // With `singleBatch` there is no cursor for the rest, so the batch must not end early.
    const isLast = (bytes: number) => connection.collect(bytes) && !options.singleBatch;
    const batch = yield* source.batch(options.batchSize ?? FIRST_BATCH, isLast);
    isOpen = !batch.end && !options.singleBatch;
    const id = isOpen ? openCursor(context, ns, source, options).id : 0;
    return { cursor: cursorDoc(ns, id, 'firstBatch', batch) };
  } finally {
    if (!isOpen) source.close();
  }
}

export function openCursor<S extends Source>(
  context: Context,
  ns: string,
  source: S,
  options: BatchOptions,
): Cursor<S> {
  const cursor = context.store.cursors.add(source, {
    ns,
    session: context.session,
    noTimeout: options.noTimeout === true,
    alsoReads: context.alsoReads,
    snapshot: context.snapshot,
  });
  return cursor;
}

export function cursorDoc(ns: string, id: number, field: 'firstBatch' | 'nextBatch', batch: Batch): Doc {
  return { [field]: new RawArray(batch.documents), id: Long.fromNumber(id), ns };
}

export const getMore: Command = {
  options: ['collection', 'batchSize', 'term', 'lastKnownCommittedOpTime'],
  transactional: true,
  runsOnce: true,
  ofCursor: true,
  run: (context) => {
    const { store, db, args } = context;
    const id = Number(wholeNumber(args.body.getMore) ?? 0n);
    const ns = `${db}.${args.string('collection') ?? ''}`;
    const cursor = store.cursors.get(id, ns);
    if (cursor.busy) throw new CommandError(12051, `cursor id ${id} is already in use`);
    checkTransaction(context, cursor);
    applyFailPoint(context, cursor);
    const limit = args.count('batchSize') || Number.MAX_SAFE_INTEGER;
    if (cursor.source instanceof ChangeStream) {
      return awaitChanges(context, cursor as Cursor<ChangeStream>, ns, limit, args.count('maxTimeMS') ?? AWAIT_MS);
    }
    if (args.has('maxTimeMS'))
      throw new CommandError('BadValue', 'cannot set maxTimeMS on getMore command for a non-awaitData cursor');
    const { snapshot } = cursor.options;
    const next = (): Doc | Promise<Doc> =>
      inSlices(
        { ...context, ...(snapshot && { snapshot }) },
        ns,
        nextBatch(context, cursor as Cursor<IteratorSource>, limit),
        cursor,
      );
    return snapshot && snapshot !== context.snapshot ? store.transactions.read(snapshot, next) : next();
  },
};

function* nextBatch(
  { store, connection }: Context,
  { id, source, options }: Cursor<IteratorSource>,
  limit: number,
): Steps<Doc> {
  let isOpen = false;
  try {
    const batch = yield* source.batch(limit, (bytes) => connection.collect(bytes));
    isOpen = !batch.end;
    return { cursor: cursorDoc(options.ns, isOpen ? id : 0, 'nextBatch', batch) };
  } finally {
    // Closed after the last batch, after an error, and when the read was ended during a pause.
    if (!isOpen) store.cursors.kill(id);
  }
}

/**
 * Errors 50738 and 50740: a cursor opened in a transaction can be read in that transaction only, and no other cursor
 * can be read in a transaction.
 */
function checkTransaction(context: Context, { id, options }: Cursor): void {
  const own = context.snapshot instanceof Transaction ? context.snapshot : undefined;
  const opened = options.snapshot instanceof Transaction ? options.snapshot : undefined;
  if (own === opened) return;
  throw new CommandError(
    own ? 50738 : 50740,
    own
      ? `Cannot run getMore on cursor ${id}, which was not created in transaction ${own.number}`
      : `Cannot run getMore on cursor ${id}, which was created in a transaction, outside of that transaction`,
  );
}

function applyFailPoint({ failPoints }: Context, { source }: Cursor): void {
  const code = failPoints?.hit('failGetMoreAfterCursorCheckout')?.errorCode;
  if (code === undefined) return;
  const labels = source instanceof ChangeStream ? changeStreamLabels(Number(code)) : undefined;
  throw new CommandError(Number(code), 'failing due to the fail point failGetMoreAfterCursorCheckout', {}, labels);
}

/** Returns events as soon as there are any, or an empty batch after `ms` milliseconds. */
async function awaitChanges(
  context: Context,
  cursor: Cursor<ChangeStream>,
  ns: string,
  limit: number,
  ms: number,
): Promise<Doc> {
  const { store, connection } = context;
  const until = Date.now() + ms;
  cursor.busy = true;
  let cancel = (): void => {};
  const onClose = (): void => void store.cursors.kill(cursor.id);
  cursor.onKill = () => cancel();
  connection.onClose(onClose);
  try {
    for (;;) {
      const batch = cursor.source.next(limit);
      const left = until - Date.now();
      if (batch.documents.length > 0 || batch.end || left <= 0) {
        if (batch.end) store.cursors.kill(cursor.id);
        const reply = cursorDoc(ns, batch.end ? 0 : cursor.id, 'nextBatch', batch);
        return { cursor: { ...reply, postBatchResumeToken: cursor.source.resumeToken() } };
      }
      if (cursor.source.isBehind) {
        await turnOfOthers(store);
        if (cursor.killed) throw new CommandError('CursorNotFound', `cursor id ${cursor.id} was killed`);
        continue;
      }
      const wait = store.changes.wait(cursor.source.scope, left);
      cancel = wait.cancel;
      await wait.done;
      if (cursor.killed) throw new CommandError('CursorNotFound', `cursor id ${cursor.id} was killed`);
    }
  } catch (error) {
    store.cursors.kill(cursor.id);
    throw error;
  } finally {
    cursor.busy = false;
    cursor.lastUse = Date.now();
    connection.offClose(onClose);
  }
}

export const killCursors: Command = {
  options: ['cursors'],
  transactional: true,
  ofCursor: true,
  run: ({ store, args }) => {
    const ids = (args.list('cursors') ?? []).map((id) => Number(wholeNumber(id) ?? 0n));
    const killed = ids.filter((id) => store.cursors.kill(id));
    return {
      cursorsKilled: killed.map((id) => Long.fromNumber(id)),
      cursorsNotFound: ids.filter((id) => !killed.includes(id)).map((id) => Long.fromNumber(id)),
      cursorsAlive: [],
      cursorsUnknown: [],
    };
  },
};
