import { createHash } from 'node:crypto';
import { serviceError } from '../errors.ts';
import type { Member } from '../principal.ts';
import type { MissingForLive } from '../tenant/ports.ts';
import type { Environment } from '../tenant/tenant.ts';
import type { ClientSecrets } from './client-secret.ts';
import { NO_CREDITS } from './credit.ts';
import { type Invoice, NEW_WORK, UNANSWERED } from './invoice.ts';
import type { WarningCode } from './invoice-warnings.ts';
import type { IdempotencyMark, InvoiceCreation, StageQueue } from './repository.ts';
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

/** What the creations of all kinds of documents have in common. */
export interface Issuing {
  /**
   * Refuses a live document that cannot be signed or sent: it would take a number and wait for settings that may never
   * come.
   * @param replayed the id of an earlier request's document, which is stored already if it exists
   * @throws {ServiceError} internal_error (503)
   */
  requireMeans(owner: Member, replayed: string | null): Promise<void>;
  /**
   * Stores a new document and queues its processing.
   * @param mark the mark of the idempotency key from which its id is derived; null if the id is random
   * @throws {ServiceError} idempotency_conflict
   * @throws {NumberTaken}
   */
  store(document: Invoice, order: string, mark: IdempotencyMark | null): Promise<IssuedDocument>;
  /** The answer to a repeated request. */
  replay(stored: Invoice): IssuedDocument;
}

export function createIssuing(
  invoices: InvoiceCreation,
  queue: StageQueue,
  clientSecrets: ClientSecrets,
  invoiceWarnings: InvoiceWarnings,
  logWarnings: LogWarnings,
  missingForIssue: MissingForIssue = () => [],
): Issuing {
  const issuing: Issuing = {
    async requireMeans({ tenant, environment }, replayed) {
      if (environment !== 'live') return;
      const missing = missingForIssue(tenant.id);
      if (missing.length === 0 || (replayed !== null && (await invoices.findCreatedAs(replayed)) !== null)) return;
      const texts = missing.map(({ text }) => text).join('; ');
      throw serviceError(
        'internal_error',
        `Live invoices cannot be issued at the moment: they require ${texts}. Nothing was stored. Send the request again later, with the same Idempotency-Key.`,
        null,
        503,
      );
    },

    async store(document, order, mark) {
      // Computed before the insert, so that nothing is stored if this fails and the client gets the error.
      const warnings = [...new Set((await invoiceWarnings(document)).map(({ code }) => code))];
      const { invoice: stored, earlier } = await invoices.insert(document, order, mark);
      if (earlier !== null) {
        if (earlier.fingerprint !== mark?.fingerprint) throw idempotencyConflict();
        return issuing.replay(stored);
      }
      void queue.enqueue(stored, 0);
      if (warnings.length > 0) {
        const { id: invoiceId, tenantId, environment } = stored;
        logWarnings({ invoiceId, tenantId, environment, warnings });
      }
      return { invoice: stored, clientSecret: clientSecrets.issue(stored.id), replayed: false };
    },

    replay: (stored) => ({ invoice: asCreated(stored), clientSecret: clientSecrets.issue(stored.id), replayed: true }),
  };
  return issuing;
}

export function idempotencyConflict() {
  return serviceError(
    'idempotency_conflict',
    'This idempotency key was used with a different payload. Use a new key for a new invoice.',
    'idempotencyKey',
  );
}

/** The fields of a new document that its creation decides. */
export type NewDocument = Pick<
  Invoice,
  'id' | 'kind' | 'amount' | 'currency' | 'ownNumber' | 'customer' | 'lines' | 'terms' | 'metadata' | 'credit'
> &
  Pick<Invoice, 'createdAt' | 'traceparent'>;

/** Makes the document that a creation stores. */
export function newDocument({ tenant, environment }: Member, document: NewDocument): Invoice {
  return {
    ...document,
    tenantId: tenant.id,
    environment,
    status: 'pending',
    number: document.ownNumber,
    seller: tenant.profile,
    credits: NO_CREDITS,
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
    credits: NO_CREDITS,
    ...UNANSWERED,
  };
}

/**
 * Computes a fingerprint that is equal for bodies with the same values. The order of members does not matter, and null
 * equals absent.
 */
export function fingerprintOf(input: object): string {
  return createHash('sha256').update(canonicalJson(input)).digest('hex');
}

function canonicalJson(value: unknown): string {
  return JSON.stringify(value, (_key, each: unknown) =>
    each !== null && typeof each === 'object' && !Array.isArray(each)
      ? Object.fromEntries(
          Object.entries(each)
            .filter(([, member]) => member !== null)
            .sort(([a], [b]) => (a < b ? -1 : 1)),
        )
      : each,
  );
}
