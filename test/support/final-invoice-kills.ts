import type { Db } from 'mongodb';
import type { InvoiceDocument } from '../../src/storage/invoice-document.ts';
import { Client } from './client.ts';
import { flawsOfAccepted, isFinal, type KilledRequest, type Made, type Track } from './store-kills.ts';

const CREATE = `mutation ($input: CreateInvoiceInput!, $key: String) {
  createInvoice(input: $input, idempotencyKey: $key) {
    ... on CreateInvoicePayload { invoice { id } } ... on Error { code message } } }`;
const SOLD = {
  currency: 'MAD',
  customer: { ice: '001234567000089', name: 'Atlas' },
  lines: [{ description: 'Étude', quantity: 1, unitPrice: 50_000, taxRate: 20 }],
};
/** A deposit of 100.00, or 120.00 with tax. After two of them, 360.00 of the sale remain. */
const DEPOSIT = { ...SOLD, lines: [{ ...SOLD.lines[0], unitPrice: 10_000 }], amount: 12_000, isDeposit: true };
/** Longer than a deposit keeps a share for an invoice that is not stored, milliseconds. */
const TOO_LONG_MS = 6 * 60_000;

/** Creates final invoices that deduct two deposits. The subject is the ids of the deposits, the first one first. */
export const FINAL_INVOICE: KilledRequest = {
  async prepare(track) {
    const made = [await create(track, DEPOSIT, null), await create(track, DEPOSIT, null)];
    const ids = made.flatMap((each) => each?.ids ?? []);
    await isFinal(track.db, ids);
    return ids.join();
  },
  ask: (track, subject) => createFinal(track, subject, 'first'),
  /**
   * Every second time that nothing is stored, another invoice deducts the deposits after their shares have expired, as
   * if the client gave the request up. A late repetition of the request is then refused.
   */
  async again(track, subject, nth) {
    const { finals } = await found(track.db, subject);
    if (finals.length > 0 || nth % 2 === 0) return createFinal(track, subject, 'first');
    const at = new Date(Date.now() - TOO_LONG_MS);
    const kept = { _id: { $in: subject.split(',') }, 'credits.list.0': { $exists: true } };
    await track.db.collection<InvoiceDocument>('invoices').updateMany(kept, { $set: { 'credits.list.0.at': at } });
    const other = await createFinal(track, subject, 'second');
    const refused = await createFinal(track, subject, 'first');
    return refused?.code === 'deposit_not_deductible'
      ? other
      : { ids: [], code: `${refused?.code} instead of refused` };
  },
  async leftOf(db, subject) {
    const { deposits, finals } = await found(db, subject);
    const kept = deposits.map(({ credits }) => (credits?.list.length ? 'share' : '-'));
    return {
      ids: finals.map(({ _id }) => _id),
      text: [...kept.sort(), finals[0]?.status ?? '-'].join(' '),
      flaws: finals.length > 0 && kept.includes('-') ? ['it is stored, and a deposit does not keep its share'] : [],
    };
  },
  async flawsOf(track, subject, made) {
    const { deposits, finals } = await found(track.db, subject);
    const [final] = finals;
    if (made?.code !== undefined) return [`the repeated request was answered ${made.code}`];
    if (finals.length !== 1 || !final) return [`there are ${finals.length} final invoices`];
    const flaws = made?.ids.join() === final._id ? [] : ['the answer names another one'];
    const deducted = final.deduction?.deposits.map(({ invoice, amount }) => `${invoice.id} ${amount}`).join();
    const due = subject.split(',').map((id) => `${id} ${DEPOSIT.amount}`);
    if (deducted !== due.join()) flaws.push(`it deducts ${deducted}`);
    for (const { _id, credits } of deposits) {
      const shares = credits?.list.map(({ creditNoteId, amount }) => `${creditNoteId} ${amount}`);
      if (shares?.join() !== `${final._id} ${DEPOSIT.amount}`) flaws.push(`${_id} keeps the shares ${shares}`);
    }
    return [...flaws, ...(await flawsOfAccepted(track, [...deposits, final]))];
  },
};

function createFinal(track: Track, subject: string, name: string): Promise<Made> {
  const input = { ...SOLD, amount: 36_000, deposits: subject.split(',') };
  return create(track, input, `${name} of ${subject}`);
}

async function create({ url, secretKey }: Track, input: object, key: string | null): Promise<Made> {
  try {
    const { body } = await new Client(url, secretKey).graphql(CREATE, { input, key });
    const { invoice, code } = body.data.createInvoice;
    return { ids: invoice ? [invoice.id] : [], code };
  } catch {
    return null;
  }
}

/** Reads the deposits, and all final invoices that deduct one of them. */
async function found(db: Db, subject: string) {
  const invoices = db.collection<InvoiceDocument>('invoices');
  const ids = subject.split(',');
  const [deposits, finals] = await Promise.all([
    invoices.find({ _id: { $in: ids } }).toArray(),
    invoices.find({ 'deduction.deposits.invoice.id': { $in: ids } }).toArray(),
  ]);
  return { deposits, finals };
}
