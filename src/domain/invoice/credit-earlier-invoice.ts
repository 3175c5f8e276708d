import { z } from 'zod';
import { addYears } from '../calendar-date.ts';
import { errorOfProblems, type Problem, problem } from '../errors.ts';
import { expected } from '../input-problems.ts';
import { moroccanDate } from '../morocco/time.ts';
import { oneLineText } from '../printable-text.ts';
import type { Change, UseCase } from '../use-case.ts';
import { REASON } from './credit-reason-input.ts';
import { CUSTOMER } from './customer-fields.ts';
import { DATE_YEARS, date, LIMITS, metadata, statedAmount } from './field-input.ts';
import { inputSchema, keeper } from './field-makers.ts';
import { ruleProblems } from './invoice-rules.ts';
import { type CreditNoteNeeds, issueCreditNote } from './issue-credit-note.ts';
import type { IssuedDocument } from './issuing.ts';
import { INVOICE_LINE } from './line-fields.ts';
import { CREATED, recordCreation } from './record-creation.ts';
import type { InvoiceCreation, InvoiceReading } from './repository.ts';
import { linesWithAmounts, totalsOf } from './totals.ts';

/** The structure of the input of `creditEarlierInvoice`; a violation is a 400. */
export const creditEarlierInvoiceInput = z.strictObject({
  number: oneLineText(LIMITS.number, 'the number of the invoice, a string'),
  issueDate: date,
  dgiId: oneLineText(LIMITS.name, "the tax authority's identifier, a string").nullish(),
  ...REASON,
  customer: inputSchema(CUSTOMER, 'graphql'),
  lines: z
    .array(inputSchema(INVOICE_LINE, 'graphql'), { error: expected('a list of at least one item') })
    .min(1, { error: 'is empty: at least one item is expected' })
    .max(LIMITS.lines, { error: `has too many items: at most ${LIMITS.lines}` }),
  amount: statedAmount.nullish(),
  metadata,
});
export type CreditEarlierInvoiceInput = z.output<typeof creditEarlierInvoiceInput>;

interface CreditEarlierNeeds extends CreditNoteNeeds {
  readonly invoices: InvoiceCreation & Pick<InvoiceReading, 'findByNumber'>;
}

const keepCustomer = keeper(CUSTOMER);
const keepLine = keeper(INVOICE_LINE);

/**
 * Credits an invoice that another system issued. The request's lines state the credited amounts. The service does not
 * know how much of the invoice is left.
 */
export const creditEarlierInvoice = {
  scope: 'issue',
  audit: CREATED.credit_note,
  /**
   * @param input structurally valid: the output of {@link creditEarlierInvoiceInput}
   * @throws {ServiceError} invalid_request, also if this service issued the invoice; amount_too_small, amount_mismatch,
   *   invalid_ice, invalid_date, and those of {@link issueCreditNote}
   */
  async run(
    needs: CreditEarlierNeeds,
    call: Change,
    input: CreditEarlierInvoiceInput,
    idempotencyKey: string | null,
  ): Promise<IssuedDocument> {
    const { by: owner } = call;
    const { number, issueDate, dgiId, reason, note, metadata } = input;
    const issued = await issueCreditNote(needs, owner, idempotencyKey, input, async () => {
      const totals = totalsOf(input);
      const amount = input.amount ?? totals?.gross ?? 0;
      const ruled = { amount, lines: input.lines, customer: input.customer };
      const today = new Date();
      const [first, ...rest] = [...ruleProblems(ruled, today), ...dateProblems(issueDate, moroccanDate(today))];
      if (first) throw errorOfProblems([first, ...rest]);
      if (totals === null) throw new Error('the rules have passed lines without totals');
      if (await needs.invoices.findByNumber(owner.tenant.id, owner.environment, lookOf(number)))
        throw errorOfProblems([ownNumberProblem(number)]);
      const customer = keepCustomer(input.customer);
      return {
        currency: 'MAD',
        customer: { ...customer, address: customer.address || null },
        lines: linesWithAmounts({ lines: input.lines.map(keepLine) }, totals),
        metadata,
        credit: {
          rates: totals.rates,
          amount,
          original: { id: null, number: number.trim(), issueDate, dgiId: dgiId ?? null },
          reason,
          note: note?.trim() || null,
        },
      };
    });
    await recordCreation(call, issued);
    return issued;
  },
} as const satisfies UseCase;

/**
 * Returns a number in a canonical form: variants of characters, spaces and hyphens that readers cannot distinguish
 * become equal. So no variant of its number can credit an invoice of this service a second time.
 */
function lookOf(number: string): string {
  const plain = number.normalize('NFKC').replaceAll(/\p{Cf}/gu, '');
  return plain
    .replaceAll(/[\p{Pd}\u2212]/gu, '-')
    .replaceAll(/\s+/g, ' ')
    .trim();
}

function dateProblems(issueDate: string, today: string): Problem[] {
  const first = addYears(today, -DATE_YEARS.operationBefore);
  if (issueDate >= first && issueDate <= today) return [];
  const message = `issueDate is ${issueDate}; it must be from ${first} to ${today}.`;
  return [problem('invalid_date', message, 'issueDate')];
}

function ownNumberProblem(number: string): Problem {
  const message = `number ${number} is that of an invoice of this service: credit it by its id with creditInvoice, which knows how much is left.`;
  return problem('invalid_request', message, 'number');
}
