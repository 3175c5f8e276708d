import { type Problem, problem } from '../errors.ts';
import { problemsOf } from '../input-problems.ts';
import type { Centimes } from '../money.ts';
import { netToPay } from '../net-to-pay.ts';
import type { Member } from '../principal.ts';
import { missingProfileFields } from '../tenant/tenant.ts';
import type { Call, UseCase } from '../use-case.ts';
import { newInvoice } from './create-invoice.ts';
import { type CreateInvoiceInput, createInvoiceInput } from './create-invoice-input.ts';
import { DEFAULT_CUSTOMER_KIND } from './customer-kind.ts';
import type { DeductedDeposit } from './deduction.ts';
import { type DueTotals, dueTotals } from './due-totals.ts';
import { partsReader } from './field-makers.ts';
import type { ValidParts } from './field-table.ts';
import { INVOICE } from './fields.ts';
import { numberProblem, ruleProblems, spacingProblems } from './invoice-rules.ts';
import type { InvoiceWarning } from './invoice-warnings.ts';
import { legalInvoice } from './legal-invoice.ts';
import { completeParticulars } from './particulars.ts';
import { InvalidDocument, type InvoiceWriter } from './ports.ts';
import { previewStatedDeposits } from './preview-stated-deposits.ts';
import type { InvoiceReading } from './repository.ts';
import { legalNumber, seriesOf } from './series-number.ts';
import type { DepositInvoices } from './take-deposits.ts';
import { ownTerms } from './terms.ts';
import { isTolerated, type LineTotals } from './totals.ts';
import type { InvoiceWarnings } from './unprintable-warnings.ts';

/** The result of validating a draft. */
export interface InvoiceValidation {
  /**
   * Everything that prevents the invoice's creation: structure first, then business rules, then missing fields of a
   * live seller's profile.
   */
  readonly problems: readonly Problem[];
  /** The warnings about the valid parts. */
  readonly warnings: readonly InvoiceWarning[];
  /**
   * The totals after the deposits; null if a line, the discount or the charge is invalid, a total exceeds the limit, a
   * deposit cannot be deducted, or it is not known which are deducted.
   */
  readonly totals: LineTotals | null;
  /** The amount that the buyer would pay; null without totals, or if the withholding cannot be read. */
  readonly netToPay: Centimes | null;
}

interface ValidationNeeds {
  readonly invoices: Pick<InvoiceReading, 'findByOwnNumber'> & Pick<DepositInvoices, 'find' | 'correctionStatesOf'>;
  readonly writer: InvoiceWriter;
  readonly invoiceWarnings: InvoiceWarnings;
}

/**
 * Runs all checks of an invoice at once, including that of the legal document. Nothing is stored and no number is used.
 * Its input is any value; a complete invoice is what `createInvoiceInput` accepts.
 */
export const validateInvoice = {
  scope: 'read',
  async run(
    { invoices, writer, invoiceWarnings }: ValidationNeeds,
    { by: owner }: Call,
    draft: unknown,
  ): Promise<InvoiceValidation> {
    const parsed = createInvoiceInput.safeParse(draft);
    const parts = parsed.success ? parsed.data : validPartsOf(draft);
    const { customer, number, deposits: depositIds } = parts;
    const faults = parsed.success ? [] : problemsOf(parsed.error);
    const priced = pricedOf(parts, faults);
    const unread = faults.flatMap(({ param }) => param ?? []);
    const now = new Date();
    const preview = await previewStatedDeposits(invoices, owner, parts, now);
    const isUnclear = isUnread('deposits', faults) || (depositIds != null && !(preview?.problems.length === 0));
    const deducted = isUnclear ? undefined : preview?.deposits;
    const problems = [
      ...faults,
      ...(preview?.problems ?? []),
      ...ruleProblems(
        {
          ...parts,
          ...(priced ?? UNPRICED),
          customer: ruledCustomer(customer, unread),
          deducted,
          // What remains is not known then.
          ...(isUnclear && { amount: undefined }),
        },
        now,
      ),
      ...spacingProblems(number),
      ...[(await numberProblem(invoices, owner, number)) ?? []].flat(),
      ...sellerProblems(owner),
    ];
    if (parsed.success && problems.length === 0)
      problems.push(...(await documentProblems(writer, owner, parsed.data, deducted ?? null)));
    const refused = problems.map(({ param }) => param);
    const { lines = [], discount, charge } = parts;
    const stated = dueTotals({ lines, discount, charge }, priced && deducted);
    const warnings = await warningsOf(owner, parts, stated, invoiceWarnings);
    const totals = isUnclear || !priced ? null : stated.due;
    return {
      problems,
      warnings: warnings.filter(({ path }) => !refused.some((param) => concerns(param, path))),
      totals,
      netToPay: totals && !WITHHELD.some((path) => unread.includes(path)) ? payableOf(parts, stated, totals) : null,
    };
  },
} as const satisfies UseCase;

/** Returns the customer if all members that depend on its kind could be read, or were left out. */
function ruledCustomer<Customer>(customer: Customer | null | undefined, unread: readonly string[]) {
  return customer && !unread.some((param) => /^customer(\.(kind|ice|country|taxNumber))?$/.test(param))
    ? customer
    : undefined;
}

/**
 * Checks whether the legal document can be written. If not, that is an internal error, which the client should see
 * before creation.
 */
async function documentProblems(
  writer: InvoiceWriter,
  owner: Member,
  input: CreateInvoiceInput,
  deposits: readonly DeductedDeposit[] | null,
): Promise<Problem[]> {
  const invoice = newInvoice(owner, input, new Date(), { deposits });
  try {
    const number = invoice.ownNumber ?? legalNumber({ name: seriesOf(invoice), serial: 1 });
    await writer.write(legalInvoice(invoice, number));
    return [];
  } catch (error) {
    if (!(error instanceof InvalidDocument)) throw error;
    const message = `The UBL document of the service would be invalid: ${error.message} Contact the support of the invoicing service.`;
    return [problem('internal_error', message)];
  }
}

const validPartsOf = partsReader(INVOICE);

/**
 * Returns the missing fields of the seller's profile. Live invoices need a complete one. Test invoices use specimen
 * data, with a warning.
 */
function sellerProblems({ environment, tenant }: Member): Problem[] {
  if (environment !== 'live') return [];
  return missingProfileFields(tenant.profile).map((field) =>
    problem(
      'insufficient_scope',
      `Live invoices must state the seller's ${field}. Complete the tenant's profile (updateSellerProfile).`,
      `seller.${field}`,
    ),
  );
}

const PAYMENT = ['paymentMode', 'paymentMeans', 'paymentReference', 'bankAccount'].map((name) => `terms.${name}`);

/**
 * Whether a warning would repeat a problem: the refused field is the warning's own field, or determines it. The payment
 * terms depend on all four payment fields.
 */
function concerns(refused: string | null, path: string): boolean {
  return refused === path || (refused !== null && PAYMENT.includes(refused) && PAYMENT.includes(path));
}

/** The fields that the net to pay depends on, beside the totals. */
const WITHHELD = ['withholding', 'withholding.percent'];

/** The parts that determine prices, for an invoice with an invalid one. */
const UNPRICED = { lines: undefined, discount: undefined, charge: undefined };

/**
 * Returns what determines the totals; null if a part of it is invalid: without an invalid discount they would be
 * others.
 */
function pricedOf(
  { lines, discount, charge }: ValidParts<typeof INVOICE>,
  faults: readonly Problem[],
): Pick<CreateInvoiceInput, 'lines' | 'discount' | 'charge'> | null {
  const isRefused = isUnread('discount', faults) || isUnread('charge', faults);
  return lines === undefined || isRefused ? null : { lines, discount, charge };
}

/** Whether a field, or a part of it, is stated and could not be read. */
function isUnread(field: string, faults: readonly Problem[]): boolean {
  return faults.some(({ param }) => param === field || param?.startsWith(`${field}.`));
}

/** Computes the warnings about the valid parts. */
async function warningsOf(
  { tenant }: Member,
  parts: ValidParts<typeof INVOICE>,
  totals: DueTotals,
  invoiceWarnings: InvoiceWarnings,
): Promise<readonly InvoiceWarning[]> {
  const { lines = [], discount, charge, customer, number, terms } = parts;
  const stated = {
    ...completeParticulars(parts),
    kind: 'invoice' as const,
    terms: ownTerms(terms),
    createdAt: new Date(),
    seller: tenant.profile,
    lines,
    discount,
    charge,
    deduction: totals.deduction,
    amount: amountOf(parts, totals),
    customer: {
      kind: customer?.kind ?? DEFAULT_CUSTOMER_KIND,
      ice: customer?.ice ?? null,
      name: customer?.name ?? '',
      address: customer ? (customer.address ?? null) : '-',
      taxNumber: customer?.taxNumber ?? null,
    },
    number: number ?? null,
  };
  return await invoiceWarnings(stated);
}

/** Returns the stated amount if it is the total or its rounding, otherwise the total. */
function amountOf({ amount, lines = [] }: ValidParts<typeof INVOICE>, { sale, due }: DueTotals): Centimes {
  const totals = due ?? sale;
  const isStated = amount !== undefined && sale && totals && isTolerated(amount, sale, lines, totals);
  return isStated ? amount : (totals?.gross ?? 0);
}

function payableOf(parts: ValidParts<typeof INVOICE>, stated: DueTotals, totals: LineTotals): Centimes {
  const percent = parts.withholding?.percent;
  return netToPay({
    amount: amountOf(parts, stated),
    totals,
    withholding: percent === undefined ? null : { percent },
  });
}
