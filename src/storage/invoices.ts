import { randomUUID } from 'node:crypto';
import type { Collection, Db, Filter, UpdateFilter } from 'mongodb';
import { MANY_ATTEMPTS, SUSPICIOUS_CLAIMS } from '../domain/invoice/attention.ts';
import { completer } from '../domain/invoice/field-makers.ts';
import { INVOICE } from '../domain/invoice/fields.ts';
import type { Invoice, InvoiceEvent, Work } from '../domain/invoice/invoice.ts';
import { legalNumber, seriesNumberOf } from '../domain/invoice/legal-invoice.ts';
import {
  type Claim,
  ClaimLost,
  type IdempotencyMark,
  type InvoiceChange,
  type InvoicePageQuery,
  type InvoiceRepository,
  NumberTaken,
  type SeriesNumber,
} from '../domain/invoice/repository.ts';
import { type InvoiceTerms, NO_TERMS } from '../domain/invoice/terms.ts';
import { batchedFind } from './batched-find.ts';
import { isDuplicateKey } from './duplicate-key.ts';
import { anyBehind, orderRange, readAll, readUpTo } from './pages.ts';

/** A stored invoice. Status, events and lease are in one document, so that one update changes them atomically. */
export interface InvoiceDocument
  extends Omit<
    Invoice,
    | 'id'
    | 'metadata'
    | 'number'
    | 'ownNumber'
    | 'work'
    | 'events'
    | 'email'
    | 'documentRevision'
    | 'authorityAttempts'
    | 'terms'
  > {
  _id: string;
  ownNumber?: string;
  /** Without terms that are null. */
  terms?: Partial<InvoiceTerms>;
  /** Pairs, because names may contain dots and dollar signs. */
  metadata: [string, string][];
  order: string;
  events: InvoiceEvent[];
  email?: Invoice['email'];
  documentRevision?: number;
  authorityAttempts?: Invoice['authorityAttempts'];
  idempotency?: IdempotencyMark;
  series?: SeriesNumber;
  work?: StoredWork | undefined;
  /**
   * Present while the event log may lack events up to `sequence`; the sweep publishes them from `dueAt` on. Absent when
   * the log has all events.
   */
  outbox?: { sequence: number; dueAt: Date };
}

interface StoredWork extends Omit<Work, 'claims' | 'since'> {
  claims?: number;
  since?: Date;
  /** Identifies the claim that holds the lease; null if there is none. */
  token: string | null;
  /** When the sweeper checks the job of this work, and queues a new one if it is lost. */
  sweepAt: Date;
}

const complete = completer(INVOICE);

/** Grace period from when work is due until the sweeper checks its job, milliseconds. */
const QUEUE_GRACE_MS = 2000;
/**
 * Grace period after the end of a lease, milliseconds. The worker is dead then and no other job is queued, so this only
 * has to cover clock differences.
 */
const LEASE_GRACE_MS = 250;
/** How long the process that recorded an event may take to publish it before the sweep does, milliseconds. */
const OUTBOX_GRACE_MS = 5000;

/** Invoices in the collection `invoices`. */
export function createInvoiceRepository(db: Db): InvoiceRepository {
  const invoices: Collection<InvoiceDocument> = db.collection<InvoiceDocument>('invoices');

  async function findByKey(tenantId: string, environment: Invoice['environment'], key: string) {
    return invoices.findOne({ tenantId, environment, 'idempotency.key': key });
  }

  return {
    async insert(invoice, order, mark) {
      try {
        await invoices.insertOne(documentOf(invoice, order, mark));
        return null;
      } catch (error) {
        if (!isDuplicateKey(error)) throw error;
        // A replay may violate both unique indexes, and the server reports either of them.
        const earlier = mark && (await findByKey(invoice.tenantId, invoice.environment, mark.key));
        if (earlier?.idempotency) {
          return { invoice: invoiceOf(earlier), fingerprint: earlier.idempotency.fingerprint };
        }
        if (invoice.ownNumber === null) throw error;
        throw new NumberTaken(`the number ${invoice.ownNumber} is taken`);
      }
    },

    find: batchedFind(invoices, invoiceOf),

    async findMany(tenantId, environment, invoiceIds, maxBytes) {
      // Filters by id only: with the tenant in the filter, some servers would scan all invoices of the tenant.
      const search = invoices.find({ _id: { $in: [...invoiceIds] } }, { raw: true });
      const { found, bytes } = await readAll(search, invoiceIds.length, maxBytes);
      const own = found.map(invoiceOf).filter((each) => each.tenantId === tenantId && each.environment === environment);
      return { invoices: own, bytes };
    },

    async findByIdempotencyKey(tenantId, environment, key) {
      const document = await findByKey(tenantId, environment, key);
      return document && invoiceOf(document);
    },

    async findByNumber(tenantId, environment, number) {
      const series = seriesNumberOf(number);
      const document = await invoices.findOne({
        ...{ tenantId, environment },
        ...(series ? { 'series.year': series.year, 'series.serial': series.serial } : { ownNumber: number }),
      });
      return document && invoiceOf(document);
    },

    async findByOwnNumber(tenantId, environment, ownNumber) {
      const document = await invoices.findOne({ tenantId, environment, ownNumber }, { projection: { _id: 1 } });
      return document?._id ?? null;
    },

    async orderOf(tenantId, environment, invoiceId) {
      const document = await invoices.findOne({ _id: invoiceId, tenantId, environment }, { projection: { order: 1 } });
      return document?.order ?? null;
    },

    async page(query) {
      const newestFirst = query.cursor?.direction !== 'before';
      const cursor = invoices.find(pageFilter(query), { raw: true }).sort({ order: newestFirst ? -1 : 1 });
      const { found, hasMore, bytes } = await readUpTo(cursor, query.limit, query.maxBytes);
      const page = found.map(invoiceOf);
      const { cursor: place, createdFrom: from, createdUntil: until } = query;
      const hasOthers = () => anyBehind(invoices, ownFilter(query), { cursor: place, from, until });
      return { invoices: newestFirst ? page : page.reverse(), hasMore, hasOthers, bytes };
    },

    async claim(invoiceId, leaseMs) {
      const token = randomUUID();
      const document = await invoices.findOneAndUpdate(
        { _id: invoiceId, 'work.dueAt': { $lte: new Date() } },
        { $set: { 'work.token': token, ...leaseFields(leaseMs) }, $inc: { 'work.claims': 1 } },
        { returnDocument: 'after' },
      );
      return document && { invoice: invoiceOf(document), token };
    },

    async renew(claim, leaseMs) {
      const { matchedCount } = await invoices.updateOne(heldBy(claim), { $set: leaseFields(leaseMs) });
      if (matchedCount === 0) throw new ClaimLost(`the claim on ${claim.invoice.id} was lost`);
    },

    async change(claim, change, leaseMs) {
      const now = new Date();
      try {
        const { matchedCount } = await invoices.updateOne(
          { ...heldBy(claim), status: claim.invoice.status },
          updateOf(claim, change, leaseMs, now),
        );
        if (matchedCount === 0) throw new ClaimLost(`the claim on ${claim.invoice.id} was lost`);
      } catch (error) {
        if (change.series && isDuplicateKey(error)) throw new NumberTaken(`serial ${change.series.serial} is taken`);
        throw error;
      }
      return { token: claim.token, invoice: changed(claim.invoice, change, now) };
    },

    async raiseDocumentRevision(tenantId, environment, invoiceId) {
      const document = await invoices.findOneAndUpdate(
        { _id: invoiceId, tenantId, environment },
        { $inc: { documentRevision: 1 } },
        // Without the hint, some servers use the index of the list and scan all invoices of the tenant.
        { returnDocument: 'after', hint: { _id: 1 } },
      );
      return document && invoiceOf(document);
    },

    async requestEmail({ id, email: before }, email) {
      const now = new Date();
      const work: StoredWork = {
        ...{ stage: 'email', attempts: 0, outcomeUnknown: false, claims: 0, since: now, token: null, dueAt: now },
        sweepAt: new Date(now.getTime() + QUEUE_GRACE_MS),
      };
      const document = await invoices.findOneAndUpdate(
        { _id: id, status: 'accepted', work: { $exists: false }, 'email.sending': before?.sending ?? null },
        { $set: { email, work } },
        { returnDocument: 'after' },
      );
      return document && invoiceOf(document);
    },

    async highestSerial(tenantId, environment, year) {
      const last = await invoices
        .find({ tenantId, environment, 'series.year': year, 'series.serial': { $exists: true } })
        .project<{ series: SeriesNumber }>({ series: 1 })
        .sort({ 'series.serial': -1 })
        .limit(1)
        .next();
      return last?.series.serial ?? 0;
    },

    async needingAttention(limit) {
      const [failing, slow] = await Promise.all(
        (['claims', 'attempts'] as const).map((count) =>
          invoices
            .find({ [`work.${count}`]: { $gte: count === 'claims' ? SUSPICIOUS_CLAIMS : MANY_ATTEMPTS } })
            .sort({ [`work.${count}`]: -1 })
            .limit(limit)
            .toArray(),
        ),
      );
      const found = new Map([...(failing ?? []), ...(slow ?? [])].map((document) => [document._id, document]));
      return [...found.values()].map(invoiceOf);
    },

    async retryNow(invoiceId) {
      const now = new Date();
      const { matchedCount } = await invoices.updateOne(
        { _id: invoiceId, work: { $exists: true } },
        { $set: { 'work.dueAt': now, 'work.sweepAt': now, 'work.claims': 0 } },
      );
      return matchedCount > 0;
    },

    async overdue(limit) {
      const found = await invoices
        .find({ 'work.sweepAt': { $lte: new Date() } })
        .project<{ _id: string; work: StoredWork }>({ 'work.stage': 1, 'work.since': 1, 'work.dueAt': 1 })
        .sort({ 'work.sweepAt': 1 })
        .limit(limit)
        .toArray();
      return found.map(({ _id, work }) => ({ invoiceId: _id, stage: work.stage, since: work.since ?? work.dueAt }));
    },

    async takeOverdue(invoiceId, pauseMs) {
      const { matchedCount } = await invoices.updateOne(...postponement(invoiceId, pauseMs));
      return matchedCount > 0;
    },

    async postponeOverdue(invoiceIds, pauseMs) {
      await invoices.updateMany(...postponement({ $in: [...invoiceIds] }, pauseMs));
    },
  };
}

function postponement(_id: Filter<InvoiceDocument>['_id'], pauseMs: number) {
  const now = Date.now();
  const overdue = { _id, 'work.sweepAt': { $lte: new Date(now) } } as Filter<InvoiceDocument>;
  return [overdue, { $set: { 'work.sweepAt': new Date(now + pauseMs) } }] as const;
}

function heldBy(claim: Claim): Filter<InvoiceDocument> {
  return { _id: claim.invoice.id, 'work.token': claim.token };
}

function leaseFields(leaseMs: number) {
  const end = Date.now() + leaseMs;
  return { 'work.dueAt': new Date(end), 'work.sweepAt': new Date(end + LEASE_GRACE_MS) };
}

function pageFilter(query: InvoicePageQuery): Filter<InvoiceDocument> {
  const order = orderRange({ cursor: query.cursor, from: query.createdFrom, until: query.createdUntil });
  return { ...ownFilter(query), ...(order && { order }) };
}

function ownFilter({ tenantId, environment, status }: InvoicePageQuery): Filter<InvoiceDocument> {
  return { tenantId, environment, ...(status !== null && { status }) };
}

function updateOf(claim: Claim, change: InvoiceChange, leaseMs: number, now: Date): UpdateFilter<InvoiceDocument> {
  const { work, event, ...fields } = change;
  const $set: Record<string, unknown> = fields;
  if (event) {
    if (change.status) $set.updatedAt = event.at;
    $set.outbox = { sequence: event.sequence, dueAt: new Date(now.getTime() + OUTBOX_GRACE_MS) };
  }
  if (work) {
    const dueAt = new Date(now.getTime() + (work.keep ? leaseMs : work.in));
    $set.work = {
      ...workFields(work),
      token: work.keep ? claim.token : null,
      dueAt,
      sweepAt: new Date(dueAt.getTime() + (work.keep ? LEASE_GRACE_MS : QUEUE_GRACE_MS)),
      claims: 0,
      since: now,
    };
  }
  return {
    ...(Object.keys($set).length > 0 && { $set }),
    ...(event && { $push: { events: event } }),
    ...(work === null && { $unset: { work: '' } }),
  } as UpdateFilter<InvoiceDocument>;
}

function workFields({ stage, attempts, outcomeUnknown }: Pick<Work, 'stage' | 'attempts' | 'outcomeUnknown'>) {
  return { stage, attempts, outcomeUnknown };
}

/** The invoice after the update, computed to save a read. */
function changed(invoice: Invoice, change: InvoiceChange, now: Date): Invoice {
  const { work, event, series, ...fields } = change;
  return {
    ...invoice,
    ...fields,
    ...(series && { number: legalNumber(series) }),
    ...(event && { events: [...invoice.events, event] }),
    ...(event && change.status && { updatedAt: event.at }),
    work: work && { ...workFields(work), dueAt: now, claims: 0, since: now },
  };
}

function documentOf(
  { id, metadata, work, number: _made, ownNumber, terms, ...invoice }: Invoice,
  order: string,
  mark: IdempotencyMark | null,
) {
  const given = Object.entries(terms).filter(([, value]) => value !== null);
  return {
    _id: id,
    ...invoice,
    ...(given.length > 0 && { terms: Object.fromEntries(given) as Partial<InvoiceTerms> }),
    events: [...invoice.events],
    metadata: Object.entries(metadata),
    order,
    ...(ownNumber !== null && { ownNumber }),
    ...(mark && { idempotency: mark }),
    ...(work && { work: { ...work, token: null, sweepAt: new Date(work.dueAt.getTime() + QUEUE_GRACE_MS) } }),
  } satisfies InvoiceDocument;
}

/** The invoice of a stored document, with what the table of fields has today. */
export function invoiceOf({
  _id,
  metadata,
  order: _order,
  idempotency: _mark,
  outbox: _outbox,
  series,
  ownNumber,
  email,
  authorityAttempts,
  documentRevision,
  terms,
  work,
  ...invoice
}: InvoiceDocument): Invoice {
  return complete({
    id: _id,
    ...invoice,
    metadata: Object.fromEntries(metadata),
    number: ownNumber ?? (series ? legalNumber(series) : null),
    ownNumber: ownNumber ?? null,
    email: email ?? null,
    terms: { ...NO_TERMS, ...terms },
    authorityAttempts: authorityAttempts ?? [],
    documentRevision: documentRevision ?? 0,
    work: work
      ? { ...workFields(work), dueAt: work.dueAt, claims: work.claims ?? 0, since: work.since ?? work.dueAt }
      : null,
  });
}
