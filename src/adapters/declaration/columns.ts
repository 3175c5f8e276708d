import type { DocumentLanguage } from '../../domain/document-language.ts';
import type { RateSum, Sums } from '../../domain/invoice/periods/day-sums.ts';
import type { DeclaredDocument } from '../../domain/invoice/periods/declared-document.ts';
import { TAX_RATES, type TaxRate } from '../../domain/invoice/tax-rate.ts';
import type { Cell } from '../../text/csv.ts';
import { CUSTOMER_LABELS } from '../../text/customer-labels.ts';
import { DECLARATION_LABELS } from '../../text/declaration-labels.ts';
import { DEPOSIT_LABELS } from '../../text/deposit-labels.ts';
import { WITHHOLDING_LABELS } from '../../text/withholding-labels.ts';

/** A column of a declaration. */
export interface Column {
  readonly heading: string;
  readonly cellOf: (document: DeclaredDocument) => Cell;
  /** Returns its cell in the row of sums: centimes, or a text. Absent if that cell is empty. */
  readonly sumOf?: (sums: Sums) => bigint | string;
  /** Width in a spreadsheet, characters. */
  readonly width: number;
}

const AMOUNT_WIDTH = 15;

/**
 * Returns the columns. Every rate of the law has its columns, whether or not it occurs, so that all files of a tenant
 * have the same form.
 */
export function columnsOf(language: DocumentLanguage): readonly Column[] {
  const labels = DECLARATION_LABELS[language];
  const customer = CUSTOMER_LABELS[language];
  const { withheld, roundedTotal } = WITHHOLDING_LABELS[language];
  return [
    { heading: labels.number, width: 18, cellOf: ({ number }) => number, sumOf: () => labels.sums },
    { heading: labels.document, width: 18, cellOf: nameOf(language) },
    { heading: labels.date, width: 14, cellOf: ({ date }) => ({ day: date }) },
    { heading: labels.customer, width: 36, cellOf: (document) => document.customer.name },
    { heading: customer.kind, width: 24, cellOf: (document) => customer.kinds[document.customer.kind] },
    { heading: labels.ice, width: 20, cellOf: (document) => document.customer.ice },
    { heading: customer.country, width: 8, cellOf: (document) => document.customer.country },
    { heading: customer.taxNumber, width: 18, cellOf: (document) => document.customer.taxNumber },
    ...TAX_RATES.toReversed().flatMap((rate) => columnsOfRate(rate, language)),
    amount(labels.net, ({ net }) => net, ofRates('net')),
    amount(labels.tax, ({ tax }) => tax, ofRates('tax')),
    amount(
      labels.gross,
      ({ gross }) => gross,
      (sums) => ofRates('net')(sums) + ofRates('tax')(sums),
    ),
    amount(
      roundedTotal,
      (document) => document.amount,
      (sums) => sums.amount,
    ),
    amount(
      withheld,
      (document) => document.withheld,
      (sums) => sums.withheld,
    ),
    { heading: labels.payment, width: 22, cellOf: ({ paymentMode }) => paymentMode },
    { heading: labels.dgiId, width: 30, cellOf: ({ dgiId }) => dgiId },
  ];
}

function nameOf(language: DocumentLanguage): Column['cellOf'] {
  const { kinds } = DECLARATION_LABELS[language];
  return ({ kind, isDeposit }) => (isDeposit ? DEPOSIT_LABELS[language].title : kinds[kind]);
}

function columnsOfRate(rate: TaxRate, language: DocumentLanguage): Column[] {
  const { netAt, taxAt, exempt } = DECLARATION_LABELS[language];
  const at = (document: DeclaredDocument) => document.rates.find((each) => each.rate === rate);
  const sumAt = (part: keyof RateSum) => (sums: Sums) => sums.rates.get(rate)?.[part] ?? 0n;
  const net = amount(rate === 0 ? exempt : netAt(rate), (document) => at(document)?.base ?? null, sumAt('net'));
  if (rate === 0) return [net];
  return [net, amount(taxAt(rate), (document) => at(document)?.tax ?? null, sumAt('tax'))];
}

function amount(heading: string, cellOf: Column['cellOf'], sumOf: (sums: Sums) => bigint): Column {
  return { heading, width: Math.max(AMOUNT_WIDTH, heading.length + 2), cellOf, sumOf };
}

function ofRates(part: keyof RateSum): (sums: Sums) => bigint {
  return ({ rates }) => rates.values().reduce((sum, each) => sum + each[part], 0n);
}
