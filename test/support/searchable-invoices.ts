import type { Db } from 'mongodb';
import { randomNumbers } from '../../scripts/random-numbers.ts';
import { KINDS, type Kind } from '../../src/domain/invoice/kinds.ts';
import { termsOf } from '../../src/domain/invoice/search/terms.ts';
import { orderAt } from '../../src/domain/order-key.ts';
import { documentOf, type InvoiceDocument, invoiceOf } from '../../src/storage/invoice-document.ts';
import { pendingInvoice } from './invoices.ts';

/** The content of a generated document, as a person knows it. */
export interface Searchable {
  readonly id: string;
  readonly kind: Kind;
  readonly status: 'accepted' | 'rejected' | 'pending';
  readonly name: string;
  readonly ice: string;
  readonly number: string;
  readonly amount: number;
  readonly dgiId: string | null;
  readonly orderReference: string | null;
  readonly metadata: Readonly<Record<string, string>>;
}

const FORMS = ['Société', 'Sté', 'Établissements', 'Groupe', 'شركة', 'مؤسسة', 'Compagnie', 'Coopérative'];
const LATIN = [
  'Atlas',
  'Boréal',
  'Étoile',
  'Générale',
  'Océane',
  'Zénith',
  'Façades',
  'Maïs',
  'Cœur',
  'Naïma',
  'Souss',
];
const TRADES = ['Distribution', 'Transport', 'Électricité', 'Bâtiment', 'Conseil', 'Négoce', 'Pêche', 'Imprimerie'];
const ARABIC = ['الأطلس', 'النُّور', 'الرِّبَاط', 'فاس', 'التجارة', 'البناء', 'مُراكش', 'الصحراء', 'الزهراء', 'تطوان'];
const ENDS = ['SARL', 'S.A.', 'SARL AU', 'SNC', 'ش.م.م', ''];
const HOUSES = ['K', 'B', 'M', 'T', 'D', 'F', 'R', 'L', 'N', 'S', 'Z', 'Ch', 'Gh'];
const ENDINGS = ['artam', 'ennouna', 'oulane', 'assimi', 'erkaoui', 'ifaoui', 'ouzid', 'alaoui', 'ahlaoui', 'èquetal'];

/** Stores documents of 3,000 customers, from oldest to newest. @returns the documents, newest first */
export async function storeSearchable(
  db: Db,
  owner: { readonly tenantId: string; readonly environment: 'test' },
  count: number,
  seed = 45,
): Promise<readonly Searchable[]> {
  const next = randomNumbers(seed);
  const random = (below: number) => Math.floor(below * next());
  const pick = <T>(from: readonly T[]): T => from[random(from.length)] as T;
  const digits = (length: number) => Array.from({ length }, () => random(10)).join('');
  const customers = Array.from({ length: 3000 }, () => {
    const own = `${pick(HOUSES)}${pick(ENDINGS)}${random(3) === 0 ? `-${pick(HOUSES)}${pick(ENDINGS)}` : ''}`;
    const latin = `${pick(FORMS)} ${pick(LATIN)} ${own} ${pick(TRADES)} ${pick(ENDS)}`;
    const name = random(4) === 0 ? `شركة ${pick(ARABIC)} ${pick(ARABIC)} ${pick(ENDS)}` : latin;
    return { name: name.trim(), ice: `00${digits(13)}` };
  });
  const like = pendingInvoice({ ...owner });
  const invoices = db.collection<InvoiceDocument>('invoices');
  const all: Searchable[] = [];
  const serials = { invoice: 0, credit_note: 0 };
  let batch: InvoiceDocument[] = [];
  for (let nth = 0; nth < count; nth++) {
    const kind: Kind = random(20) === 0 ? 'credit_note' : 'invoice';
    // A tenth of the customers has half of the documents.
    const customer = customers[random(random(2) === 0 ? 300 : 3000)] as { name: string; ice: string };
    const status = random(100) === 0 ? 'rejected' : random(200) === 0 ? 'pending' : 'accepted';
    const series = { name: kind === 'invoice' ? '2026' : 'AV-2026', serial: ++serials[kind] };
    const amount = 100 * (1 + random(40_000)) + (random(2) === 0 ? 50 : 0) + (random(4) === 0 ? random(100) : 0);
    const dgiId = status === 'accepted' ? `DGI-TEST-${digits(16)}` : null;
    const orderReference = random(5) === 0 ? `BC-${digits(5)}/${pick(['A', 'B'])}` : null;
    const metadata: Record<string, string> = random(3) === 0 ? { order: `web_${digits(7)}`, site: pick(LATIN) } : {};
    const id = `${KINDS[kind].idPrefix}_${digits(8)}-0000-4000-8000-${String(nth).padStart(12, '0')}`;
    const createdAt = new Date(Date.UTC(2026, 0, 1) + nth * 200);
    const invoice = {
      ...like,
      id,
      kind,
      status,
      amount,
      createdAt,
      metadata,
      work: null,
      customer: { ...like.customer, ...customer },
      references: orderReference === null ? null : { order: orderReference, contract: null },
    } as unknown as Parameters<typeof documentOf>[0];
    const { awaitsNumber: _had, ...document } = documentOf(invoice, orderAt(createdAt.getTime()) + String(nth), null);
    const stored: InvoiceDocument = { ...document, series, dgiId, createdAt };
    stored.searchTerms = termsOf(invoiceOf(stored));
    batch.push(stored);
    const number = `${series.name}-${String(series.serial).padStart(6, '0')}`;
    all.push({ id, kind, status, ...customer, number, amount, dgiId, orderReference, metadata });
    if (batch.length === 500 || nth === count - 1) {
      await invoices.insertMany(batch, { ordered: false });
      batch = [];
    }
  }
  return all.reverse();
}
