import { type RateTotal, TAX_RATE_TABLE, type TaxRate } from '../../domain/invoice/tax-rate.ts';
import type { Element } from './canonical-xml.ts';
import { isWritten } from './parties.ts';
import { group, money, text } from './vocabulary.ts';

/** Writes BG-23 of EN 16931: the VAT of one rate. */
export function taxSubtotal({ rate, base, tax }: RateTotal, exemptionReason: string | null): Element {
  const reason = categoryOf(rate, exemptionReason) === 'E' ? exemptionReason : null;
  return group(
    'cac:TaxSubtotal',
    money('cbc:TaxableAmount', base),
    money('cbc:TaxAmount', tax),
    group(
      'cac:TaxCategory',
      ...rateOf(rate, exemptionReason),
      isWritten(reason) && text('cbc:TaxExemptionReason', reason),
      vat(),
    ),
  );
}

/** Writes the category of a line, of a discount or of a charge. */
export function taxCategory(name: string, rate: TaxRate, exemptionReason: string | null): Element {
  return group(name, ...rateOf(rate, exemptionReason), vat());
}

function rateOf(rate: TaxRate, exemptionReason: string | null): Element[] {
  return [text('cbc:ID', categoryOf(rate, exemptionReason)), text('cbc:Percent', String(rate))];
}

function categoryOf(rate: TaxRate, exemptionReason: string | null): 'S' | 'E' | 'Z' {
  const { withReason, withoutReason } = TAX_RATE_TABLE[rate].ublCategory;
  return isWritten(exemptionReason) ? withReason : withoutReason;
}

/** Writes the scheme of VAT. */
export function vat(): Element {
  return group('cac:TaxScheme', text('cbc:ID', 'VAT'));
}
