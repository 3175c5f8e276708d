/** The credentials of the table's columns. */
export const COLUMNS = [
  'secret',
  'live',
  'other',
  'publishable',
  'publishable+',
  'client',
  'sibling',
  'owner',
  'developer',
  'biller',
  'viewer',
  'owner-live',
] as const;
export type Column = (typeof COLUMNS)[number];

/**
 * The result of each field for each credential.
 *
 * The columns: a secret key of the tenant in the test environment; its live one; another tenant's; a publishable key;
 * the same with the invoice's client_secret; that client_secret; one of another invoice of the tenant; people with
 * these roles in the tenant, in the test environment; its owner in the live one.
 *
 * The cells: `+` a value, `null` or `empty` no value, `hidden` a field of a value that is null or empty, a status,
 * `silent` nothing on the stream, the type of a typed error or another member of the union. For operations on the
 * caller's own tenant (lists, creations), another tenant's credential may have `+`; the test checks that the answer
 * contains nothing of the first tenant. The payload of a mutation has the cells of the mutation, unless it has a row.
 */
const TABLE = `
+ 404 404 403 403 403 403 + + 403 403 404  ApiRequest apiKeyId at code id method milliseconds param route standsFor status
null 404 404 403 403 403 403 null null 403 403 404  ApiRequest documentId invoice operation
+ + + 403 403 403 403 + + 403 403 +  ApiRequestConnection edges nodes pageInfo
+ + + 403 403 403 403 + + 403 403 +  ApiRequestEdge cursor node
+ + + 403 403 403 403 + + 403 403 +  ApiRequestFailures code count firstAt kind lastAt method route status
+ 404 404 403 403 403 403 + + + + 404  ApiKey createdAt current environment id kind lastFour
null 404 404 403 403 403 403 null null null null 404  ApiKey lastUsedAt name revokedAt
403 403 403 403 403 403 403 + 403 403 403 +  AuditActor actorId kind name
403 403 403 403 403 403 403 + 403 403 403 +  AuditDetail name value
403 403 403 403 403 403 403 + 403 403 403 +  AuditEntry action actor address at details id requestId subject userAgent
403 403 403 403 403 403 403 + 403 403 403 +  AuditEntry environment
403 403 403 403 403 403 403 + 403 403 403 +  AuditEntryConnection edges nodes pageInfo
403 403 403 403 403 403 403 + 403 403 403 +  AuditEntryEdge cursor node
+ 404 404 403 hidden hidden 403 + + + + 404  AuthorityAttempt at message milliseconds outcome purpose requestId
+ 404 404 403 + + 403 + + + + 404  AuthorityProblem code message path
+ + + 403 403 403 403 + + + + +  CoveredDocument digest number type
+ 404 404 403 403 403 403 + + + + 404  CreditNote amount createdAt currency customer dgiId documents environment id invoice lines metadata
+ empty empty 403 403 403 403 + + + + empty  Condition advice code count hasMore says severity since subjects
+ empty empty 403 403 403 403 + + + + empty  ConditionSubject id name since
+ 404 404 403 403 403 403 + + + + 404  CreditNote note number reason rejectionReason status timeline totals updatedAt
+ 404 404 403 403 403 403 + + + + 404  CreditNote attention authorityAttempts authorityWarnings deliveries email events problems rules seller sellerName warnings
+ 404 404 403 403 403 403 + + + + 404  CreditPreview amount taxTotals
empty 404 404 403 403 403 403 empty empty empty empty 404  CreditPreview problems
+ 404 404 403 403 403 403 + + + + 404  CreditedInvoice dgiId id issueDate number
+ 404 404 403 + + 403 + + + + 404  Customer ice kind name
null 404 404 403 null null 403 null null null null 404  Customer country taxNumber
+ 404 404 403 null null 403 + + + + 404  Customer address email
+ NotFoundError NotFoundError 403 403 403 403 + + 403 403 NotFoundError  Embed expiresAt token url
hidden hidden hidden 403 403 403 403 hidden hidden hidden hidden hidden  DocumentClearance certificate decidedAt dgiId submissionId
+ + + 403 403 403 403 + + + + +  DocumentVerification algorithm certificate covered signingTime valid
null null null 403 403 403 403 null null null null null  DocumentVerification clearance failed reason timeStamp
+ 404 404 403 hidden hidden 403 + + + + 404  DocumentRule message path rule
+ 404 404 403 403 403 403 + + + + 404  Draft content createdAt id updatedAt updatedBy validation version
+ + + 403 403 403 403 + + + + +  DraftConnection edges nodes pageInfo
+ + + 403 403 403 403 + + + + +  DraftEdge cursor node
+ + + 403 403 403 403 + + + + +  ImportConnection edges nodes pageInfo
+ + + 403 403 403 403 + + + + +  ImportEdge cursor node
+ 404 404 403 403 403 403 + + + + 404  Import counts createdAt createdBy expiresAt failure fileName fileSha256 fileSize id invoices reading round settled
+ 404 404 403 403 403 403 + + + + 404  Import startedAt startedBy status
+ 404 404 403 403 403 403 + + + + 404  ImportCounts accepted faulty invoices issued known ready refused rejected
+ 404 404 403 403 403 403 + + + + 404  FileReading columns dateOrder dateSystem decimalSign encoding format headerRow ignoredRows invoices language
+ 404 404 403 403 403 403 + + + + 404  FileReading missing otherSheets privateCustomers rows separator sheet
+ 404 404 403 403 403 403 + + + + 404  ImportColumn field header index key result
empty 404 404 403 403 403 403 empty empty empty empty 404  ImportColumn mayBe
+ 404 404 403 403 403 403 + + + + 404  IgnoredRow reason row
+ 404 404 403 403 403 403 + + + + 404  ImportFailure code message
+ 404 404 403 403 403 403 + + + + 404  ImportedInvoiceConnection edges nodes pageInfo
+ 404 404 403 403 403 403 + + + + 404  ImportedInvoiceEdge cursor node
+ 404 404 403 403 403 403 + + + + 404  ImportedInvoice amount customerName firstRow id invoice label lastRow number problems sheet verdict warnings
+ 404 404 403 403 403 403 + + + + 404  ImportProblem code column header message param row sheet value
+ 404 404 403 403 403 403 + + + + 404  ImportWarning code message path
+ NotFoundError NotFoundError 403 403 403 403 + + + 403 NotFoundError  ConflictError code message param status
+ 404 404 403 403 403 403 + + + + 404  HttpHeader name value
+ CreateInvoicePayload CreateInvoicePayload 403 403 403 403 + + + 403 CreateInvoicePayload  IdempotencyConflictError code message param status
+ + + 403 403 403 403 + + + 403 +  InvalidInputError code message param problems status
+ 404 404 403 + + 403 + + + + 404  Invoice amount createdAt currency customer dgiId documents environment id lines metadata number rejectionReason
+ 404 404 403 + + 403 + + + + 404  Invoice authorityWarnings problems roundingAmount status terms timeline totals updatedAt
+ 404 404 403 empty empty 403 + + + + 404  Invoice authorityAttempts deliveries events rules warnings
+ 404 404 403 + + 403 + + + + 404  Invoice acceptedCredit charge creditNotes deposits discount foreignValue isDeposit netToPay references replaces servicePeriod withholding
+ 404 404 403 + + 403 + + + + 404  AcceptedCredit amount lastDate
+ 404 404 403 + + 403 + + + + 404  DeductedDeposit amount id issueDate number taxTotals
+ 404 404 403 null null 403 + + + + 404  DeductedDeposit invoice
+ 404 404 403 empty empty 403 + + + + 404  CreditNoteConnection edges nodes
+ 404 404 403 + + 403 + + + + 404  CreditNoteConnection pageInfo
+ 404 404 403 hidden hidden 403 + + + + 404  CreditNoteEdge cursor node
+ 404 404 403 + + 403 + + + + 404  Invoice sellerName
+ 404 404 403 null null 403 + + + null 404  Invoice customerUrl
+ 404 404 403 403 403 403 + + + null 404  CreditNote customerUrl
+ 404 404 403 null null 403 + + + + 404  Invoice attention creditedAmount deductedIn email replacedBy seller
+ 404 404 403 hidden hidden 403 + + + + 404  InvoiceAttention message nextAttemptAt reason since
+ + + 403 403 403 403 + + + + +  InvoiceConnection edges nodes pageInfo
+ 404 404 403 + + 403 + + + + 404  InvoiceDocument mediaType ready sha256 size url
+ 404 404 403 + + 403 + + + + 404  InvoiceDocuments pdf receipt signedXml xml
+ + + 403 403 403 403 + + + + +  InvoiceEdge cursor node
+ 404 404 403 hidden hidden 403 + + + + 404  InvoiceEmail attempts lastError sentAt status to
+ 404 404 403 + + 403 + + + + 404  Discount amount reason
null 404 404 403 null null 403 null null null null 404  Discount percent
+ 404 404 403 + + 403 + + + + 404  Exemption certificate code
+ 404 404 403 + + 403 + + + + 404  ExemptionCertificate date number
+ 404 404 403 + + 403 + + + + 404  ForeignValue amount currency rate rateDate
+ 404 404 403 + + 403 + + + + 404  InvoiceReferences contract order
+ 404 404 403 + + 403 + + + + 404  ServicePeriod from to
null 404 404 403 null null 403 null null null null 404  Invoice stampDuty
+ 404 404 403 + + 403 + + + + 404  TaxCertificate ageInMonths date number
+ 404 404 403 + + 403 + + + + 404  Withholding amount certificate percent
+ 404 404 403 + + 403 + + + + 404  DocumentDiscount amount reason taxIncluded
null 404 404 403 null null 403 null null null null 404  DocumentDiscount percent
+ 404 404 403 + + 403 + + + + 404  DocumentCharge amount reason taxIncluded
null 404 404 403 null null 403 null null null null 404  DocumentCharge percent
+ 404 404 403 + + 403 + + + + 404  InvoiceLine amount depositShare description discount exemption finalAmount plainAmount plainDescription plainQuantity plainUnitPrice quantity taxIncluded taxRate unit unitPrice
+ 404 404 403 + + 403 + + + + 404  InvoiceStatusChange dgiId eventId invoiceId status updatedAt
+ 404 404 403 + + 403 + + + + 404  FiscalDocumentStatusChange dgiId eventId documentId status updatedAt
null 404 404 403 null null 403 null null null null 404  FiscalDocumentStatusChange rejectionReason
null 404 404 403 null null 403 null null null null 404  InvoiceStatusChange rejectionReason
+ 404 404 403 + + 403 + + + + 404  InvoiceTerms bankAccount dueDate operationDate paymentMeans paymentMode paymentReference
+ 404 404 403 + + 403 + + + + 404  InvoiceTimelineEntry at status
null 404 404 403 null null 403 null null null null 404  InvoiceTimelineEntry eventId
+ 404 404 403 + + 403 + + + + 404  InvoiceTotals chargeTotal depositsTotal discountTotal linesTotal subtotal taxTotal taxTotals total
+ 404 404 403 hidden hidden 403 + + + + 404  InvoiceWarning code message path
null 404 404 403 hidden hidden 403 null null null null 404  InvoiceWarning rule
+ CreateWebhookEndpointPayload CreateWebhookEndpointPayload 403 403 403 403 + + 403 403 CreateWebhookEndpointPayload  LimitReachedError code message status
null CreateWebhookEndpointPayload CreateWebhookEndpointPayload 403 403 403 403 null null 403 403 CreateWebhookEndpointPayload  LimitReachedError param
403 403 403 403 403 403 403 + + + + +  Member addressConfirmed current email id name role
+ + + 403 403 403 403 + + + + +  InvoiceDay accepted date pending rejected signing transmitted
+ + + 403 403 403 403 + + + + +  Period creditNotes from invoices name through
+ + + 403 403 403 403 + + + + +  PeriodKind accepted pending rejected signing transmitted
+ hidden hidden 403 403 403 403 + + + + hidden  NumberedDocument amount currency customerName id issueDate kind number status
null hidden hidden 403 403 403 403 null null null null hidden  NumberedDocument originalId originalNumber
hidden hidden hidden 403 403 403 403 hidden hidden hidden hidden hidden  NumberGap number through
+ hidden hidden 403 403 403 403 + + + + hidden  PeriodNumber creditNotes creditedBy document fate id number replacedBy
+ + + 403 403 403 403 + + + + +  PeriodNumberConnection pageInfo
+ empty empty 403 403 403 403 + + + + empty  PeriodNumberConnection edges nodes
+ hidden hidden 403 403 403 403 + + + + hidden  PeriodNumberEdge cursor node
+ + + 403 403 403 403 + + + + +  PeriodRate net rate tax
+ + + 403 403 403 403 + + + + +  PeriodReport before period
+ + + 403 403 403 403 + + + + +  PeriodSeries count kind series
+ null null 403 403 403 403 + + + + null  PeriodSeries first last
empty empty empty 403 403 403 403 empty empty empty empty empty  PeriodSeries lost
+ + + 403 403 403 403 + + + + +  PeriodSums count net rates tax total withheld
+ hidden hidden 403 403 403 403 + + + + hidden  KnownCustomer address email ice kind name
null hidden hidden 403 403 403 403 null null null null hidden  KnownCustomer country taxNumber
+ + + 403 403 403 403 + + + + +  Mutation validateInvoice
+ + + 403 403 403 403 + + 403 403 +  Mutation createWebhookEndpoint
+ + + 403 403 403 403 + + + 403 +  Mutation createDraft createInvoice creditEarlierInvoice
+ NotFoundError NotFoundError 403 403 403 403 + + + 403 NotFoundError  Mutation creditInvoice deleteDraft discardImport issueDraft remapImport startImport updateDraft
InvalidInputError NotFoundError NotFoundError 403 403 403 403 InvalidInputError InvalidInputError InvalidInputError 403 NotFoundError  Mutation replaceInvoice
+ 404 404 403 + + 403 + + + + 404  ReplacedInvoice dgiId id issueDate note number reason
+ 404 404 403 null null 403 + + + + 404  ReplacedInvoice creditNoteId
+ InvalidInputError + 403 403 403 403 + + 403 403 InvalidInputError  Mutation createApiKey sendTestWebhookEvent
+ NotFoundError NotFoundError 403 403 403 403 + + 403 403 NotFoundError  Mutation createDeliveryLogEmbed createInvoiceEmbed deleteWebhookEndpoint renameApiKey resendWebhookDeliveries resendWebhookEvent revokeApiKey
+ NotFoundError NotFoundError 403 403 403 403 + + + 403 NotFoundError  Mutation revokeCreditNoteDocumentUrls revokeDocumentUrls
+ NotFoundError NotFoundError 403 403 403 403 + + 403 403 NotFoundError  Mutation rotateApiKey rotateWebhookSecret updateWebhookEndpoint
403 + + 403 403 403 403 403 403 403 403 +  Mutation updateSellerProfile
403 403 403 403 403 403 403 + 403 403 403 +  Mutation inviteMember removeMember setMemberRole
403 403 403 403 403 403 403 + 403 403 403 +  Mutation revokeInvitation
403 403 403 403 403 403 403 + 403 403 403 +  OpenInvitation expiresAt id role
403 403 403 403 403 403 403 null 403 403 403 null  OpenInvitation email
403 403 403 403 403 403 403 + 403 403 403 +  Query invitations
InvalidInputError NotFoundError NotFoundError 403 403 403 403 InvalidInputError InvalidInputError InvalidInputError 403 NotFoundError  Mutation resendCreditNoteEmail resendInvoiceEmail
+ + + 403 403 403 403 + + 403 403 +  NotFoundError code message param status
+ + + 403 403 403 403 + + + + +  PageInfo endCursor hasNextPage hasPreviousPage startCursor
+ + + 403 403 403 403 + + + + +  Problem code message param status
null null null 403 403 403 403 null null null null null  Problem expected
+ + + 403 403 403 403 + + + + +  FiscalDocumentConnection edges nodes pageInfo
+ + + 403 403 403 403 + + + + +  FiscalDocumentEdge cursor node
+ + + 403 403 403 403 + + + + +  FiscalDocumentTotals count hasMore net tax total
+ + + 403 403 403 403 + + + + +  Query apiKeys conditions daySums drafts fiscalDocumentTotals fiscalDocuments imports invoiceDays invoices period periodNumbers periodSeries rules tenant testScenarios verifyDocument webhookDeliveries webhookEndpoints webhookEvents
+ empty empty 403 403 403 403 + + + + empty  Query customers
+ 404 404 403 403 403 403 + + 403 403 404  Query apiRequest
+ + + 403 403 403 403 + + 403 403 +  Query apiRequestFailures apiRequests
+ 404 404 403 403 403 403 + + + + 404  Query creditNote creditPreview draft draftPreview import
+ 404 404 403 + + 403 + + + + 404  Query invoice node
+ 404 404 403 403 403 403 + + + + 404  Query apiKey fiscalDocumentByNumber invoiceByNumber webhookDelivery webhookEndpoint webhookEvent webhookResendCount
403 403 403 403 403 403 403 + 403 403 403 +  Query auditLog
+ + + 403 403 403 403 + 403 403 403 +  Query sellerProfilePreview
403 403 403 403 403 403 403 + + + + +  Query members
+ + + 403 403 403 403 + + + + +  Rule article code level readOn says source status validFrom
null null null 403 403 403 403 null null null null null  Rule doubt validUntil
+ 404 404 403 hidden hidden 403 + + + + 404  SellerAddress city postalCode street
+ 404 404 403 hidden hidden 403 + + + + 404  SellerLogo contentType height sha256 width
+ 404 404 403 hidden hidden 403 + + + + 404  SellerProfile address capital cnss documentLanguage email exemptionReason ice legalForm legalName logo paymentMode
+ 404 404 403 hidden hidden 403 + + + + 404  SellerProfile bankAccount operationDateIsIssueDate paymentMeans paymentTermDays professionalTax taxId tradeRegister
empty 404 404 403 hidden hidden 403 empty empty empty empty 404  SellerProfile missingFields
+ + + 403 403 403 403 + + + + +  SigningCertificate fingerprint issuer serialNumber subject validFrom validTo
+ silent silent 403 403 403 403 + + + + silent  StreamedEvent cursor event manual
+ 404 404 403 + + 403 + + + + 404  Subscription fiscalDocumentStatus invoiceStatus
+ 404 404 403 403 403 403 + + + + 404  Subscription importProgress
+ silent silent 403 403 403 403 + + + + silent  Subscription invoiceEvents
+ 404 404 403 + + 403 + + + + 404  TaxTotal base rate tax
+ + + 403 403 403 403 + + + + +  MissingForLive condition text
+ + + 403 403 403 403 + + + + +  Tenant createdAt id missingForLive name seller signingCertificate
null null null 403 403 403 403 null null null null null  Tenant logo
+ + + 403 403 403 403 + + + + +  SummedDays creditNotes from invoices through
+ + + 403 403 403 403 + + + + +  TestScenario ice name
hidden hidden hidden 403 403 403 403 hidden hidden hidden hidden hidden  TimeStamp authority time
empty empty empty 403 403 403 403 empty empty empty empty empty  ValidateInvoicePayload problems
+ 404 404 403 403 403 403 + + + + 404  WebhookAttempt at errorCode errorMessage latencyMs requestHeaders responseBody responseHeaders responseTruncated status url
+ 404 404 403 403 403 403 + + + + 404  WebhookDelivery attempts createdAt endpoint endpointId event eventId eventType id invoice invoiceId nextAttemptAt state
+ + + 403 403 403 403 + + + + +  WebhookDeliveryConnection pageInfo
+ empty + 403 403 403 403 + + + + empty  WebhookDeliveryConnection edges nodes
+ hidden + 403 403 403 403 + + + + hidden  WebhookDeliveryEdge cursor node
+ 404 404 403 403 403 403 + + + + 404  WebhookAttemptResults delivered failed
+ 404 404 403 403 403 403 + + + + 404  WebhookEndpoint active createdAt description events failing failingSince id statistics updatedAt url
+ 404 404 403 403 403 403 + + + + 404  WebhookEndpointHour at first retries
+ 404 404 403 403 403 403 + + + + 404  WebhookEndpointStatistics first hours medianMs p95Ms retries
+ 404 404 403 403 403 403 + + + + 404  WebhookEvent body createdAt deliveries id invoice invoiceId manual type
+ + + 403 403 403 403 + + + + +  WebhookEventConnection edges nodes pageInfo
+ + + 403 403 403 403 + + + + +  WebhookEventEdge cursor node
+ 404 404 403 403 403 403 + + + + 404  WebhookResendOutcome count more
`;

/** `Type.field` → the cells of its row, by {@link COLUMNS}. */
export const ACCESS: ReadonlyMap<string, string> = new Map(
  TABLE.split('\n').flatMap((line) => {
    const words = line.trim().split(/\s+/);
    const [type, ...fields] = words.slice(COLUMNS.length);
    return fields.map((field): [string, string] => [`${type}.${field}`, words.slice(0, COLUMNS.length).join(' ')]);
  }),
);

export const CREATION =
  '{ amount: 12000, currency: "MAD", customer: { ice: "001234567000089", name: "N" }, lines: [{ description: "L", quantity: 1, unitPrice: 10000 }] }';
export const ENDPOINT = '{ url: "https://example.com/", events: [invoice_accepted] }';

/** An example of each operation that selects a root field. Ids in capitals are those of the test's objects. */
export const ROOTS: Readonly<Record<string, string>> = {
  'Query.invoice': 'invoice(id: "INVOICE" SECRET) { id }',
  'Query.creditNote': 'creditNote(id: "CREDITED" SECRET) { id }',
  'Query.draft': 'draft(id: "DRAFT") { id }',
  'Query.draftPreview': 'draftPreview(id: "DRAFT")',
  'Query.drafts': 'drafts { nodes { id } }',
  'Query.import': 'import(id: "IMPORT") { id }',
  'Query.imports': 'imports { nodes { id } }',
  'Query.creditPreview': 'creditPreview(invoiceId: "INVOICE", input: { reason: other }) { amount }',
  'Query.node': 'node(id: "INVOICE" SECRET) { id }',
  'Query.invoiceByNumber': 'invoiceByNumber(number: "OWN 4711") { id }',
  'Query.fiscalDocumentByNumber': 'fiscalDocumentByNumber(number: "OWN 4711") { id }',
  'Query.fiscalDocuments': 'fiscalDocuments { nodes { id } }',
  'Query.fiscalDocumentTotals': 'fiscalDocumentTotals(kind: invoice) { count }',
  'Query.invoices': 'invoices { nodes { id } }',
  'Query.verifyDocument': 'verifyDocument(xml: "<a/>") { valid }',
  'Query.webhookEndpoint': 'webhookEndpoint(id: "ENDPOINT") { id }',
  'Query.webhookEndpoints': 'webhookEndpoints { id }',
  'Query.webhookEvent': 'webhookEvent(id: "EVENT") { id }',
  'Query.webhookEvents': 'webhookEvents { nodes { id } }',
  'Query.webhookDelivery': 'webhookDelivery(id: "DELIVERY") { id }',
  'Query.webhookDeliveries': 'webhookDeliveries { nodes { id } }',
  'Query.webhookResendCount': 'webhookResendCount(selection: { endpointId: "ENDPOINT" }) { count }',
  'Query.tenant': 'tenant { id }',
  'Query.sellerProfilePreview': 'sellerProfilePreview(input: { cnss: "1234567" })',
  'Query.apiKey': 'apiKey(id: "API_KEY") { id }',
  'Query.apiKeys': 'apiKeys { id }',
  'Query.conditions': 'conditions { code }',
  'Query.rules': 'rules { code }',
  'Query.testScenarios': 'testScenarios { ice }',
  'Query.apiRequest': 'apiRequest(id: "REQUEST") { id }',
  'Query.apiRequests': 'apiRequests(failed: true) { nodes { id } }',
  'Query.apiRequestFailures': 'apiRequestFailures { kind }',
  'Query.auditLog': 'auditLog { nodes { id } }',
  'Query.members': 'members { id }',
  'Query.customers': 'customers(beginning: "own-9bd1c7") { ice }',
  'Query.invoiceDays': 'invoiceDays(days: 1) { accepted }',
  'Query.daySums': 'daySums(from: "2026-11-01", through: "2026-11-30") { from }',
  'Query.period': 'period(period: "2026-11") { period { name } }',
  'Query.periodNumbers': 'periodNumbers(period: "2026") { nodes { id } }',
  'Query.periodSeries': 'periodSeries(period: "2026") { series }',
  'Mutation.createInvoice': `createInvoice(input: ${CREATION}) { __typename }`,
  'Mutation.createDraft': 'createDraft(content: { amount: "12 000" }) { __typename }',
  'Mutation.updateDraft': 'updateDraft(id: "DRAFT", version: 1, content: { amount: 12000 }) { __typename }',
  'Mutation.issueDraft': 'issueDraft(id: "ISSUED_DRAFT", version: 1) { __typename }',
  'Mutation.deleteDraft': 'deleteDraft(id: "SCRATCH_DRAFT", version: 1) { __typename }',
  'Mutation.startImport': 'startImport(id: "SCRATCH_IMPORT") { __typename }',
  'Mutation.remapImport': 'remapImport(id: "SCRATCH_IMPORT", columns: []) { __typename }',
  'Mutation.discardImport': 'discardImport(id: "SCRATCH_IMPORT") { __typename }',
  'Mutation.creditEarlierInvoice':
    'creditEarlierInvoice(input: { number: "E 1", issueDate: "2025-03-31", reason: other, customer: { ice: "001234567000089", name: "N" }, lines: [{ description: "L", quantity: 1, unitPrice: 10000 }] }) { __typename }',
  'Mutation.creditInvoice':
    'creditInvoice(invoiceId: "INVOICE", input: { reason: other, amounts: [{ taxRate: 0, net: 1 }] }) { __typename }',
  'Mutation.replaceInvoice': `replaceInvoice(invoiceId: "INVOICE", input: ${CREATION}, reason: other) { __typename }`,
  'Mutation.validateInvoice': `validateInvoice(input: ${CREATION}) { valid }`,
  'Mutation.resendInvoiceEmail': 'resendInvoiceEmail(id: "INVOICE") { __typename }',
  'Mutation.resendCreditNoteEmail': 'resendCreditNoteEmail(id: "CREDITED") { __typename }',
  'Mutation.revokeCreditNoteDocumentUrls': 'revokeCreditNoteDocumentUrls(id: "CREDITED") { __typename }',
  'Mutation.revokeDocumentUrls': 'revokeDocumentUrls(id: "INVOICE") { __typename }',
  'Mutation.createWebhookEndpoint': `createWebhookEndpoint(input: ${ENDPOINT}) { __typename }`,
  'Mutation.updateWebhookEndpoint': 'updateWebhookEndpoint(id: "ENDPOINT", input: { description: "d" }) { __typename }',
  'Mutation.createInvoiceEmbed': `createInvoiceEmbed(id: "INVOICE", origins: ["https://shop.example"]) { __typename }`,
  'Mutation.createDeliveryLogEmbed': `createDeliveryLogEmbed(endpointId: "ENDPOINT", origins: ["https://shop.example"]) { __typename }`,
  'Mutation.deleteWebhookEndpoint': 'deleteWebhookEndpoint(id: "SCRATCH") { __typename }',
  'Mutation.rotateWebhookSecret': 'rotateWebhookSecret(endpointId: "ENDPOINT") { __typename }',
  'Mutation.resendWebhookEvent': 'resendWebhookEvent(eventId: "RESENT") { __typename }',
  'Mutation.resendWebhookDeliveries': 'resendWebhookDeliveries(selection: { endpointId: "ENDPOINT" }) { __typename }',
  'Query.invitations': 'invitations { id }',
  'Mutation.revokeInvitation': 'revokeInvitation(id: "INVITATION") { __typename }',
  'Mutation.inviteMember': 'inviteMember(role: viewer) { __typename }',
  'Mutation.setMemberRole': 'setMemberRole(id: "PERSON", role: viewer) { __typename }',
  'Mutation.removeMember': 'removeMember(id: "PERSON") { __typename }',
  'Mutation.createApiKey': 'createApiKey(kind: publishable) { __typename }',
  'Mutation.rotateApiKey': 'rotateApiKey(id: "VALID_KEY") { __typename }',
  'Mutation.renameApiKey': 'renameApiKey(id: "API_KEY", name: "Shop") { __typename }',
  'Mutation.revokeApiKey': 'revokeApiKey(id: "API_KEY") { __typename }',
  'Mutation.updateSellerProfile': 'updateSellerProfile(input: { cnss: "1234567" }) { __typename }',
  'Mutation.sendTestWebhookEvent': 'sendTestWebhookEvent(type: invoice_accepted) { __typename }',
};
