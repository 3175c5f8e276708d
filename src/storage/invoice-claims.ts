import type { Collection, Filter } from 'mongodb';
import { CLOCK_SKEW_MS } from '../domain/durations.ts';
import { ALL_PARTITIONS, HURRIED_LANE, LANE_NAMES, slotAfter } from '../domain/invoice/lanes.ts';
import { MOST_PAUSED, pauseAfter } from '../domain/invoice/pauses.ts';
import type { Claim, InvoiceClaims } from '../domain/invoice/repository.ts';
import { later } from '../domain/later.ts';
import { type InvoiceDocument, invoiceOf, placeOf } from './invoice-document.ts';
import { OUTBOX_GRACE_MS } from './invoice-transitions.ts';
import { createLeases, type Lease } from './leases.ts';
import { decoded } from './pages.ts';
import type { StoreClock } from './store-clock.ts';
import type { StoredWork } from './stored-work.ts';

/** Finds due invoices for workers, and claims many of them together. */
export function claimsOf(invoices: Collection<InvoiceDocument>, clock: StoreClock): InvoiceClaims {
  const leases = createLeases(invoices, { token: 'work.token', until: (end) => ({ 'work.dueAt': end }) });

  return {
    async due(lane, { from, until }, limit, lateMs = 0) {
      const found = await invoices
        .find({
          'work.lane': lane,
          'work.partition': { $gte: from, $lt: until },
          'work.dueAt': { $lte: later(clock(), -lateMs) },
        })
        .project<{ _id: string; work: { partition: number } }>({ 'work.partition': 1 })
        .sort({ 'work.partition': 1, 'work.dueAt': 1 })
        .limit(limit)
        .toArray();
      return found.map(({ _id, work }) => ({ invoiceId: _id, slot: work.partition }));
    },

    async backlog(lane, limit) {
      const found = await invoices
        .find({
          'work.lane': lane,
          'work.partition': { $gte: ALL_PARTITIONS.from, $lt: ALL_PARTITIONS.until },
          'work.dueAt': { $lte: clock() },
        })
        .project<{ work: Pick<StoredWork, 'dueAt'> }>({ _id: 0, 'work.dueAt': 1 })
        .sort({ 'work.partition': 1, 'work.dueAt': 1 })
        .limit(limit)
        .toArray();
      return { waiting: found.length, oldest: oldestOf(found) };
    },

    async transmissionsByTenant(tenants, limit) {
      const found: { tenantId: string; waiting: number }[] = [];
      for (let from: number = ALL_PARTITIONS.from; found.length < tenants; ) {
        const due = (until: number, most: number) =>
          invoices
            .find({
              'work.lane': 'transmissions',
              'work.partition': { $gte: from, $lt: until },
              'work.dueAt': { $lte: clock() },
            })
            .project<{ tenantId: string; work: { partition: number } }>({ _id: 0, tenantId: 1, 'work.partition': 1 })
            .sort({ 'work.partition': 1, 'work.dueAt': 1 })
            .limit(most)
            .toArray();
        const [next] = await due(ALL_PARTITIONS.until, 1);
        if (!next) break;
        from = next.work.partition;
        const waiting = (await due(slotAfter(from), limit)).length;
        found.push({ tenantId: next.tenantId, waiting });
        from = slotAfter(from);
      }
      return found.sort((one, other) => (one.tenantId < other.tenantId ? -1 : 1));
    },

    async claimMany(lane, invoiceIds, leaseMs) {
      const now = clock();
      const due = { 'work.lane': lane, 'work.dueAt': { $lte: now } } as Filter<InvoiceDocument>;
      const further = {
        'work.claims': { $add: ['$work.claims', 1] },
        ...(lane === 'idle' && { 'work.lane': HURRIED_LANE, 'work.idle': '$$REMOVE' }),
      };
      // With `raw` the driver returns the bytes of the documents, despite the type.
      const find = { raw: true };
      const found: unknown[] = await leases.claimMany(invoiceIds, due, { leaseMs, now, further, find });
      const claims: Claim[] = [];
      for (const bytes of found as Uint8Array[]) {
        const document = await decoded<InvoiceDocument>(bytes);
        claims.push({ invoice: invoiceOf(document), token: document.work?.token ?? '', place: placeOf(document) });
      }
      return claims;
    },

    renew: (claims) =>
      leases.renew(
        claims.map(({ claim, leaseMs }) => ({ ...leaseOf(claim), leaseMs })),
        clock(),
      ),

    async release(claims) {
      const $set = { 'work.token': null, 'work.dueAt': clock(), 'work.claims': { $subtract: ['$work.claims', 1] } };
      await leases.release([{ leases: claims.map(leaseOf), update: [{ $set }] }]);
    },

    async reschedule(now, leaseMs) {
      const ahead = new Date(now.getTime() + CLOCK_SKEW_MS);
      const leaseEnd = new Date(now.getTime() + leaseMs);
      const delay = { $subtract: ['$work.dueAt', '$work.since'] };
      const dueAt = { $cond: [{ $eq: ['$work.token', null] }, { $add: [now, delay] }, leaseEnd] };
      let changed = 0;
      for (const lane of LANE_NAMES) {
        const { modifiedCount } = await invoices.updateMany(
          {
            'work.lane': lane,
            'work.partition': { $gte: ALL_PARTITIONS.from, $lt: ALL_PARTITIONS.until },
            'work.dueAt': { $gt: ahead },
            $or: [{ 'work.since': { $gt: ahead } }, { 'work.token': { $ne: null }, $or: leasesBeyond(ahead) }],
          } as Filter<InvoiceDocument>,
          [{ $set: { 'work.dueAt': dueAt, 'work.since': { $min: ['$work.since', now] } } }],
        );
        changed += modifiedCount;
      }
      const unpublished = { 'outbox.dueAt': { $gt: new Date(now.getTime() + OUTBOX_GRACE_MS + CLOCK_SKEW_MS) } };
      await invoices.updateMany(unpublished, { $set: { 'outbox.dueAt': now } });
      await invoices.updateMany({ unsummed: unpublished['outbox.dueAt'] }, { $set: { unsummed: now } });
      return changed;
    },
  };
}

/**
 * Returns filters of leases that end later than any lease that was taken before `now` can. A claim does not store when
 * it was made. After a defect the lease is the pause, and more than one claim without progress may mean that there was
 * a defect. Such a lease must not be ended early: an invoice that kills its worker would be run again after each start.
 */
function leasesBeyond(now: Date): Filter<InvoiceDocument>[] {
  return Array.from({ length: MOST_PAUSED }, (_, nth) => {
    const claims = nth === 0 ? { $not: { $gt: 1 } } : nth + 1 === MOST_PAUSED ? { $gte: MOST_PAUSED } : nth + 1;
    return { 'work.claims': claims, 'work.dueAt': { $gt: later(now, pauseAfter(nth + 1)) } } as Filter<InvoiceDocument>;
  });
}

function leaseOf({ invoice: { id }, token }: Claim): Lease {
  return { id, token };
}

function oldestOf(found: readonly { readonly work: Pick<StoredWork, 'dueAt'> }[]): Date | null {
  return found.length === 0 ? null : new Date(Math.min(...found.map(({ work }) => work.dueAt.getTime())));
}
