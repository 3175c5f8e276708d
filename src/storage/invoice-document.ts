import { completer } from '../domain/invoice/field-makers.ts';
import { INVOICE } from '../domain/invoice/fields.ts';
import { type Invoice, type InvoiceEvent, NEW_WORK, UNANSWERED, type Work } from '../domain/invoice/invoice.ts';
import { legalNumber } from '../domain/invoice/legal-invoice.ts';
import type { IdempotencyMark, NextWork, SeriesNumber } from '../domain/invoice/repository.ts';
import { type InvoiceTerms, NO_TERMS } from '../domain/invoice/terms.ts';

/** A stored invoice. Status, events and lease are in one document, so that one update changes them atomically. */
export interface InvoiceDocument
  extends Omit<
      Invoice,
      | 'id'
      | 'metadata'
      | 'number'
      | 'ownNumber'
      | 'work'
      | 'events'
      | 'email'
      | 'documentRevision'
      | 'authorityAttempts'
      | 'terms'
      | keyof typeof UNANSWERED
    >,
    Partial<Pick<Invoice, keyof typeof UNANSWERED>> {
  _id: string;
  ownNumber?: string;
  /** Without terms that are null. */
  terms?: Partial<InvoiceTerms>;
  /** Pairs, because names may contain dots and dollar signs. */
  metadata: [string, string][];
  order: string;
  events: InvoiceEvent[];
  email?: Invoice['email'];
  documentRevision?: number;
  authorityAttempts?: Invoice['authorityAttempts'];
  idempotency?: IdempotencyMark;
  series?: SeriesNumber;
  work?: StoredWork | undefined;
  /**
   * Present while the event log may lack events up to `sequence`; the sweep publishes them from `dueAt` on. Absent when
   * the log has all events.
   */
  outbox?: { sequence: number; dueAt: Date };
}

/** The fields of {@link NEW_WORK} that are stored only when they differ from it. */
export interface StoredWork extends Omit<Work, 'claims' | 'since' | 'failures' | 'parked' | 'idle' | 'blocked'> {
  claims?: number;
  since?: Date;
  failures?: Work['failures'];
  parked?: true;
  idle?: true;
  blocked?: NonNullable<Work['blocked']>;
  /** Identifies the claim that holds the lease; null if there is none. */
  token: string | null;
  /**
   * When the sweeper checks the job of this work, and queues a new one if it is lost. Work without a job has none: parked
   * and blocked work, and idle work until it is claimed.
   */
  sweepAt?: Date;
}

const complete = completer(INVOICE);

/** Grace period from when work is due until the sweeper checks its job, milliseconds. */
export const QUEUE_GRACE_MS = 2000;
/** The stored form of the fields of {@link NEW_WORK}. */
export function workFields({ attempts, outcomeUnknown, failures, parked, idle, blocked }: Omit<NextWork, 'stage'>) {
  return {
    ...{ attempts, outcomeUnknown },
    ...(failures && failures.length > 0 && { failures }),
    ...(parked && { parked }),
    ...(idle && { idle }),
    ...(blocked && { blocked }),
  };
}

/** A new invoice, which has no answer of the authority yet. */
export function documentOf(
  { id, metadata, work, number: _made, ownNumber, terms, ...rest }: Invoice,
  order: string,
  mark: IdempotencyMark | null,
) {
  const { heldAs, problems, authorityWarnings, receipt, cleared, awaitsCleared, ...invoice } = rest;
  const given = Object.entries(terms).filter(([, value]) => value !== null);
  return {
    _id: id,
    ...invoice,
    ...(given.length > 0 && { terms: Object.fromEntries(given) as Partial<InvoiceTerms> }),
    events: [...invoice.events],
    metadata: Object.entries(metadata),
    order,
    ...(ownNumber !== null && { ownNumber }),
    ...(mark && { idempotency: mark }),
    ...(work && {
      work: {
        ...{ stage: work.stage, ...workFields(work), claims: work.claims, since: work.since, dueAt: work.dueAt },
        ...{ token: null, sweepAt: new Date(work.dueAt.getTime() + QUEUE_GRACE_MS) },
      },
    }),
  } satisfies InvoiceDocument;
}

/** The invoice of a stored document, with what the table of fields has today. */
export function invoiceOf({
  _id,
  metadata,
  order: _order,
  idempotency: _mark,
  outbox: _outbox,
  series,
  ownNumber,
  email,
  authorityAttempts,
  documentRevision,
  terms,
  work,
  ...invoice
}: InvoiceDocument): Invoice {
  return complete({
    id: _id,
    ...UNANSWERED,
    ...invoice,
    metadata: Object.fromEntries(metadata),
    number: ownNumber ?? (series ? legalNumber(series) : null),
    ownNumber: ownNumber ?? null,
    email: email ?? null,
    terms: { ...NO_TERMS, ...terms },
    authorityAttempts: authorityAttempts ?? [],
    documentRevision: documentRevision ?? 0,
    work: work
      ? {
          ...{ ...NEW_WORK, stage: work.stage, ...workFields(work) },
          ...{ dueAt: work.dueAt, claims: work.claims ?? 0, since: work.since ?? work.dueAt },
        }
      : null,
  });
}
