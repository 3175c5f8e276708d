import { randomUUID } from 'node:crypto';
import type { Collection, Db, Filter, UpdateFilter } from 'mongodb';
import { MANY_ATTEMPTS, NEVER, SUSPICIOUS_CLAIMS } from '../domain/invoice/attention.ts';
import { completer } from '../domain/invoice/field-makers.ts';
import { INVOICE } from '../domain/invoice/fields.ts';
import { type Invoice, type InvoiceEvent, NEW_WORK, UNANSWERED } from '../domain/invoice/invoice.ts';
import { HURRIED_LANE } from '../domain/invoice/lanes.ts';
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
import { createInvoiceClaims } from './invoice-claims.ts';
import { placeFields, type StoredWork, storedWork, workFields } from './invoice-work.ts';
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
      | keyof typeof UNANSWERED
    >,
    Partial<Pick<Invoice, keyof typeof UNANSWERED>> {
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

const complete = completer(INVOICE);

/** How long the process that recorded an event may take to publish it before the sweep does, milliseconds. */
const OUTBOX_GRACE_MS = 5000;

/** Invoices in the collection `invoices`. */
export function createInvoiceRepository(db: Db): InvoiceRepository {
  const invoices: Collection<InvoiceDocument> = db.collection<InvoiceDocument>('invoices');

  async function findByKey(tenantId: string, environment: Invoice['environment'], key: string) {
    return invoices.findOne({ tenantId, environment, 'idempotency.key': key });
  }

  /** Counts by the index alone, where the server can. */
  async function countParked(filter: Filter<InvoiceDocument>, limit: number): Promise<number> {
    const found = invoices.find({ 'work.parked': true, ...filter }).project({ _id: 0, tenantId: 1 });
    return (await found.limit(limit).toArray()).length;
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

    async requestEmail(invoice, email) {
      const { id, email: before } = invoice;
      const now = new Date();
      const next = { ...NEW_WORK, stage: 'email' } as const;
      const work = storedWork(invoice, next, { claims: 0, since: now, token: null, dueAt: now });
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
      const most = async (field: string, filter: object) =>
        invoices
          .find({ [field]: filter } as Filter<InvoiceDocument>)
          .sort({ [field]: -1 })
          .limit(limit)
          .toArray();
      const candidates = await Promise.all([
        most('work.claims', { $gte: SUSPICIOUS_CLAIMS }),
        most('work.attempts', { $gte: MANY_ATTEMPTS }),
        most('work.blocked', { $exists: true }),
      ]);
      const found = new Map(candidates.flat().map((document) => [document._id, document]));
      return [...found.values()].map(invoiceOf);
    },

    async retryNow(invoiceId) {
      const now = new Date();
      const retry = (filter: Filter<InvoiceDocument>, further: object) =>
        invoices.findOneAndUpdate(
          { _id: invoiceId, ...filter },
          { $set: { 'work.dueAt': now, ...further } },
          { returnDocument: 'after', projection: { tenantId: 1, environment: 1, work: 1 }, hint: { _id: 1 } },
        );
      // A run that was claimed and changed nothing may have sent the document.
      const due =
        (await retry({ 'work.claims': { $gte: 1 } }, { 'work.claims': 0, 'work.outcomeUnknown': true })) ??
        (await retry({ work: { $exists: true } }, {}));
      // Blocked and idle work stays as it is until here, so it is due already when it changes its lane.
      if (due?.work?.blocked || due?.work?.idle) {
        const { stage, parked = false } = due.work;
        await invoices.updateOne(
          { _id: invoiceId, 'work.stage': stage, 'work.dueAt': now },
          {
            $set: placeFields({ ...due, id: invoiceId }, { stage, parked }),
            $unset: { 'work.blocked': '', 'work.idle': '' },
          },
        );
      }
      return due !== null;
    },

    async nextParked(afterTenant, except) {
      const found = await invoices
        .find({ 'work.parked': true, tenantId: { $gt: afterTenant ?? '' }, 'work.dueAt': { $lte: new Date() } })
        .project<{ _id: string; tenantId: string }>({ tenantId: 1 })
        .sort({ tenantId: 1, 'work.dueAt': 1 })
        .limit(except.size + 1)
        .toArray();
      const next = found.find(({ _id }) => !except.has(_id));
      return next ? { invoiceId: next._id, tenantId: next.tenantId } : null;
    },

    async hurry(invoiceId) {
      const now = new Date();
      const document = await invoices.findOneAndUpdate(
        { _id: invoiceId, 'work.idle': true, 'work.token': null },
        { $set: { 'work.dueAt': now, 'work.lane': HURRIED_LANE }, $unset: { 'work.idle': '' } },
        { returnDocument: 'after', hint: { _id: 1 } },
      );
      return document && invoiceOf(document);
    },

    async idleCount(limit) {
      const found = invoices.find({ 'work.lane': 'idle' }).project({ _id: 0, 'work.lane': 1 });
      return (await found.limit(limit).toArray()).length;
    },

    parkedCount: (limit) => countParked({}, limit),

    async parkedByTenant(tenants, limit) {
      const found: { tenantId: string; waiting: number }[] = [];
      for (let after = ''; found.length < tenants; ) {
        const next = await invoices
          .find({ 'work.parked': true, tenantId: { $gt: after } })
          .project<{ tenantId: string }>({ tenantId: 1 })
          .sort({ tenantId: 1 })
          .limit(1)
          .next();
        if (!next) break;
        after = next.tenantId;
        found.push({ tenantId: after, waiting: await countParked({ tenantId: after }, limit) });
      }
      return found;
    },

    ...createInvoiceClaims(invoices, invoiceOf),
  };
}

function heldBy(claim: Claim): Filter<InvoiceDocument> {
  return { _id: claim.invoice.id, 'work.token': claim.token };
}

function leaseFields(leaseMs: number) {
  return { 'work.dueAt': new Date(Date.now() + leaseMs) };
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
    const dueAt = work.blocked ? NEVER : new Date(now.getTime() + (work.keep ? leaseMs : work.in));
    const token = work.keep ? claim.token : null;
    $set.work = storedWork(claim.invoice, work, { token, dueAt, claims: work.keep ? 1 : 0, since: now });
  }
  return {
    ...(Object.keys($set).length > 0 && { $set }),
    ...(event && { $push: { events: event } }),
    ...(work === null && { $unset: { work: '' } }),
  } as UpdateFilter<InvoiceDocument>;
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
    work: work && {
      ...{ ...NEW_WORK, stage: work.stage, ...workFields(work) },
      ...{ dueAt: now, claims: work.keep ? 1 : 0, since: now },
    },
  };
}

/** A new invoice, which has no answer of the authority yet. */
function documentOf(
  { id, metadata, work, number: _made, ownNumber, terms, ...rest }: Invoice,
  order: string,
  mark: IdempotencyMark | null,
) {
  const { heldAs, problems, authorityWarnings, receipt, cleared, awaitsCleared, ...invoice } = rest;
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
    ...(work && {
      work: storedWork({ ...invoice, id }, work, {
        claims: work.claims,
        since: work.since,
        token: null,
        dueAt: work.dueAt,
      }),
    }),
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
    ...UNANSWERED,
    ...invoice,
    metadata: Object.fromEntries(metadata),
    number: ownNumber ?? (series ? legalNumber(series) : null),
    ownNumber: ownNumber ?? null,
    email: email ?? null,
    terms: { ...NO_TERMS, ...terms },
    authorityAttempts: authorityAttempts ?? [],
    documentRevision: documentRevision ?? 0,
    work: work
      ? {
          ...{ ...NEW_WORK, stage: work.stage, ...workFields(work) },
          ...{ dueAt: work.dueAt, claims: work.claims ?? 0, since: work.since ?? work.dueAt },
        }
      : null,
  });
}
