import { addDays } from '../calendar-date.ts';
import { DAY_MS } from '../durations.ts';
import type { TaxRate } from '../invoice/tax-rate.ts';
import { decimalOf, percentOf } from '../money.ts';
import { EXEMPTIONS } from './exemptions.ts';
import type { Concern, RuledDocument } from './rule.ts';
import { stampDutyOn } from './stamp-duty.ts';

/** Finds the first line of each rate that satisfies a condition. */
export function firstOfRates(taxRates: readonly TaxRate[], isFound: (rate: TaxRate) => boolean): Concern[] {
  return [...new Set(taxRates)].filter(isFound).map((rate) => ({
    path: `lines.${taxRates.indexOf(rate)}.taxRate`,
    what: `The rate of ${rate} % is not in force on the invoice's date.`,
  }));
}

/** Whether a line without VAT states no exemption of its own. */
export function needsProfileReason({ taxRates, exemptions }: RuledDocument): boolean {
  return taxRates.some((rate, index) => rate === 0 && !exemptions[index]);
}

/**
 * Finds the lines whose exemption needs the buyer's certificate, if they state none or one of a later day, on which the
 * sale did not rest.
 * @param date of the document, `YYYY-MM-DD`
 */
export function lacksCertificate(
  { exemptions, correctedOn }: RuledDocument,
  _figures: object,
  date: string,
): Concern[] {
  const sold = correctedOn ?? date;
  return exemptions.flatMap((exemption, index) => {
    if (!exemption || !EXEMPTIONS[exemption.code].needsCertificate) return [];
    const path = `lines.${index}.exemption.certificate`;
    const { certificate } = exemption;
    if (!certificate) return [{ path }];
    if (certificate.date <= sold) return [];
    const what = `The certificate of the buyer is of ${certificate.date}, after the date of the invoice, ${sold}.`;
    return [{ path: `${path}.date`, what }];
  });
}

/**
 * Returns the term of payment in days, by law 69-21: from the invoice's date, or from the end of the operation's month
 * if the invoice is of a later one. Without a due date the term is 0; credit notes have none.
 * @param issueDate the date of the document, `YYYY-MM-DD`
 */
export function termInDays(document: RuledDocument, issueDate: string): { term: number; fromMonthEnd: boolean } {
  const { kind, terms } = document;
  if (kind !== 'invoice') return { term: 0, fromMonthEnd: false };
  const { date } = operationOf(document);
  const monthEnd = date === null ? issueDate : endOfMonth(date);
  const fromMonthEnd = monthEnd < issueDate;
  const start = Date.parse(fromMonthEnd ? monthEnd : issueDate);
  return { term: terms.dueDate === null ? 0 : (Date.parse(terms.dueDate) - start) / DAY_MS, fromMonthEnd };
}

/** Returns the date of the operation, and the field that states it. A period of service states it by its last day. */
export function operationOf({ terms, servicePeriod }: RuledDocument): { date: string | null; path: string } {
  if (terms.operationDate !== null || servicePeriod === null) {
    return { date: terms.operationDate, path: 'terms.operationDate' };
  }
  return { date: servicePeriod.to, path: 'servicePeriod.to' };
}

function endOfMonth(date: string): string {
  // The 1st plus 31 days is in the next month, whatever the month.
  return addDays(`${addDays(`${date.slice(0, 7)}-01`, 31).slice(0, 7)}-01`, -1);
}

/** Finds an invoice that states cash as its payment means, if it satisfies a condition. */
export function isPaidInCash(document: RuledDocument, condition: (document: RuledDocument) => boolean): Concern[] {
  const isCash = document.kind === 'invoice' && document.terms.paymentMeans === 'cash';
  return isCash && condition(document) ? [{ path: 'terms.paymentMeans' }] : [];
}

/** Finds invoices in cash, with the stamp duty on the net to pay. @param date of the invoice, `YYYY-MM-DD` */
export function cashDuty(document: RuledDocument, date: string): Concern[] {
  const duty = stampDutyOn(date, { ...document, amount: document.total, totals: document });
  if (duty === null) return [];
  const what = `If the whole is received in cash, the stamp duty of ${duty.percent} % is ${decimalOf(duty.amount)} MAD. The PDF states it; no amount of the invoice contains it.`;
  return [{ path: 'terms.paymentMeans', what }];
}

/**
 * Finds invoices with VAT of which a buyer may withhold a share, with the net to pay in that case. Private persons and
 * buyers abroad withhold nothing.
 * @param minimum in dirhams, with tax
 */
export function withheld({ kind, total, tax, buyer }: RuledDocument, minimum: number): Concern[] {
  if (kind !== 'invoice' || buyer.kind !== 'company' || tax === 0 || total < minimum * 100) return [];
  const left = (percent: number) => decimalOf(total - percentOf(tax, percent));
  const what = `If the buyer withholds VAT, it pays ${left(75)} MAD (75 % withheld) or ${left(100)} MAD (100 %) instead of ${decimalOf(total)} MAD. The amounts of the invoice stay the same.`;
  return [{ path: 'amount', what }];
}
