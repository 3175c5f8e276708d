/** The credentials of the table's columns. */
export const COLUMNS = ['secret', 'live', 'other', 'publishable', 'publishable+', 'client', 'sibling'] as const;
export type Column = (typeof COLUMNS)[number];

/**
 * What each credential gets of each field.
 *
 * The columns: a secret key of the tenant in the test environment; its live one; another tenant's; a publishable key; the same with the
 * invoice's client_secret; that client_secret; one of another invoice of the tenant.
 *
 * The cells: `+` something, `null` or `empty` nothing, `hidden` a field of what is null or empty, a status, `silent` nothing on the stream, the
 * type of a typed error or another member of the union. Where a credential may ask for its own tenant's (lists, creations) and the cell
 * is `+`, the test sees to it that nothing of the tenant's is in the answer.
 */
const TABLE = `
+ 404 404 403 403 403 403  ApiKey createdAt current environment id kind lastFour
null 404 404 403 403 403 403  ApiKey revokedAt
+ 404 404 403 hidden hidden 403  AuthorityAttempt at message milliseconds outcome purpose requestId
+ 404 404 403 + + 403  AuthorityProblem code message path
+ + + 403 403 403 403  CoveredDocument digest number type
+ InvalidInputError + 403 403 403 403  CreateApiKeyPayload apiKey token
+ + + 403 403 403 403  CreateInvoicePayload clientSecret invoice replayed
+ + + 403 403 403 403  CreateWebhookEndpointPayload endpoint secret
+ 404 404 403 null null 403  Customer address email
+ 404 404 403 + + 403  Customer ice name
+ NotFoundError NotFoundError 403 403 403 403  DeleteWebhookEndpointPayload id
+ + + 403 403 403 403  DocumentVerification algorithm certificate covered signingTime valid
null null null 403 403 403 403  DocumentVerification clearance failed reason timeStamp
+ 404 404 403 403 403 403  HttpHeader name value
+ CreateInvoicePayload CreateInvoicePayload 403 403 403 403  IdempotencyConflictError code message param status
+ + + 403 403 403 403  InvalidInputError code message param problems status
+ 404 404 403 + + 403  Invoice amount createdAt currency customer dgiId documents environment id lines metadata number rejectionReason
+ 404 404 403 + + 403  Invoice authorityWarnings problems roundingAmount status terms timeline totals updatedAt
+ 404 404 403 null null 403  Invoice attention email seller
+ 404 404 403 empty empty 403  Invoice authorityAttempts deliveries events warnings
+ 404 404 403 hidden hidden 403  InvoiceAttention message nextAttemptAt reason since
+ + + 403 403 403 403  InvoiceConnection edges nodes pageInfo
+ 404 404 403 + + 403  InvoiceDocument mediaType ready sha256 size url
+ 404 404 403 + + 403  InvoiceDocuments pdf receipt signedXml xml
+ + + 403 403 403 403  InvoiceEdge cursor node
+ 404 404 403 hidden hidden 403  InvoiceEmail attempts lastError sentAt status to
+ 404 404 403 + + 403  InvoiceLine amount description quantity taxRate unitPrice
+ 404 404 403 + + 403  InvoiceStatusChange dgiId eventId invoiceId status updatedAt
null 404 404 403 null null 403  InvoiceStatusChange rejectionReason
+ 404 404 403 + + 403  InvoiceTerms bankAccount dueDate operationDate paymentMeans paymentMode paymentReference
+ 404 404 403 + + 403  InvoiceTimelineEntry at status
null 404 404 403 null null 403  InvoiceTimelineEntry eventId
+ 404 404 403 + + 403  InvoiceTotals subtotal taxTotal taxTotals total
+ 404 404 403 hidden hidden 403  InvoiceWarning code message path
+ CreateWebhookEndpointPayload CreateWebhookEndpointPayload 403 403 403 403  LimitReachedError code message status
null CreateWebhookEndpointPayload CreateWebhookEndpointPayload 403 403 403 403  LimitReachedError param
+ InvalidInputError + 403 403 403 403  Mutation createApiKey sendTestWebhookEvent
+ + + 403 403 403 403  Mutation createInvoice createWebhookEndpoint validateInvoice
+ NotFoundError NotFoundError 403 403 403 403  Mutation deleteWebhookEndpoint resendWebhookDeliveries resendWebhookEvent revokeApiKey
+ NotFoundError NotFoundError 403 403 403 403  Mutation revokeDocumentUrls rotateApiKey rotateWebhookSecret updateWebhookEndpoint
InvalidInputError NotFoundError NotFoundError 403 403 403 403  Mutation resendInvoiceEmail
403 + + 403 403 403 403  Mutation updateSellerProfile
+ + + 403 403 403 403  NotFoundError code message param status
+ + + 403 403 403 403  PageInfo endCursor hasNextPage hasPreviousPage startCursor
+ + + 403 403 403 403  Problem code message param status
null null null 403 403 403 403  Problem expected
+ 404 404 403 403 403 403  Query apiKey invoiceByNumber webhookDelivery webhookEndpoint webhookEvent webhookResendCount
+ + + 403 403 403 403  Query apiKeys invoices tenant verifyDocument webhookDeliveries webhookEndpoints webhookEvents
+ 404 404 403 + + 403  Query invoice node
InvalidInputError NotFoundError NotFoundError 403 403 403 403  ResendInvoiceEmailPayload invoice
+ NotFoundError NotFoundError 403 403 403 403  ResendWebhookDeliveriesPayload outcome
+ NotFoundError NotFoundError 403 403 403 403  ResendWebhookEventPayload deliveries
+ NotFoundError NotFoundError 403 403 403 403  RevokeApiKeyPayload apiKey
+ NotFoundError NotFoundError 403 403 403 403  RevokeDocumentUrlsPayload invoice
+ NotFoundError NotFoundError 403 403 403 403  RotateApiKeyPayload apiKey token
+ NotFoundError NotFoundError 403 403 403 403  RotateWebhookSecretPayload endpoint secret
+ 404 404 403 hidden hidden 403  SellerAddress city postalCode street
+ 404 404 403 hidden hidden 403  SellerLogo contentType height sha256 width
+ 404 404 403 hidden hidden 403  SellerProfile address capital cnss documentLanguage email exemptionReason ice legalForm legalName logo paymentMode
+ 404 404 403 hidden hidden 403  SellerProfile bankAccount operationDateIsIssueDate paymentMeans paymentTermDays professionalTax taxId tradeRegister
empty 404 404 403 hidden hidden 403  SellerProfile missingFields
+ InvalidInputError + 403 403 403 403  SendTestWebhookEventPayload event
+ + + 403 403 403 403  SigningCertificate fingerprint issuer serialNumber subject validFrom validTo
+ silent silent 403 403 403 403  StreamedEvent cursor event manual
+ 404 404 403 + + 403  Subscription invoiceStatus
+ silent silent 403 403 403 403  Subscription invoiceEvents
+ 404 404 403 + + 403  TaxTotal base rate tax
+ + + 403 403 403 403  Tenant createdAt id name seller
null null null 403 403 403 403  Tenant logo
hidden hidden hidden 403 403 403 403  DocumentClearance certificate decidedAt dgiId submissionId
hidden hidden hidden 403 403 403 403  TimeStamp authority time
403 + + 403 403 403 403  UpdateSellerProfilePayload tenant
+ NotFoundError NotFoundError 403 403 403 403  UpdateWebhookEndpointPayload endpoint
empty empty empty 403 403 403 403  ValidateInvoicePayload problems
+ + + 403 403 403 403  ValidateInvoicePayload totals valid warnings
+ 404 404 403 403 403 403  WebhookAttempt at errorCode errorMessage latencyMs requestHeaders responseBody responseHeaders responseTruncated status url
+ 404 404 403 403 403 403  WebhookDelivery attempts createdAt endpoint endpointId event eventId eventType id invoice invoiceId nextAttemptAt state
+ empty + 403 403 403 403  WebhookDeliveryConnection edges nodes
+ + + 403 403 403 403  WebhookDeliveryConnection pageInfo
+ hidden + 403 403 403 403  WebhookDeliveryEdge cursor node
+ 404 404 403 403 403 403  WebhookEndpoint active createdAt description events failing failingSince id updatedAt url
+ 404 404 403 403 403 403  WebhookEvent body createdAt deliveries id invoice invoiceId manual type
+ + + 403 403 403 403  WebhookEventConnection edges nodes pageInfo
+ + + 403 403 403 403  WebhookEventEdge cursor node
+ 404 404 403 403 403 403  WebhookResendOutcome count more
`;

/** `Type.field` → the cells of its row, by {@link COLUMNS}. */
export const ACCESS: ReadonlyMap<string, string> = new Map(
  TABLE.split('\n').flatMap((line) => {
    const words = line.trim().split(/\s+/);
    const [type, ...fields] = words.slice(COLUMNS.length);
    return fields.map((field): [string, string] => [`${type}.${field}`, words.slice(0, COLUMNS.length).join(' ')]);
  }),
);
