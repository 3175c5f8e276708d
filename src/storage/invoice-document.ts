import { type Credit, type KeptCredits, NO_CREDITS } from '../domain/invoice/credit.ts';
import { customerKey } from '../domain/invoice/customer-key.ts';
import { DEFAULT_CUSTOMER_KIND } from '../domain/invoice/customer-kind.ts';
import type { Deduction } from '../domain/invoice/deduction.ts';
import { completer } from '../domain/invoice/field-makers.ts';
import { INVOICE } from '../domain/invoice/fields.ts';
import {
  type Customer,
  type Invoice,
  type InvoiceEvent,
  type InvoiceLine,
  NEW_WORK,
  UNANSWERED,
} from '../domain/invoice/invoice.ts';
import type { InvoiceStatus } from '../domain/invoice/lifecycle.ts';
import { NO_PARTICULARS, type Particulars } from '../domain/invoice/particulars.ts';
import type { KeptReplacement, Replaces } from '../domain/invoice/replacement.ts';
import type { IdempotencyMark } from '../domain/invoice/repository.ts';
import { type InvoicePlace, legalNumber, type SeriesNumber, seriesOf } from '../domain/invoice/series-number.ts';
import { type InvoiceTerms, NO_TERMS } from '../domain/invoice/terms.ts';
import { type StoredWork, storedWork, workFields } from './stored-work.ts';

/** A stored invoice. Status, events and lease are in one document, so that one update changes them atomically. */
export interface InvoiceDocument
  extends Omit<
      Invoice,
      | 'id'
      | 'credit'
      | 'credits'
      | 'isDeposit'
      | 'deduction'
      | 'replaces'
      | 'replacedBy'
      | 'metadata'
      | 'number'
      | 'ownNumber'
      | 'work'
      | 'events'
      | 'terms'
      | 'lines'
      | 'customer'
      | 'discount'
      | 'charge'
      | 'traceparent'
      | keyof Particulars
      | keyof typeof UNANSWERED
    >,
    // Absent where null.
    Partial<Particulars>,
    Partial<Pick<Invoice, keyof typeof UNANSWERED>> {
  _id: string;
  /** Absent for an invoice. */
  credit?: Credit;
  /** Absent before the first change. */
  credits?: KeptCredits;
  /** Absent if it is no deposit. */
  isDeposit?: true;
  /** Absent if it deducts no deposit. */
  deduction?: Deduction;
  /** Absent if it replaces none. */
  replaces?: Replaces;
  /** Absent if none replaces it. */
  replacedBy?: KeptReplacement;
  ownNumber?: string;
  /** The key of the customer's name: see `customerKey`. */
  customerKey: string;
  /** Absent if it has none. */
  discount?: NonNullable<Invoice['discount']>;
  /** Absent if it has none. */
  charge?: NonNullable<Invoice['charge']>;
  /** Without terms that are null. */
  terms?: Partial<InvoiceTerms>;
  /** Without the fields that only customers without an ICE have. */
  customer: Pick<Customer, 'ice' | 'name' | 'address' | 'email'> & Partial<Customer>;
  /** Without members that are null, which most lines have. */
  lines: StoredLine[];
  /** Pairs, because names may contain dots and dollar signs. */
  metadata: [string, string][];
  order: string;
  /** The highest order key of the owner's invoices before this one; absent if it is not known. */
  after?: string;
  /** The name of the series in which the invoice has no number yet. */
  awaitsNumber?: string;
  events: InvoiceEvent[];
  traceparent?: string;
  idempotency?: IdempotencyMark;
  series?: SeriesNumber;
  work?: StoredWork | undefined;
  /** The time from which on nobody reads the invoice, because its tenant is erased. */
  withheld?: Date;
  /**
   * Present while the event log may lack events up to `sequence`; the sweep publishes them from `dueAt` on. Absent when
   * the log has all events.
   */
  outbox?: { sequence: number; dueAt: Date };
  /** The status under which the sums of its day contain the invoice; absent before they do (docs/decisions/0090). */
  summed?: InvoiceStatus;
  /**
   * The terms by which a search finds the invoice: see `TERM`. Written with `summed`, so absent at first
   * (docs/decisions/0091).
   */
  searchTerms?: string[];
  /**
   * The time from which on the sweep sums the invoice. Present until the first event, or until the sums contain the
   * invoice.
   */
  unsummed?: Date;
}

type StoredLine = Pick<InvoiceLine, 'description' | 'quantity' | 'unitPrice' | 'taxRate' | 'amount'> &
  Partial<InvoiceLine>;

const complete = completer(INVOICE);

function storedCustomer({ kind, country, taxNumber, ...stated }: Customer): InvoiceDocument['customer'] {
  if (kind === DEFAULT_CUSTOMER_KIND) return stated;
  return { ...stated, kind, ...(country !== null && { country }), ...(taxNumber !== null && { taxNumber }) };
}

function storedLine(line: InvoiceLine): StoredLine {
  return withoutNulls(line) as StoredLine;
}

function withoutNulls<Row extends object>(row: Row): Partial<Row> {
  const kept: Partial<Row> = {};
  for (const name in row) if (row[name] !== null) kept[name] = row[name];
  return kept;
}

/** Returns the document of a new invoice, which has no answer of the authority yet. */
export function documentOf(
  {
    id,
    credit,
    credits,
    isDeposit,
    deduction,
    replaces,
    replacedBy,
    metadata,
    work,
    number: _made,
    ownNumber,
    terms,
    lines,
    discount,
    charge,
    traceparent,
    references,
    servicePeriod,
    foreignValue,
    withholding,
    ...rest
  }: Invoice,
  order: string,
  mark: IdempotencyMark | null,
) {
  const { heldAs, problems, authorityWarnings, receipt, cleared, awaitsCleared, ...invoice } = rest;
  // An invoice that waits for its credit note gets its number afterwards, so that it does not delay the series.
  const waits = (replaces?.credited?.creditNoteId ?? null) !== null;
  const given = Object.entries(terms).filter(([, value]) => value !== null);
  return {
    _id: id,
    ...invoice,
    customer: storedCustomer(invoice.customer),
    customerKey: customerKey(invoice.customer.name),
    ...(given.length > 0 && { terms: Object.fromEntries(given) as Partial<InvoiceTerms> }),
    lines: lines.map(storedLine),
    events: [...invoice.events],
    metadata: Object.entries(metadata),
    order,
    ...withoutNulls({ references, servicePeriod, foreignValue, withholding }),
    ...(credit !== null && { credit }),
    ...(credits.version > 0 && { credits }),
    ...(isDeposit && { isDeposit }),
    ...(deduction !== null && { deduction }),
    ...(replaces !== null && { replaces }),
    ...(replacedBy !== null && { replacedBy }),
    ...(discount !== null && { discount }),
    ...(charge !== null && { charge }),
    ...(ownNumber !== null && { ownNumber }),
    ...(ownNumber === null && rest.status === 'pending' && !waits && { awaitsNumber: seriesOf(rest) }),
    ...(mark && { idempotency: mark }),
    ...(traceparent !== null && { traceparent }),
    ...(work && {
      work: storedWork({ ...invoice, id }, work, {
        claims: work.claims,
        since: work.since,
        token: null,
        dueAt: work.dueAt,
      }),
    }),
  } satisfies InvoiceDocument;
}

/** Returns the place of a stored document. */
export function placeOf({ order, after }: Pick<InvoiceDocument, 'order' | 'after'>): InvoicePlace {
  return { order, after: after ?? null };
}

interface NumberedDocument {
  readonly ownNumber?: string | undefined;
  readonly series?: SeriesNumber | undefined;
}

/** Returns the legal number of a stored document; null until it is assigned. */
export function numberOf({ ownNumber, series }: NumberedDocument): string | null {
  return ownNumber ?? (series ? legalNumber(series) : null);
}

/** Returns the invoice of a stored document, completed by the current table of fields. */
export function invoiceOf({
  _id,
  metadata,
  order: _order,
  after: _after,
  awaitsNumber: _awaitsNumber,
  idempotency: _mark,
  outbox: _outbox,
  summed: _summed,
  unsummed: _unsummed,
  withheld: _withheld,
  customerKey: _customerKey,
  searchTerms: _searchTerms,
  credit,
  credits,
  isDeposit,
  deduction,
  replaces,
  replacedBy,
  series,
  ownNumber,
  terms,
  work,
  traceparent,
  lines,
  customer,
  discount,
  charge,
  ...invoice
}: InvoiceDocument): Invoice {
  return complete({
    // `complete` adds defaults and nulls.
    lines: lines as InvoiceLine[],
    customer: customer as Customer,
    id: _id,
    credit: credit ?? null,
    credits: credits ?? NO_CREDITS,
    isDeposit: isDeposit ?? null,
    deduction: deduction ?? null,
    replaces: replaces ?? null,
    replacedBy: replacedBy ?? null,
    discount: discount ?? null,
    charge: charge ?? null,
    ...UNANSWERED,
    ...NO_PARTICULARS,
    ...invoice,
    metadata: Object.fromEntries(metadata),
    number: numberOf({ ownNumber, series }),
    ownNumber: ownNumber ?? null,
    terms: { ...NO_TERMS, ...terms },
    traceparent: traceparent ?? null,
    work: work
      ? {
          ...NEW_WORK,
          stage: work.stage,
          ...workFields(work),
          dueAt: work.dueAt,
          claims: work.claims,
          since: work.since,
        }
      : null,
  });
}
