import { MOST_WAITING } from '../domain/limits.ts';
import type { Data } from './data.ts';
import type { Metrics } from './metrics.ts';
import type { Runtime } from './runtime.ts';

/**
 * Tells operators, by an error in the log and a metric, of live invoices that wait while no live authority is configured:
 * after DGI_URL was removed, say. Nothing takes them up before it is set again.
 * @throws what the store throws
 */
export async function watchStranded(
  { log }: Pick<Runtime, 'log'>,
  { invoices }: Pick<Data, 'invoices'>,
  metrics: Pick<Metrics, 'stranded'>,
): Promise<void> {
  metrics.stranded(invoices);
  const waiting = await invoices.parkedCount(MOST_WAITING);
  if (waiting > 0)
    log.error({ waiting }, 'live invoices wait to be sent, and no tax authority is configured: set DGI_URL again');
}
