import { randomNumbers } from '../../scripts/random-numbers.ts';
import { DOCUMENT_LANGUAGES } from '../../src/domain/document-language.ts';
import { CREDIT_REASONS, type CreditReason, type CreditShare } from '../../src/domain/invoice/credit.ts';
import { creditEarlierInvoiceInput } from '../../src/domain/invoice/credit-earlier-invoice.ts';
import { creditInvoiceInput } from '../../src/domain/invoice/credit-invoice.ts';
import { type CreditRequest, creditOf, leftOf } from '../../src/domain/invoice/credit-share.ts';
import type { InvoiceLine } from '../../src/domain/invoice/invoice.ts';
import { PIECE } from '../../src/domain/invoice/line-amounts.ts';
import type { LegalInvoice } from '../../src/domain/invoice/ports.ts';
import { NO_TERMS } from '../../src/domain/invoice/terms.ts';
import { totalsOfRates } from '../../src/domain/invoice/totals.ts';
import { sampleCreditNote } from '../unit/ubl/sample-invoice.ts';
import { corpus, type Specimen, TEXTS } from './corpus.ts';

type Form = CreditRequest['kind'];
type Plan = readonly (Form | 'rejection')[];

/**
 * The plans: the credit notes of an invoice in turn. In some of them the first credit note is rejected meanwhile, which
 * frees its amount.
 */
const PLANS: readonly Plan[] = [
  ['rest'],
  ['lines', 'rest'],
  ['amounts', 'rest'],
  ['lines', 'amounts', 'rest'],
  ['lines'],
  ['amounts', 'amounts', 'amounts', 'rest'],
  ['amounts', 'lines', 'rejection', 'amounts', 'rest'],
];
const REASONS = Object.keys(CREDIT_REASONS) as CreditReason[];

/** The share of a document, as its invoice keeps it. */
const shareOf = ({ invoice: { totals, amount } }: Specimen): CreditShare => ({ rates: totals.rates, amount });

/**
 * Makes at least 120 credit notes: of a part of the invoices of {@link corpus} by each of {@link PLANS}, and of the
 * same lines as invoices of another system in 2025. All languages, reasons and kinds of text occur.
 */
export function creditCorpus(): Specimen[] {
  const random = randomNumbers(20_261_129);
  const upTo = (max: number) => Math.floor(random() * max);
  const oneOf = <T>(values: readonly T[]): T => values[upTo(values.length)] as T;
  const found: Specimen[] = [];

  /** Returns the fields that each credit note states on its own. */
  function stated(original: LegalInvoice): Partial<LegalInvoice> & Pick<LegalInvoice, 'seller'> {
    const { environment, specimen, seller, customer, terms } = original;
    const serial = found.length + 1;
    return {
      id: `crn_550e8400-e29b-41d4-a716-${String(serial).padStart(12, '0')}`,
      number: `AV-2026-${String(serial).padStart(6, '0')}`,
      terms: { ...NO_TERMS, paymentMode: terms.paymentMode },
      seller: { ...seller, documentLanguage: DOCUMENT_LANGUAGES[serial % DOCUMENT_LANGUAGES.length] ?? 'fr' },
      environment,
      specimen,
      customer,
    };
  }
  const reason = () => ({ reason: oneOf(REASONS), note: random() < 0.4 ? null : oneOf(TEXTS) });

  /** Makes a request of this form for a part of the rest, and checks it by the rules of the input. */
  function requested(form: Form, { lines }: LegalInvoice, left: CreditShare) {
    const some = lines.flatMap(({ quantity }, index) =>
      random() < 0.5 ? [{ line: index + 1, quantity: 1 + upTo(quantity) }] : [],
    );
    const amounts = left.rates.map(({ rate, base }) => {
      return { taxRate: rate, net: 1 + Math.floor((base - 1) * random()), description: oneOf([...TEXTS, null]) };
    });
    return creditInvoiceInput.parse({
      ...reason(),
      metadata: {},
      ...(form === 'lines' && { lines: some.length > 0 ? some : [{ line: 1, quantity: 1 }] }),
      ...(form === 'amounts' && { amounts: random() < 0.5 ? amounts : [oneOf(amounts)] }),
    });
  }

  function credit({ name, invoice: original }: Specimen, plan: Plan): void {
    const counted: Specimen[] = [];
    for (const step of plan) {
      if (step === 'rejection') {
        counted.shift();
        continue;
      }
      const shares = counted.map(shareOf);
      const { discount, charge } = original.totals;
      const lined = original.lines.map((line) => ({ ...PIECE, ...line })) as InvoiceLine[];
      const parts = { ...original, lines: lined, discount, charge };
      const left = leftOf(parts, shares);
      if (left.rates.length === 0) return;
      const { lines, amounts, reason, note } = requested(step, original, left);
      const request: CreditRequest = lines
        ? { kind: 'lines', lines }
        : amounts
          ? { kind: 'amounts', amounts }
          : { kind: 'rest' };
      const made = creditOf(parts, shares, request);
      // The chosen lines may exceed what earlier amounts have left at their rate.
      if ('problems' in made) continue;
      const { id, number, issueDate } = original;
      const dgiId = oneOf(['DGI-2026-7f3a91c0', null]);
      const invoice = sampleCreditNote({
        ...stated(original),
        lines: made.lines,
        totals: totalsOfRates(made.share.rates),
        amount: made.share.amount,
        credit: { original: { id, number, issueDate, dgiId }, reason, note: note?.trim() || null },
      });
      const specimen = { name: `${step} of ${name}`, invoice, credits: { original, counted: [...counted] } };
      counted.push(specimen);
      found.push(specimen);
    }
  }

  function creditEarlier({ name, invoice: { lines, totals, amount, ...original } }: Specimen): void {
    const { ice, name: buyer, address } = original.customer;
    const input = creditEarlierInvoiceInput.parse({
      ...reason(),
      number: `FA/2025/${found.length}`,
      issueDate: `2025-0${1 + upTo(9)}-${10 + upTo(19)}`,
      dgiId: oneOf(['DGI-2025-00c4', null]),
      customer: { ice, name: buyer, address },
      lines: lines.map(({ amount: _, finalAmount: _final, depositShare: _share, ...line }) => line),
      amount,
      metadata: {},
    });
    const { number, issueDate, dgiId, reason: code, note } = input;
    const invoice = sampleCreditNote({
      ...stated({ lines, totals, amount, ...original }),
      lines,
      totals,
      amount,
      credit: {
        original: { id: null, number, issueDate, dgiId: dgiId ?? null },
        reason: code,
        note: note?.trim() || null,
      },
    });
    found.push({ name: `another system's invoice: ${name}`, invoice, credits: null });
  }

  for (const [index, specimen] of corpus().entries()) {
    if (specimen.invoice.lines.length === 1000) credit(specimen, ['rest']);
    else if (index % 3 === 0) credit(specimen, PLANS[(index / 3) % PLANS.length] ?? []);
    // Credits of another system's invoice have no discount or charge on the whole, and deduct no deposits.
    const { totals, deduction } = specimen.invoice;
    if (index % 8 === 1 && !totals.discount && !totals.charge && !deduction) creditEarlier(specimen);
  }
  return found;
}
