import { expect, it } from 'vitest';
import { createMetrics } from '../../../src/app/metrics.ts';
import type { Backlog, InvoiceRepository } from '../../../src/domain/invoice/repository.ts';

const AN_HOUR_AGO = new Date(Date.now() - 3_600_000);
const NOTHING: Backlog = { waiting: 0, oldest: null };

/** A repository that knows what waits, and no more. */
function waiting(backlog: InvoiceRepository['backlog']): InvoiceRepository {
  return { backlog, needingAttention: async () => [], idleCount: async () => 0 } as never;
}

it('show what is due by stage and its age, over all lanes, and nothing during an outage of the store', async () => {
  const metrics = createMetrics();
  let isAway = false;
  const reads: string[] = [];
  metrics.observed(
    waiting(async (lane) => {
      reads.push(lane);
      if (isAway) throw new Error('away');
      if (lane === 'stages') return { waiting: 3, oldest: AN_HOUR_AGO };
      return lane === 'transmissions' ? { waiting: 4, oldest: new Date() } : NOTHING;
    }),
  );
  metrics.webhooks({
    async backlog() {
      if (isAway) throw new Error('away');
      return { waiting: 7, oldest: AN_HOUR_AGO };
    },
  });
  const { text } = await metrics.exposition();
  expect(text).toContain('fatoura_invoices_due{lane="stages"} 3');
  expect(text).toContain('fatoura_invoices_due{lane="transmissions"} 4');
  expect(text).toContain('fatoura_invoices_due{lane="mail"} 0');
  expect(text).toMatch(/fatoura_invoice_oldest_due_seconds\{lane="stages"\} 36\d\d/);
  expect(text).toContain('fatoura_invoice_oldest_due_seconds{lane="mail"} 0');
  expect(text).toContain('fatoura_webhook_deliveries_due 7');
  expect(text).toMatch(/fatoura_webhook_oldest_due_seconds 36\d\d/);
  // Both gauges of an exposition share one read of each lane.
  expect(reads.length).toBe(new Set(reads).size);

  isAway = true;
  const { text: away } = await metrics.exposition();
  expect(away).not.toMatch(/^fatoura_(invoices_due|invoice_oldest_due_seconds|webhook_\w+due\w*)\b.* \d/m);
});

it('count spans where traces are on, and name traces in the format that can', async () => {
  const metrics = createMetrics({ exemplars: true });
  metrics.spans(() => ({ exported: 5, lost: 2 }));
  const request = { method: 'GET', route: '/v1/invoices', status: 200, tenantId: null, seconds: 0.02 };
  metrics.request({ ...request, traceparent: `00-${'a'.repeat(32)}-${'b'.repeat(16)}-01` });
  metrics.request({ ...request, seconds: 2, traceparent: `00-${'c'.repeat(32)}-${'b'.repeat(16)}-00` });
  const { contentType, text } = await metrics.exposition();
  expect(contentType).toContain('openmetrics');
  expect(text).toContain('fatoura_spans_total{outcome="lost"} 2');
  expect(text).toMatch(new RegExp(`le="0.025".* 1 # {trace_id="${'a'.repeat(32)}"} 0.02 `));
  expect(text).not.toContain('c'.repeat(32));
  expect(text.endsWith('# EOF\n')).toBe(true);
});
