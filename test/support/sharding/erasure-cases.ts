import { RECORDS } from '../../../src/storage/collection-rules.ts';
import type { Store } from '../../../src/storage/connect.ts';
import { createErasureStore } from '../../../src/storage/erasure.ts';
import { type Stored, storeErasable } from '../erasable.ts';
import { type Case, type Subject, subject } from './cases.ts';

const ERASURE = 'a tenant is erased once, in pieces: each shard reads its own index up to the limit';
const YEARLY = 'an hourly look at an index that is empty but for some days a year';
const RANGE = 'a range of ids, read in pieces when a tenant is erased';

export function erasureCases(store: Store): Record<string, Subject> {
  const erasures = createErasureStore(store.db);
  const erased = async () => {
    const stored = await storeErasable(store.db, 2);
    await erasures.begin(stored.tenantId, new Date());
    return stored;
  };
  const kept = async () => {
    const stored = await erased();
    await erasures.keepLegal(stored.live, 10);
    return stored;
  };
  /** @param scatters the statements that go to every shard, besides those of the preparation */
  const scattering = (
    call: (stored: Stored) => Promise<unknown>,
    scatters: readonly string[],
    because = ERASURE,
    made: () => Promise<Stored> = erased,
  ): Case => ({ call: async () => call(await made()), scatters, because });
  const counted = ['invoices by environment, kind, status, tenantId', 'invoices by environment, tenantId'];
  return {
    createErasureStore: subject(erasures, {
      begin: erased,
      find: async () => erasures.find((await erased()).tenantId),
      pending: async () => {
        await erasures.pending(null, 5);
        await erasures.pending('ten_', 5);
      },
      counts: scattering(
        ({ tenantId }) => erasures.counts(tenantId),
        [
          ...counted.map((each) => `count ${each}`),
          ...['drafts', 'webhook_events', 'request_log', 'audit_log'].map((name) => `count ${name} by tenantId`),
          'count webhook_deliveries by environment, tenantId',
        ],
      ),
      blocked: scattering(
        ({ tenantId }) => erasures.blocked(tenantId, 5),
        ['find invoices by environment, kind, status, tenantId, work.blocked'],
      ),
      removePeople: async () => erasures.removePeople((await erased()).tenantId, 5),
      removeEndpoints: scattering(
        ({ tenantId }) => erasures.removeEndpoints(tenantId, 5),
        ['find endpoint_hours by _id'],
        RANGE,
      ),
      removeDeliveries: scattering(
        ({ tenantId }) => erasures.removeDeliveries(tenantId, 5),
        ['find webhook_deliveries by tenantId'],
      ),
      removeRecords: scattering(
        async ({ tenantId }) => {
          while ((await erasures.removeRecords(tenantId, 5)) > 0);
        },
        [
          'find day_sums by _id',
          'find invoice_counts by _id',
          'find request_failures by _id',
          ...RECORDS.map((name) => `find ${name} by tenantId`),
        ],
      ),
      invoices: [
        scattering(
          ({ tenantId }) => erasures.invoices({ tenantId, environment: 'test' }, null, 5),
          ['find invoices by environment, kind, tenantId'],
        ),
        scattering(
          ({ tenantId }) => erasures.invoices({ tenantId, environment: 'test' }, '~', 5),
          ['find invoices by environment, kind, order, tenantId'],
        ),
      ],
      withhold: async () => erasures.withhold((await erased()).live, new Date()),
      detach: async () => erasures.detach((await erased()).test, null, new Date()),
      keepLegal: kept,
      removePdfs: scattering(
        ({ tenantId }) => erasures.removePdfs(tenantId, 5),
        ['find kept_invoices by pdf.file, tenantId', 'find documents.files by filename'],
        ERASURE,
        kept,
      ),
      removeInvoices: scattering(
        ({ tenantId, test }) => erasures.removeInvoices({ tenantId, environment: 'test' }, test),
        ['find documents.files by filename'],
      ),
      removeNumbers: scattering(
        ({ tenantId }) => erasures.removeNumbers(tenantId, 'test', 5),
        ['find invoice_numbers by _id'],
        RANGE,
      ),
      removeLogos: async () => erasures.removeLogos((await erased()).tenantId),
      finish: scattering(
        ({ tenantId }) => erasures.finish(tenantId),
        ['find kept_invoices by tenantId', 'find invoice_numbers by _id'],
      ),
      expired: scattering(
        () => erasures.expired({ year: 3000, retentionYears: 10 }, 5),
        ['find kept_invoices by issueYear, keptThrough'],
        YEARLY,
        kept,
      ),
      removeExpired: scattering(
        ({ live }) => erasures.removeExpired(live),
        ['find documents.files by filename'],
        YEARLY,
        kept,
      ),
      kept: [
        scattering(
          ({ tenantId }) => erasures.kept(tenantId, null, 5),
          ['find kept_invoices by tenantId'],
          ERASURE,
          kept,
        ),
        scattering(
          ({ tenantId }) => erasures.kept(tenantId, 'inv_', 5),
          ['find kept_invoices by _id, tenantId'],
          ERASURE,
          kept,
        ),
      ],
    }),
  };
}
