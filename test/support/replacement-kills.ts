import type { Db } from 'mongodb';
import type { InvoiceDocument } from '../../src/storage/invoice-document.ts';
import { Client, invoiceBody } from './client.ts';
import { flawsOfAccepted, isFinal, type KilledRequest, type Made, type Track } from './store-kills.ts';

const REPLACE = `mutation ($id: ID!, $input: CreateInvoiceInput!, $key: String) {
  replaceInvoice(invoiceId: $id, input: $input, reason: error, idempotencyKey: $key) {
    ... on ReplaceInvoicePayload { invoice { id } creditNote { id } } ... on Error { code message } } }`;
const INPUT = {
  amount: 18_000,
  currency: 'MAD',
  customer: { ice: '001234567000089', name: 'Client corrigé' },
  lines: [{ description: 'Conseil', quantity: 2, unitPrice: 7_500, taxRate: 20 }],
};

/** Replaces accepted live invoices. The subject is the invoice to be replaced. */
export const REPLACEMENT: KilledRequest = {
  async prepare({ url, secretKey, db }) {
    const { body } = await new Client(url, secretKey).post('/v1/invoices', invoiceBody());
    await isFinal(db, [body.id]);
    return body.id;
  },
  ask: replace,
  async leftOf(db, originalId) {
    const found = await corrections(db, originalId);
    const { invoices, notes } = found;
    const isAlone = notes.length > invoices.length;
    return {
      ids: [...invoices, ...notes].map(({ _id }) => _id),
      text: leftIn(found),
      flaws: isAlone ? ['a credit note is stored without its invoice'] : [],
    };
  },
  flawsOf,
};

async function replace({ url, secretKey }: Track, id: string): Promise<Made> {
  try {
    const { body } = await new Client(url, secretKey).graphql(REPLACE, { id, input: INPUT, key: `replace ${id}` });
    const { invoice, creditNote, code } = body.data.replaceInvoice;
    return { ids: [invoice?.id, creditNote?.id].flatMap((each) => each ?? []), code };
  } catch {
    return null;
  }
}

interface Corrections {
  readonly original: InvoiceDocument | null;
  readonly invoices: readonly InvoiceDocument[];
  readonly notes: readonly InvoiceDocument[];
}

async function corrections(db: Db, originalId: string): Promise<Corrections> {
  const documents = db.collection<InvoiceDocument>('invoices');
  const [original, invoices, notes] = await Promise.all([
    documents.findOne({ _id: originalId }),
    documents.find({ 'replaces.invoice.id': originalId }).toArray(),
    documents.find({ 'credit.original.id': originalId }).toArray(),
  ]);
  return { original, invoices, notes };
}

/**
 * Describes what a replacement has left in the store: the share, the link, the invoice with its status, the credit
 * note.
 */
function leftIn({ original, invoices, notes }: Corrections): string {
  const kept = original?.credits?.list.length ? 'share' : '-';
  const linked = original?.replacedBy ? 'link' : '-';
  return [kept, linked, invoices[0]?.status ?? '-', notes[0]?.status ?? '-'].join(' ');
}

async function flawsOf(track: Track, originalId: string, made: Made): Promise<string[]> {
  const { original, invoices, notes } = await corrections(track.db, originalId);
  const [invoice, note] = [invoices[0], notes[0]];
  if (made?.code !== undefined) return [`the repeated request was answered ${made.code}`];
  if (invoices.length !== 1 || notes.length !== 1 || !invoice || !note || !original)
    return [`there are ${invoices.length} invoices and ${notes.length} credit notes`];
  const flaws: string[] = original.status === 'accepted' ? [] : [`the replaced invoice is ${original.status}`];
  if (made?.ids.join() !== `${invoice._id},${note._id}`) flaws.push('the answer names others');
  const shares = original.credits?.list.map(({ creditNoteId, amount }) => `${creditNoteId} ${amount}`);
  if (shares?.join() !== `${note._id} ${original.amount}`) flaws.push(`the invoice keeps the shares ${shares}`);
  if (original.replacedBy?.invoiceId !== invoice._id) flaws.push('the invoice has another link');
  const decidedAt = note.events.at(-1)?.at.getTime() ?? Number.POSITIVE_INFINITY;
  if (invoice.events.some(({ at }) => at.getTime() < decidedAt)) flaws.push('it is issued before its credit note');
  return [...flaws, ...(await flawsOfAccepted(track, [invoice, note]))];
}
