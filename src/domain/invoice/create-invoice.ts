import { currentActivity } from '../activity.ts';
import { errorOfProblems, ServiceError } from '../errors.ts';
import { newId } from '../ids.ts';
import { newCreationMoment } from '../order-key.ts';
import type { Member } from '../principal.ts';
import { kindOfError, type Span, type Tracing } from '../tracing.ts';
import type { Change, UseCase } from '../use-case.ts';
import { type CreateInvoiceInput, idempotencyKeyProblem } from './create-invoice-input.ts';
import { type DeductedDeposit, withDepositShares } from './deduction.ts';
import { dueTotals } from './due-totals.ts';
import { keeper } from './field-makers.ts';
import { INVOICE } from './fields.ts';
import { fingerprintOf } from './input-fingerprint.ts';
import type { Invoice } from './invoice.ts';
import type { InvoiceIds } from './invoice-ids.ts';
import { duplicateNumber, numberProblem, ruleProblems, spacingProblems } from './invoice-rules.ts';
import {
  answerRepeated,
  type IssuedDocument,
  type IssuingNeeds,
  idempotencyConflict,
  issuerOf,
  newDocument,
  requireMeans,
  storeDocument,
} from './issuing.ts';
import { CREATED, recordCreation } from './record-creation.ts';
import type { Replaces } from './replacement.ts';
import { type IdempotencyMark, type InvoiceCreation, type InvoiceReading, NumberTaken } from './repository.ts';
import { type DepositInvoices, previewDeposits, takeDeposits } from './take-deposits.ts';
import { linesWithAmounts } from './totals.ts';

export interface CreationNeeds extends IssuingNeeds {
  readonly invoices: InvoiceCreation & Pick<InvoiceReading, 'findByOwnNumber'> & DepositInvoices;
  readonly invoiceIds: InvoiceIds;
  readonly tracing: Tracing;
}

/**
 * Stores an invoice as `pending` and returns before any processing (docs/api/contract.md, "POST /v1/invoices"). Its
 * input is structurally valid, the output of `createInvoiceInput`; the Idempotency-Key has 1 to 255 printable
 * characters, surrounding quotes not counted, or is null.
 * @throws {ServiceError} invalid_request (the key), amount_too_small, amount_mismatch, invalid_ice, invalid_date,
 *   invalid_bank_account, duplicate_number, idempotency_conflict, and for deposits resource_not_found,
 *   invoice_not_accepted, deposit_not_deductible; internal_error (503) for a live invoice that the operator's settings
 *   do not allow to be issued; nothing is stored then
 */
export const createInvoice = {
  scope: 'issue',
  audit: CREATED.invoice,
  async run(
    needs: CreationNeeds,
    call: Change,
    input: CreateInvoiceInput,
    idempotencyKey: string | null,
  ): Promise<IssuedDocument> {
    const { by } = call;
    const issued = await issueInvoice(needs, by, input, repeatableOf(needs.invoiceIds, by, idempotencyKey, input));
    await recordCreation(call, issued);
    return issued;
  },
} as const satisfies UseCase;

/** Identifies a repeated creation: the id that is derived for the invoice, and the mark that the invoice must have. */
export interface Repeatable {
  readonly id: string;
  readonly mark: IdempotencyMark;
}

/**
 * Returns what identifies the creation with this Idempotency-Key; null without a key.
 * @param asked the whole request, which a repeated request must equal
 * @throws {ServiceError} invalid_request
 */
export function repeatableOf(
  ids: InvoiceIds,
  { tenant, environment }: Member,
  idempotencyKey: string | null,
  asked: object,
): Repeatable | null {
  if (idempotencyKey === null) return null;
  const unusable = idempotencyKeyProblem(idempotencyKey);
  if (unusable) throw new ServiceError([unusable]);
  const id = ids.ofKey({ tenantId: tenant.id, environment }, idempotencyKey);
  return { id, mark: { key: idempotencyKey, fingerprint: fingerprintOf(asked) } };
}

/** The facts that a creation depends on, beside its input. */
interface Circumstances {
  /** The accepted invoice that it replaces, whose deductions pass to it; null if there is none. */
  readonly insteadOf: string | null;
  /**
   * Called after all checks, with the id of the invoice. If it throws, nothing is stored.
   * @returns what the invoice replaces
   */
  readonly beforeStoring: (id: string) => Promise<Replaces | null>;
}

const ALONE: Circumstances = { insteadOf: null, beforeStoring: async () => null };

/**
 * Creates an invoice, or answers a repeated creation.
 * @param repeatable null: a repetition is not recognized
 * @throws {ServiceError} as `createInvoice`
 */
export async function issueInvoice(
  needs: CreationNeeds,
  owner: Member,
  input: CreateInvoiceInput,
  repeatable: Repeatable | null,
  circumstances: Circumstances = ALONE,
): Promise<IssuedDocument> {
  const activity = currentActivity();
  const parent = activity?.span?.traceparent ?? null;
  const span = needs.tracing.begin('invoice create', { kind: 'internal', parent });
  try {
    const created = await create(needs, owner, input, repeatable, circumstances, span);
    const { id, tenantId, environment } = created.invoice;
    if (activity) activity.invoiceId = id;
    span?.set({
      'fatoura.invoice.id': id,
      'fatoura.tenant.id': tenantId,
      'fatoura.environment': environment,
      'fatoura.invoice.replayed': created.replayed,
    });
    return created;
  } catch (error) {
    span?.fail(kindOfError(error));
    throw error;
  } finally {
    span?.end();
  }
}

async function create(
  needs: CreationNeeds,
  owner: Member,
  input: CreateInvoiceInput,
  repeatable: Repeatable | null,
  { insteadOf, beforeStoring }: Circumstances,
  span: Span | null,
): Promise<IssuedDocument> {
  const { invoices } = needs;
  const { createdAt, order } = newCreationMoment();
  const id = repeatable?.id ?? newId('inv');
  const { customer } = input;
  const request = input.deposits && { finalId: id, insteadOf, depositIds: input.deposits, customer };
  // Before the deposits are read: a repeated request has taken them itself.
  const repeated = request && repeatable && (await answerRepeated(needs, repeatable));
  if (repeated) return repeated;
  const preview = request && (await previewDeposits(invoices, owner, request, createdAt));
  const isUnclear = (preview?.problems.length ?? 0) > 0;
  const ruled = { ...input, deducted: preview?.deposits };
  const [first, ...rest] = [
    ...(preview?.problems ?? []),
    // What remains is not known then.
    ...ruleProblems(isUnclear ? { ...ruled, amount: undefined, deducted: undefined } : ruled, createdAt),
    ...spacingProblems(input.number),
  ];
  if (first) {
    const known = repeatable && (await invoices.findCreatedAs(repeatable.id));
    // Date rules depend on the current day. A replay is therefore checked by the day of the first request, and stays
    // valid.
    if (known && ruleProblems(input, known.invoice.createdAt).length > 0) throw idempotencyConflict('invoice');
    if (!known) {
      const taken = await numberProblem(invoices, owner, input.number);
      throw errorOfProblems([first, ...rest, ...(taken ? [taken] : [])]);
    }
  }
  await requireMeans(needs, owner, repeatable?.id ?? null);
  const replaces = await beforeStoring(id);
  const taken = request && (await takeDeposits(invoices, owner, request, () => new Date()));
  try {
    // They may have changed since they were read first.
    const [unruled, ...others] = taken ? ruleProblems({ ...ruled, deducted: taken.deposits }, createdAt) : [];
    if (unruled) throw errorOfProblems([unruled, ...others]);
    const made = { id, traceparent: span?.traceparent ?? null, replaces, deposits: taken?.deposits ?? null };
    const invoice = newInvoice(owner, input, createdAt, made);
    return await storeDocument(needs, invoice, order, repeatable?.mark ?? null).catch(async (error: unknown) => {
      if (!(error instanceof NumberTaken)) throw error;
      const { ownNumber } = invoice;
      throw new ServiceError([(await numberProblem(invoices, owner, ownNumber)) ?? duplicateNumber(ownNumber ?? '')]);
    });
  } catch (error) {
    // After any other error the invoice may be stored nevertheless. Shares that cannot be given back count for five
    // minutes.
    if (error instanceof ServiceError) await taken?.giveBack().catch(() => undefined);
    throw error;
  }
}

/**
 * Refuses a known Idempotency-Key with another body, even when that body is not valid (docs/decisions/0014).
 * @throws {ServiceError} idempotency_conflict
 */
export async function refuseReusedKey(
  invoices: Pick<InvoiceCreation, 'findCreatedAs'>,
  ids: InvoiceIds,
  { tenant, environment }: Member,
  idempotencyKey: string,
): Promise<void> {
  const id = ids.ofKey({ tenantId: tenant.id, environment }, idempotencyKey);
  if (await invoices.findCreatedAs(id)) throw idempotencyConflict('invoice');
}

const keepInput = keeper(INVOICE);

/** The values of an invoice that its creation determines, beside its input. */
interface Made extends Pick<Invoice, 'id' | 'traceparent' | 'replaces'> {
  /** The deposits that it deducts; null if it deducts none. */
  readonly deposits: readonly DeductedDeposit[] | null;
}

/** Makes the invoice that the creation stores. @param deposits which together do not exceed its lines */
export function newInvoice(
  owner: Member,
  input: CreateInvoiceInput,
  createdAt: Date,
  { id = newId('inv'), traceparent = null, replaces = null, deposits = null }: Partial<Made> = {},
): Invoice {
  const kept = keepInput(input);
  const { sale, deduction } = dueTotals(kept, deposits);
  if (deposits && !deduction) throw new Error('the deposits exceed the lines, which the rules refuse');
  const lines = linesWithAmounts(kept, sale);
  return newDocument(issuerOf(owner), {
    ...kept,
    id,
    kind: 'invoice',
    credit: null,
    replaces,
    customer: { ...kept.customer, address: kept.customer.address || null },
    lines: deposits ? withDepositShares(lines, deposits) : lines,
    deduction: deposits && deduction && { deposits, ...deduction },
    ownNumber: kept.number,
    createdAt,
    traceparent,
  });
}
