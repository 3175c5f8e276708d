import { currentActivity } from '../activity.ts';
import { errorOfProblems, ServiceError, serviceError } from '../errors.ts';
import { newId } from '../ids.ts';
import { newCreationMoment } from '../order-key.ts';
import type { Member } from '../principal.ts';
import type { MissingForLive } from '../tenant/ports.ts';
import type { Environment } from '../tenant/tenant.ts';
import { kindOfError, type Span, type Tracing } from '../tracing.ts';
import type { Call, UseCase } from '../use-case.ts';
import type { ClientSecrets } from './client-secret.ts';
import { type CreateInvoiceInput, idempotencyKeyProblem } from './create-invoice-input.ts';
import { keeper } from './field-makers.ts';
import { INVOICE } from './fields.ts';
import { fingerprintOf } from './input-fingerprint.ts';
import { type Invoice, NEW_WORK, UNANSWERED } from './invoice.ts';
import type { InvoiceIds } from './invoice-ids.ts';
import { duplicateNumber, numberProblem, ruleProblems, spacingProblems } from './invoice-rules.ts';
import type { WarningCode } from './invoice-warnings.ts';
import { type InvoiceCreation, type InvoiceReading, NumberTaken, type StageQueue } from './repository.ts';
import type { InvoiceWarnings } from './unprintable-warnings.ts';

export interface CreatedInvoice {
  /** The invoice as it was at its creation, also in a replay. */
  readonly invoice: Invoice;
  readonly clientSecret: string;
  /** Whether the invoice was created by an earlier request with the same Idempotency-Key and body. */
  readonly replayed: boolean;
}

/** Logs the warnings of a new invoice, each code once. Never throws. */
export type LogWarnings = (entry: {
  readonly invoiceId: string;
  readonly tenantId: string;
  readonly environment: Environment;
  readonly warnings: readonly WarningCode[];
}) => void;

/** Returns what the installation lacks at present to issue a live invoice of the tenant; empty if nothing. */
export type MissingForIssue = (tenantId: string) => readonly MissingForLive[];

export interface CreationNeeds {
  readonly invoices: InvoiceCreation & Pick<InvoiceReading, 'findByOwnNumber'>;
  readonly queue: StageQueue;
  readonly invoiceIds: InvoiceIds;
  readonly clientSecrets: ClientSecrets;
  readonly invoiceWarnings: InvoiceWarnings;
  readonly logWarnings: LogWarnings;
  readonly tracing: Tracing;
  readonly missingForIssue: MissingForIssue;
}

/**
 * Stores an invoice as `pending` and returns before any processing (docs/api/contract.md, "POST /v1/invoices"). Its input
 * is structurally valid, the output of `createInvoiceInput`; the Idempotency-Key has 1 to 255 printable characters,
 * surrounding quotes not counted, or is null. Not audited: `src/domain/audit-actions.ts` says why.
 * @throws {ServiceError} invalid_request (the key), amount_too_small, amount_mismatch, invalid_ice, invalid_date,
 *   invalid_bank_account, duplicate_number, idempotency_conflict; internal_error (503) for a live invoice that the
 *   operator's settings do not allow to be issued; nothing is stored then
 */
export const createInvoice = {
  scope: 'issue',
  async run(
    needs: CreationNeeds,
    { by }: Call,
    input: CreateInvoiceInput,
    idempotencyKey: string | null,
  ): Promise<CreatedInvoice> {
    const activity = currentActivity();
    const parent = activity?.span?.traceparent ?? null;
    const span = needs.tracing.begin('invoice create', { kind: 'internal', parent });
    try {
      const created = await create(needs, by, input, idempotencyKey, span);
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
  },
} as const satisfies UseCase;

async function create(
  needs: CreationNeeds,
  owner: Member,
  input: CreateInvoiceInput,
  idempotencyKey: string | null,
  span: Span | null,
): Promise<CreatedInvoice> {
  const { invoices, queue, clientSecrets } = needs;
  const unusable = idempotencyKey === null ? null : idempotencyKeyProblem(idempotencyKey);
  if (unusable) throw new ServiceError([unusable]);
  const mine = { tenantId: owner.tenant.id, environment: owner.environment };
  const id = idempotencyKey === null ? newId('inv') : needs.invoiceIds.ofKey(mine, idempotencyKey);
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
  if (owner.environment === 'live') await requireMeans(needs, owner.tenant.id, idempotencyKey === null ? null : id);
  const invoice = newInvoice(owner, input, createdAt, id, span?.traceparent);
  const mark = idempotencyKey === null ? null : { key: idempotencyKey, fingerprint: fingerprintOf(input) };
  // Computed before the insert, so that nothing is stored if this fails and the client gets the error.
  const warnings = [...new Set((await needs.invoiceWarnings(invoice)).map(({ code }) => code))];
  const { invoice: stored, earlier } = await invoices.insert(invoice, order, mark).catch(async (error: unknown) => {
    if (!(error instanceof NumberTaken)) throw error;
    const { ownNumber } = invoice;
    throw new ServiceError([(await numberProblem(invoices, owner, ownNumber)) ?? duplicateNumber(ownNumber ?? '')]);
  });
  if (earlier === null) {
    void queue.enqueue(stored, 0);
    if (warnings.length > 0) {
      const { id: invoiceId, tenantId, environment } = stored;
      needs.logWarnings({ invoiceId, tenantId, environment, warnings });
    }
    return { invoice: stored, clientSecret: clientSecrets.issue(stored.id), replayed: false };
  }
  if (earlier.fingerprint !== mark?.fingerprint) throw idempotencyConflict();
  return { invoice: asCreated(stored), clientSecret: clientSecrets.issue(stored.id), replayed: true };
}

/**
 * Refuses a live invoice that cannot be signed or sent: it would take a number and wait for settings that may never
 * come.
 * @param replayed the id of an earlier request's invoice, which is stored already if it exists
 */
async function requireMeans(
  { invoices, missingForIssue }: CreationNeeds,
  tenantId: string,
  replayed: string | null,
): Promise<void> {
  const missing = missingForIssue(tenantId);
  if (missing.length === 0 || (replayed !== null && (await invoices.findCreatedAs(replayed)) !== null)) return;
  const texts = missing.map(({ text }) => text).join('; ');
  throw serviceError(
    'internal_error',
    `Live invoices cannot be issued at the moment: they require ${texts}. Nothing was stored. Send the request again later, with the same Idempotency-Key.`,
    null,
    503,
  );
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

function idempotencyConflict() {
  return serviceError(
    'idempotency_conflict',
    'This idempotency key was used with a different payload. Use a new key for a new invoice.',
    'idempotencyKey',
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
  return {
    ...kept,
    id,
    tenantId: owner.tenant.id,
    environment: owner.environment,
    status: 'pending',
    customer: { ...kept.customer, address: kept.customer.address || null },
    lines: kept.lines.map((line) => ({ ...line, amount: line.quantity * line.unitPrice })),
    seller: owner.tenant.profile,
    ownNumber: kept.number,
    dgiId: null,
    rejectionReason: null,
    createdAt,
    updatedAt: createdAt,
    events: [],
    xml: null,
    pdf: null,
    documentRevision: 0,
    email: null,
    authorityAttempts: [],
    ...UNANSWERED,
    work: { ...NEW_WORK, stage: 'normalize', dueAt: new Date(), claims: 0, since: new Date() },
    traceparent,
  };
}

/** Returns the invoice without the results of processing. */
function asCreated(invoice: Invoice): Invoice {
  return {
    ...invoice,
    status: 'pending',
    updatedAt: invoice.createdAt,
    number: invoice.ownNumber,
    dgiId: null,
    rejectionReason: null,
    events: [],
    xml: null,
    pdf: null,
    email: null,
    authorityAttempts: [],
    ...UNANSWERED,
  };
}
