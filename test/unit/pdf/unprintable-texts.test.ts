import { expect, test } from 'vitest';
import { invoicePage } from '../../../src/adapters/pdf/invoice-page.ts';
import { unshownCharacters } from '../../../src/adapters/pdf/unshown-characters.ts';
import type { Invoice } from '../../../src/domain/invoice/invoice.ts';
import type { LegalInvoice, LegalLine } from '../../../src/domain/invoice/ports.ts';
import type { PricedDocument } from '../../../src/domain/invoice/totals.ts';
import { createInvoiceWarnings } from '../../../src/domain/invoice/unprintable-warnings.ts';
import { sampleInvoice, sampleLine } from '../ubl/sample-invoice.ts';
import { printed } from './support.ts';

const warnings = createInvoiceWarnings(unshownCharacters);

/** A text that the page shows with U+FFFD, and that names its own place. */
const text = (path: string) => `${path}|\u202e`;
const certificate = { number: text('lines.1.exemption.certificate.number'), date: '2026-10-05' };
const exempt = { description: text('lines.1.description'), quantity: 1, unitPrice: 100, taxRate: 0 } as const;

const lines: LegalLine[] = [
  sampleLine({
    description: text('lines.0.description'),
    quantity: 1,
    unitPrice: 10_000,
    taxRate: 20,
    discount: { amount: null, percent: 100, reason: text('lines.0.discount.reason') },
  }),
  sampleLine({ ...exempt, exemption: { code: 'suspension', certificate } }),
];

const FOREIGN = { kind: 'foreign', ice: null, country: 'DE', email: null } as const;

/** An invoice or a credit note in which every text of a client is one of {@link text}. */
function documentOf(changes: Partial<LegalInvoice> & PricedDocument<LegalLine>) {
  const { discount = null, charge = null } = changes;
  const { seller, ...sample } = sampleInvoice({
    customer: {
      ...FOREIGN,
      name: text('customer.name'),
      address: text('customer.address'),
      taxNumber: text('customer.taxNumber'),
    },
    references: { order: text('references.order'), contract: text('references.contract') },
    withholding: {
      percent: 75,
      certificate: { number: text('withholding.certificate.number'), date: '2026-10-05' },
    },
    ...changes,
  });
  const terms = { paymentMode: text('terms.paymentMode'), paymentReference: text('terms.paymentReference') };
  return {
    ...sample,
    discount,
    charge,
    seller: { ...seller, exemptionReason: text('seller.exemptionReason') },
    terms: sample.kind === 'invoice' ? { ...sample.terms, ...terms } : sample.terms,
  };
}

async function shownAndWarned(invoice: ReturnType<typeof documentOf>) {
  const { body } = /<body>(?<body>.*)<\/body>/s.exec(await invoicePage({ ...printed(), invoice }))!.groups!;
  const shown = new Set([...(body ?? '').matchAll(/([\w.]+)\|\ufffd/g)].map(([, path]) => path));
  const told = await warnings({ ...invoice, createdAt: new Date('2026-11-21T10:00:00Z') } as unknown as Invoice);
  const warned = told.filter(({ code }) => code === 'unprintable_characters').map(({ path }) => path);
  return { shown: [...shown].sort(), warned: warned.sort() };
}

test('each text of a client that the page cannot show has a warning, and no other', async () => {
  const discount = { percent: 10, reason: text('discount.reason') };
  const charge = { percent: 10, reason: text('charge.reason') };
  const { shown, warned } = await shownAndWarned(documentOf({ lines, discount, charge }));
  expect(shown).toHaveLength(14);
  expect(shown).not.toContain('seller.exemptionReason');
  expect(warned).toEqual(shown);
});

test('the reason of the profile has one if a line at 0 % states none of its own', async () => {
  const general = sampleLine({ ...exempt, description: text('lines.2.description') });
  const { shown, warned } = await shownAndWarned(documentOf({ lines: [...lines, general] }));
  expect(shown).toContain('seller.exemptionReason');
  expect(warned).toEqual(shown);
});

test('those of a credit note have one, too', async () => {
  const original = {
    id: null,
    number: text('credit.original.number'),
    issueDate: '2026-01-31',
    dgiId: text('credit.original.dgiId'),
  };
  const credit = { original, reason: 'other', note: text('credit.note'), rates: [], amount: 100 } as const;
  const { shown, warned } = await shownAndWarned(
    documentOf({ kind: 'credit_note', credit, references: null, withholding: null, lines: lines.slice(0, 1) }),
  );
  expect(shown).toEqual(expect.arrayContaining(['credit.note', 'credit.original.dgiId', 'credit.original.number']));
  expect(warned).toEqual(shown);
});
