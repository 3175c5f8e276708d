import { serviceError } from '../../errors.ts';
import { CURRENCY } from '../../money.ts';
import { moroccanDate } from '../../morocco/time.ts';
import type { Logo } from '../../tenant/logo.ts';
import { completedProfile, type Tenant } from '../../tenant/tenant.ts';
import { DEFAULT_CUSTOMER_KIND } from '../customer-kind.ts';
import type { DeductedDeposit } from '../deduction.ts';
import { dueTotals } from '../due-totals.ts';
import { LIMITS } from '../field-input.ts';
import { partsReader } from '../field-makers.ts';
import { INVOICE } from '../fields.ts';
import { TOO_MUCH } from '../invoice-rules.ts';
import { INVOICE_LINE } from '../line-fields.ts';
import { completeParticulars } from '../particulars.ts';
import type { DrawnDraft, LegalLine } from '../ports.ts';
import { DEFAULT_TAX_RATE } from '../tax-rate.ts';
import { ownTerms, termsOf } from '../terms.ts';
import { isTolerated, linesWithAmounts } from '../totals.ts';
import type { Draft } from './draft.ts';

const partsOf = partsReader(INVOICE);
const lineParts = partsReader(INVOICE_LINE);

/** Stands for a text that is missing or not valid. */
const MISSING = '—';

/**
 * Makes the page of a draft from its valid parts, as an invoice of today: a missing text is a dash, a missing number is
 * 0, and an invalid part counts as missing.
 * @throws {ServiceError} invalid_request when the totals are beyond the limit
 */
export function draftPage(
  { id, environment, content }: Draft,
  { id: tenantId, profile }: Tenant,
  logo: Logo | null,
  now: Date,
  deposits: readonly DeductedDeposit[] = [],
): DrawnDraft {
  const written = JSON.parse(content) as { readonly lines?: unknown };
  const parts = partsOf(written);
  const { amount, discount, charge, customer, terms, isDeposit } = parts;
  const particulars = completeParticulars(parts);
  const typed = Array.isArray(written.lines) ? written.lines.slice(0, LIMITS.lines).map(lineOf) : [];
  const { sale, due, deduction } = dueTotals({ lines: typed, discount, charge }, deposits);
  if (!sale) throw serviceError('invalid_request', TOO_MUCH, 'lines');
  const lines = linesWithAmounts({ lines: typed }, sale);
  const totals = due ?? sale;
  const kind = customer?.kind ?? DEFAULT_CUSTOMER_KIND;
  return {
    draft: {
      ...particulars,
      id,
      kind: 'invoice',
      isDeposit: isDeposit ?? false,
      deduction: deduction && { deposits, ...deduction },
      credit: null,
      replaces: null,
      tenantId,
      environment,
      number: '',
      issueDate: moroccanDate(now),
      terms: termsOf({ ...particulars, terms: ownTerms(terms), seller: profile, createdAt: now, number: null }),
      currency: CURRENCY,
      ...completedProfile(profile),
      customer: {
        kind,
        ice: kind === 'company' ? (/^[0-9]{1,15}$/.exec(customer?.ice ?? '')?.[0] ?? MISSING) : null,
        country: kind === 'foreign' ? (customer?.country ?? null) : null,
        taxNumber: kind === 'foreign' ? (customer?.taxNumber ?? null) : null,
        name: customer?.name || MISSING,
        address: customer?.address || null,
        email: null,
      },
      lines,
      totals,
      amount: amount !== undefined && isTolerated(amount, sale, lines, totals) ? amount : totals.gross,
    },
    logo,
  };
}

function lineOf(written: unknown): Omit<LegalLine, 'amount'> {
  const {
    description,
    quantity = 0,
    unit,
    unitPrice = 0,
    taxIncluded,
    discount,
    taxRate,
    exemption,
  } = lineParts(written);
  return {
    description: description || MISSING,
    quantity,
    unit,
    unitPrice,
    taxIncluded,
    discount,
    taxRate: taxRate ?? DEFAULT_TAX_RATE,
    exemption:
      exemption?.code && taxRate === 0 ? { code: exemption.code, certificate: certificateOf(exemption) } : undefined,
  };
}

/** Returns the certificate if it is complete. */
function certificateOf({ certificate }: NonNullable<ReturnType<typeof lineParts>['exemption']>) {
  return certificate?.number && certificate.date ? { number: certificate.number, date: certificate.date } : null;
}
