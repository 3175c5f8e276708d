import {
  type AnyBulkWriteOperation,
  BSON,
  type ClientSession,
  type Collection,
  type Filter,
  MongoBulkWriteError,
  type MongoClient,
  MongoError,
  type MongoServerError,
  type UpdateFilter,
} from 'mongodb';
import { NEVER } from '../domain/invoice/attention.ts';
import { type Invoice, NEW_WORK } from '../domain/invoice/invoice.ts';
import { type Claim, ClaimLost, type InvoiceChange, type InvoiceTransitions } from '../domain/invoice/repository.ts';
import { legalNumber, type ReservedNumber } from '../domain/invoice/series-number.ts';
import { createGroup, type Outcome, type Through } from '../domain/kit/group.ts';
import { type InvoiceDocument, invoiceOf } from './invoice-document.ts';
import { type NumberedInvoices, numberWrite, reservationOf, reserveAll, reserveEach } from './invoice-numbers.ts';
import { afterWaiting } from './period-sums.ts';
import { storeClock } from './store-clock.ts';
import { placeFields, type StoredWork, storedWork, workFields } from './stored-work.ts';
import { writeErrorsOf } from './write-errors.ts';

/** Maximum number of changes in a command. */
const MAX_CHANGES = 64;
/** How long the process that recorded an event may take to publish it before the sweep does, milliseconds. */
export const OUTBOX_GRACE_MS = 5000;

/** The option that `connect` sets for writes. */
const STORED = { ignoreUndefined: false } as const;

/** Changes invoices. Each change is one atomic update, which applies only if the document is as the caller knows it. */
export function transitionsOf(
  stores: NumberedInvoices,
  client: MongoClient,
  through: Through = (work) => work(),
): InvoiceTransitions {
  const { invoices } = stores;
  const now = storeClock(client);
  const write = createGroup<ClaimedChange, void>((changes) => writeChanges(stores, changes), {
    maxItems: MAX_CHANGES,
    through,
  });

  async function changeOne(claim: Claim, change: InvoiceChange, leaseMs: number): Promise<Claim> {
    const at = now();
    await write({ claim, change, update: updateOf(claim, change, leaseMs, at) });
    return { token: claim.token, invoice: changed(claim.invoice, change, at) };
  }

  return {
    change: changeOne,

    async changeAll(changes, leaseMs, reserved = []) {
      const [only] = changes;
      if (only && changes.length === 1 && reserved.length === 0) return [await changeOne(...only, leaseMs)];
      const [alone] = reserved;
      if (alone && changes.length === 0 && reserved.length === 1) {
        await through(() => reserveOne(stores, alone, afterWaiting(now())));
        return [];
      }
      const at = now();
      const claimed = changes.map(([claim, change]) => ({
        claim,
        change,
        update: updateOf(claim, change, leaseMs, at),
      }));
      await through(() =>
        client.withSession((session) =>
          session.withTransaction(() =>
            writeAll(stores, claimed, { reserved, unsummed: afterWaiting(now()) }, session),
          ),
        ),
      );
      return changes.map(([claim, change]) => ({ token: claim.token, invoice: changed(claim.invoice, change, at) }));
    },

    async changeWaiting(invoice, change) {
      const { id, status, work } = invoice;
      if (!work) return null;
      const at = now();
      // Detects changes since the read: a claim sets the token and the time, a retry the time, and each change of the
      // work `since`.
      const asRead = {
        _id: id,
        status,
        'work.token': null,
        'work.dueAt': work.dueAt,
        'work.since': work.since,
      } as Filter<InvoiceDocument>;
      const update = updateOf({ invoice, token: '' }, change, 0, at);
      const { matchedCount } = await invoices.updateOne(asRead, update, { hint: { _id: 1 } });
      return matchedCount === 0 ? null : changed(invoice, change, at);
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
      const at = now();
      const next = { ...NEW_WORK, stage: 'email' } as const;
      const work = storedWork(invoice, next, { claims: 0, since: at, token: null, dueAt: at });
      const document = await invoices.findOneAndUpdate(
        { _id: id, status: 'accepted', work: { $exists: false }, 'email.sending': before?.sending ?? null },
        { $set: { email, work } },
        { returnDocument: 'after' },
      );
      return document && invoiceOf(document);
    },

    async retryNow(invoiceId) {
      const at = now();
      const retry = (filter: Filter<InvoiceDocument>, further: object) =>
        invoices.findOneAndUpdate(
          { _id: invoiceId, ...filter },
          { $set: { 'work.dueAt': at, ...further } },
          { returnDocument: 'after', projection: { tenantId: 1, environment: 1, work: 1 }, hint: { _id: 1 } },
        );
      // A claimed run that changed nothing may still have sent the document, so the next run looks it up first.
      const due =
        (await retry({ 'work.claims': { $gte: 1 } }, { 'work.claims': 0, 'work.outcomeUnknown': true })) ??
        (await retry({ work: { $exists: true } }, {}));
      // Blocked and idle work changes its lane only here, when it is already due.
      if (due?.work?.blocked || due?.work?.idle) {
        const { stage } = due.work;
        await invoices.updateOne(
          { _id: invoiceId, 'work.stage': stage, 'work.dueAt': at },
          {
            $set: placeFields({ ...due, id: invoiceId }, { stage }),
            $unset: { 'work.blocked': '', 'work.idle': '' },
          },
        );
      }
      return due !== null;
    },

    async releaseHeldUp(from, to) {
      const at = now();
      const byAge = { 'work.dueAt': { $min: ['$createdAt', at] } };
      // Some servers do not use the indexes without the hints, because they are partial.
      await invoices.updateMany(
        {
          'work.failures': { $elemMatch: { $gte: from, $lte: to } },
          'work.stage': 'transmit',
          'work.token': null,
          'work.dueAt': { $gt: at },
          'work.blocked': { $exists: false },
        } as Filter<InvoiceDocument>,
        // `since` gives the job another id, so that it does not wait for the existing job.
        [{ $set: { ...byAge, 'work.since': at } }],
        { hint: 'failed' },
      );
      await invoices.updateMany(
        { 'work.tried': true, 'work.token': null } as Filter<InvoiceDocument>,
        [{ $set: byAge }, { $unset: 'work.tried' }],
        { hint: 'tried' },
      );
    },
  };
}

/** A change with the update that writes it. */
interface ClaimedChange {
  readonly claim: Claim;
  readonly change: InvoiceChange;
  readonly update: UpdateFilter<InvoiceDocument>;
}

/**
 * Takes the numbers of the changes that have one, then writes the changes whose numbers were free. Each change is
 * written or fails by itself. If the claim is lost after its number was taken, `highestSerial` frees the number, or
 * writes it to the invoice.
 */
async function writeChanges(
  { invoices, numbers }: NumberedInvoices,
  changes: readonly ClaimedChange[],
): Promise<Outcome<void>[]> {
  const numbered = changes.filter(({ change }) => change.series);
  const refusals = await reserveEach(numbers, numbered.flatMap(entryOf));
  const refused = new Map(numbered.map((each, index) => [each, refusals[index] ?? null]));
  const free = changes.filter((each) => (refused.get(each) ?? null) === null);
  const outcomes = await updateEach(invoices, free);
  const written = new Map(free.map((each, index) => [each, outcomes[index] as Outcome<void>]));
  return changes.map((each) => written.get(each) ?? { error: refused.get(each) });
}

/** Takes a number and then writes it to its invoice, as {@link writeChanges} does. */
async function reserveOne(
  { invoices, numbers }: NumberedInvoices,
  reserved: ReservedNumber,
  unsummed: Date,
): Promise<void> {
  const [refusal] = await reserveEach(numbers, [reserved]);
  if (refusal) throw refusal;
  const { matchedCount } = await invoices.updateOne(...numberWrite(reserved.invoice.id, reserved.series, unsummed));
  if (matchedCount === 0) throw new ClaimLost(`${reserved.invoice.id} has a number or is rejected by now`);
}

function entryOf({ claim, change }: ClaimedChange): ReservedNumber[] {
  return change.series ? [{ invoice: claim.invoice, series: change.series }] : [];
}

/** Updates invoices with one command. Each update succeeds or fails by itself. */
async function updateEach(
  invoices: Collection<InvoiceDocument>,
  changes: readonly ClaimedChange[],
): Promise<Outcome<void>[]> {
  if (changes.length === 0) return [];
  const { matched, failures } = await writeEach(invoices, changes.map(updateOneOf));
  const outcomes = changes.map((_, index): Outcome<void> => {
    const failure = failures.get(index);
    return failure === undefined ? { result: undefined } : { error: failure };
  });
  if (matched === changes.length - failures.size) return outcomes;
  // The answer only counts the updates that found their invoice, so the invoices are read to find out which ones did.
  const ids = changes.map(({ claim }) => claim.invoice.id);
  const found = await invoices.find({ _id: { $in: ids } }).toArray();
  const stored = new Map(found.map((document) => [document._id, document]));
  return changes.map((written, index) => {
    const outcome = outcomes[index] as Outcome<void>;
    if ('error' in outcome || isStored(written, stored.get(written.claim.invoice.id))) return outcome;
    return { error: new ClaimLost(`the claim on ${written.claim.invoice.id} was lost`) };
  });
}

/** Writes all changes and their numbers, in a transaction. @throws the error of the first one that cannot be written */
async function writeAll(
  { invoices, numbers }: NumberedInvoices,
  changes: readonly ClaimedChange[],
  { reserved, unsummed }: { readonly reserved: readonly ReservedNumber[]; readonly unsummed: Date },
  session: ClientSession,
): Promise<void> {
  // The numbers come first, because another process may have taken them: then nothing else was written in vain.
  const entries = [...changes.flatMap(entryOf), ...reserved];
  if (entries.length > 0) await reserveAll(numbers, entries.map(reservationOf), session);
  const others = reserved.map(({ invoice, series }): AnyBulkWriteOperation<InvoiceDocument> => {
    const [filter, update] = numberWrite(invoice.id, series, unsummed);
    return { updateOne: { filter, update } };
  });
  const updates = [...changes.map(updateOneOf), ...others];
  const { matched, failures } = await writeEach(invoices, updates, session);
  const [failed] = failures.values();
  if (failed) throw failed;
  if (matched < updates.length) throw new ClaimLost(`one of ${updates.length} invoices was changed meanwhile`);
}

/** Never gives an invoice a second number of the series: see `highestSerial`. */
function updateOneOf({ claim, change, update }: ClaimedChange): AnyBulkWriteOperation<InvoiceDocument> {
  const unnumbered = change.series && { 'series.serial': { $in: [null, change.series.serial] } };
  const filter = { ...heldBy(claim), status: claim.invoice.status, ...unnumbered } as Filter<InvoiceDocument>;
  return { updateOne: { filter, update } };
}

/** @returns how many updates found their document, and the errors of failed updates by their index */
async function writeEach(
  invoices: Collection<InvoiceDocument>,
  updates: readonly AnyBulkWriteOperation<InvoiceDocument>[],
  session?: ClientSession,
): Promise<{ readonly matched: number; readonly failures: ReadonlyMap<number, MongoServerError> }> {
  try {
    const { matchedCount } = await invoices.bulkWrite(updates, { ordered: false, ...(session && { session }) });
    return { matched: matchedCount, failures: new Map() };
  } catch (error) {
    // A transaction that conflicts with another one is retried.
    if (error instanceof MongoError && error.hasErrorLabel('TransientTransactionError')) throw error;
    const failures = writeErrorsOf(error);
    return { matched: error instanceof MongoBulkWriteError ? error.matchedCount : 0, failures };
  }
}

/**
 * Whether this update is stored. Ignores what other processes may have changed since: a released invoice may have been
 * claimed already, and its events published.
 */
function isStored({ change, update }: ClaimedChange, document: InvoiceDocument | undefined): boolean {
  if (document === undefined) return false;
  const last = change.events?.at(-1);
  if (last !== undefined) return document.events.some(({ id }) => id === last.id);
  const { work, ...fields } = (update.$set ?? {}) as Partial<InvoiceDocument>;
  const names = Object.keys(fields) as (keyof InvoiceDocument)[];
  const stored = Object.fromEntries(names.map((name) => [name, document[name]]));
  return isEqual(runOf(work), runOf(document.work)) && isEqual(fields, stored);
}

/** Returns the fields of the work that show which change wrote it. A claim does not change them. */
function runOf(work: StoredWork | undefined) {
  return work ? { stage: work.stage, attempts: work.attempts, since: work.since } : {};
}

/** Compares the stored forms, in which e.g. `undefined` is null. */
function isEqual(a: object, b: object): boolean {
  return Buffer.compare(BSON.serialize(a, STORED), BSON.serialize(b, STORED)) === 0;
}

function heldBy(claim: Claim): Filter<InvoiceDocument> {
  return { _id: claim.invoice.id, 'work.token': claim.token };
}

function updateOf(claim: Claim, change: InvoiceChange, leaseMs: number, now: Date): UpdateFilter<InvoiceDocument> {
  const { work, events = [], ...fields } = change;
  const $set: Record<string, unknown> = { ...fields };
  const event = events.at(-1);
  if (event) {
    if (change.status) $set.updatedAt = event.at;
    $set.outbox = { sequence: event.sequence, dueAt: new Date(now.getTime() + OUTBOX_GRACE_MS) };
  }
  if (work) {
    const dueAt = work.blocked ? NEVER : new Date(now.getTime() + (work.keep ? leaseMs : work.in));
    const token = work.keep ? claim.token : null;
    $set.work = storedWork(claim.invoice, work, { token, dueAt, claims: work.keep ? 1 : 0, since: now });
  }
  const isNumbered = change.series !== undefined || (change.status !== undefined && claim.invoice.status === 'pending');
  const $unset = {
    ...(work === null && { work: '' }),
    ...(isNumbered && { awaitsNumber: '' }),
    ...(event && { unsummed: '' }),
  };
  return {
    ...(Object.keys($set).length > 0 && { $set }),
    ...(event && { $push: { events: { $each: [...events] } } }),
    ...(Object.keys($unset).length > 0 && { $unset }),
  } as UpdateFilter<InvoiceDocument>;
}

/** Returns the invoice after the update, computed to save a read. */
function changed(invoice: Invoice, change: InvoiceChange, now: Date): Invoice {
  const { work, events = [], series, ...fields } = change;
  const event = events.at(-1);
  return {
    ...invoice,
    ...fields,
    ...(series && { number: legalNumber(series) }),
    ...(event && { events: [...invoice.events, ...events] }),
    ...(event && change.status && { updatedAt: event.at }),
    work: work && {
      ...NEW_WORK,
      stage: work.stage,
      ...workFields(work),
      dueAt: now,
      claims: work.keep ? 1 : 0,
      since: now,
    },
  };
}
