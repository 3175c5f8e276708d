import type { IndexDescription } from 'mongodb';
import { MANY_ATTEMPTS, SUSPICIOUS_CLAIMS } from '../domain/invoice/attention.ts';
import { AUDIT_SECONDS } from './audit-log.ts';
import type { CollectionRules, Erasure, Placement } from './collection-rule-types.ts';
import { DAY_SUMS_COLLECTION } from './day-sums.ts';
import { DOCUMENTS_BUCKET } from './documents.ts';
import { STATISTICS_SECONDS } from './endpoint-statistics.ts';
import { MAPPINGS_SECONDS } from './import-mappings.ts';
import { COUNTS_SECONDS } from './invoice-counts.ts';
import { HEADS_SECONDS } from './list-turns.ts';
import { FAILURES_SECONDS, REQUESTS_SECONDS } from './request-log.ts';
import { TURNS_SECONDS } from './series-turns.ts';

/** Spreads the documents evenly from the start. For collections whose documents are found by id. */
const BY_ID: Placement = { key: { _id: 'hashed' } };

const FEW_DOCUMENTS: Placement = { whole: 'It has a fixed number of small documents.' };
const BY_TENANTS = 'It grows with the tenants, not with their invoices, and its unique indexes span all tenants.';

const NOTHING_OF_TENANTS: Erasure = { stays: 'It has nothing of a tenant.' };

/** How long a resolved difference from the authority's ledger is kept. */
const RESOLVED_SECONDS = 90 * 86_400;

const LEGAL_DOCUMENTS: Erasure = { stays: 'Signed XML, receipts and cleared documents of live invoices.' };
const OF_INVOICES: CollectionRules = { placement: BY_ID, move: 'moved', erasure: 'erased' };
const OF_PEOPLE: CollectionRules = {
  placement: { whole: 'It grows with the people who sign in, and its unique indexes span all of them.' },
  move: 'moved',
  erasure: 'erased',
};

/** The index that removes a document at the time that it states. */
const EXPIRES: IndexDescription = { name: 'expiry', key: { expiresAt: 1 }, expireAfterSeconds: 0 };

/** The rules of every collection. A collection without a row fails the tests. */
export const COLLECTIONS: Readonly<Record<string, CollectionRules>> = {
  invoices: {
    ...OF_INVOICES,
    indexes: [
      { name: 'list', key: { tenantId: 1, environment: 1, kind: 1, order: -1 } },
      { name: 'list_by_status', key: { tenantId: 1, environment: 1, kind: 1, status: 1, order: -1 } },
      { name: 'list_by_customer', key: { tenantId: 1, environment: 1, kind: 1, customerKey: 1, order: -1 } },
      { name: 'list_by_ice', key: { tenantId: 1, environment: 1, kind: 1, 'customer.ice': 1, order: -1 } },
      { name: 'list_by_amount', key: { tenantId: 1, environment: 1, kind: 1, amount: 1, order: -1 } },
      { name: 'search', key: { tenantId: 1, environment: 1, kind: 1, searchTerms: 1, order: -1 } },
      {
        name: 'in_line',
        key: { tenantId: 1, environment: 1, awaitsNumber: 1, order: 1 },
        partialFilterExpression: { awaitsNumber: { $exists: true } },
      },
      {
        name: 'failing',
        key: { 'work.claims': -1 },
        partialFilterExpression: { 'work.claims': { $gte: SUSPICIOUS_CLAIMS } },
      },
      {
        name: 'slow',
        key: { 'work.attempts': -1 },
        partialFilterExpression: { 'work.attempts': { $gte: MANY_ATTEMPTS } },
      },
      {
        name: 'queue',
        key: { 'work.lane': 1, 'work.partition': 1, 'work.dueAt': 1 },
        partialFilterExpression: { 'work.lane': { $exists: true } },
      },
      {
        name: 'tried',
        key: { 'work.tried': 1 },
        partialFilterExpression: { 'work.tried': { $exists: true } },
      },
      {
        name: 'failed',
        key: { 'work.failures': 1 },
        partialFilterExpression: { 'work.failures': { $exists: true } },
      },
      {
        name: 'blocked',
        key: { 'work.blocked': -1 },
        partialFilterExpression: { 'work.blocked': { $exists: true } },
      },
      {
        name: 'outbox',
        key: { 'outbox.dueAt': 1 },
        partialFilterExpression: { 'outbox.dueAt': { $exists: true } },
      },
      {
        name: 'unsummed',
        key: { unsummed: 1 },
        partialFilterExpression: { unsummed: { $exists: true } },
      },
      // The authority holds few invoices under another id. All others lack the field.
      { name: 'held_as', key: { heldAs: 1 }, partialFilterExpression: { heldAs: { $exists: true } } },
      {
        name: 'live_digest',
        key: { 'xml.sha256': 1 },
        partialFilterExpression: { environment: 'live', 'xml.sha256': { $exists: true } },
      },
      { name: 'live_changed', key: { updatedAt: 1 }, partialFilterExpression: { environment: 'live' } },
    ],
  },
  kept_invoices: {
    placement: BY_ID,
    move: 'moved',
    erasure: { stays: 'The legal documents of live invoices, for the time that the law sets.' },
    indexes: [
      { name: 'list', key: { tenantId: 1, _id: 1 } },
      { name: 'retention', key: { keptThrough: 1, issueYear: 1 } },
      { name: 'with_pdf', key: { tenantId: 1 }, partialFilterExpression: { 'pdf.file': { $exists: true } } },
      { name: 'held_as', key: { heldAs: 1 }, partialFilterExpression: { heldAs: { $exists: true } } },
      { name: 'digest', key: { 'xml.sha256': 1 }, partialFilterExpression: { 'xml.sha256': { $exists: true } } },
    ],
  },
  invoice_numbers: {
    placement: BY_ID,
    move: 'moved',
    erasure: { stays: 'Those of live invoices, as long as their documents: no number is given twice.' },
    indexes: [{ name: 'lost', key: { _id: 1, lostFrom: 1 }, partialFilterExpression: { lostFrom: { $exists: true } } }],
  },
  invoice_counts: {
    ...OF_INVOICES,
    indexes: [{ name: 'expiry', key: { writtenAt: 1 }, expireAfterSeconds: COUNTS_SECONDS }],
  },
  // The index creates the collection, because a transaction on several shards cannot.
  [DAY_SUMS_COLLECTION]: {
    ...OF_INVOICES,
    indexes: [{ name: '_id_', key: { _id: 1 } }],
  },
  series_turns: {
    placement: BY_ID,
    move: { left: 'Turns last two seconds, and belong to processes.' },
    erasure: { stays: 'Names a series, and expires an hour after its last use.' },
    indexes: [{ name: 'expiry', key: { until: 1 }, expireAfterSeconds: TURNS_SECONDS }],
  },
  list_heads: {
    placement: BY_ID,
    move: { left: 'Turns of processes: the next turn at a list begins anew.' },
    erasure: { stays: 'Names a list, and expires a day after its last use.' },
    indexes: [{ name: 'expiry', key: { at: 1 }, expireAfterSeconds: HEADS_SECONDS }],
  },
  request_log: {
    ...OF_INVOICES,
    records: 'erased',
    indexes: [
      { name: 'list', key: { tenantId: 1, environment: 1, order: -1 } },
      { name: 'list_by_kind', key: { tenantId: 1, environment: 1, kind: 1, order: -1 } },
      // A process writes at most 120 records of a tenant in a minute, in batches that no request waits for.
      { name: 'list_by_key', key: { tenantId: 1, environment: 1, keyId: 1, order: -1 } },
      { name: 'list_by_route', key: { tenantId: 1, environment: 1, route: 1, order: -1 } },
      {
        name: 'list_failed',
        key: { tenantId: 1, environment: 1, failed: 1, order: -1 },
        partialFilterExpression: { failed: true },
      },
      { name: 'expiry', key: { at: 1 }, expireAfterSeconds: REQUESTS_SECONDS },
    ],
  },
  request_failures: {
    ...OF_INVOICES,
    indexes: [{ name: 'expiry', key: { at: 1 }, expireAfterSeconds: FAILURES_SECONDS }],
  },
  audit_log: {
    placement: BY_ID,
    move: 'moved',
    erasure: { stays: 'The entry of the operators that the tenant was erased; its own entries go.' },
    records: 'erased',
    indexes: [
      { name: 'list', key: { tenantId: 1, order: -1 } },
      { name: 'list_by_actor', key: { tenantId: 1, 'actor.id': 1, order: -1 } },
      { name: 'list_by_subject', key: { tenantId: 1, subject: 1, order: -1 } },
      { name: 'expiry', key: { at: 1 }, expireAfterSeconds: AUDIT_SECONDS },
    ],
  },
  webhook_events: {
    ...OF_INVOICES,
    records: 'erased',
    indexes: [
      { name: 'list', key: { tenantId: 1, environment: 1, order: -1 } },
      { name: 'list_by_type', key: { tenantId: 1, environment: 1, type: 1, order: -1 } },
      { name: 'follow', key: { tenantId: 1, environment: 1, place: 1 } },
    ],
  },
  // By ranges: the id of a delivery starts with the UUID of its event, so the deliveries of an event are neighbours.
  webhook_deliveries: {
    placement: { key: { _id: 1 } },
    move: 'moved',
    erasure: 'erased',
    indexes: [
      { name: 'list_by_state', key: { tenantId: 1, environment: 1, state: 1, order: -1 } },
      { name: 'list_by_endpoint_and_state', key: { endpointId: 1, state: 1, order: -1 } },
      {
        name: 'due',
        key: { endpointId: 1, 'work.retry': 1, 'work.readyAt': 1 },
        partialFilterExpression: { 'work.readyAt': { $exists: true } },
      },
      {
        name: 'overdue',
        key: { 'work.sweepAt': 1 },
        partialFilterExpression: { 'work.sweepAt': { $exists: true } },
      },
    ],
  },
  webhook_attempts: {
    placement: BY_ID,
    move: 'moved',
    erasure: {
      stays:
        'Those that no delivery names, because a process died or a delivery has newer ones, expire with WEBHOOK_RETENTION.',
    },
  },
  endpoint_hours: {
    ...OF_INVOICES,
    indexes: [{ name: 'expiry', key: { at: 1 }, expireAfterSeconds: STATISTICS_SECONDS }],
  },
  drafts: {
    ...OF_INVOICES,
    records: 'exported',
    indexes: [{ name: 'list', key: { tenantId: 1, environment: 1, order: -1 } }],
  },
  imports: {
    ...OF_INVOICES,
    records: 'exported',
    indexes: [
      { name: 'list', key: { tenantId: 1, environment: 1, order: -1 } },
      { name: 'due', key: { 'work.dueAt': 1 }, partialFilterExpression: { 'work.dueAt': { $exists: true } } },
      EXPIRES,
    ],
  },
  // Both by ranges: their ids start with the id of the import, so the documents of an import are neighbours.
  import_invoices: {
    placement: { key: { _id: 1 } },
    move: 'moved',
    erasure: 'erased',
    records: 'exported',
    indexes: [
      { name: 'tenant', key: { tenantId: 1, environment: 1 } },
      { name: 'list_by_verdict', key: { importId: 1, round: 1, verdict: 1, nth: 1 } },
      {
        name: 'by_outcome',
        key: { importId: 1, round: 1, outcome: 1 },
        partialFilterExpression: { outcome: { $exists: true } },
      },
      {
        name: 'awaiting',
        key: { importId: 1, round: 1, awaits: 1, nth: 1 },
        partialFilterExpression: { awaits: { $exists: true } },
      },
      EXPIRES,
    ],
  },
  import_files: {
    placement: { key: { _id: 1 } },
    move: 'moved',
    erasure: 'erased',
    records: 'erased',
    indexes: [{ name: 'tenant', key: { tenantId: 1, environment: 1 } }, EXPIRES],
  },
  import_rows: {
    ...OF_INVOICES,
    records: 'exported',
    indexes: [
      { name: 'raw', key: { tenantId: 1, environment: 1, raw: 1 } },
      { name: 'sale_lines', key: { tenantId: 1, environment: 1, 'sale.lines': 1 } },
    ],
  },
  import_mappings: {
    ...OF_INVOICES,
    records: 'exported',
    indexes: [
      { name: 'tenant', key: { tenantId: 1, environment: 1 } },
      { name: 'expiry', key: { usedAt: 1 }, expireAfterSeconds: MAPPINGS_SECONDS },
    ],
  },
  [`${DOCUMENTS_BUCKET}.files`]: {
    placement: BY_ID,
    move: 'moved',
    erasure: LEGAL_DOCUMENTS,
    indexes: [{ name: 'filename_1_uploadDate_1', key: { filename: 1, uploadDate: 1 } }],
  },
  // Both have the indexes of GridFS, with the names that drivers use. The service writes file entries itself, so no
  // driver creates them. The key keeps the chunks of a file on one shard. It is hashed, because the ids of files grow
  // with time.
  [`${DOCUMENTS_BUCKET}.chunks`]: {
    placement: { key: { files_id: 'hashed' } },
    move: 'moved',
    erasure: LEGAL_DOCUMENTS,
    indexes: [{ name: 'files_id_1_n_1', key: { files_id: 1, n: 1 }, unique: true }],
  },
  logos: OF_INVOICES,
  rate_windows: {
    placement: BY_ID,
    move: { left: 'Windows last minutes, and begin anew.' },
    erasure: { stays: 'Ids of keys, for a minute.' },
    indexes: [{ name: 'expiry', key: { expire: 1 }, expireAfterSeconds: 0 }],
  },
  authority_ledger: {
    placement: BY_ID,
    move: 'moved',
    erasure: { stays: 'What the authority decided, as long as the documents.' },
  },
  mock_submissions: {
    ...OF_INVOICES,
    indexes: [{ name: 'decisions', key: { decisionAt: 1, _id: 1 } }],
  },
  mock_refusals: OF_INVOICES,
  tenants: {
    placement: { whole: BY_TENANTS },
    move: 'moved',
    erasure: { stays: 'Its id, name and ICE, as long as there are legal documents, which are found by them.' },
    indexes: [
      { name: 'created', key: { createdAt: 1, _id: 1 } },
      { name: 'owners_look', key: { ownersLookAt: 1 } },
      {
        name: 'key_hash',
        key: { 'keys.hash': 1 },
        unique: true,
        partialFilterExpression: { 'keys.hash': { $exists: true } },
      },
      {
        name: 'key_id',
        key: { 'keys.id': 1 },
        unique: true,
        partialFilterExpression: { 'keys.id': { $exists: true } },
      },
      {
        name: 'erasures_pending',
        key: { 'erasure.pending': 1, _id: 1 },
        partialFilterExpression: { 'erasure.pending': { $exists: true } },
      },
      { name: 'logos', key: { logos: 1 }, partialFilterExpression: { logos: { $exists: true } } },
      {
        name: 'profile_logo',
        key: { 'profile.logo.sha256': 1 },
        partialFilterExpression: { 'profile.logo.sha256': { $exists: true } },
      },
    ],
  },
  webhook_endpoints: {
    placement: { whole: BY_TENANTS },
    move: 'moved',
    erasure: 'erased',
    indexes: [
      { name: 'slot', key: { tenantId: 1, environment: 1, slot: 1 }, unique: true },
      { name: 'to_judge', key: { judgeAt: 1 }, partialFilterExpression: { judgeAt: { $exists: true } } },
      { name: 'failing_since', key: { failingSince: 1 } },
    ],
  },
  // The indexes of people's collections are those of better-auth, with the names that it uses, and TTL indexes that
  // remove expired documents.
  people: {
    ...OF_PEOPLE,
    indexes: [{ name: 'people_email_uidx', key: { email: 1 }, unique: true }],
  },
  person_sessions: {
    ...OF_PEOPLE,
    indexes: [
      { name: 'person_sessions_token_uidx', key: { token: 1 }, unique: true },
      { name: 'person_sessions_userId_idx', key: { userId: 1 } },
      EXPIRES,
    ],
  },
  person_passwords: {
    ...OF_PEOPLE,
    indexes: [{ name: 'person_passwords_userId_idx', key: { userId: 1 } }],
  },
  person_resets: {
    ...OF_PEOPLE,
    indexes: [
      { name: 'person_resets_identifier_idx', key: { identifier: 1 } },
      // `value` is the id of the person: a new password invalidates all resets of the person.
      { name: 'value', key: { value: 1 } },
      EXPIRES,
    ],
  },
  person_codes: {
    ...OF_PEOPLE,
    indexes: [
      { name: 'person_codes_secret_idx', key: { secret: 1 } },
      { name: 'person_codes_userId_idx', key: { userId: 1 } },
    ],
  },
  person_passkeys: {
    ...OF_PEOPLE,
    indexes: [
      { name: 'person_passkeys_userId_idx', key: { userId: 1 } },
      { name: 'person_passkeys_credentialID_idx', key: { credentialID: 1 } },
    ],
  },
  person_grants: {
    ...OF_PEOPLE,
    indexes: [{ name: 'tenant', key: { 'memberships.tenantId': 1 } }],
  },
  invitations: {
    ...OF_PEOPLE,
    indexes: [{ name: 'tenant', key: { 'grants.memberships.tenantId': 1 } }, EXPIRES],
  },
  jobs: {
    placement: {
      whole: 'Only waits and retries have jobs, and Agenda changes single jobs that it finds by their names.',
    },
    move: { left: 'A job only wakes, and may be locked by a dead process. What is due is found without jobs.' },
    erasure: { stays: 'Ids of invoices and endpoints, until the job runs and finds nothing.' },
  },
  authority_differences: {
    placement: {
      whole:
        'The open differences of each kind are limited, operators acknowledge single ones, and resolved ones expire.',
    },
    move: 'moved',
    erasure: { stays: 'Ids of submissions that operators have to clarify with the authority.' },
    indexes: [
      { name: 'open', key: { kind: 1, submissionId: 1 }, partialFilterExpression: { open: true } },
      { name: 'expiry', key: { resolvedAt: 1 }, expireAfterSeconds: RESOLVED_SECONDS },
    ],
  },
  authority_state: { placement: FEW_DOCUMENTS, move: 'moved', erasure: NOTHING_OF_TENANTS },
  authority_reconciliation: { placement: FEW_DOCUMENTS, move: 'moved', erasure: NOTHING_OF_TENANTS },
  claim_members: {
    placement: FEW_DOCUMENTS,
    move: { left: 'Heartbeats of processes.' },
    erasure: NOTHING_OF_TENANTS,
  },
  installation: { placement: FEW_DOCUMENTS, move: 'moved', erasure: 'erased' },
  health: {
    placement: FEW_DOCUMENTS,
    move: { left: 'Only shows that the store can be written to.' },
    erasure: NOTHING_OF_TENANTS,
  },
  data_moves: {
    placement: FEW_DOCUMENTS,
    move: { left: 'Says of a store that its data was moved away, or is still arriving.' },
    erasure: NOTHING_OF_TENANTS,
  },
  agenda_logs: {
    placement: null,
    move: { left: 'Created by Agenda, and empty: no log of jobs is kept.' },
    erasure: NOTHING_OF_TENANTS,
  },
};

/** The placements of the collections that repositories use. */
export const PLACEMENTS: Readonly<Record<string, Placement>> = Object.fromEntries(
  Object.entries(COLLECTIONS).flatMap(([name, { placement }]) => (placement ? [[name, placement]] : [])),
);

/** The collections of records of tenants. */
export const RECORDS: readonly string[] = Object.entries(COLLECTIONS).flatMap(([name, { records }]) =>
  records === undefined ? [] : [name],
);

/** The collections that an export of a tenant writes as they are stored. */
export const EXPORTED_RECORDS: readonly string[] = RECORDS.filter((name) => COLLECTIONS[name]?.records === 'exported');
