import { expect, it } from 'vitest';
import { labelsOf } from '../../../src/adapters/pdf/labels.ts';
import { DOCUMENT_LANGUAGES } from '../../../src/domain/document-language.ts';
import type { Invoice } from '../../../src/domain/invoice/invoice.ts';
import { createVerifyPublicly } from '../../../src/domain/invoice/verify-publicly.ts';
import { unknownPage, verifyPage } from '../../../src/transport/verify/page.ts';
import { pendingInvoice } from '../../support/invoices.ts';

const FACTS = {
  invoiceId: 'inv_550e8400-e29b-41d4-a716-446655440000',
  kind: 'invoice',
  isDeposit: false,
  environment: 'live',
  number: '2026-000123',
  issueDate: '2026-11-21',
  original: null,
  credited: null,
  replacedBy: null,
  seller: { name: 'Atlas SARL', ice: '001234567000089' },
  amount: 123_456_789,
  withheld: null,
  dgiId: 'DGI-1',
  acceptedAt: new Date('2026-11-21T23:30:00Z'),
  receipt: { decidedAt: new Date('2026-11-21T23:30:00Z') },
  documents: [{ kind: 'xml', sha256: 'ab', size: 1 }],
} as const;

const CREDIT_NOTE = {
  ...FACTS,
  invoiceId: 'crn_550e8400-e29b-41d4-a716-446655440000',
  kind: 'credit_note',
  number: 'AV-2026-000001',
  original: { number: '2026-000123', issueDate: '2026-11-20' },
} as const;

it.each([
  ['fr', ['Facture d’acompte authentique', 'Facture d’acompte n°', 'Facture d’acompte de test']],
  ['ar', ['فاتورة تسبيق صحيحة', 'فاتورة تسبيق رقم', 'فاتورة تسبيق للاختبار']],
  ['en', ['Genuine deposit invoice', 'Deposit invoice no.', 'Test deposit invoice']],
] as const)('calls a deposit invoice one in %s, as its PDF does', (language, phrases) => {
  const page = verifyPage({ ...FACTS, isDeposit: true }, language, null);
  const test = verifyPage({ ...FACTS, isDeposit: true, environment: 'test' }, language, null);
  for (const phrase of phrases) {
    expect(page + test).toContain(phrase);
    expect(phrase.toLowerCase()).toContain(labelsOf('invoice', language, true).title.toLowerCase());
    expect(verifyPage(FACTS, language, null)).not.toContain(phrase);
  }
});

it.each([
  [
    'fr',
    /[Ff]acture/,
    ['Avoir authentique', 'Émis par ce service', 'Avoir n°', 'Accepté le', 'Avoir de test', 'l’a accepté,'],
  ],
  [
    'ar',
    /فاتور/,
    ['إشعار دائن صحيح', 'صادر عن هذه الخدمة', 'إشعار دائن رقم', 'إشعار دائن للاختبار', 'قبله محاكي الإدارة'],
  ],
  ['en', /[Ii]nvoice/, ['Genuine credit note', 'Issued by this service', 'Credit note no.', 'Test credit note']],
] as const)(
  'calls a credit note one in %s, and names the invoice that it corrects',
  (language, invoiceWord, phrases) => {
    const page = verifyPage(CREDIT_NOTE, language, null);
    const test = verifyPage({ ...CREDIT_NOTE, environment: 'test' }, language, null);
    for (const phrase of phrases) expect(page + test).toContain(phrase);
    const { payable } = labelsOf('credit_note', language);
    const names = { fr: 'Facture d’origine', ar: 'الفاتورة الأصلية', en: 'Original invoice' };
    expect(page).toMatch(
      new RegExp(`<dt>${names[language]}</dt><dd><bdi>2026-000123</bdi> \\(<bdi>20 .* 2026</bdi>\\)<`),
    );
    expect(page).toContain(`<dt>${payable}</dt>`);
    const told = (page + test)
      .replaceAll(names[language], '')
      .replace(/<style>.*?<\/style>|<script>.*?<\/script>/gs, '');
    expect(told.replaceAll(/<[^>]*>/g, ' ')).not.toMatch(invoiceWord);
  },
);

it('says how much of an invoice was credited, and which invoice it replaces', () => {
  const part = { amount: 20_000, isWhole: false, lastDate: '2026-11-25' };
  const page = verifyPage({ ...FACTS, credited: part }, 'fr', null);
  expect(page).toContain('<dt>Créditée en partie</dt><dd><bdi>200,00\u00a0MAD</bdi> (<bdi>25 novembre 2026</bdi>)');
  const whole = verifyPage({ ...FACTS, credited: { ...part, isWhole: true } }, 'en', null);
  expect(whole).toContain('<dt>Credited in full</dt>');
  expect(verifyPage(FACTS, 'en', null)).not.toContain('Credited');
  const original = { number: '2026-000100', issueDate: '2026-11-20' };
  expect(verifyPage({ ...FACTS, original }, 'fr', null)).toContain(
    '<dt>Remplace la facture</dt><dd><bdi>2026-000100</bdi> (<bdi>20 novembre 2026</bdi>)',
  );
});

it('says nothing of an invoice or a credit note at an unknown address', () => {
  for (const language of DOCUMENT_LANGUAGES) {
    const [, title] = /<title>(.*)<\/title>/.exec(unknownPage(language))!;
    expect(title).toBe({ fr: 'Document inconnu', ar: 'وثيقة غير معروفة', en: 'Unknown document' }[language]);
  }
});

it('a credit note’s public facts have its kind and the number and date of its invoice', async () => {
  const accepted = (changes: Partial<Invoice>) =>
    pendingInvoice({
      status: 'accepted',
      number: 'AV-2026-000001',
      dgiId: 'DGI-2',
      events: [
        {
          id: 'evt_1',
          sequence: 1,
          type: 'invoice.accepted',
          status: 'accepted',
          dgiId: 'DGI-2',
          rejectionReason: null,
          at: new Date('2026-11-28T10:00:00Z'),
        },
      ],
      ...changes,
    });
  const correctionStatesOf = async () => new Map();
  const factsOf = (invoice: Invoice) => createVerifyPublicly(async () => invoice, { correctionStatesOf })(invoice.id);
  const credit = {
    original: { id: null, number: '2026-000123', issueDate: '2026-11-20', dgiId: 'DGI-1' },
    reason: 'return',
    note: 'Deux manuels abîmés',
    rates: [{ rate: 20, base: 10_000, tax: 2_000 }],
    amount: 12_000,
  } as const;
  expect(await factsOf(accepted({ kind: 'credit_note', credit }))).toMatchObject({
    kind: 'credit_note',
    number: 'AV-2026-000001',
    original: CREDIT_NOTE.original,
    amount: 12_000,
  });
  const facts = await factsOf(accepted({}));
  expect(facts).toMatchObject({ kind: 'invoice', isDeposit: false, original: null });
  expect(await factsOf(accepted({ isDeposit: true }))).toMatchObject({ kind: 'invoice', isDeposit: true });
});

it('calls a live invoice genuine, and a test one never', () => {
  const genuine = { fr: 'Facture authentique', ar: 'فاتورة صحيحة', en: 'Genuine invoice' };
  for (const language of DOCUMENT_LANGUAGES) {
    expect(verifyPage(FACTS, language, null)).toContain(`</svg>${genuine[language]}</h1>`);
    expect(verifyPage({ ...FACTS, environment: 'test' }, language, null)).not.toContain(genuine[language]);
  }
});

it('writes amounts and dates as the language does', () => {
  expect(verifyPage(FACTS, 'fr', null)).toContain('1\u00a0234\u00a0567,89\u00a0MAD');
  expect(verifyPage(FACTS, 'en', null)).toContain('1,234,567.89\u00a0MAD');
  expect(verifyPage(FACTS, 'ar', null)).toContain('21 نونبر 2026');
});

it('states the amount payable by the name that the PDF has for it', () => {
  for (const language of DOCUMENT_LANGUAGES) {
    const label = `<dt>${labelsOf('invoice', language).payable}</dt>`;
    expect(verifyPage(FACTS, language, null)).toContain(label);
    expect(verifyPage(FACTS, language, null)).not.toContain(labelsOf('invoice', language).gross);
  }
});

it('shows the verified receipt and its digest, and nothing of it while there is none', () => {
  const documents = [...FACTS.documents, { kind: 'receipt', sha256: 'cd', size: 2 }] as const;
  const page = verifyPage({ ...FACTS, documents }, 'fr', 'receipt');
  expect(page).toMatch(/<dt>Reçu de l’administration<\/dt><dd><bdi>vérifié<\/bdi>/);
  expect(page).toMatch(/<dt>Décision du<\/dt><dd><bdi>2\d novembre 2026/);
  expect(page).toMatch(/Reçu de l’administration<code dir="ltr">cd</);
  expect(page).toMatch(/data-outcome="receipt">\s*<strong>Fichier intact<\/strong>/);
  const without = verifyPage({ ...FACTS, receipt: null }, 'fr', null);
  expect(without).not.toContain('Reçu de l’administration');
});
