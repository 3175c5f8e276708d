import { expect, it } from 'vitest';
import { labelsOf } from '../../../src/adapters/pdf/labels.ts';
import { DOCUMENT_LANGUAGES } from '../../../src/domain/document-language.ts';
import { verifyPage } from '../../../src/transport/verify/page.ts';

const FACTS = {
  invoiceId: 'inv_550e8400-e29b-41d4-a716-446655440000',
  environment: 'live',
  number: '2026-000123',
  issueDate: '2026-11-21',
  seller: { name: 'Atlas SARL', ice: '001234567000089' },
  amount: 123_456_789,
  dgiId: 'DGI-1',
  acceptedAt: new Date('2026-11-21T23:30:00Z'),
  receipt: { decidedAt: new Date('2026-11-21T23:30:00Z') },
  documents: [{ kind: 'xml', sha256: 'ab', size: 1 }],
} as const;

it('calls a live invoice genuine, and a test one never', () => {
  const genuine = { fr: 'Facture authentique', ar: 'فاتورة صحيحة', en: 'Genuine invoice' };
  for (const language of DOCUMENT_LANGUAGES) {
    expect(verifyPage(FACTS, language, null)).toContain(`<h1>${genuine[language]}</h1>`);
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
