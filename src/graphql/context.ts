import type { CountInvoices } from '../domain/invoice/count-invoices.ts';
import type { CreateInvoice } from '../domain/invoice/create-invoice.ts';
import type { DocumentKind } from '../domain/invoice/documents.ts';
import type { Invoice } from '../domain/invoice/invoice.ts';
import type { ReadInvoice } from '../domain/invoice/read-invoice.ts';
import type { InvoiceWarnings } from '../domain/invoice/unprintable-warnings.ts';
import type { ValidateInvoice } from '../domain/invoice/validate-invoice.ts';
import type { WatchInvoice } from '../domain/invoice/watch-invoice.ts';
import type { Principal } from '../domain/principal.ts';
import type { Callable, USE_CASES } from '../domain/use-cases.ts';
import type { VerifyDocument } from '../domain/verification/verify-document.ts';
import type { ReadStatistics } from '../domain/webhook/endpoint-statistics.ts';
import type { WatchEvents } from '../domain/webhook/watch-events.ts';
import type { AnswerMeter } from './answer-meter.ts';

/** The use cases that resolvers call. */
export interface UseCases extends Callable<typeof USE_CASES> {
  readonly createInvoice: CreateInvoice;
  readonly validateInvoice: ValidateInvoice;
  readonly invoiceWarnings: InvoiceWarnings;
  readonly readInvoice: ReadInvoice;
  readonly countInvoices: CountInvoices;
  readonly watchInvoice: WatchInvoice;
  readonly endpointStatistics: ReadStatistics;
  readonly watchEvents: WatchEvents;
  readonly verifyDocument: VerifyDocument;
  /** Returns the URL of an accepted invoice's document. */
  readonly documentUrl: (invoice: Invoice, kind: DocumentKind) => string;
}

/** The context of every resolver. */
export interface GraphQLContext {
  readonly principal: Principal;
  readonly requestId: string;
  readonly useCases: UseCases;
  /**
   * Counts the fields and bytes of the answer. Without a meter the answer is not bounded and lists are resolved at
   * once.
   */
  readonly meter?: AnswerMeter;
}
