import { divideHalfUp } from '../../domain/money.ts';
import type { ReadElement } from './read-canonical.ts';
import { expect, expectEqual, isDay, money, one, optional, text } from './rules.ts';

const DIRHAMS = '(\\d+,\\d\\d) MAD';
const NOTE = new RegExp(
  `^TVA retenue à la source : (\\d+) % de ${DIRHAMS}, soit ${DIRHAMS}\\. Net à payer : ${DIRHAMS}\\.` +
    '( Attestation de régularité fiscale n° .+ du (\\d{4}-\\d\\d-\\d\\d)\\.)?$',
);

/**
 * Recomputes the VAT that the buyer withholds, and checks that the terms of payment and the figures state the same
 * amount.
 * @param tax the VAT of the document in centimes
 * @throws {BrokenRule}
 */
export function expectWithholding(root: ReadElement, tax: bigint, payable: bigint): void {
  const terms = optional(root, 'cac:PaymentTerms');
  const total = optional(root, 'cac:WithholdingTaxTotal');
  expect((terms === null) === (total === null), 'VAT that is withheld needs its figures and its terms of payment.');
  if (terms === null || total === null) return;
  const [, percent = '', base = '', amount = '', net = '', certificate, date = ''] =
    NOTE.exec(text(terms, 'cbc:Note')) ?? [];
  expect(
    /^([1-9]\d?|100)$/.test(percent),
    'The terms of payment do not state a percentage of 1 to 100 that is withheld.',
  );
  const withheld = divideHalfUp(tax * BigInt(percent), 100n);
  const subtotal = one(total, 'cac:TaxSubtotal');
  expect(text(subtotal, 'cbc:Percent') === percent, 'The percentage withheld is not the one of the terms of payment.');
  expect(text(subtotal, 'cac:TaxCategory', 'cac:TaxScheme', 'cbc:ID') === 'VAT', 'What is withheld is not VAT.');
  expectEqual('the VAT of which a part is withheld', money(subtotal, 'cbc:TaxableAmount'), tax);
  expectEqual('the VAT withheld', money(subtotal, 'cbc:TaxAmount'), withheld);
  expectEqual('the whole VAT withheld', money(total, 'cbc:TaxAmount'), withheld);
  expectEqual('the VAT in the terms of payment', centimesOf(base), tax);
  expectEqual('the VAT withheld in the terms of payment', centimesOf(amount), withheld);
  expectEqual('the net to pay', centimesOf(net), payable - withheld);
  if (certificate === undefined) return;
  expect(isDay(date) && date <= text(root, 'cbc:IssueDate'), 'The certificate is of a day after that of the invoice.');
}

function centimesOf(written: string): bigint {
  return BigInt(written.replace(',', ''));
}
