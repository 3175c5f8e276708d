import { MongoBackend, MongoChangeStreamNotificationChannel } from '@agendajs/mongo-backend';
import { Agenda, type Job } from 'agenda';
import type { Db, UpdateFilter } from 'mongodb';
import type { Authority } from '../../src/domain/authority/ports.ts';
import type { DocumentStore } from '../../src/domain/invoice/document-store.ts';
import type { Invoice } from '../../src/domain/invoice/invoice.ts';
import { legalInvoice } from '../../src/domain/invoice/legal-invoice.ts';
import type { Stage } from '../../src/domain/invoice/lifecycle.ts';
import type { DocumentSigner, InvoiceWriter, PdfRenderer } from '../../src/domain/invoice/ports.ts';
import type { InvoiceRepository } from '../../src/domain/invoice/repository.ts';
import { legalNumber, seriesOf } from '../../src/domain/invoice/series-number.ts';
import { JOBS_COLLECTION } from '../../src/jobs/job-documents.ts';
import { jobName } from '../../src/jobs/stage-jobs.ts';
import type { InvoiceDocument } from '../../src/storage/invoice-document.ts';
import { type NumberDocument, reservationOf } from '../../src/storage/invoice-numbers.ts';
import { transition } from './invoice-update.ts';

/** The stages of an invoice without an e-mail address. */
const BENCHED = ['normalize', 'sign', 'transmit', 'decide', 'render'] as const satisfies readonly Stage[];
type BenchedStage = (typeof BENCHED)[number];

/** The parts that the service's pipeline uses. */
export interface StockAgendaParts {
  readonly db: Db;
  readonly invoices: InvoiceRepository;
  readonly documents: DocumentStore;
  readonly writer: InvoiceWriter;
  readonly signer: DocumentSigner;
  readonly authority: Authority;
  readonly renderer: PdfRenderer;
  readonly publicUrl: string;
}

/**
 * The peer of `latency` and `throughput`: the five stages as five jobs of Agenda 6 with its defaults, on its Mongo
 * backend and change stream notification channel. Each job reads the invoice, does the work of the stage, updates the
 * invoice and schedules the job of the next stage; the first one is scheduled by a change stream of new invoices. There
 * are no leases and no retries; the numbers of a series are assigned one after the other, and the last one is
 * remembered, as in the service, because a job whose number is taken would fail for good.
 * @returns a function that stops it
 */
export async function startStockAgenda(parts: StockAgendaParts): Promise<() => Promise<void>> {
  const { db, invoices, documents, writer, signer, authority, renderer } = parts;
  const agenda = new Agenda({
    backend: new MongoBackend({ mongo: db, collection: JOBS_COLLECTION }),
    notificationChannel: new MongoChangeStreamNotificationChannel({ db, collection: JOBS_COLLECTION }),
  });
  const collection = db.collection<InvoiceDocument>('invoices');
  const numbers = db.collection<NumberDocument>('invoice_numbers');
  const update = (invoice: Invoice, what: UpdateFilter<InvoiceDocument>) =>
    collection.updateOne({ _id: invoice.id, status: invoice.status }, what);
  const legal = (invoice: Invoice) => legalInvoice(invoice, invoice.number ?? '');
  const nextSerial = createSerials();

  const stages: Record<BenchedStage, (invoice: Invoice) => Promise<BenchedStage | null>> = {
    async normalize(invoice) {
      const { tenantId, environment, events } = invoice;
      const name = seriesOf(invoice);
      // Before the turn, so that no other invoice waits for this document. Its number does not matter, because the next
      // job writes the document that is signed.
      await writer.write(legalInvoice(invoice, legalNumber({ name, serial: 1 })));
      await nextSerial(`${tenantId} ${environment} ${name}`, async (last) => {
        const serial = (last ?? (await invoices.highestSerial(tenantId, environment, name))) + 1;
        const series = { name, serial };
        await numbers.insertOne(reservationOf({ invoice, series }));
        await update(invoice, transition(events.length, 'signing', { series }));
        return serial;
      });
      return 'sign';
    },
    async sign(invoice) {
      const signed = await signer.sign(await writer.write(legal(invoice)), new Date());
      const xml = await documents.put(signed, `${invoice.id}.xml`, 'application/xml');
      await update(invoice, { $set: { xml } });
      return 'transmit';
    },
    async transmit(invoice) {
      const xml = present(invoice.xml);
      const document = await documents.get(xml);
      const { sha256 } = xml;
      await authority.submit({ submissionId: invoice.id, customerIce: invoice.customer.ice, sha256, document });
      await update(invoice, transition(invoice.events.length, 'transmitted'));
      return 'decide';
    },
    async decide(invoice) {
      const answer = await authority.lookUp({ submissionId: invoice.id, sha256: present(invoice.xml).sha256 });
      const decision = answer.kind === 'held' ? answer.submission.decision : null;
      if (decision?.outcome !== 'accepted') throw new Error(`invoice ${invoice.id} is not accepted`);
      await update(invoice, transition(invoice.events.length, 'accepted', { dgiId: decision.dgiId }));
      return 'render';
    },
    async render(invoice) {
      const page = {
        invoice: legal(invoice),
        dgiId: present(invoice.dgiId),
        acceptedAt: invoice.updatedAt,
        receipt: null,
        logo: null,
        verifyUrl: `${parts.publicUrl}/verify/${invoice.id}`,
      };
      const pdf = await renderer.render(page, await documents.get(present(invoice.xml)));
      await update(invoice, { $set: { pdf: await documents.put(pdf, `${invoice.id}.pdf`, 'application/pdf') } });
      return null;
    },
  };

  for (const stage of BENCHED) {
    agenda.define<{ invoiceId: string }>(jobName(stage, 'test'), async (job: Job<{ invoiceId: string }>) => {
      const { invoiceId } = job.attrs.data;
      const next = await stages[stage](present(await invoices.find(invoiceId)));
      if (next !== null) await agenda.now(jobName(next, 'test'), { invoiceId });
    });
  }
  agenda.on('fail', (error: Error, job: Job) => console.error(`${job.attrs.name} failed: ${error.message}`));
  await agenda.start();
  // The service's own queue has no job for what is due at once.
  const created = collection.watch([
    { $match: { operationType: 'insert' } },
    { $project: { operationType: 1, documentKey: 1 } },
  ]);
  created.on('change', (change) => {
    if (change.operationType !== 'insert') return;
    agenda.now(jobName('normalize', 'test'), { invoiceId: change.documentKey._id }).catch(console.error);
  });
  return async () => {
    await created.close();
    await agenda.stop(false);
  };
}

/**
 * Takes the serials of each series one after the other. A failure does not fail the next ones.
 * @returns a function that calls `take` when it is its turn, with the last serial of the series, or null if that is not
 * known, and resolves to what it returns: the serial that it took
 */
export function createSerials() {
  const series = new Map<string, Promise<number | null>>();
  return async (name: string, take: (last: number | null) => Promise<number>): Promise<number> => {
    const taken = (series.get(name) ?? Promise.resolve(null)).then(take);
    series.set(
      name,
      taken.catch(() => null),
    );
    return taken;
  };
}

function present<T>(value: T | null): T {
  if (value === null) throw new Error('a stage ran before the stage that it depends on');
  return value;
}
