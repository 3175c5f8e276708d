import type { Centimes, Currency } from '../money.ts';
import type { Logo } from '../tenant/logo.ts';
import type { Environment, SellerProfile } from '../tenant/tenant.ts';
import type { Customer, InvoiceLine } from './invoice.ts';
import type { LegalTerms } from './terms.ts';
import type { InvoiceTotals } from './totals.ts';

/**
 * Everything that a legal document states, decided before it is written. The UBL document and the PDF are functions of
 * this object alone.
 */
export interface LegalInvoice {
  readonly id: string;
  readonly tenantId: string;
  readonly environment: Environment;
  /** Legal number of the series: `2026-000123`. */
  readonly number: string;
  /** Calendar date in Africa/Casablanca, `YYYY-MM-DD`. */
  readonly issueDate: string;
  /** Dates and payment terms. */
  readonly terms: LegalTerms;
  readonly currency: Currency;
  readonly seller: SellerProfile;
  /** Whether specimen data fills an incomplete profile of a test tenant; documents then carry a visible mark. */
  readonly specimen: boolean;
  readonly customer: Pick<Customer, 'ice' | 'name' | 'address' | 'email'>;
  readonly lines: readonly LegalLine[];
  readonly totals: InvoiceTotals;
  /**
   * The amount that the client stated, tax included. It differs from `totals.gross` by at most half a centime a line.
   */
  readonly amount: Centimes;
}

/** What documents state of a line. */
export type LegalLine = Pick<InvoiceLine, 'description' | 'quantity' | 'unitPrice' | 'taxRate' | 'amount'>;

/** Writes UBL 2.1. */
export interface InvoiceWriter {
  /**
   * Writes the unsigned Invoice document and checks it against the rules of UBL and of Morocco, without blocking the
   * event loop.
   * @throws {InvalidDocument} when the document breaks a rule: an internal error, which rejects the invoice
   */
  write(invoice: LegalInvoice): Promise<UnsignedDocument>;
}

/** UBL in exclusive canonical form with the position of the future signature: it is digested without parsing. */
export interface UnsignedDocument {
  /** The whole document without a signature, canonical UTF-8. */
  readonly octets: Uint8Array;
  /** Offset in `octets` at which the ds:Signature element is inserted. */
  readonly signatureAt: number;
  /** Digest of `octets`, base64. */
  readonly sha256: string;
}

/** A document that this service wrote breaks a rule. */
export class InvalidDocument extends Error {
  override readonly name = 'InvalidDocument';
}

/** Signs documents: XAdES baseline B-B, enveloped (ETSI EN 319 132-1). */
export interface DocumentSigner {
  /** @returns the signed document, UTF-8 @throws {SigningFailed} */
  sign(document: UnsignedDocument, signingTime: Date): Promise<Uint8Array>;
}

/**
 * A document to register with the authority. The same `submissionId` and digest always identify the same submission.
 */
export interface Submission {
  /** The invoice's id: the authority's idempotency key. */
  readonly submissionId: string;
  readonly customerIce: string;
  /** Digest of `document`, lower-case hex. */
  readonly sha256: string;
  readonly document: Uint8Array;
}

export type Decision =
  | { readonly outcome: 'accepted'; readonly dgiId: string; readonly decidedAt: Date }
  | { readonly outcome: 'rejected'; readonly reason: string; readonly decidedAt: Date };

/** Proof that the authority holds a submission; `decision` is null while it is being examined. */
export interface Receipt {
  readonly decision: Decision | null;
  /** The authority's hint when to ask for the decision again, in milliseconds from now. */
  readonly askAgainAfter: number | null;
}

/** The tax authority, live or mock. */
export interface Authority {
  /**
   * Submits once. If the outcome of a submission is unknown, it is called again only after {@link lookUp} has returned
   * null.
   * @throws {NotReceived} when the authority certainly does not hold the submission
   * @throws {OutcomeUnknown} when the reply was lost
   */
  submit(submission: Submission): Promise<Receipt>;
  /**
   * Returns the receipt of an earlier submission, or null if the authority does not hold it. @throws {OutcomeUnknown}
   * when there is no answer
   */
  lookUp(submissionId: string, sha256: string): Promise<Receipt | null>;
}

export class NotReceived extends Error {
  override readonly name = 'NotReceived';
}
export class OutcomeUnknown extends Error {
  override readonly name = 'OutcomeUnknown';
}

/** The mock authority's durable ledger, with one row for each submission that it holds. */
export interface SubmissionLedger {
  /** Stores the row unless its id exists, and returns the stored row; one atomic step. */
  record(row: LedgerRow): Promise<LedgerRow>;
  find(submissionId: string): Promise<LedgerRow | null>;
  /** Counts a refused (503) attempt durably. @returns the number of refused attempts, this one included */
  countRefusal(submissionId: string): Promise<number>;
}

export interface LedgerRow {
  readonly submissionId: string;
  readonly sha256: string;
  readonly receivedAt: Date;
  /** When the receipt and the decision become visible. */
  readonly receiptAt: Date;
  readonly decisionAt: Date;
  readonly decision: Decision;
}

/** Renders the printed form of an invoice. */
export interface PdfRenderer {
  /**
   * @param signedXml the legal document, which is attached to the PDF
   * @returns an A4 PDF, signed (PAdES)
   * @throws {RendererUnavailable} when no browser can be started; the message says what to do
   * @throws {SigningFailed}
   */
  render(page: PrintedInvoice, signedXml: Uint8Array): Promise<Uint8Array>;
}

/** What the PDF shows: the legal invoice and the authority's decision. */
export interface PrintedInvoice {
  readonly invoice: LegalInvoice;
  readonly dgiId: string;
  readonly acceptedAt: Date;
  /** The seller's logo; null if it has none. */
  readonly logo: Logo | null;
  /** The URL in the QR code. */
  readonly verifyUrl: string;
}

export class RendererUnavailable extends Error {
  override readonly name = 'RendererUnavailable';
}
