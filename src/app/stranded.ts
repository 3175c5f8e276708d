import type { WaitingInvoices } from '../domain/invoice/repository.ts';
import type { Data } from './data.ts';
import { findLiveNeeds, type LiveMeans, strandedCount } from './live-needs.ts';
import type { Metrics } from './metrics.ts';
import type { Runtime } from './runtime.ts';

const MESSAGES = {
  authority:
    'no tax authority is configured, and the data has unfinished live invoices or valid live keys: set DGI_URL and the other DGI_* settings again. New live invoices are refused until then',
  certificate:
    'there is no certificate to sign live invoices with, and the data has unfinished ones or valid live keys: set SIGNING_P12, SIGNING_PKCS11 or SIGNING_TENANTS again. New live invoices are refused until then',
} as const;

/**
 * Reports live invoices that nothing can finish because settings are missing, by an error in the log and a metric:
 * after a restore without the settings, or when DGI_URL was removed. Also logs valid live keys in that case.
 * @throws what the store throws
 */
export async function watchStranded(
  { log }: Pick<Runtime, 'log'>,
  data: {
    readonly tenants: Pick<Data['tenants'], 'list'>;
    readonly invoices: Pick<WaitingInvoices, 'unfinishedLive' | 'unsignedLive'>;
  },
  metrics: Pick<Metrics, 'stranded'>,
  means: LiveMeans,
): Promise<void> {
  metrics.stranded(() => strandedCount(means, data.invoices));
  for (const { condition, ...facts } of await findLiveNeeds(means, data)) log.error(facts, MESSAGES[condition]);
}
