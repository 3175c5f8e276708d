import type { Centimes, Currency } from '../money.ts';
import type { Logo } from '../tenant/logo.ts';
import type { Environment, SellerProfile } from '../tenant/tenant.ts';
import type { Credit } from './credit.ts';
import type { Deduction } from './deduction.ts';
import type { Customer, Invoice, InvoiceLine, StoredReceipt } from './invoice.ts';
import type { Kind } from './kinds.ts';
import type { StatedLine } from './line-amounts.ts';
import type { Particulars } from './particulars.ts';
import type { Replaced } from './replacement.ts';
import type { LegalTerms } from './terms.ts';
import type { InvoiceTotals } from './totals.ts';

/**
 * Everything that a legal document states, determined before it is written. The UBL document and the PDF depend on this
 * object alone.
 */
export interface LegalInvoice extends Particulars {
  readonly id: string;
  readonly kind: Kind;
  /** Whether it is an invoice that asks for a deposit; absent: it is not. */
  readonly isDeposit?: boolean;
  /** The deposits that a final invoice deducts, and what is left; absent or null: it deducts none. */
  readonly deduction?: Deduction | null;
  /** The invoice that a credit note corrects, and why; null for an invoice. */
  readonly credit: Pick<Credit, 'original' | 'reason' | 'note'> | null;
  /** The invoice that it replaces; null if it replaces none, or that one has no number. */
  readonly replaces: (Replaced & { readonly number: string }) | null;
  readonly tenantId: string;
  readonly environment: Environment;
  /** Legal number of the series: `2026-000123`, `AV-2026-000123`. */
  readonly number: string;
  /** Calendar date in Africa/Casablanca, `YYYY-MM-DD`. */
  readonly issueDate: string;
  /** Dates and payment terms. */
  readonly terms: LegalTerms;
  readonly currency: Currency;
  readonly seller: SellerProfile;
  /** Whether specimen data completes the profile of a test tenant. Documents then carry a visible mark. */
  readonly specimen: boolean;
  readonly customer: Customer;
  readonly lines: readonly LegalLine[];
  readonly totals: InvoiceTotals;
  /**
   * The amount that the client stated, tax included. It differs from `totals.gross` by at most half a centime per line;
   * for a credit note, of the lines of its invoice. The kind gives the sign.
   */
  readonly amount: Centimes;
}

/** The fields of a line that documents state. */
export type LegalLine = StatedLine & Pick<InvoiceLine, 'description'>;

/** Writes UBL 2.1. */
export interface InvoiceWriter {
  /**
   * Writes the unsigned Invoice document and checks it against the rules of UBL and of Morocco, without blocking the
   * event loop.
   * @throws {InvalidDocument} when the document breaks a rule: an internal error, which rejects the invoice
   */
  write(invoice: LegalInvoice): Promise<UnsignedDocument>;
}

/**
 * A UBL document in exclusive canonical form with the position of the future signature. It can be digested without
 * parsing.
 */
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
 * Checks the document that the authority returned for an accepted invoice. It must be signed by the authority, and must
 * be the document that was sent or state the same number, seller and amount (docs/decisions/0042).
 * @param sent the signed document as it was sent
 * @returns what is wrong with it; null if nothing is
 */
export type CheckCleared = (
  cleared: Uint8Array,
  sent: Uint8Array,
  invoice: Pick<Invoice, 'id' | 'heldAs' | 'number' | 'dgiId' | 'seller' | 'amount' | 'currency'>,
) => Promise<string | null>;

/** Renders the printed form of an invoice. */
export interface PdfRenderer {
  /**
   * Renders a signed PDF.
   * @param legalXml the legal document, which is attached to the PDF
   * @param receipt the authority's receipt, which is attached as well; null or absent: none
   * @returns an A4 PDF, signed (PAdES)
   * @throws {RendererUnavailable} when no browser can be started; the message says what to do
   * @throws {SigningFailed}
   */
  render(page: PrintedInvoice, legalXml: Uint8Array, receipt?: Uint8Array | null): Promise<Uint8Array>;
  /**
   * Renders a preview.
   * @returns the PDF without a signature and attachments
   * @throws {RendererUnavailable} as `render`
   */
  draw(page: PrintedInvoice | DrawnDraft): Promise<Uint8Array>;
}

/** The content of the PDF: the legal invoice and the authority's decision. */
export interface PrintedInvoice {
  readonly invoice: LegalInvoice;
  readonly dgiId: string;
  readonly acceptedAt: Date;
  /** The authority's receipt; null if it gave none. */
  readonly receipt: Pick<StoredReceipt, 'sha256' | 'decidedAt'> | null;
  /** The seller's logo; null if it has none. */
  readonly logo: Logo | null;
  /** The URL in the QR code. */
  readonly verifyUrl: string;
}

export class RendererUnavailable extends Error {
  override readonly name = 'RendererUnavailable';
}

/** The content of the PDF of a draft, which is marked as one: without a number, a decision and an address to verify. */
export interface DrawnDraft {
  /** Its number is empty. */
  readonly draft: LegalInvoice;
  readonly logo: Logo | null;
}
