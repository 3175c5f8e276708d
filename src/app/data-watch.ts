import type { Db } from 'mongodb';
import { every } from '../domain/kit/every.ts';
import { SetupError } from '../domain/setup-error.ts';
import { moveTrouble } from '../storage/data-moves.ts';
import { DATA_VERSION, versionTrouble } from '../storage/upgrades.ts';
import type { LogFailure } from './outages.ts';
import type { Runtime } from './runtime.ts';

/** Pause between two checks, milliseconds. */
const LOOK_MS = 2000;
/** Time within which every process that reaches its store notices that its data is moved or upgraded, milliseconds. */
export const NOTICED_MS = 3 * LOOK_MS;

/**
 * Checks that this data may be used.
 * @throws {SetupError} when no process may start on it and no command may use it; the message says why and what to do
 */
export async function checkData(db: Db): Promise<void> {
  const trouble = (await moveTrouble(db)) ?? (await versionTrouble(db, false));
  if (trouble !== null) throw new SetupError(sentence(trouble));
}

/**
 * Ends the process, as a failure, when its data is moved away, or is upgraded by a later version beside which this one
 * must not run. Another process then takes over the work under way, as after any crash.
 * @param known see {@link versionTrouble}
 */
export function watchData(
  { closing, fail }: Pick<Runtime, 'closing' | 'fail'>,
  db: Db,
  logFailure: LogFailure,
  known = DATA_VERSION,
): void {
  const look = async () => {
    const trouble = (await moveTrouble(db)) ?? (await versionTrouble(db, true, known));
    if (trouble === null) return;
    void stop();
    fail(new Error(sentence(trouble)));
  };
  const stop = every(LOOK_MS, look, (error) => logFailure('warn', 'the state of the data could not be read', error));
  // Not awaited, so that an unavailable store does not delay a shutdown.
  closing.add(() => void stop());
}

function sentence(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;
}
