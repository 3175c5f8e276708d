import { setTimeout as sleep } from 'node:timers/promises';
import type { Db } from 'mongodb';
import type { Config } from '../config.ts';
import type { Authority } from '../domain/authority/ports.ts';
import { createReconcile, type Reconcile, type ReconciliationReport } from '../domain/authority/reconcile.ts';
import type { DifferenceRepository } from '../domain/authority/reconciliation.ts';
import type { Jobs } from '../jobs/agenda.ts';
import { createReconcileJob, removeReconcileJob } from '../jobs/reconcile-job.ts';
import { createDifferenceRepository } from '../storage/authority-differences.ts';
import { createLedgerCopy } from '../storage/authority-ledger.ts';
import { ensureIndexes } from '../storage/indexes.ts';
import { createReconciliationState } from '../storage/reconciliation-state.ts';
import { createTransmissions } from '../storage/transmissions.ts';
import { openCommandAuthority } from './authority.ts';
import type { Data } from './data.ts';
import type { Runtime } from './runtime.ts';
import { openStore } from './store.ts';

/** The reconciliation with the live authority. */
export interface Reconciliation {
  readonly reconcile: Reconcile;
  readonly differences: DifferenceRepository;
}

export function composeReconciliation(
  db: Db,
  authority: Authority,
  report: (event: ReconciliationReport) => void,
): Reconciliation {
  const transmissions = createTransmissions(db);
  const differences = createDifferenceRepository(db);
  const reconcile = createReconcile({
    authority,
    transmissions,
    differences,
    report,
    copy: createLedgerCopy(db),
    state: createReconciliationState(db),
    makeLookUpsDue: transmissions.makeLookUpsDue,
    pause: (ms, signal) => sleep(ms, undefined, { signal }).catch(() => undefined),
  });
  return { reconcile, differences };
}

/**
 * Schedules the nightly reconciliation in this worker, after Agenda has started.
 * @param authority null if no live authority is configured
 */
export async function startReconciliation(
  { closing, log }: Runtime,
  { data, jobs, publicUrl }: { readonly data: Data; readonly jobs: Jobs; readonly publicUrl: string },
  authority: Authority | null,
): Promise<void> {
  if (!authority) return removeReconcileJob(jobs.agenda);
  const { reconcile } = composeReconciliation(data.store.db, authority, ({ level, message, difference }) =>
    log[level]({ ...(difference && { difference }) }, message),
  );
  const job = createReconcileJob({
    agenda: jobs.agenda,
    reconcile: (signal) => reconcile({ signal }),
    installation: publicUrl,
    report: (message, err) => data.logFailure('error', message, err),
  });
  closing.addWork(() => job.stop());
  await job.start();
}

/** A reconciliation of the configured store, with or without a running service. */
export interface OpenReconciliation extends Reconciliation {
  close(): Promise<void>;
}

/** Opens the configured live authority, with a function that closes it; null if none is configured. */
export type OpenAuthority = (
  config: Config,
) => Promise<{ readonly authority: Authority; close(): Promise<void> } | null>;

/**
 * Opens the reconciliation.
 * @param openAuthority tests replace it
 * @throws when no live authority is configured, or the store cannot be opened; the message says why
 */
export async function openReconciliation(
  config: Config,
  openAuthority: OpenAuthority = openCommandAuthority,
): Promise<OpenReconciliation> {
  const live = await openAuthority(config);
  if (!live) throw new Error('No live authority is configured (DGI_URL), so there is no ledger to compare with.');
  try {
    const store = await openStore(config, { join: true });
    const close = async () => {
      await store.close();
      await live.close();
    };
    try {
      await ensureIndexes(store.db);
      // Does not log, because the command prints what the service would log.
      return { ...composeReconciliation(store.db, live.authority, () => undefined), close };
    } catch (error) {
      await store.close();
      throw error;
    }
  } catch (error) {
    await live.close();
    throw error;
  }
}
