import { serviceError } from '../errors.ts';
import type { Member } from '../principal.ts';
import type { MissingForLive } from '../tenant/ports.ts';
import type { Environment } from '../tenant/tenant.ts';
import type { ClientSecrets } from './client-secret.ts';
import { NO_CREDITS } from './credit.ts';
import { type Invoice, NEW_WORK, UNANSWERED } from './invoice.ts';
import type { WarningCode } from './invoice-warnings.ts';
import { KINDS, type Kind } from './kinds.ts';
import { NO_PARTICULARS, type Particulars } from './particulars.ts';
import type { EarlierCreation, IdempotencyMark, InvoiceCreation } from './repository.ts';
import type { StageQueue } from './stage-queue.ts';
import type { InvoiceWarnings } from './unprintable-warnings.ts';

export interface IssuedDocument {
  /** The invoice or credit note as it was at its creation, also in a replay. */
  readonly invoice: Invoice;
  readonly clientSecret: string;
  /** Whether it was created by an earlier request with the same Idempotency-Key and body. */
  readonly replayed: boolean;
}

/** Logs the warnings of a new invoice or credit note, each code once. Never throws. */
export type LogWarnings = (entry: {
  readonly invoiceId: string;
  readonly tenantId: string;
  readonly environment: Environment;
  readonly warnings: readonly WarningCode[];
}) => void;

/** Returns what the installation lacks at present to issue a live document of the tenant; empty if nothing. */
export type MissingForIssue = (tenantId: string) => readonly MissingForLive[];

/** The ports that the creations of all kinds of documents need. */
export interface IssuingNeeds {
  readonly invoices: InvoiceCreation;
  readonly queue: StageQueue;
  readonly clientSecrets: ClientSecrets;
  readonly invoiceWarnings: InvoiceWarnings;
  readonly logWarnings: LogWarnings;
  readonly missingForIssue: MissingForIssue;
}

/**
 * Refuses a live document that cannot be signed or sent: it would take a number and wait for settings that may never
 * come.
 * @param replayed the id of an earlier request's document, which is stored already if it exists
 * @throws {ServiceError} internal_error (503)
 */
export async function requireMeans(
  { invoices, missingForIssue }: Pick<IssuingNeeds, 'invoices' | 'missingForIssue'>,
  { tenant, environment }: Member,
  replayed: string | null,
  kind: Kind = 'invoice',
): Promise<void> {
  const missing = environment === 'live' ? missingForIssue(tenant.id) : [];
  if (missing.length === 0 || (replayed !== null && (await invoices.findCreatedAs(replayed)) !== null)) return;
  const texts = missing.map(({ text }) => text).join('; ');
  throw serviceError(
    'internal_error',
    `Live ${KINDS[kind].called}s cannot be issued at the moment: they require ${texts}. Nothing was stored. Send the request again later, with the same Idempotency-Key.`,
    null,
    503,
  );
}

/**
 * Stores a new document and queues its processing.
 * @param mark the mark of the idempotency key from which its id is derived; null if the id is random
 * @throws {ServiceError} idempotency_conflict
 * @throws {NumberTaken}
 */
export async function storeDocument(
  { invoices, queue, clientSecrets, invoiceWarnings, logWarnings }: IssuingNeeds,
  document: Invoice,
  order: string,
  mark: IdempotencyMark | null,
): Promise<IssuedDocument> {
  // Computed before the insert, so that nothing is stored if this fails and the client gets the error.
  const warnings = [...new Set((await invoiceWarnings(document)).map(({ code }) => code))];
  const { invoice: stored, earlier } = await invoices.insert(document, order, mark);
  if (earlier !== null) return repeated(clientSecrets, { invoice: stored, earlier }, mark);
  void queue.enqueue(stored, 0);
  if (warnings.length > 0) {
    const { id: invoiceId, tenantId, environment } = stored;
    logWarnings({ invoiceId, tenantId, environment, warnings });
  }
  return { invoice: stored, clientSecret: clientSecrets.issue(stored.id), replayed: false };
}

/**
 * Answers a repeated creation.
 * @param repeatable identifies the creation
 * @returns null if there was none before
 * @throws {ServiceError} idempotency_conflict
 */
export async function answerRepeated(
  { invoices, clientSecrets }: Pick<IssuingNeeds, 'invoices' | 'clientSecrets'>,
  { id, mark }: { readonly id: string; readonly mark: IdempotencyMark },
): Promise<IssuedDocument | null> {
  const earlier = await invoices.findCreatedAs(id);
  return earlier && repeated(clientSecrets, earlier, mark);
}

/** @throws {ServiceError} idempotency_conflict */
function repeated(
  clientSecrets: ClientSecrets,
  { invoice, earlier }: EarlierCreation,
  mark: IdempotencyMark | null,
): IssuedDocument {
  if (earlier.fingerprint !== mark?.fingerprint) throw idempotencyConflict(invoice.kind);
  return { invoice: asCreated(invoice), clientSecret: clientSecrets.issue(invoice.id), replayed: true };
}

export function idempotencyConflict(kind: Kind) {
  return serviceError(
    'idempotency_conflict',
    `This idempotency key was used with a different payload. Use a new key for a new ${KINDS[kind].called}.`,
    'idempotencyKey',
  );
}

/** The fields of a new document that its creation decides. */
type NewDocument = Partial<Particulars & Pick<Invoice, 'isDeposit' | 'deduction'>> &
  Pick<
    Invoice,
    | 'id'
    | 'kind'
    | 'amount'
    | 'currency'
    | 'ownNumber'
    | 'customer'
    | 'lines'
    | 'discount'
    | 'charge'
    | 'terms'
    | 'metadata'
    | 'credit'
    | 'replaces'
    | 'createdAt'
    | 'traceparent'
  >;

/** Whose document it is. */
type Issuer = Pick<Invoice, 'tenantId' | 'environment' | 'seller'>;

export function issuerOf({ tenant, environment }: Member): Issuer {
  return { tenantId: tenant.id, environment, seller: tenant.profile };
}

/** Makes the document that a creation stores. */
export function newDocument(issuer: Issuer, document: NewDocument): Invoice {
  return {
    ...NO_PARTICULARS,
    isDeposit: null,
    deduction: null,
    ...document,
    ...issuer,
    status: 'pending',
    number: document.ownNumber,
    credits: NO_CREDITS,
    replacedBy: null,
    dgiId: null,
    rejectionReason: null,
    updatedAt: document.createdAt,
    events: [],
    xml: null,
    pdf: null,
    documentRevision: 0,
    email: null,
    authorityAttempts: [],
    ...UNANSWERED,
    work: { ...NEW_WORK, stage: 'normalize', dueAt: new Date(), claims: 0, since: new Date() },
  };
}

/** Returns the document without the results of processing. */
export function asCreated(invoice: Invoice): Invoice {
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
    credits: NO_CREDITS,
    replacedBy: null,
    ...UNANSWERED,
  };
}
