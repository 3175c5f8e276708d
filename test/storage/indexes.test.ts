import { afterAll, beforeAll, it } from 'vitest';
import type { ApiKey } from '../../src/domain/api-key/api-key.ts';
import { hashToken } from '../../src/domain/api-key/api-key.ts';
import { newId } from '../../src/domain/ids.ts';
import type { ImportClaim } from '../../src/domain/imports/import-store.ts';
import { customerKey } from '../../src/domain/invoice/customer-key.ts';
import type { Invoice } from '../../src/domain/invoice/invoice.ts';
import { ALL_PARTITIONS, PARTITIONS } from '../../src/domain/invoice/lanes.ts';
import type { InvoiceRepository } from '../../src/domain/invoice/repository.ts';
import { searchOf } from '../../src/domain/invoice/search/query.ts';
import { newCreationMoment, orderAt } from '../../src/domain/order-key.ts';
import { newInvitation } from '../../src/domain/person/invitation.ts';
import { parseLogo } from '../../src/domain/tenant/logo.ts';
import type { WebhookEndpoint } from '../../src/domain/webhook/endpoint.ts';
import type { EndpointRepository } from '../../src/domain/webhook/ports.ts';
import { createStageJobs } from '../../src/jobs/stage-jobs.ts';
import { createAuditLog } from '../../src/storage/audit-log.ts';
import { createAuthorityStateStore } from '../../src/storage/authority-state.ts';
import { createClaimMembers } from '../../src/storage/claim-members.ts';
import { createCodeTries } from '../../src/storage/code-tries.ts';
import { createConditionReading } from '../../src/storage/condition-reading.ts';
import { createConditionTellings } from '../../src/storage/condition-tellings.ts';
import type { Store } from '../../src/storage/connect.ts';
import { createDraftStore } from '../../src/storage/drafts.ts';
import { createStatisticsStore } from '../../src/storage/endpoint-statistics.ts';
import { createImportFiles } from '../../src/storage/import-files.ts';
import { createImportMappings } from '../../src/storage/import-mappings.ts';
import { createImportedInvoiceStore } from '../../src/storage/imported-invoices.ts';
import { createImportStore } from '../../src/storage/imports.ts';
import { createInstallationRepository } from '../../src/storage/installation.ts';
import { createSettledCounts } from '../../src/storage/invoice-counts.ts';
import { ownNumberKey, seriesKey } from '../../src/storage/invoice-numbers.ts';
import { createInvoiceRepository } from '../../src/storage/invoices.ts';
import { createIssuedDays } from '../../src/storage/issued-days.ts';
import { createIssuedNumbers } from '../../src/storage/issued-numbers.ts';
import { createIssuedRows } from '../../src/storage/issued-rows.ts';
import { createLogoStore } from '../../src/storage/logos.ts';
import { createPeopleRepository } from '../../src/storage/people.ts';
import { createRateLimiter } from '../../src/storage/rate-limiter.ts';
import { createRequestLog } from '../../src/storage/request-log.ts';
import { createSignersCertificates } from '../../src/storage/signers-certificates.ts';
import { createSubmissionLedger } from '../../src/storage/submission-ledger.ts';
import { createTenantRepository, type TenantsWithKeys } from '../../src/storage/tenants.ts';
import { createWebhookEndpointRepository } from '../../src/storage/webhook-endpoints.ts';
import { anImport, anImportedInvoice } from '../support/imports.ts';
import { claimOne, pendingInvoice } from '../support/invoices.ts';
import { queryPlans } from '../support/query-plans.ts';
import { openTestStore } from '../support/store.ts';
import { LOGO } from '../unit/pdf/support.ts';

let store: Store;
let invoices: InvoiceRepository;
let tenants: TenantsWithKeys;
let endpoints: EndpointRepository;
let kept: Invoice;
let plans: ReturnType<typeof queryPlans>;

const people = () => createPeopleRepository(store.db);

/** People of ten tenants, each with codes, a passkey and a session, and an invitation of each tenant. */
async function storePeople(): Promise<void> {
  const { db } = store;
  const of = (name: string) => db.collection<{ _id: string }>(name);
  const ids = Array.from({ length: 30 }, (_, n) => `per_${n}`);
  const inTenant = (n: number) => [{ tenantId: `ten_${n % 10}`, role: 'viewer' as const }];
  await of('people').insertMany(ids.map((_id) => ({ _id, email: `${_id}@example.com`, name: _id })));
  await of('person_grants').insertMany(ids.map((_id, n) => ({ _id, isOperator: false, memberships: inTenant(n) })));
  for (const name of ['person_codes', 'person_passkeys', 'person_sessions'])
    await of(name).insertMany(ids.map((userId) => ({ _id: userId, userId, token: userId })));
  for (const n of ids.keys()) {
    const grants = { isOperator: false, memberships: inTenant(n) };
    await people().insertInvitation(newInvitation({ email: null, grants, invitedBy: null }, new Date()).invitation);
  }
}

beforeAll(async () => {
  store = await openTestStore('indexes', true);
  await storePeople();
  await storeImports();
  invoices = createInvoiceRepository(store.db);
  tenants = createTenantRepository(store.db);
  endpoints = createWebhookEndpointRepository(store.db);
  for (let i = 0; i < 12; i++) await endpoints.insert(endpointNamed(`we_${i}`, `ten_${i % 3}`));
  for (let i = 0; i < 30; i++) {
    const { createdAt, order } = newCreationMoment();
    kept = pendingInvoice({ tenantId: `ten_${i % 3}`, createdAt });
    await invoices.insert(kept, order, { key: `k${i}`, fingerprint: 'f' });
    await tenants.insert({ id: `ten_${i}`, name: 'T', profile: {}, createdAt }, [
      { key: keyNamed(`key_${i}`), hash: hashToken(`token ${i}`) },
    ]);
  }
  // Hundreds wait, of two tenants, so that the queries for them would be seen to read too many.
  const { _id: _any, ...like } = (await store.db.collection('invoices').findOne({})) ?? {};
  const waiting = Array.from({ length: 300 }, (_, i) => ({
    ...like,
    _id: `inv_waiting_${i}` as never,
    tenantId: `ten_${i % 2}`,
    order: `p${i}`,
    idempotency: { key: `p${i}`, fingerprint: 'f' },
    work: {
      stage: 'transmit',
      attempts: 0,
      outcomeUnknown: false,
      dueAt: new Date(i),
      token: null,
      lane: 'transmissions',
      partition: (i % 2) * 1000,
    },
  }));
  // Hundreds are leased or wait for a retry, all over the partitions.
  const leased = waiting.map((each, i) => ({
    ...each,
    _id: `inv_leased_${i}` as never,
    order: `l${i}`,
    idempotency: { key: `l${i}`, fingerprint: 'f' },
    work: {
      stage: 'sign',
      attempts: 0,
      outcomeUnknown: false,
      token: 'w',
      dueAt: new Date(Date.now() + 3_600_000),
      lane: 'stages',
      partition: (13 * i) % PARTITIONS,
    },
  }));
  await store.db.collection('invoices').insertMany([...waiting, ...leased]);
  // Few of those that wait for a job have failed.
  const retried = Array.from({ length: 300 }, (_, i) => ({
    ...like,
    _id: `inv_retried_${i}` as never,
    tenantId: 'ten_2',
    order: `r${i}`,
    idempotency: { key: `r${i}`, fingerprint: 'f' },
    work: { ...WAITING, ...(i % 60 === 0 && { failures: [8] }) },
  }));
  await store.db.collection('invoices').insertMany(retried);
  const idle = waiting.map(({ work, ...invoice }, i) => ({
    ...invoice,
    _id: `inv_idle_${i}` as never,
    order: `i${i}`,
    idempotency: { key: `i${i}`, fingerprint: 'f' },
    work: { ...work, stage: 'render', idle: true, lane: 'idle', partition: (13 * i) % PARTITIONS },
  }));
  // The newest of two tenants are hundreds of credit notes, which no list of invoices may look at.
  const notes = idle.map((note, i) => ({ ...note, _id: `crn_${i}` as never, kind: 'credit_note', order: `~${i}` }));
  await store.db.collection('invoices').insertMany([...idle, ...notes]);
  // Two thousand numbers of two tenants are taken, half of them of the clients' own series.
  const { insertedIds } = await store.db.collection<{ _id: string; invoiceId: string }>('invoice_numbers').insertMany(
    Array.from({ length: 2000 }, (_, i) => {
      const owner = { tenantId: `ten_${i % 2}`, environment: 'test' } as const;
      const serial = Math.floor(i / 4) + 1;
      const _id = i % 4 < 2 ? seriesKey(owner, { name: '2026', serial }) : ownNumberKey(owner, `A ${serial}`);
      return { _id, invoiceId: kept.id };
    }),
  );
  const kinds = ['k', 'l'];
  await store.db.collection('request_log').insertMany(
    Array.from({ length: 2000 }, (_, i) => ({
      _id: `req_${i}` as never,
      tenantId: `ten_${i % 2}`,
      environment: 'test',
      order: `o${i}`,
      at: new Date(),
      kind: kinds[(i >> 1) % 2],
      keyId: `key_${(i >> 1) % 2}`,
      route: ['/v1/a', '/v1/b'][(i >> 1) % 2],
      ...(i % 4 === 1 && { failed: true }),
    })),
  );
  await store.db.collection('drafts').insertMany(
    Array.from({ length: 2000 }, (_, i) => ({
      _id: `drf_${i}` as never,
      tenantId: `ten_${i % 2}`,
      environment: 'test',
      order: `o${i}`,
      version: 1,
      content: '{}',
    })),
  );
  await store.db.collection('audit_log').insertMany(
    Array.from({ length: 2000 }, (_, i) => ({
      _id: `aud_${i}` as never,
      tenantId: `ten_${i % 2}`,
      order: `o${i}`,
      at: new Date(),
      subject: `we_${(i >> 1) % 2}`,
      actor: { kind: 'key', id: `key_${(i >> 2) % 2}`, name: null },
    })),
  );
  const highest = seriesKey({ tenantId: 'ten_1', environment: 'test' }, { name: '2026', serial: 500 });
  if (!Object.values(insertedIds).includes(highest)) throw new Error('the highest number is another one');
  await store.db.collection('invoices').updateOne({ _id: kept.id as never }, { $set: { series: SERIES } });
  plans = queryPlans(store);
});
afterAll(() => store.close());

function keyNamed(id: string): ApiKey {
  return {
    id,
    kind: 'secret',
    environment: 'test',
    lastFour: '0000',
    createdAt: new Date(),
    name: null,
    revokedAt: null,
    lastUsedAt: null,
  };
}

function endpointNamed(id: string, tenantId = 'ten_1'): WebhookEndpoint {
  return {
    id,
    tenantId,
    environment: 'test',
    url: 'https://example.com/',
    description: null,
    events: ['invoice.accepted'],
    active: true,
    timesDisabled: 0,
    secrets: [],
    createdAt: new Date(),
    updatedAt: new Date(),
    failingSince: null,
  };
}

const SERIES = { name: '2026', serial: 500 };
const ALL_SERIALS = { above: 0, upTo: null };
const WAITING = { stage: 'transmit', attempts: 2, outcomeUnknown: false, dueAt: new Date(8.64e15), token: null };
const test = { tenantId: 'ten_1', environment: 'test' } as const;
const imports = () => createImportStore(store.db);
const imported = () => createImportedInvoiceStore(store.db);
const CLAIM = { imported: { id: 'imp_1' }, token: 'w' } as ImportClaim;
const IMPORTED = { imported: { id: 'imp_1', round: 1 }, only: [], after: 10, before: null, limit: 5 } as const;
async function drainedFile(): Promise<void> {
  for await (const _piece of createImportFiles(store.db).read('imp_1'));
}

/** Imports of two tenants, half of them due, and invoices and pieces of two of them. */
async function storeImports(): Promise<void> {
  const later = new Date(Date.now() + 3_600_000);
  const issued = Array.from({ length: 200 }, (_, n) => ({
    raw: `raw ${n}`,
    place: 0,
    key: `${n}`,
    invoiceId: `inv_${n}`,
    sale: { lines: [`line ${n}`], facts: {} },
  }));
  await createIssuedRows(store.db).claim(test, issued);
  const of = (name: string) => store.db.collection<{ _id: string }>(name);
  await of('imports').insertMany(
    Array.from({ length: 200 }, (_, i) => {
      const { id: _id, mapping: _mapping, ...rest } = anImport({ tenantId: `ten_${i % 2}`, environment: 'test' }, 'a');
      const work = { dueAt: i % 4 < 2 ? new Date(i) : later, token: 'w' };
      return { ...rest, _id: `imp_${i}`, order: `o${i}`, ...(i % 2 === 0 && { work }) };
    }),
  );
  for (const id of ['imp_1', 'imp_2']) {
    const all = Array.from({ length: 200 }, (_, nth) => {
      const verdict = nth % 2 === 0 ? 'ready' : 'issued';
      return anImportedInvoice({ tenantId: 'ten_1', environment: 'test' }, id, null, 'a', { nth, verdict });
    });
    await imported().put(all, later);
    const changes = all.filter(({ verdict }) => verdict === 'issued').map(({ nth }) => ({ nth, awaits: true }));
    await imported().change({ id, round: 1 }, changes);
    for (const nth of [0, 1]) await createImportFiles(store.db).put(test, id, nth, Buffer.from('a'), later);
  }
}

const DRAFT = { id: 'drf_1', version: 1, issuingUntil: null } as const;
const DRAFT_CHANGE = {
  version: 2,
  content: '{"a":1}',
  updatedAt: new Date(),
  updatedBy: { kind: 'key', id: 'key_1', name: null },
} as const;
const ENTRIES = { tenantId: 'ten_1', limit: 5, cursor: null, from: null, until: null, actorId: null, subject: null };
const REQUESTS = { ...test, limit: 5, cursor: null, from: null, until: null } as const;
const LOGGED = { ...REQUESTS, failed: false, kind: null } as const;
const MATCHES = [
  { customerKey: customerKey(pendingInvoice({}).customer.name) },
  { customerIce: String(pendingInvoice({}).customer.ice) },
  { amount: pendingInvoice({}).amount },
] as const;
const page = {
  ...test,
  kind: 'invoice',
  status: null,
  match: null,
  limit: 5,
  cursor: null,
  createdFrom: null,
  createdUntil: null,
} as const;

/** Every repository method that queries, with the maximum number of documents that it may examine. */
const CALLS: [string, () => Promise<unknown>, number][] = [
  ['invoices.find', () => invoices.find(kept.id), 1],
  ['invoices.creationsOf', () => invoices.creationsOf([kept.id]), 1],
  ['invoices.tenantsOf', () => invoices.tenantsOf([kept.id]), 1],
  ['invoices.findEvenWithheld', () => invoices.findEvenWithheld(kept.id), 1],
  ['invoices.findMany', () => invoices.findMany('ten_1', 'test', [kept.id, newId('inv')]), 2],
  ['invoices.findCreatedAs', () => invoices.findCreatedAs(kept.id), 2],
  ['invoices.findByNumber, own', () => invoices.findByNumber('ten_1', 'test', 'A 1'), 1],
  ['invoices.findByNumber, series', () => invoices.findByNumber('ten_1', 'test', '2026-000001'), 1],
  ['invoices.findByOwnNumber', () => invoices.findByOwnNumber('ten_1', 'test', 'A 1'), 1],
  ['invoices.orderOf', () => invoices.orderOf(kept.tenantId, 'test', kept.id), 1],
  ...pageCalls(),
  // The ten newest invoices with one name: several customers may have it.
  ['invoices.customers, by name', () => invoices.customers({ ...test, field: 'name', prefix: 'a', limit: 5 }), 10],
  ['invoices.customers, by ICE', () => invoices.customers({ ...test, field: 'ice', prefix: '0', limit: 5 }), 6],
  ['auditLog.find', () => createAuditLog(store.db).find('ten_1', 'aud_1'), 1],
  ['auditLog.page', () => createAuditLog(store.db).page(ENTRIES), 6],
  ['auditLog.page, of an actor', () => createAuditLog(store.db).page({ ...ENTRIES, actorId: 'key_1' }), 6],
  ['auditLog.page, of a subject', () => createAuditLog(store.db).page({ ...ENTRIES, subject: 'we_1' }), 6],
  ['conditionTellings.take', () => createConditionTellings(store.db).take(new Date(0), new Date(), 5), 6],
  ['conditionTellings.keep', () => createConditionTellings(store.db).keep('ten_1', { at: null, codes: [] }), 1],
  ['conditionReading.rejected', () => createConditionReading(store.db).rejected(test, 0, 5), 6],
  ['conditionReading.waiting', () => createConditionReading(store.db).waiting(test, Date.now(), 5), 6],
  ['conditionReading.idleDrafts', () => createConditionReading(store.db).idleDrafts(test, Date.now(), 5), 6],
  ['drafts.find', () => createDraftStore(store.db).find('drf_1'), 1],
  ['drafts.page', () => createDraftStore(store.db).page(REQUESTS), 6],
  ['drafts.count', () => createDraftStore(store.db).count(test, 1000), 1000],
  ['drafts.change', () => createDraftStore(store.db).change(DRAFT, DRAFT_CHANGE), 1],
  ['drafts.remove', () => createDraftStore(store.db).remove({ ...DRAFT, version: 9 }), 1],
  ['drafts.hold', () => createDraftStore(store.db).hold('drf_2', 1, new Date()), 1],
  ['drafts.release', () => createDraftStore(store.db).release('drf_2', 1), 1],
  ['drafts.removeIssued', () => createDraftStore(store.db).removeIssued('drf_2', 1), 1],
  ['imports.find', () => imports().find('imp_1'), 1],
  ['imports.findMany', () => imports().findMany(['imp_1', 'imp_2']), 2],
  ['imports.page', () => imports().page(REQUESTS), 6],
  ['imports.sizes', () => imports().sizes(test, 1000), 1000],
  ['imports.change', () => imports().change({ id: 'imp_1', round: 1 }, ['checked'], {}, new Date()), 1],
  ['imports.remove', () => imports().remove('imp_9', ['issuing']), 1],
  ['imports.claim', () => imports().claim(new Date(), 1000, ['ten_2'], 4), 60],
  ['imports.renew', () => imports().renew(CLAIM, new Date(), 1000), 1],
  ['imports.save', () => imports().save(CLAIM, { isSettled: false }), 1],
  ['imports.release', () => imports().release(CLAIM, {}, null), 1],
  ['imports.releaseAll', () => imports().releaseAll(new Date()), 100],
  ['importedInvoices.page', () => imported().page(IMPORTED), 6],
  ['importedInvoices.page, back', () => imported().page({ ...IMPORTED, before: 50 }), 6],
  ['importedInvoices.page, of verdicts', () => imported().page({ ...IMPORTED, only: ['ready', 'issued'] }), 12],
  ['importedInvoices.awaiting', () => imported().awaiting(IMPORTED.imported, -1, 5), 5],
  ['importedInvoices.change', () => imported().change(IMPORTED.imported, [{ nth: 1, verdict: 'ready' }]), 1],
  ['importedInvoices.counts', () => imported().counts(IMPORTED.imported), 200],
  ['importFiles.read', () => drainedFile(), 2],
  ['issuedRows.of', () => createIssuedRows(store.db).of(test, ['raw 1', 'raw 2']), 3],
  ['issuedRows.alike', () => createIssuedRows(store.db).alike(test, ['line 1', 'line 2']), 3],
  ['importMappings.find', () => createImportMappings(store.db).find(test, ['a']), 1],
  ['statistics.read', () => createStatisticsStore(store.db).read('we_1', [new Date()]), 1],
  ['requestLog.find', () => createRequestLog(store.db).find('ten_1', 'test', 'req_1'), 1],
  ['requestLog.page', () => createRequestLog(store.db).page({ ...REQUESTS, failed: false, kind: null }), 6],
  ['requestLog.page, failed', () => createRequestLog(store.db).page({ ...REQUESTS, failed: true, kind: null }), 6],
  ['requestLog.page, of a kind', () => createRequestLog(store.db).page({ ...REQUESTS, failed: false, kind: 'k' }), 6],
  ['requestLog.page, of a key', () => createRequestLog(store.db).page({ ...LOGGED, keyId: 'key_1' }), 6],
  ['requestLog.page, of a route', () => createRequestLog(store.db).page({ ...LOGGED, route: '/v1/a' }), 6],
  ['requestLog.failures', () => createRequestLog(store.db).failures('ten_1', 'test', new Date(), 5), 6],
  ['settledCounts.find', () => createSettledCounts(store.db).find('ten_1', 'test', ['2026-01-31']), 1],
  [
    'settledCounts.keep',
    () =>
      createSettledCounts(store.db).keep('ten_1', 'test', '2026-01-31', { whole: null, hours: new Map(), begun: null }),
    1,
  ],
  ['invoices.renew', async () => invoices.renew([{ claim: (await freshClaim()) as never, leaseMs: 1000 }]), 1],
  ['invoices.change', async () => invoices.change((await freshClaim()) as never, { work: null }, 1000), 1],
  ['invoices.changeWaiting', async () => invoices.changeWaiting(await freshInvoice(), { work: null }), 1],
  ['invoices.seriesNumbersOf', () => invoices.seriesNumbersOf([kept.id, newId('inv')]), 1],
  ['invoices.keepCredits', () => invoices.keepCredits(kept, 0, []), 1],
  ['invoices.correctionStatesOf', () => invoices.correctionStatesOf([kept.id, newId('crn')]), 1],
  ['invoices.awaitingNumber', () => invoices.awaitingNumber('ten_1', 'test', '2026', 5), 5],
  ['issuedDays.between', () => createIssuedDays(store.db).between(test, { from: null, through: null }, 5), 5],
  ['issuedNumbers.taken', () => createIssuedNumbers(store.db).taken(test, '2026', ALL_SERIALS, 5), 5],
  ['issuedNumbers.taken, backwards', () => createIssuedNumbers(store.db).taken(test, '2026', ALL_SERIALS, 5, true), 5],
  ['issuedNumbers.lost', () => createIssuedNumbers(store.db).lost(test, '2026', ALL_SERIALS, 5), 1],
  ['issuedNumbers.documents', () => createIssuedNumbers(store.db).documents([kept.id, newId('inv')]), 2],
  ['invoices.highestSerial', () => invoices.highestSerial('ten_1', 'test', '2026'), 1],
  ['invoices.raiseDocumentRevision', () => invoices.raiseDocumentRevision('ten_1', 'test', kept.id), 1],
  ['invoices.needingAttention', () => invoices.needingAttention(5), 5],
  ['invoices.retryNow', () => invoices.retryNow(kept.id), 1],
  ['invoices.transmissionsByTenant', () => invoices.transmissionsByTenant(9, 9), 9],
  ['invoices.unfinishedLive', () => invoices.unfinishedLive(9), 9],
  ['invoices.unsignedLive', () => invoices.unsignedLive(new Set(['ten_0']), 9), 9],
  ['invoices.releaseHeldUp', () => invoices.releaseHeldUp(7, 9), 9],
  ['invoices.hurry', () => invoices.hurry(kept.id, new Date()), 1],
  ['invoices.backlog', () => invoices.backlog('stages', 5), 5],
  ['invoices.due, idle', () => invoices.due('idle', ALL_PARTITIONS, 5), 5],
  ['invoices.idleCount', () => invoices.idleCount(9), 9],
  ['authorityState.read', () => createAuthorityStateStore(store.db).read(), 1],
  [
    'authorityState.update',
    () => createAuthorityStateStore(store.db).update((s) => ({ next: { ...s }, result: 0 })),
    1,
  ],
  ['authorityState.postpone', () => createAuthorityStateStore(store.db).postpone(new Date()), 1],
  ['authorityState.pause', () => createAuthorityStateStore(store.db).pause(PAUSE), 1],
  ['authorityState.resume', () => createAuthorityStateStore(store.db).resume(), 1],
  ['invoices.requestEmail', () => invoices.requestEmail(kept, { sending: 1 } as never), 1],
  ['invoices.due', () => invoices.due('stages', ALL_PARTITIONS, 5), 5],
  ['invoices.due, of the upper half', () => invoices.due('stages', { from: 2048, until: 4096 }, 5), 5],
  ['invoices.due, late', () => invoices.due('mail', ALL_PARTITIONS, 5, 3000), 0],
  ['invoices.claimMany', async () => invoices.claimMany('stages', [(await freshInvoice()).id, 'inv_x'], 1000), 2],
  ['invoices.release', async () => invoices.release([(await freshClaim()) as never]), 1],
  ['invoices.reschedule', () => invoices.reschedule(new Date(), 4000), 5],
  ['claimMembers.heartbeat', () => createClaimMembers(store.db).heartbeat(HEARTBEAT), 1],
  ['claimMembers.list', () => createClaimMembers(store.db).list(), 1],
  ['claimMembers.forget', () => createClaimMembers(store.db).forget('w', HEARTBEAT.at), 1],
  ['jobs.removeOldWakes', () => createStageJobs(store.db, 'w').removeOldWakes(), 1],
  ['people.grantsOf', () => people().grantsOf('per_7'), 1],
  ['people.membersOf', () => people().membersOf('ten_7'), 6],
  ['people.memberOf', () => people().memberOf('ten_7', 'per_7'), 2],
  ['people.invitationsOf', () => people().invitationsOf('ten_7', 5, new Date()), 5],
  ['people.revokeInvitation', () => people().revokeInvitation('ten_7', 'i', new Date()), 1],
  ['people.claimInvitation', () => people().claimInvitation('i', 'a@example.com', new Date()), 1],
  ['people.findInvitation', () => people().findInvitation('i', new Date()), 1],
  ['people.endInvitation', () => people().endInvitation('i'), 1],
  ['people.reserveInvitation', () => people().reserveInvitation('i', 'a@example.com', new Date()), 1],
  ['people.removeSecondFactors', () => people().removeSecondFactors('per_7@example.com'), 4],
  ['people.removeOperator', () => people().removeOperator('per_8@example.com'), 2],
  ['codeTries.take', () => createCodeTries(store.db).take('per_7'), 1],
  ['codeTries.giveBack', () => createCodeTries(store.db).giveBack('per_7'), 1],
  ['codeTries.clear', () => createCodeTries(store.db).clear('per_7'), 1],
  ['tenants.list', () => tenants.list(), 30],
  ['tenants.page', () => tenants.page(null, 5), 5],
  ['tenants.page, the next one', () => tenants.page('ten_7', 5), 6],
  ['tenants.limitRequests', () => tenants.limitRequests('ten_3', 5), 1],
  ['tenants.setSuspended', () => tenants.setSuspended('ten_3', null), 1],
  ['tenants.find', () => tenants.find('ten_1'), 1],
  ['tenants.findByKeyHash', () => tenants.findByKeyHash(hashToken('token 7')), 1],
  ['tenants.presentAmong', () => tenants.presentAmong(['ten_3', 'ten_4']), 2],
  ['tenants.validKeys', () => tenants.validKeys(['key_7', 'key_8']), 2],
  ['tenants.findByKeyId', () => tenants.findByKeyId('key_7'), 1],
  ['tenants.renameKey', () => tenants.renameKey('key_1', 'Shop'), 1],
  ['tenants.keepKeyUses', () => tenants.keepKeyUses([{ keyId: 'key_1', at: new Date() }]), 1],
  ['tenants.insertKey', () => tenants.insertKey('ten_1', keyNamed(newId('key')), hashToken(newId('key')), 9, 9), 1],
  ['tenants.insertKey: too many', () => tenants.insertKey('ten_1', keyNamed('k'), 'h', 0, 0).catch(() => {}), 1],
  ['tenants.revokeOwnKey', () => tenants.revokeOwnKey('ten_2', keyNamed('key_2'), new Date(), false), 1],
  ['tenants.changeProfile', () => tenants.changeProfile('ten_1', { cnss: '1' }, true), 1],
  ['tenants.admitLogo', () => tenants.admitLogo('ten_1', 'a', 3), 1],
  ['tenants.keysOf', () => tenants.keysOf('ten_1'), 1],
  ['tenants.revokeKey', () => tenants.revokeKey('key_9', new Date()), 1],
  ['tenants.updateProfile', () => tenants.updateProfile('ten_1', { logo: parseLogo(LOGO) }), 1],
  ['logos.find', () => createLogoStore(store.db).find(parseLogo(LOGO)), 1],
  ['webhookEndpoints.insert', () => endpoints.insert(endpointNamed('we_new')), 5],
  ['webhookEndpoints.list', () => endpoints.list('ten_1', 'test'), 5],
  ['webhookEndpoints.find', () => endpoints.find('ten_1', 'test', 'we_1'), 5],
  ['webhookEndpoints.update', () => endpoints.update('ten_1', 'test', 'we_1', { active: false }), 5],
  ['webhookEndpoints.delete', () => endpoints.delete('ten_1', 'test', 'we_1'), 5],
  ['ledger.find', () => createSubmissionLedger(store.db).find('inv_x'), 1],
  ['ledger.countRefusal', () => createSubmissionLedger(store.db).countRefusal('inv_x'), 1],
  ['ledger.decided', () => createSubmissionLedger(store.db).decided(PLACE, new Date(), 5), 6],
  ['ledger.decided, from the start', () => createSubmissionLedger(store.db).decided(null, new Date(), 5), 6],
  ['ledger.latest', () => createSubmissionLedger(store.db).latest(new Date()), 1],
  ['rateLimiter.consume', () => createRateLimiter(LIMITS, store.db).consume('secret', 'key_1'), 1],
  ['installation.operatorHash', () => createInstallationRepository(store.db).operatorHash(), 1],
  ['signersCertificates.list', () => createSignersCertificates(store.db).list(new Date()), 1],
  ['signersCertificates.of', () => createSignersCertificates(store.db).of('ten_1', new Date()), 2],
];

const PAUSE = { by: 'me', reason: null, since: new Date() };
const HEARTBEAT = { id: 'w', at: new Date(), inFlight: 0 };
const PLACE = { decisionAt: new Date(1000), submissionId: 'inv_1' };
const LIMITS = { secret: 1, tenant: 1, publishable: 1, address: 1, common: 1 };

/** Every combination of the parameters of the list. */
function pageCalls(): [string, () => Promise<unknown>, number][] {
  const cursors = [
    null,
    { direction: 'after', order: orderAt(Date.now() + 60_000) },
    { direction: 'before', order: orderAt(0) },
  ] as const;
  const calls: [string, () => Promise<unknown>, number][] = [];
  // The list of all kinds reads as many documents of each.
  for (const cursor of cursors)
    for (const query of [
      {},
      { status: 'pending' },
      { createdFrom: 0 },
      ...MATCHES.map((match) => ({ match })),
    ] as const) {
      const name = `invoices.page: all kinds, ${cursor?.direction ?? 'no cursor'}, ${JSON.stringify(query)}`;
      const asked = { ...page, kind: null, status: null, match: null, createdFrom: null, createdUntil: null };
      calls.push([name, () => invoices.page({ ...asked, cursor, ...query }), 12]);
    }
  // A search that finds all reads those of the tenant; one of what few have, few.
  for (const cursor of cursors)
    for (const [text, most] of [
      ['at', 600],
      ['atlas', 1000],
      ['120,00 rien', 450],
      ['987654', 10],
      ['A-77', 10],
    ] as const)
      for (const status of [null, 'accepted'] as const) {
        const query = { ...page, status, cursor, search: searchOf(text) };
        calls.push([
          `invoices.page: ${cursor?.direction}, ${status}, search ${text}`,
          () => invoices.page(query),
          most,
        ]);
      }
  for (const status of [null, 'pending'] as const)
    for (const cursor of cursors)
      for (const createdFrom of [null, 0])
        for (const createdUntil of [null, Date.now() + 60_000]) {
          const given = [status, cursor?.direction, createdFrom !== null && 'from', createdUntil !== null && 'until'];
          const name = `invoices.page: ${given.filter(Boolean).join(', ') || 'nothing'}`;
          const query = { ...page, status, cursor, createdFrom, createdUntil };
          if (status === null && createdFrom === null && createdUntil === null)
            for (const match of MATCHES) {
              const [matched] = Object.keys(match);
              calls.push([`${name}, ${matched}`, () => invoices.page({ ...query, match }), 6]);
              if (cursor)
                calls.push([
                  `${name}, ${matched}, and others`,
                  async () => (await invoices.page({ ...query, match })).hasOthers(),
                  6,
                ]);
            }
          calls.push([name, () => invoices.page(query), 6]);
          // The cut is the same for each time.
          if (createdFrom === null && createdUntil === null)
            calls.push([`${name}, cut`, () => invoices.page({ ...query, maxBytes: 1e6 }), 6]);
          if (cursor) calls.push([`${name}, and others`, async () => (await invoices.page(query)).hasOthers(), 6]);
        }
  for (const kind of ['invoice', null] as const)
    for (const [field, value] of [
      ['amount', pendingInvoice({}).amount],
      ['customerKey', customerKey(pendingInvoice({}).customer.name)],
    ] as const)
      for (const isBackwards of [false, true])
        for (const after of [null, { value, order: orderAt(Date.now()) }]) {
          const asked = [kind ?? 'all kinds', field, isBackwards && 'backwards', after && 'after'].filter(Boolean);
          const query = { ...test, kind, field, isBackwards, after, limit: 5 };
          // Each kind has a page, in one or two ranges.
          calls.push([`invoices.sortedPage: ${asked.join(', ')}`, () => invoices.sortedPage(query), 12]);
        }
  for (const kind of ['invoice', 'credit_note', null] as const)
    for (const isBackwards of [false, true])
      for (const after of [null, '2026-000003', 'A 3']) {
        const query = { ...test, kind, isBackwards, after, limit: 5 };
        calls.push([`invoices.numberedPage: ${kind}, ${isBackwards}, ${after}`, () => invoices.numberedPage(query), 6]);
      }
  return calls;
}

async function freshInvoice(): Promise<Invoice> {
  const invoice = pendingInvoice({});
  await invoices.insert(invoice, newCreationMoment().order, null);
  return invoice;
}

async function freshClaim() {
  return claimOne(invoices, (await freshInvoice()).id, 1000);
}

it.each(CALLS)('%s has an index', async (_name, call, most) => plans.expectIndexed(call, most));
