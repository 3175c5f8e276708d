import { CURRENCY } from '../../../domain/money.ts';
import { all, CBC, called, child, isDate, type Located, must, one, textOf } from './located.ts';

/**
 * Checks what a document states beside its lines and its payment: the period, the references, and the exchange rate.
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
