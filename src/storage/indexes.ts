import { type Collection, type Db, type IndexDescription, MongoServerError } from 'mongodb';
import { MANY_ATTEMPTS, SUSPICIOUS_CLAIMS } from '../domain/invoice/attention.ts';
import { AUDIT_SECONDS } from './audit-log.ts';
import { DOCUMENTS_BUCKET } from './documents.ts';
import { STATISTICS_SECONDS } from './endpoint-statistics.ts';
import { COUNTS_SECONDS } from './invoice-counts.ts';
import { HEADS_SECONDS } from './list-turns.ts';
import { FAILURES_SECONDS, REQUESTS_SECONDS } from './request-log.ts';
import { TURNS_SECONDS } from './series-turns.ts';

/** How long a resolved difference from the authority's ledger is kept. */
const RESOLVED_SECONDS = 90 * 86_400;

/**
 * The indexes of the service, by collection; the TTL indexes of the webhooks are in `webhook-retention.ts`. Every query
 * uses an index; `test/storage` asserts this with `explain`.
 */
export const INDEXES: Readonly<Record<string, IndexDescription[]>> = {
  tenants: [
    { name: 'created', key: { createdAt: 1, _id: 1 } },
    {
      name: 'key_hash',
      key: { 'keys.hash': 1 },
      unique: true,
      partialFilterExpression: { 'keys.hash': { $exists: true } },
    },
    { name: 'key_id', key: { 'keys.id': 1 }, unique: true, partialFilterExpression: { 'keys.id': { $exists: true } } },
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
  kept_invoices: [
    { name: 'list', key: { tenantId: 1, _id: 1 } },
    { name: 'retention', key: { keptThrough: 1, issueYear: 1 } },
    { name: 'with_pdf', key: { tenantId: 1 }, partialFilterExpression: { 'pdf.file': { $exists: true } } },
    { name: 'held_as', key: { heldAs: 1 }, partialFilterExpression: { heldAs: { $exists: true } } },
    { name: 'digest', key: { 'xml.sha256': 1 }, partialFilterExpression: { 'xml.sha256': { $exists: true } } },
  ],
  invoices: [
    { name: 'list', key: { tenantId: 1, environment: 1, order: -1 } },
    { name: 'list_by_status', key: { tenantId: 1, environment: 1, status: 1, order: -1 } },
    { name: 'list_by_customer', key: { tenantId: 1, environment: 1, customerKey: 1, order: -1 } },
    { name: 'list_by_ice', key: { tenantId: 1, environment: 1, 'customer.ice': 1, order: -1 } },
    { name: 'list_by_amount', key: { tenantId: 1, environment: 1, amount: 1, order: -1 } },
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
    // The authority holds few invoices under another id. All others lack the field.
    { name: 'held_as', key: { heldAs: 1 }, partialFilterExpression: { heldAs: { $exists: true } } },
    {
      name: 'live_digest',
      key: { 'xml.sha256': 1 },
      partialFilterExpression: { environment: 'live', 'xml.sha256': { $exists: true } },
    },
    { name: 'live_changed', key: { updatedAt: 1 }, partialFilterExpression: { environment: 'live' } },
  ],
  request_log: [
    { name: 'list', key: { tenantId: 1, environment: 1, order: -1 } },
    { name: 'list_by_kind', key: { tenantId: 1, environment: 1, kind: 1, order: -1 } },
    {
      name: 'list_failed',
      key: { tenantId: 1, environment: 1, failed: 1, order: -1 },
      partialFilterExpression: { failed: true },
    },
    { name: 'expiry', key: { at: 1 }, expireAfterSeconds: REQUESTS_SECONDS },
  ],
  request_failures: [{ name: 'expiry', key: { at: 1 }, expireAfterSeconds: FAILURES_SECONDS }],
  audit_log: [
    { name: 'list', key: { tenantId: 1, order: -1 } },
    { name: 'list_by_actor', key: { tenantId: 1, 'actor.id': 1, order: -1 } },
    { name: 'list_by_subject', key: { tenantId: 1, subject: 1, order: -1 } },
    { name: 'expiry', key: { at: 1 }, expireAfterSeconds: AUDIT_SECONDS },
  ],
  endpoint_hours: [{ name: 'expiry', key: { at: 1 }, expireAfterSeconds: STATISTICS_SECONDS }],
  list_heads: [{ name: 'expiry', key: { at: 1 }, expireAfterSeconds: HEADS_SECONDS }],
  series_turns: [{ name: 'expiry', key: { until: 1 }, expireAfterSeconds: TURNS_SECONDS }],
  invoice_counts: [{ name: 'expiry', key: { writtenAt: 1 }, expireAfterSeconds: COUNTS_SECONDS }],
  authority_differences: [
    { name: 'open', key: { kind: 1, submissionId: 1 }, partialFilterExpression: { open: true } },
    { name: 'expiry', key: { resolvedAt: 1 }, expireAfterSeconds: RESOLVED_SECONDS },
  ],
  mock_submissions: [{ name: 'decisions', key: { decisionAt: 1, _id: 1 } }],
  webhook_events: [
    { name: 'list', key: { tenantId: 1, environment: 1, order: -1 } },
    { name: 'list_by_type', key: { tenantId: 1, environment: 1, type: 1, order: -1 } },
    { name: 'follow', key: { tenantId: 1, environment: 1, place: 1 } },
  ],
  webhook_deliveries: [
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
  // The indexes of GridFS, with the names that drivers use. The service writes file entries itself, so no driver
  // creates them.
  [`${DOCUMENTS_BUCKET}.chunks`]: [{ name: 'files_id_1_n_1', key: { files_id: 1, n: 1 }, unique: true }],
  [`${DOCUMENTS_BUCKET}.files`]: [{ name: 'filename_1_uploadDate_1', key: { filename: 1, uploadDate: 1 } }],
  rate_windows: [{ name: 'expiry', key: { expire: 1 }, expireAfterSeconds: 0 }],
  webhook_endpoints: [
    { name: 'slot', key: { tenantId: 1, environment: 1, slot: 1 }, unique: true },
    { name: 'to_judge', key: { judgeAt: 1 }, partialFilterExpression: { judgeAt: { $exists: true } } },
    { name: 'failing_since', key: { failingSince: 1 } },
  ],
  // The indexes of better-auth, with the names that it uses, and TTL indexes that remove expired documents.
  people: [{ name: 'people_email_uidx', key: { email: 1 }, unique: true }],
  person_sessions: [
    { name: 'person_sessions_token_uidx', key: { token: 1 }, unique: true },
    { name: 'person_sessions_userId_idx', key: { userId: 1 } },
    { name: 'expiry', key: { expiresAt: 1 }, expireAfterSeconds: 0 },
  ],
  person_passwords: [{ name: 'person_passwords_userId_idx', key: { userId: 1 } }],
  person_resets: [
    { name: 'person_resets_identifier_idx', key: { identifier: 1 } },
    // `value` is the id of the person: a new password invalidates all resets of the person.
    { name: 'value', key: { value: 1 } },
    { name: 'expiry', key: { expiresAt: 1 }, expireAfterSeconds: 0 },
  ],
  person_codes: [
    { name: 'person_codes_secret_idx', key: { secret: 1 } },
    { name: 'person_codes_userId_idx', key: { userId: 1 } },
  ],
  person_passkeys: [
    { name: 'person_passkeys_userId_idx', key: { userId: 1 } },
    { name: 'person_passkeys_credentialID_idx', key: { credentialID: 1 } },
  ],
  person_grants: [{ name: 'tenant', key: { 'memberships.tenantId': 1 } }],
  invitations: [
    { name: 'tenant', key: { 'grants.memberships.tenantId': 1 } },
    { name: 'expiry', key: { expiresAt: 1 }, expireAfterSeconds: 0 },
  ],
};

/** MongoDB's error codes for an index that exists with other options, or with another key or filter. */
const CONFLICTS: readonly unknown[] = [85, 86];
const INDEX_NOT_FOUND = 27;
const INDEX_BUILD_ABORTED = 276;

/**
 * Creates missing indexes, and replaces those that exist with another definition under the same name. Safe to run at
 * each start, and in several processes at once. An upgrade drops indexes that are no longer used.
 * @param report called for each index that is replaced
 */
export async function ensureIndexes(db: Db, report: (text: string) => void = () => {}): Promise<void> {
  await Promise.all(
    Object.entries(INDEXES).map(async ([name, indexes]) => {
      const collection = db.collection(name);
      try {
        if (indexes.length > 0) await collection.createIndexes(indexes);
      } catch (error) {
        if (!hasCode(error, [...CONFLICTS, INDEX_BUILD_ABORTED])) throw error;
        for (const index of indexes) await ensureIndex(collection, index, report);
      }
    }),
  );
}

async function ensureIndex(
  collection: Collection,
  index: IndexDescription,
  report: (text: string) => void,
): Promise<void> {
  try {
    await collection.createIndexes([index]);
  } catch (error) {
    // Another process has just dropped the index in order to replace it.
    if (hasCode(error, [INDEX_BUILD_ABORTED])) return ensureIndex(collection, index, report);
    if (!hasCode(error, CONFLICTS)) throw error;
    // Without a unique index, other processes could store duplicates meanwhile.
    if (index.unique) throw error;
    // Another process may have replaced the index meanwhile.
    if (await hasIndex(collection, index)) return;
    report(`replaces the index ${index.name} of ${collection.collectionName}, which was created otherwise`);
    await dropIndex(collection, String(index.name));
    await ensureIndex(collection, index, report);
  }
}

async function dropIndex(collection: Collection, name: string): Promise<void> {
  try {
    await collection.dropIndex(name);
  } catch (error) {
    // Ignored: another process has just dropped the index.
    if (!hasCode(error, [INDEX_NOT_FOUND])) throw error;
  }
}

async function hasIndex(collection: Collection, wanted: IndexDescription): Promise<boolean> {
  const facts = ({ key, partialFilterExpression, expireAfterSeconds }: Partial<IndexDescription>) =>
    JSON.stringify([key, partialFilterExpression ?? null, expireAfterSeconds ?? null]);
  const present = await collection.listIndexes().toArray();
  return present.some((index) => index.name === wanted.name && facts(index) === facts(wanted));
}

function hasCode(error: unknown, codes: readonly unknown[]): boolean {
  return error instanceof MongoServerError && codes.includes(error.code);
}
