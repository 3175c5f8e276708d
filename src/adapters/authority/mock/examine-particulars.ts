import { CURRENCY, divideHalfUp } from '../../../domain/money.ts';
import { all, CBC, called, centimes, child, isDate, type Located, must, one, textOf } from './located.ts';

/**
 * Checks what a document states beside its lines and its payment: the period, the references, the VAT
 * that the buyer withholds, and the exchange rate.
 * @throws {Fault}
 */
export function examineParticulars(root: Located): void {
  for (const period of all(root, 'InvoicePeriod')) {
    const [start, end] = [child(period, 'StartDate'), child(period, 'EndDate')];
    must(
      isDate(textOf(start)) && isDate(textOf(end)) && textOf(start) <= textOf(end),
      'period_invalid',
      period.path,
      'La période ne va pas d’une date à une date qui la suit',
    );
  }
  for (const name of ['OrderReference', 'ContractDocumentReference']) {
    for (const reference of all(root, name)) {
      const number = child(reference, 'ID');
      must(textOf(number) !== '', 'reference_missing', number.path, `${called(root)} a une référence sans numéro`);
    }
  }
  for (const withheld of all(root, 'WithholdingTaxTotal')) examineWithholding(root, withheld);
  for (const exchange of all(root, 'PricingExchangeRate')) examineRate(root, exchange);
}

function examineRate(root: Located, exchange: Located): void {
  const [currency, target] = [child(exchange, 'SourceCurrencyCode'), child(exchange, 'TargetCurrencyCode')];
  must(
    /^[A-Z]{3}$/.test(textOf(currency)) && textOf(currency) !== CURRENCY && textOf(target) === CURRENCY,
    'currency_invalid',
    currency.path,
    'Le cours de change n’est pas celui d’une devise en dirhams',
  );
  const rate = child(exchange, 'CalculationRate');
  must(
    /^\d{1,9}(\.\d{1,8})?$/.test(textOf(rate)) && /[1-9]/.test(textOf(rate)),
    'rate_invalid',
    rate.path,
    'Le cours de change n’est pas un nombre au-dessus de zéro',
  );
  const [date] = all(exchange, 'Date', CBC);
  must(
    date !== undefined && isDate(textOf(date)) && textOf(date) <= textOf(child(root, 'IssueDate')),
    'rate_date_invalid',
    date?.path ?? exchange.path,
    'La date du cours n’est pas une date, ou suit celle du document',
  );
  must(
    textOf(one(exchange, 'MathematicOperatorCode', CBC)) === 'multiply',
    'rate_invalid',
    exchange.path,
    'Le cours de change n’est pas à multiplier',
  );
}

/** Checks that a percentage of the VAT is withheld, and that the terms of payment say so. */
function examineWithholding(root: Located, withheld: Located): void {
  const subtotal = one(withheld, 'TaxSubtotal');
  const percent = child(subtotal, 'Percent');
  must(
    /^([1-9]\d?|100)$/.test(textOf(percent)),
    'withholding_invalid',
    percent.path,
    'La TVA retenue n’est pas un pourcentage de 1 à 100',
  );
  const tax = centimes(child(one(root, 'TaxTotal'), 'TaxAmount'));
  const due = divideHalfUp(tax * BigInt(textOf(percent)), 100n);
  const [amount, part, base] = [
    child(withheld, 'TaxAmount'),
    child(subtotal, 'TaxAmount'),
    child(subtotal, 'TaxableAmount'),
  ];
  must(
    centimes(amount) === due && centimes(part) === due && centimes(base) === tax,
    'withholding_invalid',
    amount.path,
    `La TVA retenue n’est pas ${textOf(percent)} % de la TVA de la facture`,
  );
  const terms = one(root, 'PaymentTerms');
  must(
    textOf(child(terms, 'Note')).startsWith(`TVA retenue à la source : ${textOf(percent)} % `),
    'withholding_invalid',
    terms.path,
    'Les conditions de paiement n’indiquent pas la TVA retenue',
  );
}
