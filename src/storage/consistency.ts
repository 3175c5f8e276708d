import { createHash } from 'node:crypto';
import { type Binary, type Collection, type Db, ObjectId } from 'mongodb';
import { DOCUMENT_FIELDS, type DocumentField } from '../domain/invoice/documents.ts';
import type { StoredDocument } from '../domain/invoice/invoice.ts';
import {
  CORRECTING_FIELDS,
  type Correcting,
  KEEPING_FIELDS,
  type Keeping,
  sharesOfNothing,
  unkeptCorrections,
} from './credit-consistency.ts';
import { DEDUCTING_FIELDS, type Deducting, unkeptDeductions } from './deduction-consistency.ts';
import { DOCUMENTS_BUCKET } from './documents.ts';
import type { InvoiceDocument } from './invoice-document.ts';
import { type NumberDocument, ownNumberKey, partsOfSeriesKey, seriesKey } from './invoice-numbers.ts';
import { KEPT_COLLECTION } from './kept-invoices.ts';
import { checkedDays, SUMMED_STATE, type SummedState, unsummedInvoices } from './period-consistency.ts';
import { idsOf, presentTenants } from './present-documents.ts';
import { checkedDeliveries, checkedEvents, unloggedEvents } from './webhook-consistency.ts';
import { type KeptSince, keptSince } from './webhook-retention.ts';

/** Maximum number of invoices read together. */
const INVOICES = 100;
const FILES = 200;
const NUMBERS = 500;

type Checked = Pick<InvoiceDocument, 'environment' | 'events'> &
  Correcting &
  Keeping &
  Deducting &
  SummedState & {
    readonly [name in DocumentField]?: StoredDocument | null;
  };

const PROJECTION = Object.fromEntries(
  [
    'environment',
    ...SUMMED_STATE,
    'events.id',
    'events.sequence',
    'events.at',
    ...CORRECTING_FIELDS,
    ...KEEPING_FIELDS,
    ...DOCUMENT_FIELDS,
    ...DEDUCTING_FIELDS,
  ].map((name) => [name, 1]),
);

interface FileEntry {
  readonly _id: ObjectId;
  readonly length: number;
  readonly chunkSize: number;
}

interface ChunkEntry {
  readonly files_id: ObjectId;
  readonly n: number;
  readonly data: Binary;
}

/** Numbers of checked objects by kind. */
export interface Checks {
  readonly invoices: number;
  /** Numbers of the service's own series: each was compared with its invoice and with the number before it. */
  readonly numbers: number;
  /** Documents of invoices: the bytes of each were compared with the digest in the invoice. */
  readonly documents: number;
  readonly files: number;
  /** Events in the log of webhook events. */
  readonly events: number;
  readonly deliveries: number;
  /** Days whose sums were compared with the invoices. */
  readonly days: number;
}

/**
 * Checks that the collections agree with each other; the service may run meanwhile. Compares:
 * - each invoice with its tenant, its number, its events and the bytes of its documents;
 * - each credit note and final invoice with the shares that the corrected or deducted invoices keep;
 * - each number of the service's series with its invoice and the number before it;
 * - each GridFS file with its chunks;
 * - the sums of each day with its invoices;
 * - events and deliveries of webhooks with their invoices, events and attempts.
 * Ignores chunks without a file and files without an invoice: an interrupted write leaves them, and the service removes
 * them.
 * @returns yields a text for each fault; returns what was checked
 */
export async function* findInconsistencies(db: Db): AsyncGenerator<string, Checks> {
  const checks = { invoices: 0, numbers: 0, documents: 0, files: 0, events: 0, deliveries: 0, days: 0 };
  const since = await keptSince(db);
  // The kept invoices of erased tenants have the same fields.
  for (const name of ['invoices', KEPT_COLLECTION])
    yield* checkedInvoices(db, db.collection<Checked & { _id: string }>(name), since, checks);
  checks.numbers = yield* checkedNumbers(db);
  checks.files = yield* incompleteFiles(db);
  checks.events = yield* checkedEvents(db);
  checks.deliveries = yield* checkedDeliveries(db, since);
  checks.days = yield* checkedDays(db);
  return checks;
}

async function* checkedInvoices(
  db: Db,
  invoices: Collection<Checked & { _id: string }>,
  since: KeptSince,
  checks: { invoices: number; documents: number },
): AsyncGenerator<string, void> {
  for (let after = ''; ; ) {
    const found = await read(invoices, { $gt: after });
    const last = found.at(-1);
    if (last === undefined) break;
    let faults = await faultsOf(db, found, since);
    // A running service may have changed an invoice during the check, so invoices with faults are read and checked
    // again.
    if (faults.size > 0) faults = await faultsOf(db, await read(invoices, { $in: [...faults.keys()] }), since);
    for (const [id, texts] of faults) for (const text of texts) yield `invoice ${id}: ${text}`;
    checks.invoices += found.length;
    checks.documents += found.reduce((sum, invoice) => sum + documentsOf(invoice).length, 0);
    after = last._id;
  }
}

async function read(invoices: Collection<Checked & { _id: string }>, id: object): Promise<Checked[]> {
  const filter = { _id: id } as never;
  return (await invoices
    .find(filter, { projection: PROJECTION })
    .sort({ _id: 1 })
    .limit(INVOICES)
    .toArray()) as Checked[];
}

/** Returns the faults of each invoice by its id. Invoices without faults are left out. */
async function faultsOf(db: Db, invoices: readonly Checked[], since: KeptSince): Promise<Map<string, string[]>> {
  const faults = new Map<string, string[]>();
  const add = (id: string, text: string) => faults.set(id, [...(faults.get(id) ?? []), text]);
  const tenants = await idsOf(db, 'tenants', [...new Set(invoices.map(({ tenantId }) => tenantId))]);
  const numbers = db.collection<NumberDocument>('invoice_numbers');
  const keys = invoices.flatMap((invoice) => numberKeysOf(invoice));
  const taken = await numbers.find({ _id: { $in: keys } }).toArray();
  const holders = new Map(taken.map(({ _id, invoiceId }) => [_id, invoiceId]));
  for (const invoice of invoices) {
    if (!tenants.has(invoice.tenantId)) add(invoice._id, `its tenant ${invoice.tenantId} does not exist`);
    for (const key of numberKeysOf(invoice))
      if (holders.get(key) !== invoice._id)
        add(invoice._id, `its number '${key}' is ${holders.has(key) ? `taken by ${holders.get(key)}` : 'not taken'}`);
    if (invoice.events.some(({ sequence }, index) => sequence !== index + 1))
      add(invoice._id, 'its events are not numbered from 1 on');
    if (invoice.status === 'accepted' && !invoice.xml) add(invoice._id, 'it is accepted and has no signed XML');
  }
  for (const { id, text } of await unloggedEvents(db, invoices, since)) add(id, text);
  for (const { id, text } of await unkeptCorrections(db, invoices)) add(id, text);
  for (const { id, text } of await unkeptDeductions(db, invoices)) add(id, text);
  for (const { id, text } of await sharesOfNothing(db, invoices)) add(id, text);
  for (const { id, text } of await unsummedInvoices(db, invoices)) add(id, text);
  const digests = await digestsOf(
    db,
    invoices.flatMap(documentsOf).map(({ file }) => file),
  );
  for (const invoice of invoices)
    for (const { field, file, sha256, size } of documentsOf(invoice)) {
      const stored = digests.get(file);
      if (!stored) add(invoice._id, `the bytes of its ${field} (file ${file}) are missing`);
      else if (stored.sha256 !== sha256 || stored.size !== size)
        add(invoice._id, `the bytes of its ${field} (file ${file}) are not those that were stored`);
    }
  return faults;
}

/**
 * Looks up the invoice of each number, which finds numbers whose invoice is gone. Skips the numbers of erased tenants,
 * which are removed when their retention ends, and numbers of a client's own series, which an interrupted creation may
 * leave.
 */
async function* checkedNumbers(db: Db): AsyncGenerator<string, number> {
  const numbers = db.collection<NumberDocument>('invoice_numbers');
  let checked = 0;
  let before = { series: '', serial: 0 };
  for (let after = ''; ; ) {
    const found = await numbers
      .find({ _id: { $gt: after } })
      .sort({ _id: 1 })
      .limit(NUMBERS)
      .toArray();
    const last = found.at(-1);
    if (last === undefined) return checked;
    const ofSeries = found.flatMap((number) => {
      const parts = partsOfSeriesKey(number._id);
      return parts ? [{ ...number, ...parts }] : [];
    });
    const present = await presentTenants(db, [...new Set(ofSeries.map(({ tenantId }) => tenantId))]);
    const missing = await withoutInvoice(db, ofSeries);
    for (const { _id, invoiceId, tenantId, environment, name, serial, lostFrom } of ofSeries) {
      const series = `${tenantId} ${environment} ${name}`;
      const expected = series === before.series ? before.serial + 1 : 1;
      before = { series, serial };
      if (!present.has(tenantId)) continue;
      checked++;
      if ((lostFrom ?? serial) !== expected) yield `number '${_id}': there are none from ${expected} to ${serial - 1}`;
      if (lostFrom !== undefined) continue;
      // A running service may have removed the number during the check.
      if (missing.has(_id) && (await withoutInvoice(db, await numbers.find({ _id }).toArray())).size > 0)
        yield `number '${_id}': its invoice ${invoiceId} does not exist`;
    }
    after = last._id;
  }
}

/** Returns the ids of the numbers whose invoice is neither stored nor kept after an erasure. */
async function withoutInvoice(db: Db, numbers: readonly NumberDocument[]): Promise<Set<string>> {
  const ids = numbers.map(({ invoiceId }) => invoiceId);
  const [stored, kept] = await Promise.all(['invoices', KEPT_COLLECTION].map((name) => idsOf(db, name, ids)));
  const isGone = ({ invoiceId }: NumberDocument) => !stored?.has(invoiceId) && !kept?.has(invoiceId);
  return new Set(numbers.filter(isGone).map(({ _id }) => _id));
}

function numberKeysOf(invoice: Checked): string[] {
  const { series, ownNumber } = invoice;
  if (ownNumber !== undefined) return [ownNumberKey(invoice, ownNumber)];
  return series ? [seriesKey(invoice, series)] : [];
}

function documentsOf(invoice: Checked) {
  return DOCUMENT_FIELDS.flatMap((field) => {
    const document = invoice[field];
    return document ? [{ field, ...document }] : [];
  });
}

/**
 * Computes the size and SHA-256 of the files' bytes, with one chunk in memory at a time. Leaves out files without
 * chunks.
 */
async function digestsOf(db: Db, files: readonly string[]): Promise<Map<string, { sha256: string; size: number }>> {
  const digests = new Map<string, { sha256: string; size: number }>();
  const chunks = db.collection<ChunkEntry>(`${DOCUMENTS_BUCKET}.chunks`);
  const ids = files.map((file) => ObjectId.createFromHexString(file));
  const found = chunks.find({ files_id: { $in: ids } }).sort({ files_id: 1, n: 1 });
  let current = { file: '', hash: createHash('sha256'), size: 0 };
  const finish = () => {
    if (current.file !== '') digests.set(current.file, { sha256: current.hash.digest('hex'), size: current.size });
  };
  for await (const { files_id, data } of found) {
    const file = files_id.toHexString();
    if (file !== current.file) {
      finish();
      current = { file, hash: createHash('sha256'), size: 0 };
    }
    current.hash.update(data.buffer);
    current.size += data.length();
  }
  finish();
  return digests;
}

/** Finds files that lack chunks. @returns yields a text for each fault; returns the number of files */
async function* incompleteFiles(db: Db): AsyncGenerator<string, number> {
  const files = db.collection<FileEntry>(`${DOCUMENTS_BUCKET}.files`);
  const chunks = db.collection<ChunkEntry>(`${DOCUMENTS_BUCKET}.chunks`);
  let [count, after] = [0, null as ObjectId | null];
  for (;;) {
    const found: FileEntry[] = await files
      .find(after ? { _id: { $gt: after } } : {}, { projection: { length: 1, chunkSize: 1 } })
      .sort({ _id: 1 })
      .limit(FILES)
      .toArray();
    const last = found.at(-1);
    if (last === undefined) return count;
    const places = new Map<string, number[]>();
    const parts = chunks.find(
      { files_id: { $in: found.map(({ _id }) => _id) } },
      { projection: { _id: 0, files_id: 1, n: 1 } },
    );
    for await (const { files_id, n } of parts.sort({ files_id: 1, n: 1 }))
      places.set(files_id.toHexString(), [...(places.get(files_id.toHexString()) ?? []), n]);
    for (const { _id, length, chunkSize } of found) {
      const have = places.get(_id.toHexString()) ?? [];
      const isWhole = have.length === Math.ceil(length / chunkSize) && have.every((n, index) => n === index);
      // The service may just have removed a file that nothing refers to. It removes the entry first.
      if (!isWhole && (await files.findOne({ _id }, { projection: { _id: 1 } })))
        yield `file ${_id.toHexString()}: ${have.length} of ${Math.ceil(length / chunkSize)} chunks are stored`;
    }
    count += found.length;
    after = last._id;
  }
}
