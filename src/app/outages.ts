import type { Db } from 'mongodb';
import { createStoreHealth, type StoreHealth } from '../storage/health.ts';
import type { Outage } from '../storage/unavailable.ts';
import type { Runtime } from './runtime.ts';

/** Logs a failure of background work. */
export type LogFailure = (level: 'warn' | 'error', message: string, failure: unknown) => void;

const OUTAGES: Readonly<Record<Outage, string>> = {
  away: 'the store is unreachable: reads and writes fail until it is back',
  full: 'the store is full: writes fail until space is freed',
};

/**
 * Watches for outages of the store and logs the start and the end of each.
 * @returns the health of the store, and `logFailure`, which logs a failure only at debug level if an outage causes it
 */
export function watchOutages(
  { log, closing }: Runtime,
  db: Db,
): { readonly health: StoreHealth; readonly logFailure: LogFailure } {
  const health = createStoreHealth(db, {
    began: (outage, reason) => log.error({ outage, reason }, OUTAGES[outage]),
    ended: (outage, seconds) => log.info({ outage, seconds }, 'the store accepts writes again'),
  });
  closing.add(() => health.close());
  return {
    health,
    logFailure: (level, message, err) => log[health.noteFailure(err) ? 'debug' : level]({ err }, message),
  };
}
