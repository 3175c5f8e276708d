import type { Db } from 'mongodb';
import { createStoreHealth, type StoreHealth } from '../storage/health.ts';
import type { Outage } from '../storage/unavailable.ts';
import type { Runtime } from './runtime.ts';

/** Logs a failure of background work. */
export type Tell = (level: 'warn' | 'error', message: string, failure: unknown) => void;

const OUTAGES: Readonly<Record<Outage, string>> = {
  away: 'the store is away: nothing can be read or stored until it is back',
  full: 'the store has no room left: nothing can be stored until there is some',
};

/**
 * Watches whether the store can be used.
 * @returns the store's health, and `tell`, which logs a failure that an outage explains at debug level only: the outage is logged once
 */
export function watchOutages({ log, closing }: Runtime, db: Db): { readonly health: StoreHealth; readonly tell: Tell } {
  const health = createStoreHealth(db, {
    began: (outage, reason) => log.error({ outage, reason }, OUTAGES[outage]),
    ended: (outage, seconds) => log.info({ outage, seconds }, 'the store takes writes again'),
  });
  closing.add(() => health.close());
  return { health, tell: (level, message, err) => log[health.noted(err) ? 'debug' : level]({ err }, message) };
}
