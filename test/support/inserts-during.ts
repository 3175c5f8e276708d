import type { Collection } from 'mongodb';

/**
 * More inserts than are answered during a command that blocks all others: one before it begins, and those that end with
 * it.
 */
export const ENOUGH_INSERTS = 4;
/**
 * On a loaded machine, this process may not run during a command. The command is then repeated, up to this number of
 * times.
 */
const ATTEMPTS = 8;

/**
 * Returns the maximum number of another client's inserts that were answered while one of several commands ran. Stops
 * when the number is {@link ENOUGH_INSERTS}.
 * @param beside the collection for the inserts
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
