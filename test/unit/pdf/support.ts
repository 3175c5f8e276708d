import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { crc32, deflateSync } from 'node:zlib';
import type { DocumentLanguage } from '../../../src/domain/document-language.ts';
import { COMPANY } from '../../../src/domain/invoice/customer-kind.ts';
import { NO_PARTICULARS } from '../../../src/domain/invoice/particulars.ts';
import type { LegalInvoice, LegalLine, PrintedInvoice } from '../../../src/domain/invoice/ports.ts';
import type { TaxRate } from '../../../src/domain/invoice/tax-rate.ts';
import { NO_TERMS } from '../../../src/domain/invoice/terms.ts';
import { type PricedDocument, totalsOf } from '../../../src/domain/invoice/totals.ts';
import { parseLogo } from '../../../src/domain/tenant/logo.ts';

/** Chromium is unpacked once and kept between test runs. */
export const CHROMIUM_CACHE = fileURLToPath(new URL('../../../node_modules/.cache/fatoura', import.meta.url));

export const SELLER: LegalInvoice['seller'] = {
  legalName: 'Atlas Conseil',
  ice: '001509176000008',
  taxId: '14452890',
  tradeRegister: 'Casablanca 284915',
  professionalTax: '37951204',
  cnss: '7654321',
  address: { street: '12, boulevard Zerktouni', city: 'Casablanca', postalCode: '20250' },
  email: 'facturation@atlas.example',
  legalForm: 'SARL',
  capital: 10_000_000,
  paymentMode: 'Virement bancaire',
  paymentMeans: null,
  paymentTermDays: null,
  bankAccount: null,
  operationDateIsIssueDate: false,
  exemptionReason: 'Article 92 du CGI',
  documentLanguage: 'fr',
  logo: null,
};

/** A PNG of 2 by 3 orange pixels, half transparent. */
export const LOGO = `data:image/png;base64,${png(2, 3).toString('base64')}`;

export function pngChunk(type: string, data: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(type, 'latin1'), data]);
  const [length, sum] = [Buffer.alloc(4), Buffer.alloc(4)];
  length.writeUInt32BE(data.length);
  sum.writeUInt32BE(crc32(body));
  return Buffer.concat([length, body, sum]);
}

/** A PNG of one colour with transparency. */
export function png(width: number, height: number): Buffer {
  const header = Buffer.from('00000000000000000806000000', 'hex');
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  const row = Buffer.concat([Buffer.of(0), Buffer.alloc(width * 4, Buffer.of(200, 90, 40, 128))]);
  const pixels = deflateSync(Buffer.concat(Array.from({ length: height }, () => row)));
  const signature = Buffer.from('89504e470d0a1a0a', 'hex');
  return Buffer.concat([
    signature,
    pngChunk('IHDR', header),
    pngChunk('IDAT', pixels),
    pngChunk('IEND', Buffer.alloc(0)),
  ]);
}

export function line(description: string, quantity: number, unitPrice: number, taxRate: TaxRate): LegalLine {
  return { description, quantity, unitPrice, taxRate, amount: quantity * unitPrice };
}

/**
 * An accepted live invoice with two lines, 126,856.78 dirhams before tax, with `changes` applied.
 * @param outer what only the page has, and what its totals are computed from besides the lines
 */
export function printed(
  changes: Partial<LegalInvoice> = {},
  {
    discount,
    charge,
    ...outer
  }: Partial<Omit<PrintedInvoice, 'invoice'>> & Pick<PricedDocument, 'discount' | 'charge'> = {},
): PrintedInvoice {
  const lines = changes.lines ?? [line('Audit', 1, 12_345_678, 20), line('Manuels', 40, 8_500, 0)];
  const totals = totalsOf({ lines, discount, charge })!;
  return {
    invoice: {
      ...NO_PARTICULARS,
      id: 'inv_550e8400-e29b-41d4-a716-446655440000',
      kind: 'invoice',
      credit: null,
      replaces: null,
      tenantId: 'ten_550e8400-e29b-41d4-a716-446655440000',
      environment: 'live',
      number: '2026-000123',
      issueDate: '2026-11-21',
      terms: { ...NO_TERMS, paymentMode: 'Virement bancaire' },
      currency: 'MAD',
      seller: SELLER,
      specimen: false,
      customer: {
        ...COMPANY,
        ice: '002345678000047',
        name: 'Travaux du Maroc',
        address: '45, avenue Mohammed V',
        email: null,
      },
      lines,
      totals,
      amount: totals.gross,
      ...changes,
    },
    dgiId: 'DGI-2026-7f3a91c0',
    acceptedAt: new Date('2026-06-30T23:30:05.999Z'),
    receipt: { sha256: 'c4'.repeat(32), decidedAt: new Date('2026-06-30T23:30:04.000Z') },
    logo: null,
    verifyUrl: 'https://fatoura.example/verify/4pXv0q9mZ2s7',
    ...outer,
  };
}

const ORDINARY = {
  fr: {
    seller: SELLER,
    customer: { name: 'Travaux du Maroc SA', address: '45, avenue Mohammed V, 10000 Rabat' },
    lines: [
      'Conseil en organisation',
      'Maintenance du parc informatique',
      'Formation du personnel (2 jours)',
      'Fournitures',
    ],
    closing: ['Net à payer', 'Arrêtée la présente facture', 'Identifiant DGI'],
  },
  ar: {
    seller: {
      ...SELLER,
      legalName: 'شركة الأطلس للاستشارات والهندسة',
      legalForm: 'ش.ذ.م.م',
      address: { street: '12، شارع الزرقطوني', city: 'الدار البيضاء', postalCode: '20250' },
      paymentMode: 'تحويل بنكي',
      exemptionReason: 'المادة 92 من المدونة العامة للضرائب',
    },
    customer: { name: 'أشغال المغرب الكبرى ش.م', address: '45، شارع محمد الخامس، الرباط' },
    lines: ['خدمات استشارية في التنظيم', 'صيانة المعدات المعلوماتية', 'تكوين المستخدمين (يومان)', 'لوازم المكتب'],
    closing: ['المبلغ الواجب أداؤه', 'هذه الفاتورة', 'DGI-2026-7f3a91c0'],
  },
  en: {
    seller: SELLER,
    customer: { name: 'Travaux du Maroc SA', address: '45, avenue Mohammed V, 10000 Rabat' },
    lines: ['Management consulting', 'Maintenance of computers', 'Staff training (2 days)', 'Office supplies'],
    closing: ['Amount due', 'Amount in words', 'DGI identifier'],
  },
};

/**
 * A test invoice of an ordinary seller with a logo and all terms set: `count` lines of all rates, marked `R1R`, `R2R`
 * ….
 * @param description description of every line, instead of the ordinary ones
 */
export function ordinary(documentLanguage: DocumentLanguage, count: number, description?: string): PrintedInvoice {
  const { seller, customer, lines } = ORDINARY[documentLanguage];
  const rates = [20, 14, 10, 7, 0] as const;
  return printed(
    {
      environment: 'test',
      terms: {
        operationDate: '2026-11-20',
        dueDate: '2027-01-20',
        paymentMode: seller.paymentMode,
        paymentMeans: 'transfer',
        paymentReference: '2026-000123',
        bankAccount: '011780000123456789012386',
      },
      seller: { ...seller, documentLanguage },
      customer: { ...COMPANY, ice: '002345678000047', email: 'compta@travaux.example', ...customer },
      lines: Array.from({ length: count }, (_, index) =>
        line(
          `${description ?? lines[index % 4]} R${index + 1}R`,
          1 + (index % 4),
          125_000 + 1_733 * index,
          rates[index % 5]!,
        ),
      ),
    },
    {
      logo: parseLogo(`data:image/png;base64,${png(300, 100).toString('base64')}`),
      verifyUrl: 'https://factures.fatoura.example/verify/inv_550e8400-e29b-41d4-a716-446655440000',
    },
  );
}

/**
 * Errors in the page breaks of such an invoice: totals and acceptance must be on the last page, together with the last
 * lines.
 */
export function layoutFaults(pages: readonly string[], documentLanguage: DocumentLanguage, count: number): string[] {
  const [last = ''] = pages.slice(-1);
  const plain = last.replaceAll(/[\u2066-\u2069\u200e\u200f\u202a-\u202e]/g, '');
  const wanted = [...ORDINARY[documentLanguage].closing, `R${count}R`, ...(count > 1 ? [`R${count - 1}R`] : [])];
  return wanted.filter((text) => !plain.includes(text)).map((text) => `${count} lines: no ${text} on the last page`);
}

/** The number of pages of a PDF printed by Chromium, whose page objects are not compressed. */
export function pageCount(pdf: Uint8Array): number {
  return (
    Buffer.from(pdf)
      .toString('latin1')
      .match(/\/Type \/Page\b(?!s)/g)?.length ?? 0
  );
}

/** The text of each page by pdftotext, with plain spaces: in visual layout, or in the order of the content stream. */
export function textOfPages(pdf: Uint8Array, order: 'layout' | 'raw' = 'layout'): string[] {
  const folder = mkdtempSync(join(tmpdir(), 'fatoura-pdf-'));
  try {
    writeFileSync(join(folder, 'it.pdf'), pdf);
    const text = execFileSync('pdftotext', [`-${order}`, join(folder, 'it.pdf'), '-'], { encoding: 'utf8' });
    return text
      .split('\f')
      .slice(0, -1)
      .map((page) => page.replaceAll(/[\u00a0\u202f ]+/g, ' '));
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** Whether any process of a group runs; zombies do not count. */
export function groupLives(group: number): boolean {
  return processStates().some(([pgid, state]) => pgid === group && state !== 'Z');
}

/** Process group and state of every process; from /proc if it exists, because a minimal Linux has no `ps`. */
function processStates(): [group: number, state: string][] {
  if (!existsSync('/proc/self/stat')) {
    const { stdout } = spawnSync('ps', ['-A', '-o', 'pgid=,stat='], { encoding: 'utf8' });
    return [...stdout.matchAll(/^ *(\d+) +(\S)/gm)].map(([, pgid, state]) => [Number(pgid), state ?? '']);
  }
  return readdirSync('/proc').flatMap((pid): [number, string][] => {
    if (!/^\d+$/.test(pid)) return [];
    try {
      // `pid (name) state parent group …`, where the name may contain any character.
      const [state = '', , pgid] = readFileSync(`/proc/${pid}/stat`, 'utf8')
        .replace(/^.*\) /s, '')
        .split(' ');
      return [[Number(pgid), state]];
    } catch {
      return [];
    }
  });
}

/** Waits until `condition` holds; fails after `limit` milliseconds. */
export async function until(condition: () => boolean, limit = 50_000): Promise<void> {
  const end = Date.now() + limit;
  while (!condition()) {
    if (Date.now() > end) throw new Error(`not within ${limit} ms: ${condition}`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
