import { randomUUID } from 'node:crypto';
import type { Collection, Db } from 'mongodb';
import { insertNew } from './insert-new.ts';

/** A move of all data to another database, as the collection `data_moves` of both databases records it. */
interface MoveDocument {
  /** The role of this database in the move. */
  _id: 'source' | 'target';
  /** Id of the move, the same in both databases. */
  move: string;
  /** The address of the other database, without a password. */
  other: string;
  startedAt: Date;
  /** Null until all data is verified. */
  endedAt: Date | null;
}

export const MOVES_COLLECTION = 'data_moves';

function moves(db: Db): Collection<MoveDocument> {
  return db.collection(MOVES_COLLECTION);
}

/**
 * Returns why no process may start on this data, and what to do. Null if the data was not moved away and is complete.
 */
export async function moveTrouble(db: Db): Promise<string | null> {
  const found = await moves(db)
    .find({ _id: { $in: ['source', 'target'] } })
    .toArray();
  const [source, target] = (['source', 'target'] as const).map((id) => found.find(({ _id }) => _id === id));
  if (target && target.endedAt === null)
    return `this database is an incomplete copy of ${target.other}. Run the command migrate again, to its end`;
  if (!source) return null;
  const again = 'To go on with the data here instead, run: npm run -s cli -- migrate --abandon';
  return source.endedAt === null
    ? `this data is being moved to ${source.other}. Run the command migrate again, to its end. ${again}`
    : `this data was moved to ${source.other} on ${source.endedAt.toISOString()}. Start with MONGODB_URL set to that. ${again}`;
}

/**
 * Marks the source, so that no process starts on it any more, and the target as incomplete. Resumes a move that was
 * begun.
 * @returns whether an earlier call has already finished the move
 * @throws when the target has data of something else, or the source is being moved elsewhere; the message says what to
 * do
 */
export async function beginMove(
  source: { readonly db: Db; readonly address: string },
  target: { readonly db: Db; readonly address: string },
): Promise<{ readonly isOver: boolean }> {
  const begun = await moves(source.db).findOne({ _id: 'source' });
  const arriving = await moves(target.db).findOne({ _id: 'target' });
  const isThisMove = begun !== null && begun.move === arriving?.move;
  if (isThisMove) return { isOver: arriving.endedAt !== null };
  if (begun !== null && begun.other !== target.address)
    throw new Error(
      `this data is being moved to ${begun.other}, or was moved there. To move it elsewhere, first run migrate --abandon`,
    );
  const used = await usedCollections(target.db);
  if (used.length > 0)
    throw new Error(
      `the database ${target.address} is not empty: it has ${used.join(', ')}. Nothing is overwritten: name another database, or drop this one`,
    );
  const move = begun?.move ?? randomUUID();
  const mark = { move, startedAt: new Date(), endedAt: null } as const;
  // Marks the source first: from here on no process starts on it.
  await insertNew(moves(source.db), [{ _id: 'source', other: target.address, ...mark }]);
  const kept = await moves(source.db).findOne({ _id: 'source' }, { readConcern: 'local' });
  if (kept?.other !== target.address) throw new Error('another move of this data was begun or abandoned meanwhile');
  await insertNew(moves(target.db), [{ _id: 'target', other: source.address, ...mark, move: kept.move }]);
  return { isOver: false };
}

/** Marks the target as complete, so that a service can start on it. */
export async function endMove(source: Db, target: Db): Promise<void> {
  const end = { $set: { endedAt: new Date() } };
  await moves(source).updateOne({ _id: 'source' }, end);
  await moves(target).updateOne({ _id: 'target' }, end);
}

/** Makes the source usable again. @returns false if it was not being moved */
export async function abandonMove(source: Db): Promise<boolean> {
  return (await moves(source).deleteOne({ _id: 'source' })).deletedCount === 1;
}

/** Returns the names of the collections that have documents, including the mark of another move. */
async function usedCollections(db: Db): Promise<string[]> {
  const names = await collectionNames(db);
  const used = await Promise.all(
    names.map(async (name) => ((await db.collection(name).findOne({}, { projection: { _id: 1 } })) ? [name] : [])),
  );
  return used.flat();
}

/**
 * Returns the sorted names of a database's collections, without those of the server itself. @throws for a view, which
 * has no data of its own
 */
export async function collectionNames(db: Db): Promise<string[]> {
  const found = await db.listCollections().toArray();
  const own = found.filter(({ name }) => !name.startsWith('system.'));
  const other = own.find(({ type }) => type !== undefined && type !== 'collection');
  if (other) throw new Error(`${other.name} is a ${other.type}, which cannot be moved. Drop it first`);
  return own.map(({ name }) => name).sort();
}
