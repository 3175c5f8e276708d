import type { LegalInvoice } from '../../domain/invoice/ports.ts';
import { statedWithholding } from '../../domain/invoice/withholding.ts';
import { type Centimes, CURRENCY, decimalOf } from '../../domain/money.ts';
import { netToPay } from '../../domain/net-to-pay.ts';
import type { Element } from './canonical-xml.ts';
import { vat } from './tax-category.ts';
import { group, money, text } from './vocabulary.ts';

/**
 * Writes the VAT that the buyer withholds and the amount that it pays as BT-20 of EN 16931, the terms of payment; null
 * if it withholds nothing. PayableAmount stays the total, because EN 16931 computes it.
 */
export function withholdingTerms(invoice: LegalInvoice): Element | null {
  const stated = statedWithholding(invoice);
  if (stated === null) return null;
  const { percent, amount, certificate } = stated;
  const proof = certificate
    ? ` Attestation de régularité fiscale n° ${certificate.number} du ${certificate.date}.`
    : '';
  return group(
    'cac:PaymentTerms',
    text(
      'cbc:Note',
      `TVA retenue à la source : ${percent} % de ${inDirhams(invoice.totals.tax)}, soit ${inDirhams(amount)}. Net à payer : ${inDirhams(netToPay(invoice))}.${proof}`,
    ),
  );
}

/**
 * Writes the withholding in figures. The element is defined by UBL; EN 16931 allows it but does not use it. Its
 * category has no code, because rules of EN 16931 count the codes of the whole document.
 */
export function withholdingTotal(invoice: LegalInvoice): Element | null {
  const stated = statedWithholding(invoice);
  return (
    stated &&
    group(
      'cac:WithholdingTaxTotal',
      money('cbc:TaxAmount', stated.amount),
      group(
        'cac:TaxSubtotal',
        money('cbc:TaxableAmount', invoice.totals.tax),
        money('cbc:TaxAmount', stated.amount),
        text('cbc:Percent', String(stated.percent)),
        group('cac:TaxCategory', vat()),
      ),
    )
  );
}

function inDirhams(centimes: Centimes): string {
  return `${decimalOf(centimes).replace('.', ',')} ${CURRENCY}`;
}
