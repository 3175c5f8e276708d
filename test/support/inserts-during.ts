import type { Collection } from 'mongodb';

/** More than are answered beside a command that lets nobody else run: one before it begins, and those it ends beside. */
export const ENOUGH_INSERTS = 4;
/** A loaded machine may not run this process during a command; it is then run once more. */
const ATTEMPTS = 8;

/**
 * The most inserts of another client that were answered before one of some commands was. Ends when they are enough.
 * @param beside where the other client inserts
 * @param prepare called before each command
 */
export async function mostInsertsDuring(
  beside: Collection,
  work: () => Promise<unknown>,
  prepare: () => Promise<unknown> = async () => {},
): Promise<number> {
  let most = 0;
  for (let attempt = 0; attempt < ATTEMPTS && most < ENOUGH_INSERTS; attempt++) {
    await prepare();
    most = Math.max(most, await insertsDuring(beside, work));
  }
  return most;
}

async function insertsDuring(beside: Collection, work: () => Promise<unknown>): Promise<number> {
  await beside.insertOne({});
  let isRunning = true;
  const working = work().finally(() => {
    isRunning = false;
  });
  let inserts = 0;
  for (; isRunning; inserts++) await beside.insertOne({});
  await working;
  return inserts;
}
