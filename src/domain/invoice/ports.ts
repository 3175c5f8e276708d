import type { Centimes, Currency } from '../money.ts';
import type { Logo } from '../tenant/logo.ts';
import type { Environment, SellerProfile } from '../tenant/tenant.ts';
import type { Customer, InvoiceLine } from './invoice.ts';
import type { LegalTerms } from './terms.ts';
import type { InvoiceTotals } from './totals.ts';

/** Everything a legal document states, decided before it is written. The UBL writer and the PDF page are functions of it alone. */
export interface LegalInvoice {
  readonly id: string;
  readonly tenantId: string;
  readonly environment: Environment;
  /** Legal number of the series: `2026-000123`. */
  readonly number: string;
  /** Calendar date in Africa/Casablanca, `YYYY-MM-DD`. */
  readonly issueDate: string;
  /** When the operation was, and how and until when it is to be paid. */
  readonly terms: LegalTerms;
  readonly currency: Currency;
  readonly seller: SellerProfile;
  /** True when specimen data fills an incomplete test profile: documents say so visibly. */
  readonly specimen: boolean;
  readonly customer: Customer;
  readonly lines: readonly InvoiceLine[];
  readonly totals: InvoiceTotals;
  /** What the client stated, tax included; differs from `totals.gross` by at most half a centime a line. */
  readonly amount: Centimes;
}

/** Writes UBL 2.1. */
export interface InvoiceWriter {
  /**
   * The unsigned Invoice document, checked against the rules of UBL and of Morocco. The event loop is not held.
   * @throws {InvalidDocument} when the document breaks a rule: a defect of ours, which rejects the invoice
   */
  write(invoice: LegalInvoice): Promise<UnsignedDocument>;
}

/** UBL in exclusive canonical form with the place of its signature marked, so that it is digested without being parsed. */
export interface UnsignedDocument {
  /** The whole document without a signature, canonical UTF-8. */
  readonly octets: Uint8Array;
  /** Offset in `octets` at which the ds:Signature element goes. */
  readonly signatureAt: number;
  /** Of `octets`, base64. */
  readonly sha256: string;
}

/** Our own document breaks a rule. */
export class InvalidDocument extends Error {
  override readonly name = 'InvalidDocument';
}

/** Signs documents: XAdES baseline B-B, enveloped (ETSI EN 319 132-1). */
export interface DocumentSigner {
  /** @returns the signed document, UTF-8 @throws {SigningFailed} */
  sign(document: UnsignedDocument, signingTime: Date): Promise<Uint8Array>;
}

/** What the authority is asked to register. The same `submissionId` and digest always mean the same submission. */
export interface Submission {
  /** The invoice's id: the authority's idempotency key. */
  readonly submissionId: string;
  readonly customerIce: string;
  /** Of `document`, lower-case hex. */
  readonly sha256: string;
  readonly document: Uint8Array;
}

export type Decision =
  | { readonly outcome: 'accepted'; readonly dgiId: string; readonly decidedAt: Date }
  | { readonly outcome: 'rejected'; readonly reason: string; readonly decidedAt: Date };

/** Proof that the authority holds a submission; `decision` is null while it is being examined. */
export interface Receipt {
  readonly decision: Decision | null;
  /** When to ask again for the decision, milliseconds from now; a hint. */
  readonly askAgainAfter: number | null;
}

/** The tax authority, live or mock. */
export interface Authority {
  /**
   * Submits once. Never called again for a submission whose outcome is unknown before {@link lookUp} said that it is not held.
   * @throws {NotReceived} when it is certain that the authority does not hold it
   * @throws {OutcomeUnknown} when the reply was lost
   */
  submit(submission: Submission): Promise<Receipt>;
  /** The receipt of an earlier submission, or null when the authority does not hold it. @throws {OutcomeUnknown} when it can't be asked */
  lookUp(submissionId: string, sha256: string): Promise<Receipt | null>;
}

export class NotReceived extends Error {
  override readonly name = 'NotReceived';
}
export class OutcomeUnknown extends Error {
  override readonly name = 'OutcomeUnknown';
}

/** The mock authority's durable ledger: one row for each submission it took. */
export interface SubmissionLedger {
  /** Stores the row unless the id is there, and answers the row that is kept; one atomic step. */
  record(row: LedgerRow): Promise<LedgerRow>;
  find(submissionId: string): Promise<LedgerRow | null>;
  /** Counts a refused (503) attempt durably and answers how many there have been, this one included. */
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

/** Makes the printed form. */
export interface PdfRenderer {
  /**
   * @param signedXml the legal document, which goes along inside the PDF
   * @returns an A4 PDF, signed (PAdES)
   * @throws {RendererUnavailable} when no browser can be started: the text says what to do
   * @throws {SigningFailed}
   */
  render(page: PrintedInvoice, signedXml: Uint8Array): Promise<Uint8Array>;
}

/** What the PDF shows: the legal facts and the authority's answer. */
export interface PrintedInvoice {
  readonly invoice: LegalInvoice;
  readonly dgiId: string;
  readonly acceptedAt: Date;
  /** The seller's, where it has one. */
  readonly logo: Logo | null;
  /** Where the QR code leads. */
  readonly verifyUrl: string;
}

export class RendererUnavailable extends Error {
  override readonly name = 'RendererUnavailable';
}
