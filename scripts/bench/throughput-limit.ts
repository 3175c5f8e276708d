import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type AnyBulkWriteOperation, Binary, type Db } from 'mongodb';
import { softwareKey } from '../../src/adapters/signing-key/software-key.ts';
import { makeTestIdentity } from '../../src/adapters/signing-key/test-certificate.ts';
import { unsignedDocument, writeInvoice } from '../../src/adapters/ubl/write-invoice.ts';
import { createDocumentSigner } from '../../src/adapters/xades/document-signer.ts';
import { newInvoice } from '../../src/domain/invoice/create-invoice.ts';
import { inputOfRestBody } from '../../src/domain/invoice/create-invoice-input.ts';
import type { Invoice } from '../../src/domain/invoice/invoice.ts';
import { legalInvoice } from '../../src/domain/invoice/legal-invoice.ts';
import type { InvoiceStatus } from '../../src/domain/invoice/lifecycle.ts';
import { legalNumber, seriesOf } from '../../src/domain/invoice/series-number.ts';
import { newCreationMoment } from '../../src/domain/order-key.ts';
import type { Member } from '../../src/domain/principal.ts';
import { documentOf, type InvoiceDocument } from '../../src/storage/invoice-document.ts';
import { transition } from './invoice-update.ts';
import { readBody } from './throughput-invoice.ts';

/** Invoices that are processed at the same time. */
const AT_ONCE = 64;
/** Maximum number of writes in a group. */
const GROUP = 64;

type Update = AnyBulkWriteOperation<InvoiceDocument>;

/**
 * The limit side of `throughput`: what must be done to an invoice, without everything that makes it reliable (leases,
 * jobs, events, webhooks, retries), and without rules, rate limits and authentication. Node's bare HTTP server parses
 * the JSON body and answers when the invoice is stored. Up to {@link AT_ONCE} invoices are then processed at the same
 * time, on the same event loop: the UBL is written, checked and digested once, signed once, and the signed document is
 * digested once. No authority is called: each invoice is accepted.
 *
 * The store is the service's, with the same indexes and write concern. An invoice is inserted once and updated three
 * times, as in the service's life cycle: `signing` with its number; `transmitted` with the signed document, which is
 * kept in the invoice's own document; `accepted`. Each of the four is acknowledged on disk before the next begins.
 * Writes that are requested while an earlier group is under way go together as one command, up to {@link GROUP}.
 */
export async function startLimit(db: Db, owner: Member): Promise<{ readonly url: string; close(): Promise<void> }> {
  const invoices = db.collection<InvoiceDocument>('invoices');
  const signer = createDocumentSigner(softwareKey(await makeTestIdentity(new Date(Date.now() - 86_400_000)), true));
  const write = grouped<Update>((updates) => invoices.bulkWrite(updates, { ordered: false }));
  const serials = new Map<string, number>();
  const waiting: Invoice[] = [];
  let underWay = 0;

  /** Updates an invoice if it has the status `from`. */
  const change = (id: string, from: InvoiceStatus, update: ReturnType<typeof transition>) =>
    write({ updateOne: { filter: { _id: id, status: from }, update } });

  async function process(pending: Invoice): Promise<void> {
    const name = seriesOf(pending);
    const serial = (serials.get(name) ?? 0) + 1;
    serials.set(name, serial);
    const legal = legalInvoice(pending, legalNumber({ name, serial }));
    const unsigned = unsignedDocument(writeInvoice(legal));
    await change(pending.id, 'pending', transition(0, 'signing', { series: { name, serial } }));
    const signed = await signer.sign(unsigned, new Date());
    const sha256 = createHash('sha256').update(signed).digest('hex');
    const xml = { file: new Binary(signed), sha256, size: signed.byteLength } as unknown as Invoice['xml'];
    await change(pending.id, 'signing', transition(1, 'transmitted', { xml }));
    const dgiId = `DGI-TEST-${sha256.slice(0, 16)}`;
    await change(pending.id, 'transmitted', transition(2, 'accepted', { dgiId }));
  }

  function pump(): void {
    for (; underWay < AT_ONCE; underWay++) {
      const next = waiting.shift();
      if (!next) return;
      process(next)
        .catch((error: Error) => console.error(`the limit side failed: ${error.stack ?? error.message}`))
        .finally(() => {
          underWay--;
          pump();
        });
    }
  }

  const insert = grouped<InvoiceDocument>((documents) => invoices.insertMany(documents, { ordered: false }));

  async function create(text: string): Promise<Invoice> {
    const { createdAt, order } = newCreationMoment();
    const invoice = { ...newInvoice(owner, inputOfRestBody(readBody(text)), createdAt), work: null };
    await insert(documentOf(invoice, order, null));
    waiting.push(invoice);
    pump();
    return invoice;
  }

  const server = createServer(async (request, response) => {
    try {
      const { id, status } = await create(await bodyOf(request));
      response.writeHead(201, { 'content-type': 'application/json' }).end(JSON.stringify({ id, status }));
    } catch (error) {
      response.writeHead(500).end(String(error));
    }
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async close() {
      server.closeAllConnections();
      server.close();
    },
  };
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString();
}

/**
 * Writes items in groups: one group is under way at a time, and the items that arrive meanwhile form the next.
 * @param write fails for all items of its group
 * @returns a function that resolves when the group of its item is written
 */
function grouped<Item>(write: (items: Item[]) => Promise<unknown>): (item: Item) => Promise<void> {
  let waiting: { readonly item: Item; readonly written: PromiseWithResolvers<void> }[] = [];
  let isWriting = false;

  async function writeAll(): Promise<void> {
    if (isWriting) return;
    isWriting = true;
    // Items that arrive during this turn of the event loop belong to the first group.
    await new Promise((resolve) => setImmediate(resolve));
    while (waiting.length > 0) {
      const group = waiting.slice(0, GROUP);
      waiting = waiting.slice(GROUP);
      try {
        await write(group.map(({ item }) => item));
        for (const { written } of group) written.resolve();
      } catch (error) {
        for (const { written } of group) written.reject(error);
      }
    }
    isWriting = false;
  }

  return (item) => {
    const written = Promise.withResolvers<void>();
    waiting.push({ item, written });
    void writeAll();
    return written.promise;
  };
}
