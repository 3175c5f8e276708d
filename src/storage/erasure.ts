import type { Binary, Collection, Db, Document, Filter } from 'mongodb';
import { KIND_NAMES } from '../domain/invoice/kinds.ts';
import { INVOICE_STATUSES, isFinal } from '../domain/invoice/lifecycle.ts';
import { ENVIRONMENTS } from '../domain/tenant/tenant.ts';
import type { Erasure, ErasureStore, TenantCounts } from '../domain/tenant-data/erasure.ts';
import { RECORDS } from './collection-rules.ts';
import { DAY_SUMS_COLLECTION } from './day-sums.ts';
import { erasableInvoices } from './erasure-invoices.ts';
import { removePeopleOf } from './erasure-people.ts';
import { KEPT_COLLECTION } from './kept-invoices.ts';
import { certificateId } from './signers-certificates.ts';
import { fileCollections } from './stored-files.ts';
import type { DeliveryDocument } from './webhook-delivery-document.ts';

interface ErasedTenant {
  _id: string;
  name: string;
  keys: unknown[];
  logos?: string[];
  erasure?: {
    since: Date;
    /** Present until everything is removed. */
    pending?: true;
    /** SHA-256 of the tenant's logos, current and earlier. */
    logos?: string[];
    /** Ids of the tenant's webhook endpoints. */
    endpoints?: string[];
  };
}

interface OwnedDocument {
  _id: string;
  tenantId: string;
}

interface DeliveryFacts extends OwnedDocument {
  attempts: DeliveryDocument['attempts'];
  work?: { token: string | null };
}

/** Matches every kind, so that the index finds documents by the fields that follow the kind. */
const OF_ANY_KIND = { $in: KIND_NAMES };

/**
 * Erases tenants (docs/decisions/0072). The document of an erased tenant stays, without keys, until all its data is
 * removed.
 */
export function createErasureStore(db: Db): ErasureStore {
  const tenants: Collection<ErasedTenant> = db.collection('tenants');
  const endpoints: Collection<OwnedDocument & { active: boolean }> = db.collection('webhook_endpoints');
  const hours: Collection<{ _id: string }> = db.collection('endpoint_hours');
  const deliveries: Collection<DeliveryFacts> = db.collection('webhook_deliveries');
  const attempts: Collection<{ _id: string }> = db.collection('webhook_attempts');
  const counts = ['invoice_counts', DAY_SUMS_COLLECTION, 'request_failures'].map((name) =>
    db.collection<{ _id: string }>(name),
  );
  const logos: Collection<{ _id: string; content: Binary }> = db.collection('logos');
  const records = RECORDS.map((name) => db.collection<OwnedDocument>(name));
  const installation = db.collection<{ _id: string }>('installation');
  const kept = db.collection<OwnedDocument>(KEPT_COLLECTION);
  const people = {
    people: db.collection<{ _id: string }>('people'),
    grants: db.collection('person_grants') as never,
    sessions: db.collection('person_sessions') as never,
    resets: db.collection('person_resets') as never,
    credentials: ['person_passwords', 'person_codes', 'person_passkeys'].map((name) => db.collection(name)) as never,
    invitations: db.collection('invitations') as never,
  };
  const invoices = erasableInvoices({
    invoices: db.collection('invoices'),
    kept: db.collection(KEPT_COLLECTION),
    numbers: db.collection('invoice_numbers'),
    mock: ['mock_submissions', 'mock_refusals'].map((name) => db.collection<{ _id: string }>(name)),
    ledger: db.collection('authority_ledger'),
    tenants: db.collection('tenants'),
    stored: fileCollections(db),
  });

  async function count(collection: string, query: Document): Promise<number> {
    // Not countDocuments: on some servers its aggregation reads every document.
    return Number((await db.command({ count: collection, query })).n);
  }

  async function erasureOf(tenantId: string): Promise<ErasedTenant['erasure'] & Partial<Pick<ErasedTenant, '_id'>>> {
    const found = await tenants.findOne({ _id: tenantId }, { projection: { erasure: 1 } });
    return found?.erasure ?? { since: new Date(0) };
  }

  /**
   * Whether a tenant that is not erased has or had this logo. Two queries, because not every server uses two indexes
   * for an `$or`.
   */
  async function isUsed(sha256: string): Promise<boolean> {
    const uses: Filter<ErasedTenant>[] = [{ logos: sha256 }, { 'profile.logo.sha256': sha256 } as never];
    for (const use of uses) if (await tenants.findOne(use, { projection: { _id: 1 } })) return true;
    return false;
  }

  async function find(tenantId: string): Promise<Erasure | null> {
    const found = await tenants.findOne({ _id: tenantId, erasure: { $exists: true } }, { projection: { erasure: 1 } });
    return found && erasure(found);
  }

  return {
    ...invoices,
    find,

    async begin(tenantId, at) {
      const profileLogo = { $ifNull: ['$profile.logo.sha256', null] };
      const had = { $setUnion: [{ $ifNull: ['$logos', []] }, { $cond: [profileLogo, [profileLogo], []] }] };
      const { legalName, ice } = { legalName: '$profile.legalName', ice: '$profile.ice' };
      await tenants.updateOne({ _id: tenantId, erasure: { $exists: false } }, [
        { $set: { erasure: { since: at, pending: true, logos: had }, keys: [] } },
        // Name and ICE stay, so that the kept documents can be found. `$literal`, because `$set` would merge `{}`
        // with the old profile.
        { $set: { seller: { legalName, ice }, profile: { $literal: {} } } },
        { $unset: ['logos', 'requestsPerMinute', 'suspendedAt'] },
      ]);
      return find(tenantId);
    },
    async pending(after, limit) {
      const found = await tenants
        .find({ 'erasure.pending': true, ...(after !== null && { _id: { $gt: after } }) })
        .project<ErasedTenant>({ erasure: 1 })
        .sort({ _id: 1 })
        .limit(limit)
        .toArray();
      return found.map(erasure);
    },

    async counts(tenantId) {
      const tenant = await tenants.findOne({ _id: tenantId }, { projection: { 'keys.id': 1 } });
      const live = (isDecided: boolean) => {
        const statuses = INVOICE_STATUSES.filter((status) => isFinal(status) === isDecided);
        return count('invoices', { tenantId, environment: 'live', kind: OF_ANY_KIND, status: { $in: statuses } });
      };
      const found: TenantCounts = {
        keys: tenant?.keys.length ?? 0,
        members: await count('person_grants', { 'memberships.tenantId': tenantId }),
        endpoints: await count('webhook_endpoints', { tenantId }),
        testInvoices: await count('invoices', { tenantId, environment: 'test' }),
        drafts: await count('drafts', { tenantId }),
        events: await count('webhook_events', { tenantId }),
        deliveries: await count('webhook_deliveries', { tenantId, environment: { $in: [...ENVIRONMENTS] } }),
        requests: await count('request_log', { tenantId }),
        auditEntries: await count('audit_log', { tenantId }),
        liveDecided: await live(true),
        liveUnderWay: await live(false),
      };
      return found;
    },

    async blocked(tenantId, limit) {
      const status = { $in: INVOICE_STATUSES.filter((each) => !isFinal(each)) };
      const found = await db
        .collection<{ _id: string }>('invoices')
        .find({ tenantId, environment: 'live', kind: OF_ANY_KIND, status, 'work.blocked': { $exists: true } })
        .project<{ _id: string }>({ _id: 1 })
        .limit(limit)
        .toArray();
      return found.map(({ _id }) => _id);
    },

    removePeople: (tenantId, limit) => removePeopleOf(people, tenantId, limit),

    async removeEndpoints(tenantId, limit) {
      const found = await endpoints.find({ tenantId }).project<{ _id: string }>({ _id: 1 }).limit(limit).toArray();
      const ids = found.map(({ _id }) => _id);
      if (ids.length > 0) {
        // The ids are stored because attempts under way add to the endpoint's statistics even after its removal.
        await tenants.updateOne({ _id: tenantId }, { $addToSet: { 'erasure.endpoints': { $each: ids } } });
        await endpoints.deleteMany({ _id: { $in: ids } });
      }
      const { endpoints: had = [] } = await erasureOf(tenantId);
      let removed = ids.length;
      for (const id of had) removed += await removeRange(hours, `${id} `, `${id}!`, limit);
      return removed;
    },

    async removeDeliveries(tenantId, limit) {
      const found = await deliveries
        .find({ tenantId })
        .project<DeliveryFacts>({ attempts: 1, 'work.token': 1 })
        .limit(limit)
        .toArray();
      if (found.length === 0) return 0;
      const made = found.flatMap((each) => [...each.attempts, ...(each.work?.token ? [each.work.token] : [])]);
      if (made.length > 0) await attempts.deleteMany({ _id: { $in: made } });
      await deliveries.deleteMany({ _id: { $in: found.map(({ _id }) => _id) } });
      return found.length;
    },

    async removeRecords(tenantId, limit) {
      // One collection after the other, so that one step of the erasure runs few statements.
      for (const collection of records) {
        const found = await collection.find({ tenantId }).project<{ _id: string }>({ _id: 1 }).limit(limit).toArray();
        if (found.length === 0) continue;
        await collection.deleteMany({ _id: { $in: found.map(({ _id }) => _id) } });
        return found.length;
      }
      let removed = 0;
      for (const each of counts) removed ||= await removeRange(each, `${tenantId} `, `${tenantId}!`, limit);
      removed ||= (await installation.deleteOne({ _id: certificateId(tenantId) })).deletedCount;
      return removed;
    },

    async removeLogos(tenantId) {
      const { logos: had = [] } = await erasureOf(tenantId);
      for (const sha256 of had) {
        const logo = (await isUsed(sha256)) ? null : await logos.findOneAndDelete({ _id: sha256 });
        // Another tenant may have set the same logo meanwhile.
        if (logo && (await isUsed(sha256)))
          await logos.updateOne({ _id: sha256 }, { $setOnInsert: { content: logo.content } }, { upsert: true });
      }
    },

    async finish(tenantId) {
      const erased = { _id: tenantId, erasure: { $exists: true } };
      if (await kept.findOne({ tenantId }, { projection: { _id: 1 } })) {
        const no = { 'erasure.pending': '', 'erasure.logos': '', 'erasure.endpoints': '' } as never;
        await tenants.updateOne(erased, { $unset: no });
        return;
      }
      for (const environment of ENVIRONMENTS)
        while ((await invoices.removeNumbers(tenantId, environment, NUMBERS)) === NUMBERS);
      await tenants.deleteOne(erased);
    },
  };
}

/** Maximum number of legal numbers without a document that one step of the erasure removes. */
const NUMBERS = 100;

function erasure({ _id, erasure: stored }: Pick<ErasedTenant, '_id' | 'erasure'>): Erasure {
  return { tenantId: _id, since: stored?.since ?? new Date(0), isPending: stored?.pending === true };
}

/** Removes up to `limit` documents whose `_id` is at least `from` and less than `until`. @returns how many */
async function removeRange(
  collection: Collection<{ _id: string }>,
  from: string,
  until: string,
  limit: number,
): Promise<number> {
  const found = await collection
    .find({ _id: { $gte: from, $lt: until } })
    .project<{ _id: string }>({ _id: 1 })
    .limit(limit)
    .toArray();
  if (found.length > 0) await collection.deleteMany({ _id: { $in: found.map(({ _id }) => _id) } });
  return found.length;
}
