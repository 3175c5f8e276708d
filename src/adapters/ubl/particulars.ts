import { foreignAmountText } from '../../domain/currencies.ts';
import { rateText } from '../../domain/decimal.ts';
import type { ForeignValue, InvoiceReferences, ServicePeriod } from '../../domain/invoice/particulars.ts';
import { CURRENCY } from '../../domain/money.ts';
import type { Element } from './canonical-xml.ts';
import { group, text } from './vocabulary.ts';

/** Writes BG-14 of EN 16931: the period of the service. */
export function invoicePeriod(period: ServicePeriod | null): Element | null {
  return period && group('cac:InvoicePeriod', text('cbc:StartDate', period.from), text('cbc:EndDate', period.to));
}

/** Writes BT-13 of EN 16931: the number of the buyer's order. */
export function orderReference(references: InvoiceReferences | null): Element | null {
  const order = references?.order ?? null;
  return order === null ? null : group('cac:OrderReference', text('cbc:ID', order));
}

/** Writes BT-12 of EN 16931: the number of the contract. */
export function contractReference(references: InvoiceReferences | null): Element | null {
  const contract = references?.contract ?? null;
  return contract === null ? null : group('cac:ContractDocumentReference', text('cbc:ID', contract));
}

/**
 * Returns the note that states the amount in another currency. EN 16931 has no place for it, because its amounts are in
 * the currency of the document.
 */
export function foreignValueNote({ currency, amount, rate, rateDate }: ForeignValue): string {
  const value = foreignAmountText(amount, currency).replace('.', ',');
  return `Valeur convenue : ${value} ${currency} (1 ${currency} = ${rateText(rate).replace('.', ',')} ${CURRENCY}, cours du ${rateDate}).`;
}

/**
 * Writes the rate at which prices were converted that had been agreed in another currency. The element is defined by
 * UBL; EN 16931 allows it but does not use it.
 */
export function exchangeRate(value: ForeignValue | null): Element | null {
  return (
    value &&
    group(
      'cac:PricingExchangeRate',
      text('cbc:SourceCurrencyCode', value.currency),
      text('cbc:TargetCurrencyCode', CURRENCY),
      text('cbc:CalculationRate', rateText(value.rate)),
      text('cbc:MathematicOperatorCode', 'multiply'),
      text('cbc:Date', value.rateDate),
    )
  );
}
