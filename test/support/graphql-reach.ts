import { getNamedType, isListType, isNonNullType } from 'graphql';
import { schema } from '../../src/graphql/schema.ts';
import { CREATION, ENDPOINT, ROOTS } from './graphql-access.ts';

/** The Idempotency-Key of an invoice of the tenant. */
export const KEY = 'an idempotency key of the tenant';

/**
 * A query for each type that no operation returns, or that the example in `ROOTS` returns no object of; `…` stands
 * for the type's fields. With `SECRET`, the columns with a client_secret send the invoice's.
 */
const REACH: Readonly<Record<string, string>> = {
  Customer: '{ invoice(id: "INVOICE" SECRET) { customer { … } } }',
  CreditedInvoice: '{ creditNote(id: "CREDITED" SECRET) { invoice { … } } }',
  AcceptedCredit: '{ invoice(id: "INVOICE" SECRET) { acceptedCredit { … } } }',
  CreditNoteConnection: '{ invoice(id: "INVOICE" SECRET) { creditNotes { … } } }',
  CreditNoteEdge: '{ invoice(id: "INVOICE" SECRET) { creditNotes { edges { … } } } }',
  DraftEdge: '{ drafts { edges { … } } }',
  ImportEdge: '{ imports { edges { … } } }',
  ImportCounts: '{ import(id: "IMPORT") { counts { … } } }',
  FileReading: '{ import(id: "IMPORT") { reading { … } } }',
  ImportColumn: '{ import(id: "IMPORT") { reading { columns { … } } } }',
  IgnoredRow: '{ import(id: "IMPORT") { reading { ignoredRows { … } } } }',
  ImportFailure: '{ import(id: "IMPORT") { failure { … } } }',
  ImportedInvoiceConnection: '{ import(id: "IMPORT") { invoices { … } } }',
  ImportedInvoiceEdge: '{ import(id: "IMPORT") { invoices { edges { … } } } }',
  ImportedInvoice: '{ import(id: "IMPORT") { invoices { nodes { … } } } }',
  ImportProblem: '{ import(id: "IMPORT") { invoices { nodes { problems { … } } } } }',
  ImportWarning: '{ import(id: "IMPORT") { invoices { nodes { warnings { … } } } } }',
  ReplacedInvoice: '{ invoice(id: "INVOICE" SECRET) { replaces { … } } }',
  InvoiceLine: '{ invoice(id: "INVOICE" SECRET) { lines { … } } }',
  Discount: '{ invoice(id: "INVOICE" SECRET) { lines { discount { … } } } }',
  Exemption: '{ invoice(id: "INVOICE" SECRET) { lines { exemption { … } } } }',
  ExemptionCertificate: '{ invoice(id: "INVOICE" SECRET) { lines { exemption { certificate { … } } } } }',
  ForeignValue: '{ invoice(id: "INVOICE" SECRET) { foreignValue { … } } }',
  InvoiceReferences: '{ invoice(id: "INVOICE" SECRET) { references { … } } }',
  TaxCertificate: '{ invoice(id: "INVOICE" SECRET) { withholding { certificate { … } } } }',
  Withholding: '{ invoice(id: "INVOICE" SECRET) { withholding { … } } }',
  ServicePeriod: '{ invoice(id: "INVOICE" SECRET) { servicePeriod { … } } }',
  DocumentDiscount: '{ invoice(id: "INVOICE" SECRET) { discount { … } } }',
  DocumentCharge: '{ invoice(id: "INVOICE" SECRET) { charge { … } } }',
  DeductedDeposit: '{ invoice(id: "INVOICE" SECRET) { deposits { … } } }',
  InvoiceTotals: '{ invoice(id: "INVOICE" SECRET) { totals { … } } }',
  TaxTotal: '{ invoice(id: "INVOICE" SECRET) { totals { taxTotals { … } } } }',
  InvoiceTerms: '{ invoice(id: "INVOICE" SECRET) { terms { … } } }',
  InvoiceTimelineEntry: '{ invoice(id: "INVOICE" SECRET) { timeline { … } } }',
  InvoiceDocuments: '{ invoice(id: "INVOICE" SECRET) { documents { … } } }',
  InvoiceDocument: '{ invoice(id: "INVOICE" SECRET) { documents { xml { … } } } }',
  SellerProfile: '{ invoice(id: "INVOICE" SECRET) { seller { … } } }',
  SellerAddress: '{ invoice(id: "INVOICE" SECRET) { seller { address { … } } } }',
  SellerLogo: '{ invoice(id: "INVOICE" SECRET) { seller { logo { … } } } }',
  InvoiceWarning: '{ invoice(id: "INVOICE" SECRET) { warnings { … } } }',
  Condition: '{ conditions { … } }',
  ConditionSubject: '{ conditions { subjects { … } } }',
  DocumentRule: '{ invoice(id: "INVOICE" SECRET) { rules { … } } }',
  InvoiceAttention: '{ invoice(id: "INVOICE" SECRET) { attention { … } } }',
  InvoiceEmail: '{ invoice(id: "INVOICE" SECRET) { email { … } } }',
  AuthorityAttempt: '{ invoice(id: "INVOICE" SECRET) { authorityAttempts { … } } }',
  AuthorityProblem: '{ invoice(id: "INVOICE" SECRET) { problems { … } } }',
  FiscalDocumentEdge: '{ fiscalDocuments { edges { … } } }',
  InvoiceEdge: '{ invoices { edges { … } } }',
  Period: '{ period(period: "2026-11") { period { … } } }',
  PeriodKind: '{ period(period: "2026-11") { period { invoices { … } } } }',
  PeriodSums: '{ period(period: "2026-11") { period { invoices { accepted { … } } } } }',
  PeriodRate: '{ period(period: "2026-11") { period { invoices { accepted { rates { … } } } } } }',
  NumberedDocument: '{ periodNumbers(period: "2026") { nodes { document { … } } } }',
  NumberGap: '{ periodSeries(period: "2026") { lost { … } } }',
  PeriodNumber: '{ periodNumbers(period: "2026") { nodes { … } } }',
  PeriodNumberEdge: '{ periodNumbers(period: "2026") { edges { … } } }',
  PageInfo: '{ invoices(first: 1) { pageInfo { … } } }',
  DocumentVerification: 'query ($xml: String!) { verifyDocument(xml: $xml) { … } }',
  SigningCertificate: 'query ($xml: String!) { verifyDocument(xml: $xml) { certificate { … } } }',
  CoveredDocument: 'query ($xml: String!) { verifyDocument(xml: $xml) { covered { … } } }',
  DocumentClearance: 'query ($xml: String!) { verifyDocument(xml: $xml) { clearance { … } } }',
  TimeStamp: 'query ($xml: String!) { verifyDocument(xml: $xml) { timeStamp { … } } }',
  WebhookEndpointStatistics: '{ webhookEndpoint(id: "ENDPOINT") { statistics { … } } }',
  WebhookEndpointHour: '{ webhookEndpoint(id: "ENDPOINT") { statistics(hours: 2) { hours { … } } } }',
  WebhookAttemptResults: '{ webhookEndpoint(id: "ENDPOINT") { statistics { first { … } } } }',
  WebhookEventEdge: '{ webhookEvents { edges { … } } }',
  WebhookDeliveryEdge: '{ webhookDeliveries { edges { … } } }',
  WebhookAttempt: '{ webhookDelivery(id: "DELIVERY") { attempts { … } } }',
  HttpHeader: '{ webhookDelivery(id: "DELIVERY") { attempts { requestHeaders { … } } } }',
  MissingForLive: '{ tenant { missingForLive { … } } }',
  ApiRequestEdge: '{ apiRequests(failed: true) { edges { … } } }',
  AuditEntry: '{ auditLog(actorId: "OWNER") { nodes { … } } }',
  AuditActor: '{ auditLog(actorId: "OWNER") { nodes { actor { … } } } }',
  AuditDetail: '{ auditLog(actorId: "OWNER") { nodes { details { … } } } }',
  AuditEntryEdge: '{ auditLog { edges { … } } }',
  ValidateInvoicePayload: `mutation { validateInvoice(input: ${CREATION}) { … } }`,
  Problem: 'mutation { validateInvoice(input: {}) { problems { … } } }',
  Embed:
    'mutation { createInvoiceEmbed(id: "INVOICE", origins: ["https://shop.example"]) { __typename ... on CreateInvoiceEmbedPayload { embed { … } } } }',
  InvalidInputError:
    'mutation { createInvoice(input: { amount: 1, currency: "MAD", customer: { ice: "1", name: "N" }, lines: [] }) { __typename ... on InvalidInputError { … } } }',
  NotFoundError:
    'mutation { deleteWebhookEndpoint(id: "we_00000000-0000-4000-8000-000000000000") { __typename ... on NotFoundError { … } } }',
  IdempotencyConflictError: `mutation { createInvoice(input: ${CREATION}, idempotencyKey: "${KEY}") { __typename ... on IdempotencyConflictError { … } } }`,
  ConflictError:
    'mutation { updateDraft(id: "DRAFT", version: 9, content: {}) { __typename ... on ConflictError { … } } }',
  LimitReachedError: `mutation { createWebhookEndpoint(input: ${ENDPOINT}) { __typename ... on LimitReachedError { … } } }`,
};

/**
 * Returns the query that reaches a type, with `…` for its fields. For the payload of a mutation, it is the mutation's
 * example; for the type of a query, the query's. Empty if there is none.
 */
export function reachOf(type: string): string {
  const mutation = ROOTS[mutationOf(type)]?.replace('{ __typename }', `{ __typename ... on ${type} { … } }`);
  const query = ROOTS[`Query.${queryOf(type)}`]?.replace(/\{ (\w+|\w+ \{ \w+ \}) \}$/, '{ … }');
  return REACH[type] ?? (mutation && `mutation { ${mutation} }`) ?? (query ? `{ ${query} }` : '');
}

/** Returns `Mutation.doThis` for `DoThisPayload`. */
export function mutationOf(type: string): string {
  return `Mutation.${type.charAt(0).toLowerCase()}${type.slice(1).replace(/Payload$/, '')}`;
}

/** Returns the query that returns a type, preferably one object and not a list. */
function queryOf(type: string): string | undefined {
  const fields = Object.values(schema.getQueryType()?.getFields() ?? {}).filter(
    (field) => getNamedType(field.type).name === type,
  );
  const single = fields.find((field) => !isListType(isNonNullType(field.type) ? field.type.ofType : field.type));
  return (single ?? fields[0])?.name;
}
