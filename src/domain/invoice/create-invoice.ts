import { currentActivity } from '../activity.ts';
import { errorOfProblems, ServiceError, serviceError } from '../errors.ts';
import { newId } from '../ids.ts';
import { newCreationMoment } from '../order-key.ts';
import { type Member, type Principal, requireScope } from '../principal.ts';
import { missingProfileFields } from '../tenant/tenant.ts';
import { kindOfError, NO_TRACING, type Span, type Tracing } from '../tracing.ts';
import { type CreateInvoiceInput, idempotencyKeyProblem } from './create-invoice-input.ts';
import { keeper } from './field-makers.ts';
import { INVOICE } from './fields.ts';
import type { Invoice } from './invoice.ts';
import type { InvoiceIds } from './invoice-ids.ts';
import { duplicateNumber, numberProblem, ruleProblems, spacingProblems } from './invoice-rules.ts';
import { fingerprintOf, type IssuedDocument, type Issuing, idempotencyConflict, newDocument } from './issuing.ts';
import { type InvoiceCreation, type InvoiceReading, NumberTaken } from './repository.ts';

export type CreateInvoice = ReturnType<typeof createCreateInvoice>;

export function createCreateInvoice(
  invoices: Pick<InvoiceCreation, 'findCreatedAs'> & Pick<InvoiceReading, 'findByOwnNumber'>,
  ids: InvoiceIds,
  issuing: Issuing,
  tracing: Tracing = NO_TRACING,
) {
  /**
   * Stores an invoice as `pending` and returns before any processing (docs/api/contract.md, "POST /v1/invoices").
   * @param input structurally valid: the output of `createInvoiceInput`
   * @param idempotencyKey 1 to 255 printable characters, surrounding quotes not counted, or null
   * @throws {ServiceError} insufficient_scope, invalid_request (the key), amount_too_small, amount_mismatch,
   *   invalid_ice, invalid_date, invalid_bank_account, duplicate_number, idempotency_conflict; internal_error (503) for a
   *   live invoice that the operator's settings do not allow to be issued; nothing is stored then
   */
  return async (
    principal: Principal,
    input: CreateInvoiceInput,
    idempotencyKey: string | null,
  ): Promise<IssuedDocument> => {
    const activity = currentActivity();
    const span = tracing.begin('invoice create', { kind: 'internal', parent: activity?.span?.traceparent ?? null });
    try {
      const created = await create(principal, input, idempotencyKey, span);
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
  };

  async function create(
    principal: Principal,
    input: CreateInvoiceInput,
    idempotencyKey: string | null,
    span: Span | null,
  ): Promise<IssuedDocument> {
    const owner = requireIssuer(principal);
    const unusable = idempotencyKey === null ? null : idempotencyKeyProblem(idempotencyKey);
    if (unusable) throw new ServiceError([unusable]);
    const mine = { tenantId: owner.tenant.id, environment: owner.environment };
    const id = idempotencyKey === null ? newId('inv') : ids.ofKey(mine, idempotencyKey);
    const { createdAt, order } = newCreationMoment();
    const ruled = { ...input, ice: input.customer.ice };
    const [first, ...rest] = [...ruleProblems(ruled, createdAt), ...spacingProblems(input.number)];
    if (first) {
      const known = idempotencyKey === null ? null : await invoices.findCreatedAs(id);
      // Date rules depend on the current day. A replay is therefore checked by the day of the first request, and stays
      // valid.
      if (known && ruleProblems(ruled, known.createdAt).length > 0) throw idempotencyConflict();
      if (!known) {
        const taken = await numberProblem(invoices, owner, input.number);
        throw errorOfProblems([first, ...rest, ...(taken ? [taken] : [])]);
      }
    }
    await issuing.requireMeans(owner, idempotencyKey === null ? null : id);
    const invoice = newInvoice(owner, input, createdAt, id, span?.traceparent);
    const mark = idempotencyKey === null ? null : { key: idempotencyKey, fingerprint: fingerprintOf(input) };
    return issuing.store(invoice, order, mark).catch(async (error: unknown) => {
      if (!(error instanceof NumberTaken)) throw error;
      const { ownNumber } = invoice;
      throw new ServiceError([(await numberProblem(invoices, owner, ownNumber)) ?? duplicateNumber(ownNumber ?? '')]);
    });
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
  if (await invoices.findCreatedAs(id)) throw idempotencyConflict();
}

/**
 * Requires a principal that may create invoices. Checked before the input.
 * @throws {ServiceError} insufficient_scope (403) without the scope to issue, and in the live environment if the
 * seller's profile is incomplete
 */
export function requireIssuer(principal: Principal): Member {
  return requireProfile(requireScope(principal, 'issue'));
}

/** Requires the complete profile of the seller in the live environment. @throws {ServiceError} insufficient_scope */
export function requireProfile(owner: Member): Member {
  if (owner.environment !== 'live') return owner;
  const missing = missingProfileFields(owner.tenant.profile);
  if (missing.length === 0) return owner;
  throw serviceError(
    'insufficient_scope',
    `Live invoices need the seller's complete profile. Missing: ${missing.join(', ')}. Complete it, then send the request again.`,
  );
}

const keepInput = keeper(INVOICE);

/** Makes the invoice that the creation stores. */
export function newInvoice(
  owner: Member,
  input: CreateInvoiceInput,
  createdAt: Date,
  id = newId('inv'),
  traceparent: string | null = null,
): Invoice {
  const kept = keepInput(input);
  return newDocument(owner, {
    ...kept,
    id,
    kind: 'invoice',
    credit: null,
    customer: { ...kept.customer, address: kept.customer.address || null },
    lines: kept.lines.map((line) => ({ ...line, amount: line.quantity * line.unitPrice })),
    ownNumber: kept.number,
    createdAt,
    traceparent,
  });
}
