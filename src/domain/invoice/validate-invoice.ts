import { type Problem, problem } from '../errors.ts';
import { problemsOf } from '../input-problems.ts';
import { type KeyPrincipal, type Principal, requireSecretKey } from '../principal.ts';
import { missingProfileFields } from '../tenant/tenant.ts';
import { newInvoice } from './create-invoice.ts';
import { type CreateInvoiceInput, createInvoiceInput } from './create-invoice-input.ts';
import { partsReader } from './field-makers.ts';
import type { ValidParts } from './field-table.ts';
import { INVOICE } from './fields.ts';
import { numberProblem, ruleProblems } from './invoice-rules.ts';
import type { InvoiceWarning } from './invoice-warnings.ts';
import { legalInvoice, legalNumber, seriesYear } from './legal-invoice.ts';
import { InvalidDocument, type InvoiceWriter } from './ports.ts';
import type { InvoiceRepository } from './repository.ts';
import { ownTerms } from './terms.ts';
import { type InvoiceTotals, isTolerated, totalsOf } from './totals.ts';
import type { InvoiceWarnings } from './unprintable-warnings.ts';

/** What would become of an invoice. */
export interface InvoiceValidation {
  /** Everything that keeps it from being created: structure first, then business rules, then what the live seller's profile lacks. */
  readonly problems: readonly Problem[];
  /** What is not refused and may be taken amiss, as far as its parts can be read. */
  readonly warnings: readonly InvoiceWarning[];
  /** What its lines add up to; null unless all of them are valid, or when that is too much. */
  readonly totals: InvoiceTotals | null;
}

export interface ValidateInvoice {
  /**
   * Every check that an invoice passes on its way, all at once, the legal document's included. Nothing is stored and no number is used.
   * @param draft anything; an invoice is what `createInvoiceInput` takes
   * @throws {ServiceError} insufficient_scope unless a secret key calls
   */
  (principal: Principal, draft: unknown): Promise<InvoiceValidation>;
}

export function createValidateInvoice(
  invoices: Pick<InvoiceRepository, 'findByOwnNumber'>,
  writer: InvoiceWriter,
  invoiceWarnings: InvoiceWarnings,
): ValidateInvoice {
  return async (principal, draft) => {
    const owner = requireSecretKey(principal);
    const parsed = createInvoiceInput.safeParse(draft);
    const parts = parsed.success ? parsed.data : validPartsOf(draft);
    const { amount, lines, customer, number, terms } = parts;
    const problems = [
      ...(parsed.success ? [] : problemsOf(parsed.error)),
      ...ruleProblems({ amount, lines, ice: customer?.ice, terms }, new Date()),
      ...[(await numberProblem(invoices, owner, number)) ?? []].flat(),
      ...sellerProblems(owner),
    ];
    if (parsed.success && problems.length === 0) problems.push(...(await documentProblems(owner, parsed.data)));
    const refused = problems.map(({ param }) => param);
    const warnings = await warningsOf(owner, parts, invoiceWarnings);
    return {
      problems,
      warnings: warnings.filter(({ path }) => !refused.some((param) => concerns(param, path))),
      totals: (lines && totalsOf(lines)) ?? null,
    };
  };

  /** Whether the legal document can be written; that it can not is a defect of ours, better known before than after. */
  async function documentProblems(owner: KeyPrincipal, input: CreateInvoiceInput): Promise<Problem[]> {
    const invoice = newInvoice(owner, input, new Date());
    try {
      const number = invoice.ownNumber ?? legalNumber({ year: seriesYear(invoice.createdAt), serial: 1 });
      await writer.write(legalInvoice(invoice, number));
      return [];
    } catch (error) {
      if (!(error instanceof InvalidDocument)) throw error;
      const message = `Our own document would be invalid: ${error.message} Contact the support of the invoicing service.`;
      return [problem('internal_error', message)];
    }
  }
}

const validPartsOf = partsReader(INVOICE);

/** Live invoices need the seller's complete profile; test invoices fill it with a specimen's, and warn. */
function sellerProblems({ environment, tenant }: KeyPrincipal): Problem[] {
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
 * Whether a field that is refused is that of a warning, or decides on it: there is a problem already, which needs no warning beside it. What is
 * stated of the payment follows from all four of its fields.
 */
function concerns(refused: string | null, path: string): boolean {
  return refused === path || (refused !== null && PAYMENT.includes(refused) && PAYMENT.includes(path));
}

/** The warnings of those parts that can be read. */
async function warningsOf(
  { tenant }: KeyPrincipal,
  { amount, lines = [], customer, number, terms }: ValidParts<typeof INVOICE>,
  invoiceWarnings: InvoiceWarnings,
): Promise<InvoiceWarning[]> {
  const totals = totalsOf(lines);
  const stated = {
    terms: ownTerms(terms),
    createdAt: new Date(),
    seller: tenant.profile,
    lines: lines.map((line) => ({ ...line, amount: line.quantity * line.unitPrice })),
    amount: amount !== undefined && totals && isTolerated(amount, totals, lines) ? amount : (totals?.gross ?? 0),
    customer: {
      ice: customer?.ice ?? '',
      name: customer?.name ?? '',
      address: customer ? (customer.address ?? null) : '-',
      email: null,
    },
    number: number ?? null,
  };
  return await invoiceWarnings(stated);
}
