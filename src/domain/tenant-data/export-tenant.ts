import { KIND_NAMES, type Kind } from '../invoice/kinds.ts';
import type { Page, PageQuery } from '../page.ts';
import { ENVIRONMENTS, type Owner, type Tenant } from '../tenant/tenant.ts';
import type { ErasureStore, KeptInvoice } from './erasure.ts';
import { exportDocuments, exportedInvoice } from './export-invoice.ts';
import type { ExportManifest, ExportTarget, TenantRecords } from './ports.ts';

/** Maximum number and size of rows that are read together, which bounds the memory of an export. */
const ROWS = { limit: 50, maxBytes: 4 * 1024 * 1024 } as const;
/** Number of characters that are written at once. A longer line is written alone. */
const PIECE = 64 * 1024;

/**
 * Writes all data that a tenant can take elsewhere, without secrets: its profile, people, keys, invoices and credit
 * notes with their documents, webhook endpoints, events, deliveries with their attempts, requests and audit log. The
 * service may run meanwhile. Lists are read from the newest row at the start to the oldest. The export contains
 * everything stored before the start, and nothing twice. An invoice is exported as it was when it was read. Of a final
 * invoice only its credits change.
 * @param at the current time
 * @returns null if there is no such tenant
 * @throws when a document is damaged, the tenant is erased meanwhile, or the target cannot be written
 */
export async function exportTenant(
  records: TenantRecords,
  tenantId: string,
  target: ExportTarget,
  at: Date,
): Promise<ExportManifest | null> {
  const tenant = await records.tenants.find(tenantId);
  if (tenant === null) return null;
  const counts = new Map<string, number>();
  const lines = async (path: string, rows: AsyncIterable<unknown>) => {
    let count = 0;
    await target.write(
      path,
      encoded(rows, () => count++),
    );
    counts.set(path, count);
  };
  await exportAccount(records, tenant, target);
  const all = { tenantId, environment: 'test', from: null, until: null, actorId: null, subject: null } as const;
  await lines(
    'audit.jsonl',
    allRows((place) => records.audit.page({ ...all, ...place })),
  );
  for (const environment of ENVIRONMENTS) {
    const owner: Owner = { tenantId, environment };
    const whole = { ...owner, from: null, until: null };
    for (const kind of KIND_NAMES)
      await lines(`${environment}/${kind}s.jsonl`, documentsOfKind(kind, records, owner, target));
    await lines(`${environment}/endpoints.jsonl`, endpointsOf(records, owner));
    await lines(
      `${environment}/events.jsonl`,
      mapped(
        allRows((place) => records.events({ ...whole, ...place, type: null })),
        ({ body, ...event }) => ({ ...event, body: JSON.parse(body) as unknown }),
      ),
    );
    await lines(`${environment}/deliveries.jsonl`, deliveriesOf(records, owner));
    await lines(
      `${environment}/requests.jsonl`,
      allRows((place) => records.requests.page({ ...whole, ...place, failed: false, kind: null })),
    );
    for (const name of records.others.names)
      await lines(`${environment}/${name}.jsonl`, records.others.read(name, owner));
  }
  // An erasure starts by hiding the tenant. If the tenant is still found now, everything read before was complete.
  if ((await records.tenants.find(tenantId)) === null)
    throw new Error(
      'The tenant was erased while it was exported, so the export is not whole. Delete it; a new one has what is left of the tenant.',
    );
  return target.finish({ tenantId, startedAt: at }, counts);
}

/**
 * Writes the data that is kept of an erased tenant: the legal documents of its live invoices, and the data needed to
 * find them.
 * @throws when a document is damaged, or the target cannot be written
 */
export async function exportKept(
  records: Pick<TenantRecords, 'documents'> & { readonly kept: ErasureStore['kept'] },
  tenantId: string,
  target: ExportTarget,
  at: Date,
): Promise<ExportManifest> {
  const path = 'live/kept.jsonl';
  let count = 0;
  await target.write(
    path,
    encoded(keptOf(records, tenantId, target), () => count++),
  );
  return target.finish({ tenantId, startedAt: at }, new Map([[path, count]]));
}

async function* keptOf(
  { kept, documents }: Parameters<typeof exportKept>[0],
  tenantId: string,
  target: Pick<ExportTarget, 'write'>,
): AsyncGenerator<unknown> {
  for (let after: string | null = null; ; ) {
    const found: KeptInvoice[] = await kept(tenantId, after, ROWS.limit);
    for (const invoice of found) {
      const written = await exportDocuments({ ...invoice, pdf: null }, documents, target);
      yield { ...invoice, documents: written };
    }
    after = found.at(-1)?.id ?? null;
    if (after === null) return;
  }
}

async function exportAccount(
  { tenants, people, logos }: TenantRecords,
  tenant: Tenant,
  target: Pick<ExportTarget, 'write'>,
): Promise<void> {
  const json = (path: string, value: unknown) => target.write(path, [encode(`${JSON.stringify(value, null, 2)}\n`)]);
  await json('tenant.json', tenant);
  await json('members.json', await people.membersOf(tenant.id));
  await json('keys.json', await tenants.keysOf(tenant.id));
  const logo = tenant.profile.logo && (await logos.find(tenant.profile.logo));
  if (logo) await target.write(logo.contentType === 'image/png' ? 'logo.png' : 'logo.jpg', [logo.content]);
}

async function* documentsOfKind(
  kind: Kind,
  { invoices, documents }: TenantRecords,
  owner: Owner,
  target: Pick<ExportTarget, 'write'>,
): AsyncGenerator<unknown> {
  const whole = { ...owner, ...ROWS, kind, status: null, match: null, createdFrom: null, createdUntil: null };
  let cursor: PageQuery['cursor'] = null;
  for (;;) {
    const page = await invoices.page({ ...whole, cursor });
    for (const invoice of page.invoices)
      yield exportedInvoice(invoice, await exportDocuments(invoice, documents, target));
    const last = page.invoices.at(-1);
    if (last === undefined || !page.hasMore) return;
    const order = await invoices.orderOf(owner.tenantId, owner.environment, last.id);
    if (order === null) throw new Error('The tenant is being erased: its invoices disappear while they are exported.');
    cursor = { direction: 'after', order };
  }
}

async function* endpointsOf({ endpoints }: TenantRecords, owner: Owner): AsyncGenerator<unknown> {
  // Leaves out the secrets and the keys that open them.
  for (const { secrets: _secrets, ...endpoint } of await endpoints.list(owner.tenantId, owner.environment))
    yield endpoint;
}

async function* deliveriesOf({ deliveries }: TenantRecords, owner: Owner): AsyncGenerator<unknown> {
  const whole = { ...owner, from: null, until: null, endpointId: null, state: null };
  yield* allRows((place) => deliveries({ ...whole, ...place }));
}

/** Yields all rows of a list, newest first, with one page in memory at a time. */
async function* allRows<Row extends { readonly order: string }>(
  read: (place: Pick<PageQuery, 'limit' | 'cursor' | 'maxBytes'>) => Promise<Page<Row>>,
): AsyncGenerator<Row, void, void> {
  let cursor: PageQuery['cursor'] = null;
  for (;;) {
    const { rows, hasMore } = await read({ ...ROWS, cursor });
    yield* rows;
    const last = rows.at(-1);
    if (last === undefined || !hasMore) return;
    cursor = { direction: 'after', order: last.order };
  }
}

async function* mapped<From, To>(rows: AsyncIterable<From>, map: (row: From) => To): AsyncGenerator<To> {
  for await (const row of rows) yield map(row);
}

/** Encodes each row as a line of JSON, several lines in one piece. */
async function* encoded(rows: AsyncIterable<unknown>, each: () => void): AsyncGenerator<Uint8Array> {
  let piece = '';
  for await (const row of rows) {
    each();
    piece += `${JSON.stringify(row)}\n`;
    if (piece.length < PIECE) continue;
    yield encode(piece);
    piece = '';
  }
  if (piece !== '') yield encode(piece);
}

function encode(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}
