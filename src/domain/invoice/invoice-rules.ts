import { type Problem, problem } from '../errors.ts';
import { MIN_AMOUNT } from '../limits.ts';
import { CURRENCY, decimalOf, MAX_CENTIMES } from '../money.ts';
import { moroccanDate } from '../morocco/time.ts';
import type { Environment } from '../tenant/tenant.ts';
import { type StatedAdjustment, weightsOf } from './adjustments.ts';
import type { CreateInvoiceInput } from './create-invoice-input.ts';
import type { CreditShare } from './credit.ts';
import { iceProblems, kindProblems, type RuledCustomer } from './customer-rules.ts';
import { type DueTotals, dueTotals } from './due-totals.ts';
import { listPriceOf, type PricedLine } from './line-amounts.ts';
import { type ParticularParts, particularsProblems } from './particulars.ts';
import type { InvoiceReading } from './repository.ts';
import { type TermsInput, termsProblems } from './terms.ts';
import { isTolerated, type PricedDocument, sumsOf } from './totals.ts';

/** The input of the business rules. A part that is absent, or itself invalid, breaks none of them. */
export interface RuledParts extends ParticularParts {
  readonly amount?: CreateInvoiceInput['amount'] | undefined;
  readonly lines?: CreateInvoiceInput['lines'] | undefined;
  readonly customer?: RuledCustomer | undefined;
  readonly discount?: CreateInvoiceInput['discount'];
  readonly charge?: CreateInvoiceInput['charge'];
  readonly terms?: Partial<TermsInput> | null | undefined;
  readonly isDeposit?: boolean | null | undefined;
  /** The deductions of the invoice; absent if it deducts nothing. */
  readonly deducted?: readonly Pick<CreditShare, 'rates'>[] | undefined;
}

/** The message about totals beyond the limit. */
export const TOO_MUCH = `The lines add up to more than ${MAX_CENTIMES} centimes, the largest total.`;

/** The totals of a document without lines. */
const UNKNOWN: DueTotals = { sale: null, due: null, deduction: null, problems: [] };

/**
 * Checks the business rules (422), and the structural rules (400) of several fields: the customer fits its kind,
 * discounts do not exceed their lines, and the total must not overflow.
 * @param createdAt determines the date of the invoice
 */
export function ruleProblems(parts: RuledParts, createdAt: Date): Problem[] {
  const { amount, lines, discount, charge, customer, terms, isDeposit, deducted } = parts;
  const { sale, due, problems: undeductible } = lines ? dueTotals({ lines, discount, charge }, deducted) : UNKNOWN;
  const problems = [
    ...(customer ? kindProblems(customer) : []),
    ...discountProblems(lines ?? []),
    ...exemptionProblems(lines ?? []),
  ];
  if (lines) problems.push(...adjustmentProblems({ lines, discount, charge }));
  if (isDeposit && deducted !== undefined)
    problems.push(problem('invalid_request', 'deposits: a deposit invoice deducts no deposits.', 'deposits'));
  if (lines && sale === null) problems.push(problem('invalid_request', TOO_MUCH, 'lines'));
  problems.push(...undeductible);
  const gross = due && due.gross >= MIN_AMOUNT ? { expected: String(due.gross) } : {};
  if (amount !== undefined && amount < MIN_AMOUNT) {
    const message = `amount is ${amount} centimes; the minimum is ${MIN_AMOUNT} (${decimalOf(MIN_AMOUNT)} ${CURRENCY}).`;
    problems.push({ ...problem('amount_too_small', message, 'amount'), ...gross });
  } else if (due && due.gross < MIN_AMOUNT && deducted !== undefined) {
    const message = `After the deposits, ${decimalOf(due.gross)} ${CURRENCY} remains to pay; the minimum of an invoice is ${decimalOf(MIN_AMOUNT)} ${CURRENCY}.`;
    problems.push(problem('amount_too_small', message, 'deposits'));
  } else if (amount !== undefined && lines && sale && due && !isTolerated(amount, sale, lines, due)) {
    const adjusted = [discount && 'discount', charge && 'charge'].filter(Boolean).join(' and the ');
    const summed = `the lines ${adjusted && `and the ${adjusted} `}with their VAT${deducted === undefined ? '' : ', less the deposits,'}`;
    const message =
      `amount is ${amount} centimes; ${summed} add up to ${due.gross} (${decimalOf(due.gross)} ${CURRENCY}: ` +
      `${decimalOf(due.net)} net and ${decimalOf(due.tax)} VAT).`;
    problems.push({ ...problem('amount_mismatch', message, 'amount'), ...gross });
  }
  if (customer) problems.push(...iceProblems(customer));
  const issueDate = moroccanDate(createdAt);
  // An amount that is refused says nothing about its value in another currency.
  const asked = { amount: problems.length === 0 ? (amount ?? sale?.gross ?? null) : null, lines: lines?.length ?? 0 };
  return [...problems, ...termsProblems(terms ?? {}, issueDate), ...particularsProblems(parts, asked, issueDate)];
}

/** Returns what is wrong with the discounts of lines (400), with the position of each line from 0. */
function discountProblems(lines: readonly PricedLine[]): Problem[] {
  return lines.flatMap((line, index) => {
    if (line.discount == null) return [];
    const param = `lines.${index}.discount`;
    const unclear = eitherProblem(line.discount, param);
    if (unclear) return unclear;
    const { amount } = line.discount;
    const price = listPriceOf(line);
    if (BigInt(amount ?? 0) <= price) return [];
    const message = `${param}.amount is ${amount} centimes; the price of the line is ${price}.`;
    return problem('invalid_request', message, `${param}.amount`);
  });
}

/** Refuses an exemption of a line with VAT (400). */
function exemptionProblems(lines: NonNullable<RuledParts['lines']>): Problem[] {
  return lines.flatMap(({ taxRate, exemption }, index) => {
    if (exemption == null || taxRate === 0) return [];
    const param = `lines.${index}.exemption`;
    const message = `${param} fits only a line at 0 %; the rate of this one is ${taxRate} %.`;
    return problem('invalid_request', message, param);
  });
}

function eitherProblem({ amount, percent }: StatedAdjustment, param: string): Problem | null {
  if ((amount == null) !== (percent == null)) return null;
  return problem('invalid_request', `${param} must have either amount or percent.`, param);
}

/** Returns what is wrong with the discount and the charge of the whole document (400). */
function adjustmentProblems({ lines, discount, charge }: PricedDocument): Problem[] {
  const problems: Problem[] = [];
  if (discount == null && charge == null) return problems;
  const sums = sumsOf(lines);
  const wholeOf = ({ taxIncluded }: StatedAdjustment) =>
    weightsOf(sums, taxIncluded === true).reduce((sum, weight) => sum + weight, 0n);
  if (discount != null) {
    const unclear = eitherProblem(discount, 'discount');
    const whole = wholeOf(discount);
    if (unclear) problems.push(unclear);
    else if (BigInt(discount.amount ?? 0) > whole) {
      const tax = discount.taxIncluded ? 'with' : 'without';
      const message = `discount.amount is ${discount.amount} centimes; the lines add up to ${whole} ${tax} tax.`;
      problems.push(problem('invalid_request', message, 'discount.amount'));
    }
  }
  if (charge != null) {
    const unclear = eitherProblem(charge, 'charge');
    if (unclear) problems.push(unclear);
    else if (wholeOf(charge) === 0n) {
      const message = 'charge is spread over the rates of the lines: at least one line with a price is expected.';
      problems.push(problem('invalid_request', message, 'charge'));
    }
  }
  return problems;
}

/**
 * Refuses numbers with runs of several spaces, because documents show these as one space, so two numbers would look the
 * same. It is separate from the rules above, because a request that was accepted before this rule existed is a replay.
 */
export function spacingProblems(number: string | null | undefined): Problem[] {
  if (!number?.includes('  ')) return [];
  const message = 'number has several spaces in a row, which documents show as one: use single spaces.';
  return [problem('invalid_request', message, 'number')];
}

/**
 * Checks whether a number of the client's own series is taken. The problem `duplicate_number` (422) names the invoice
 * that has it.
 */
export async function numberProblem(
  invoices: Pick<InvoiceReading, 'findByOwnNumber'>,
  { tenant, environment }: { readonly tenant: { readonly id: string }; readonly environment: Environment },
  number: string | null | undefined,
): Promise<Problem | null> {
  if (number == null) return null;
  const holder = await invoices.findByOwnNumber(tenant.id, environment, number);
  return holder === null ? null : duplicateNumber(number, holder);
}

/** Makes the problem. @param holder id of the invoice that has the number, if known */
export function duplicateNumber(number: string, holder: string | null = null): Problem {
  const whose = holder === null ? 'another of your invoices' : `your invoice ${holder}`;
  const message = `number ${number} is already used by ${whose}; a number is never reused, even after a rejection. Use another one.`;
  return problem('duplicate_number', message, 'number');
}
