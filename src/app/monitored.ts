import type { InstallationRepository } from '../domain/installation/first-start.ts';
import type { StoreHealth } from '../storage/health.ts';
import type { OperatorHash } from '../transport/operator-pages.ts';
import type { Ready, Warnings } from '../transport/readiness.ts';
import type { Closing } from './runtime.ts';
import type { Workers } from './workers.ts';

/** What monitoring systems query from every process. */
export interface Monitored {
  readonly operatorHash: OperatorHash;
  readonly ready: Ready;
  readonly warnings: Warnings;
}

const NO_WORKER =
  'no worker runs: invoices, webhooks and mails wait until a process with ROLE=all or ROLE=worker is started';

export function createMonitored(
  closing: Pick<Closing, 'hasBegun'>,
  installation: Pick<InstallationRepository, 'operatorHash'>,
  health: Pick<StoreHealth, 'trouble'>,
  workers: Workers,
): Monitored {
  let known: string | null = null;
  return {
    // During an outage of the store, returns the last known hash, because the metrics are needed most then.
    async operatorHash() {
      if (known === null || (await health.trouble()) === null) known = await installation.operatorHash();
      return known;
    },
    ready: async (withStore) =>
      closing.hasBegun ? 'the service is shutting down' : withStore ? health.trouble() : null,
    warnings: async () => ((await workers.count()) === 0 ? [NO_WORKER] : []),
  };
}
