import type { ImportTexts } from '../domain/imports/import-texts.ts';
import type { DocumentKind } from '../domain/invoice/documents.ts';
import type { Invoice } from '../domain/invoice/invoice.ts';
import type { AcceptedCredits } from '../domain/invoice/read-credits.ts';
import type { ReadInvoice } from '../domain/invoice/read-invoice.ts';
import type { InvoiceWarnings } from '../domain/invoice/unprintable-warnings.ts';
import type { WatchInvoice } from '../domain/invoice/watch-invoice.ts';
import type { Principal } from '../domain/principal.ts';
import type { Callable, USE_CASES } from '../domain/use-cases.ts';
import type { ReadStatistics } from '../domain/webhook/endpoint-statistics.ts';
import type { AnswerMeter } from './answer-meter.ts';

/** The use cases that resolvers call: those of the table, and those that no scope or role guards. */
export interface UseCases extends Callable<typeof USE_CASES> {
  // Not in the table: these accept every credential, also one without a scope, and compare it with the invoice.
  readonly readInvoice: ReadInvoice;
  readonly watchInvoice: WatchInvoice;
  // Not in the table: these resolve fields of an object, which every caller gets who may read the object.
  readonly invoiceWarnings: InvoiceWarnings;
  readonly acceptedCredits: AcceptedCredits;
  readonly endpointStatistics: ReadStatistics;
  /** Returns the URL of an accepted invoice's document. */
  readonly documentUrl: (invoice: Invoice, kind: DocumentKind) => string;
  /** The texts about files, in the language of each. */
  readonly importTexts: ImportTexts;
  /** Returns the address of the page of a document for its customer, with its client_secret. */
  readonly customerUrl: (documentId: string) => string;
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
