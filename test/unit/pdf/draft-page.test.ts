import { afterAll, beforeAll, describe, expect, it, test } from 'vitest';
import { invoicePage } from '../../../src/adapters/pdf/invoice-page.ts';
import { type ChromiumPdfRenderer, createPdfRenderer } from '../../../src/adapters/pdf/pdf-renderer.ts';
import type { DocumentLanguage } from '../../../src/domain/document-language.ts';
import { draftPage } from '../../../src/domain/invoice/drafts/draft-page.ts';
import { PREVIEW_BYTES, PREVIEW_LINES } from '../../../src/domain/preview.ts';
import { hasTool } from '../../support/tools.ts';
import { CHROMIUM_CACHE, pageCount, SELLER, textOfPages } from './support.ts';
import { wordsOf } from './words.ts';

const NOW = new Date('2026-11-29T12:00:00Z');

/** The page of a draft with this content, of a tenant with this profile. */
function pageOf(content: object, profile: Partial<typeof SELLER> = SELLER, environment: 'test' | 'live' = 'live') {
  const written = { version: 1, content: JSON.stringify(content), createdAt: NOW, updatedAt: NOW, issuingUntil: null };
  const by = { kind: 'key', id: 'key_1', name: null } as const;
  const draft = { ...written, id: 'drf_1', tenantId: 'ten_1', environment, order: 'o', updatedBy: by };
  const tenant = { id: 'ten_1', name: 'T', profile, createdAt: NOW, suspendedAt: null };
  return draftPage(draft, tenant, null, NOW);
}

const WHOLE = {
  amount: 12_000,
  currency: 'MAD',
  number: 'FA/77',
  customer: { ice: '001234567000089', name: 'Atlas Distribution', address: '1, rue X' },
  lines: [{ description: 'Conseil', quantity: 2, unitPrice: 5_000, taxRate: 20 }],
  terms: { dueDate: '2026-12-31', paymentReference: 'REF 9' },
};

describe('the page of a draft', () => {
  it.each([
    ['fr', 'BROUILLON', 'ce document n’est pas une facture'],
    ['ar', 'مسودة', 'هذه الوثيقة ليست فاتورة'],
    ['en', 'DRAFT', 'this document is not an invoice'],
  ] as const)(
    'is marked as one in %s, and has no number, decision or address to verify',
    async (language, word, notice) => {
      const seller = { ...SELLER, documentLanguage: language as DocumentLanguage };
      const page = pageOf(WHOLE, seller);
      const words = await wordsOf(page);
      for (const text of [word, notice, 'Atlas Distribution', '001234567000089', 'Conseil', 'REF 9'])
        expect(words).toContain(text);
      for (const text of ['FA/77', 'DGI', 'undefined', 'null', 'http']) expect(words).not.toContain(text);
      const document = await invoicePage(page);
      expect(document).not.toContain('<svg');
      expect(document).not.toContain('class="number"');
      expect(document).toContain(`class="mark"><span>${word}</span>`);
      // In the title of the file.
      expect(document.slice(0, document.indexOf('<body>')).split(word).length).toBeGreaterThan(1);
    },
  );

  it('says of specimen data that it is one, and is marked as a draft in the test environment too', async () => {
    const words = await wordsOf(pageOf(WHOLE, { documentLanguage: 'en' }, 'test'));
    expect(words).toContain('DRAFT');
    expect(words).toContain('some of the seller’s details are examples');
    expect(words).not.toContain('TEST');
  });

  it('shows what is valid of anything that was typed', async () => {
    const content = {
      amount: '1',
      customer: { ice: '0012 x', name: 'x'.repeat(300), address: '\u0000' },
      lines: [
        null,
        { description: 'Conseil', quantity: '2 h' },
        { unitPrice: 700, quantity: 2, taxRate: 19 },
        'x',
        [[]],
      ],
      terms: { dueDate: 'demain', paymentMode: 'Chèque' },
    };
    const { draft } = pageOf(content);
    expect(draft).toMatchObject({
      number: '',
      issueDate: '2026-11-29',
      customer: { ice: '—', name: '—', address: null },
      terms: { dueDate: null, paymentMode: 'Chèque' },
      totals: { net: 1400, tax: 280, gross: 1680 },
      amount: 1680,
    });
    const line = {
      description: '—',
      quantity: 0,
      unitPrice: 0,
      taxRate: 20,
      amount: 0,
      finalAmount: null,
      depositShare: null,
    };
    expect(draft.lines).toEqual([
      line,
      { ...line, description: 'Conseil' },
      { ...line, quantity: 2, unitPrice: 700, amount: 1400 },
      line,
      line,
    ]);
    for (const nothing of [{}, { lines: [] }, { lines: 'x', customer: 'y', terms: 5 }])
      expect(await wordsOf(pageOf(nothing))).toContain('BROUILLON');
    expect(pageOf({ lines: Array.from({ length: 1500 }, () => ({})) }).draft.lines).toHaveLength(1000);
  });

  it('is not drawn when its totals are beyond the limit', () => {
    const lines = [{ description: 'x', quantity: 2, unitPrice: Number.MAX_SAFE_INTEGER }];
    expect(() => pageOf({ lines })).toThrow(/more than 9007199254740991 centimes/);
  });
});

describe('the PDF of a draft', () => {
  let renderer: ChromiumPdfRenderer;
  beforeAll(() => {
    renderer = createPdfRenderer({ cacheDir: CHROMIUM_CACHE, timeLimit: 60_000 });
  });
  afterAll(() => renderer.close());

  test.skipIf(!hasTool('pdftotext'))('says what it is on each page', async () => {
    const lines = Array.from({ length: 60 }, (_, n) => ({ description: `Line ${n}`, quantity: 1, unitPrice: 100 }));
    const pdf = await renderer.render(pageOf({ ...WHOLE, lines }));
    expect(pageCount(pdf)).toBeGreaterThan(1);
    for (const text of textOfPages(pdf)) expect(text).toMatch(/brouillon/i);
  });

  it('of five hundred lines fits into an answer', async () => {
    const lines = Array.from({ length: PREVIEW_LINES }, (_, n) => ({
      description: `Prestation de conseil en organisation n° ${n}, mission du mois`,
      quantity: 1,
      unitPrice: n,
    }));
    const pdf = await renderer.render(pageOf({ ...WHOLE, lines }));
    expect((pdf.length * 4) / 3).toBeLessThan(PREVIEW_BYTES);
  });
});
