import type { OwnKeys } from '../domain/api-key/own-keys.ts';
import type { BrowseAudit } from '../domain/audit/browse-audit.ts';
import type { CreateEmbed } from '../domain/embedding/create-embed.ts';
import type { CountInvoices } from '../domain/invoice/count-invoices.ts';
import type { CreateInvoice } from '../domain/invoice/create-invoice.ts';
import type { FindCustomers } from '../domain/invoice/customer-search.ts';
import type { DocumentKind } from '../domain/invoice/documents.ts';
import type { FindByNumber } from '../domain/invoice/find-by-number.ts';
import type { Invoice } from '../domain/invoice/invoice.ts';
import type { ListInvoices } from '../domain/invoice/list-invoices.ts';
import type { ReadInvoice } from '../domain/invoice/read-invoice.ts';
import type { ReadInvoices } from '../domain/invoice/read-invoices.ts';
import type { ResendEmail } from '../domain/invoice/resend-email.ts';
import type { RevokeDocumentUrls } from '../domain/invoice/revoke-document-urls.ts';
import type { InvoiceWarnings } from '../domain/invoice/unprintable-warnings.ts';
import type { ValidateInvoice } from '../domain/invoice/validate-invoice.ts';
import type { WatchInvoice } from '../domain/invoice/watch-invoice.ts';
import type { ManageMembers } from '../domain/person/manage-members.ts';
import type { Principal } from '../domain/principal.ts';
import type { BrowseRequests } from '../domain/request-log/browse-requests.ts';
import type { OwnProfile } from '../domain/tenant/own-profile.ts';
import type { VerifyDocument } from '../domain/verification/verify-document.ts';
import type { BrowseDeliveries } from '../domain/webhook/browse-deliveries.ts';
import type { ReadStatistics } from '../domain/webhook/endpoint-statistics.ts';
import type { ManageEndpoints } from '../domain/webhook/manage-endpoints.ts';
import type { ResendEvents } from '../domain/webhook/resend-events.ts';
import type { SendTestEvent } from '../domain/webhook/send-test-event.ts';
import type { WatchEvents } from '../domain/webhook/watch-events.ts';
import type { AnswerMeter } from './answer-meter.ts';

/** The use cases that resolvers call. */
export interface UseCases {
  readonly createInvoice: CreateInvoice;
  readonly validateInvoice: ValidateInvoice;
  readonly invoiceWarnings: InvoiceWarnings;
  readonly readInvoice: ReadInvoice;
  readonly readInvoices: ReadInvoices;
  readonly findByNumber: FindByNumber;
  readonly listInvoices: ListInvoices;
  readonly findCustomers: FindCustomers;
  readonly countInvoices: CountInvoices;
  readonly requests: BrowseRequests;
  readonly auditLog: BrowseAudit;
  readonly watchInvoice: WatchInvoice;
  readonly resendEmail: ResendEmail;
  readonly revokeDocumentUrls: RevokeDocumentUrls;
  readonly webhookEndpoints: ManageEndpoints;
  readonly endpointStatistics: ReadStatistics;
  readonly webhookDeliveries: BrowseDeliveries;
  readonly resendEvents: ResendEvents;
  readonly sendTestEvent: SendTestEvent;
  readonly watchEvents: WatchEvents;
  readonly verifyDocument: VerifyDocument;
  readonly apiKeys: OwnKeys;
  readonly members: ManageMembers;
  readonly sellerProfile: OwnProfile;
  readonly embeds: CreateEmbed;
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
