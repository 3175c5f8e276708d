import type { Collection, Db } from 'mongodb';
import { MAX_ENDPOINTS } from '../domain/limits.ts';
import { FAILING_AFTER_MS, type WebhookEndpoint } from '../domain/webhook/endpoint.ts';
import type { EndpointRepository } from '../domain/webhook/ports.ts';
import { isDuplicateKey } from './duplicate-key.ts';

interface EndpointDocument extends Omit<WebhookEndpoint, 'id'> {
  /** When the failures of the endpoint are next evaluated; absent if nothing has failed within a day. */
  judgeAt?: Date;
  /** The share of failures last reported to the tenant, percent; absent if none was reported. */
  toldShare?: number;
  _id: string;
  /** 0 to MAX_ENDPOINTS - 1, unique in a tenant and environment, so that concurrent inserts cannot exceed the limit. */
  slot: number;
}

/** Stores webhook endpoints in the collection `webhook_endpoints`. */
export function createWebhookEndpointRepository(db: Db): EndpointRepository {
  const endpoints: Collection<EndpointDocument> = db.collection<EndpointDocument>('webhook_endpoints');
  return {
    async insert({ id, ...endpoint }) {
      const { tenantId, environment } = endpoint;
      for (;;) {
        const taken = await endpoints.find({ tenantId, environment }).project<{ slot: number }>({ slot: 1 }).toArray();
        const slot = freeSlot(new Set(taken.map((each) => each.slot)));
        if (slot === null) return false;
        try {
          await endpoints.insertOne({ _id: id, ...endpoint, slot });
          return true;
        } catch (error) {
          // A concurrent insert took the slot. The next round has fewer free slots.
          if (!isDuplicateKey(error)) throw error;
        }
      }
    },
    async list(tenantId, environment) {
      const found = await endpoints.find({ tenantId, environment }).toArray();
      return found.map(endpointOf).sort(newestFirst);
    },
    async subscribed(tenantIds, environment, types) {
      const filter = { tenantId: { $in: [...tenantIds] }, environment, active: true, events: { $in: [...types] } };
      return (await endpoints.find(filter).toArray()).map(endpointOf);
    },
    async find(tenantId, environment, endpointId) {
      const found = await endpoints.findOne({ _id: endpointId, tenantId, environment });
      return found && endpointOf(found);
    },
    async findOfAnyTenant(endpointId) {
      const found = await endpoints.findOne({ _id: endpointId });
      return found && endpointOf(found);
    },
    async update(tenantId, environment, endpointId, changes) {
      const changed = await endpoints.findOneAndUpdate(
        { _id: endpointId, tenantId, environment },
        changes.active === false ? { ...DISABLED, $set: { ...changes, ...DISABLED.$set } } : { $set: changes },
        { returnDocument: 'after' },
      );
      return changed && endpointOf(changed);
    },
    async noteFailure(endpointId, since, judgeAt) {
      // Only active endpoints: a failure that arrives after the endpoint was disabled would still count when it is
      // enabled again.
      const first = {
        failingSince: { $ifNull: ['$failingSince', since] },
        judgeAt: { $ifNull: ['$judgeAt', judgeAt] },
      };
      await endpoints.updateOne({ _id: endpointId, active: true }, [{ $set: first }]);
    },
    async noteSuccess(endpointId) {
      await endpoints.updateOne({ _id: endpointId, failingSince: { $ne: null } }, { $set: { failingSince: null } });
    },
    async takeToJudge(now, again, limit) {
      const due = { judgeAt: { $lte: now }, active: true };
      const found = await endpoints.find(due).sort({ judgeAt: 1 }).limit(limit).toArray();
      const taken = await Promise.all(
        found.map(({ _id }) =>
          endpoints.findOneAndUpdate({ _id, ...due }, { $set: { judgeAt: again } }, { returnDocument: 'after' }),
        ),
      );
      return taken.flatMap((document) =>
        document ? [{ endpoint: endpointOf(document), toldShare: document.toldShare ?? 0 }] : [],
      );
    },
    async markJudged(endpointId, { toldShare, judgeAt }) {
      const changes = judgeAt
        ? { $set: { toldShare, judgeAt } }
        : { $set: { toldShare }, $unset: { judgeAt: '' as const } };
      // An endpoint disabled meanwhile is no longer evaluated.
      await endpoints.updateOne({ _id: endpointId, active: true }, changes);
    },
    async failing(now, limit) {
      const before = new Date(now.getTime() - FAILING_AFTER_MS);
      const found = await endpoints
        .find({ failingSince: { $lte: before }, active: true })
        .sort({ failingSince: 1 })
        .limit(limit)
        .toArray();
      return found.map(endpointOf);
    },
    async replaceSecrets(endpointId, [present], secrets) {
      const changed = await endpoints.findOneAndUpdate(
        // The newest secret is the first, and every sealed value is unique, so this fails if the secrets changed
        // meanwhile.
        { _id: endpointId, 'secrets.0.sealed': present?.sealed ?? '' },
        { $set: { secrets: [...secrets], updatedAt: new Date() } },
        { returnDocument: 'after' },
      );
      return changed && endpointOf(changed);
    },
    async resealSecrets(endpointId, [present], secrets) {
      const { matchedCount } = await endpoints.updateOne(
        { _id: endpointId, 'secrets.0.sealed': present?.sealed ?? '' },
        { $set: { secrets: [...secrets] } },
      );
      return matchedCount === 1;
    },
    async pageOfAll(afterId, limit) {
      const found = await endpoints
        .find({ _id: { $gt: afterId } })
        .sort({ _id: 1 })
        .limit(limit)
        .toArray();
      return found.map(endpointOf);
    },
    async delete(tenantId, environment, endpointId) {
      const { deletedCount } = await endpoints.deleteOne({ _id: endpointId, tenantId, environment });
      return deletedCount === 1;
    },
  };
}

/** The changes of every update that disables an endpoint. Nothing is sent to it, so it does not fail any more. */
const DISABLED = {
  $inc: { timesDisabled: 1 },
  $set: { failingSince: null },
  $unset: { judgeAt: '', toldShare: '' },
} as const;

/** Returns a random free slot, so that concurrent inserts rarely choose the same one. */
function freeSlot(taken: ReadonlySet<number>): number | null {
  const free = Array.from({ length: MAX_ENDPOINTS }, (_, slot) => slot).filter((slot) => !taken.has(slot));
  return free[Math.floor(Math.random() * free.length)] ?? null;
}

function newestFirst(a: WebhookEndpoint, b: WebhookEndpoint): number {
  return b.createdAt.getTime() - a.createdAt.getTime() || (a.id < b.id ? 1 : -1);
}

function endpointOf(document: EndpointDocument): WebhookEndpoint {
  const { _id, slot: _slot, judgeAt: _judgeAt, toldShare: _toldShare, ...endpoint } = document;
  return { id: _id, ...endpoint };
}
