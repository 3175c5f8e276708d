// Code generated from openapi.json by `npm run build`. DO NOT EDIT.

package fatoura

import "time"

type Adjustment struct {
	// In centimes, with tax if `tax_included`; null: a percentage.
	Amount *int64 `json:"amount"`
	// Of the sum of the lines.
	Percent     *string `json:"percent"`
	TaxIncluded bool    `json:"tax_included"`
	Reason      *string `json:"reason"`
	// Without tax, in centimes.
	Total int64 `json:"total"`
}

type CreateInvoice struct {
	// Total including tax, in centimes. It must equal the total of the lines with their VAT, computed once per rate and
	// rounded half up; VAT rounded on each line may differ by up to half a centime per line.
	Amount int64 `json:"amount"`
	// Always `MAD`.
	Currency Currency `json:"currency"`
	// The buyer.
	Customer CustomerInput `json:"customer"`
	// 1 to 1000 lines.
	Lines []LineInput `json:"lines"`
	// Free key/value data, echoed back: at most 50 keys of 40 characters with values of 500. Default: empty.
	Metadata map[string]string `json:"metadata,omitempty"`
	// A number of your own series: letters A to Z and a to z, digits, and between them single spaces and `. / _ -`, at
	// most 50 characters; never used before in this environment. Default: the next number of the service’s series.
	Number string `json:"number,omitempty"`
	// Dates and payment. What is left out is taken from the seller’s profile.
	Terms *TermsInput `json:"terms,omitempty"`
}

type CreateWebhookEndpoint struct {
	// The https:// address that receives events: a public one, at port 443 or from 1024 on.
	URL string `json:"url"`
	// The subscribed types.
	Events      []EventType `json:"events"`
	Description string      `json:"description,omitempty"`
}

type CreatedInvoice struct {
	// Prefix `inv_`.
	ID     InvoiceID `json:"id"`
	Object string    `json:"object"`
	// Read-only access to this one invoice. Shown in the answer to the creation only.
	ClientSecret Secret `json:"client_secret"`
	// Present status.
	Status InvoiceStatus `json:"status"`
	// Amount payable, in centimes: the total including tax, with its rounding if there is one.
	Amount int64 `json:"amount"`
	// Always `MAD`.
	Currency Currency `json:"currency"`
	// The buyer.
	Customer Customer `json:"customer"`
	// 1 to 1000 lines.
	Lines []Line `json:"lines"`
	// The client's own data, echoed back.
	Metadata map[string]string `json:"metadata"`
	// URL of the signed XML; null until accepted.
	XMLURL *string `json:"xml_url"`
	// URL of the PDF; null until accepted.
	PDFURL *string `json:"pdf_url"`
	// The tax authority's identifier; set only when accepted.
	DGIID *string `json:"dgi_id"`
	// Free text; set only when rejected.
	RejectionReason *string `json:"rejection_reason"`
	// When it was created.
	CreatedAt Timestamp `json:"created_at"`
	// When the status last changed.
	UpdatedAt Timestamp `json:"updated_at"`
	// With `include=number`: Legal number; null until it is assigned.
	Number *string `json:"number"`
	// With `include=totals`: The totals, in centimes, with the VAT of each rate; of an invoice with a discount or a
	// charge on the whole also the sum of the lines, the discount and the charge.
	Totals *InvoiceTotals `json:"totals"`
	// With `include=terms`: Dates and payment as the documents state them.
	Terms *Terms `json:"terms"`
	// With `include=warnings`: What the law or the tax authority may object to. Empty without a secret key.
	Warnings []InvoiceWarning `json:"warnings"`
	// With `include=credits`: The sum of its credit notes that are not rejected, the 20 newest of them (more are in
	// GraphQL), the ids of the invoice that it replaces and of the one that replaces it. Without a secret key only the
	// one that it replaces.
	Credits *InvoiceCredits `json:"credits"`
}

type CreatedWebhookEndpoint struct {
	ID     WebhookEndpointID `json:"id"`
	Object string            `json:"object"`
	// The https:// address that receives events.
	URL string `json:"url"`
	// The subscribed types, each once.
	Events      []EventType `json:"events"`
	Description *string     `json:"description"`
	// False: nothing is delivered to the endpoint.
	Active    bool      `json:"active"`
	CreatedAt Timestamp `json:"created_at"`
	// The signing secret of its deliveries. Shown in this answer only.
	Secret Secret `json:"secret"`
}

type CreditNoteSummary struct {
	ID     string        `json:"id"`
	Number *string       `json:"number"`
	Status InvoiceStatus `json:"status"`
	Amount int64         `json:"amount"`
}

// ISO 4217. Only dirhams are supported.
type Currency string

// Values of Currency. A newer service may have more.
const (
	CurrencyMAD Currency = "MAD"
)

type Customer struct {
	// Identifiant commun de l’entreprise: exactly 15 digits. Null for a customer who has none; such invoices are created
	// with GraphQL.
	ICE *string `json:"ice"`
	// Company name, at most 200 characters.
	Name string `json:"name"`
	// With `include=customer`: what the customer is.
	Kind *string `json:"kind"`
	// With `include=customer`: the country of a customer abroad, ISO 3166-1 alpha-2; null: Morocco.
	Country *string `json:"country"`
	// With `include=customer`: the tax number of a customer abroad.
	TaxNumber *string `json:"tax_number"`
}

type CustomerInput struct {
	// Identifiant commun de l’entreprise: exactly 15 digits.
	ICE string `json:"ice"`
	// Company name, at most 200 characters.
	Name string `json:"name"`
	// Full address, at most 500 characters.
	Address string `json:"address,omitempty"`
	// Where the signed PDF is sent.
	Email string `json:"email,omitempty"`
}

type DeletedWebhookEndpoint struct {
	ID     WebhookEndpointID `json:"id"`
	Object string            `json:"object"`
	// Always true.
	Deleted bool `json:"deleted"`
}

// The environment of an invoice. A key only sees data of its own environment.
type Environment string

// Values of Environment. A newer service may have more.
const (
	EnvironmentTest Environment = "test"
	EnvironmentLive Environment = "live"
)

// For programs. More may be added.
//
// - `invalid_request` (400, 405, 406, 408, 413, 414, 415, 416, 417, 431): A field, parameter or header is missing,
// unknown or malformed: `param` names it. Correct the request. Sent again unchanged, it fails again.
// - `invalid_api_key` (401): No credential was sent, its header is malformed, or the key is unknown. Also a key in the
// wrong place: of the other environment’s address, or a live key that arrived unencrypted or through a proxy that the
// service does not trust (`TRUST_PROXY`). Send `Authorization: Bearer <key>`, with a key of this environment, over
// HTTPS. Where the message names `TRUST_PROXY`, the operator has to set it; the key is good.
// - `api_key_revoked` (401): The key was revoked. Use the key that replaced it.
// - `invalid_credentials` (401): The e-mail address or the password is wrong (accounts of people). Check both, or set
// a new password.
// - `not_signed_in` (401): Nobody is signed in, or the session has ended (accounts of people). Sign in at `/sign-in`.
// - `confirmation_required` (403): A person creates a live document in a session without a second factor, and has not
// entered the password within the last 15 minutes. Secret keys never get it. Send the password to `POST /auth/confirm`
// from a page of this service, then the same request again, with its idempotency key.
// - `tenant_suspended` (403): An operator has suspended the tenant: it can read everything and change nothing. Ask the
// operator of the service. Send the request again once the suspension has ended.
// - `insufficient_scope` (403): The credential is valid but does not allow this: a publishable key or a client_secret
// gives access to its own invoice only. Also the creation of a live invoice while the seller’s profile is incomplete:
// the message names the missing fields. Call from your back end with a secret key (`sk_…`), or complete the profile
// (GraphQL’s `updateSellerProfile`, or the operator) and send the request again.
// - `resource_not_found` (404): There is no such object for this key. Objects of other tenants and environments are
// not found either. Check the id, the environment of the key and the address.
// - `idempotency_conflict` (409): The idempotency key was used before with a different payload. Use a new key for a
// new invoice; to repeat a request, send the same payload.
// - `draft_changed` (409): The draft was changed after it was read (GraphQL). Read the draft again, and decide on its
// present content.
// - `draft_issued` (409): The draft is an invoice by now, or is being issued (GraphQL). Read the invoice that the
// message names. A draft that is being issued is one within a minute, or is free again.
// - `import_not_checked` (409): The import is not at the point that the request assumes: its file is still read,
// cannot be read, or its invoices are being issued (GraphQL). Read the import again. `status` says what comes next.
// - `amount_too_small` (422): `amount` is below 100 centimes, the minimum. Amounts are in centimes: 120.00 MAD is
// 12000.
// - `amount_mismatch` (422): `amount` is not the total of the lines with their VAT; the message states that total.
// Compute VAT once for each rate, on the sum of its lines, and round half up.
// - `invalid_ice` (422): `customer.ice` is not exactly 15 digits. Ask the customer for its ICE. Keep it as a string:
// it may begin with zeros.
// - `duplicate_number` (422): Another invoice has this number of the client’s own series. Send the next number of your
// series, or none to get one of the service’s series.
// - `invalid_date` (422): A date of the terms is too far from the date of the invoice, or the due date is before it.
// Check the date; the message states the first and the last date allowed.
// - `invalid_bank_account` (422): The check key of the RIB (its last two digits) does not match. Check the 24 digits
// with the owner of the account.
// - `credit_exceeds_invoice` (422): The credit note would take more from the invoice than is left at a rate of VAT
// (GraphQL). Credit at most what is left; the message states it.
// - `deposit_not_deductible` (422): The final invoice cannot deduct the deposit: it is not a deposit invoice of the
// same customer, nothing is left of it, or the lines have less than it (GraphQL). Follow the message. What a final
// invoice has deducted is free again once that invoice is rejected, replaced or credited completely.
// - `invoice_not_accepted` (422): The invoice is not accepted, so it cannot be credited or deducted (GraphQL). Wait
// until it is accepted. A rejected invoice has no effect: create a corrected one.
// - `draft_limit_reached` (422): There are already 1000 drafts in this environment, which is the maximum (GraphQL).
// Issue or delete some.
// - `import_limit_reached` (422): There are already 1000 imports of files in this environment, or their files have 500
// MiB together, which is the maximum (`POST /imports`). Discard some. They also go by themselves 30 days after their
// upload.
// - `invoice_not_replaceable` (422): The invoice cannot be replaced: it is neither accepted nor rejected, another
// invoice replaces it, or the tax authority has not decided about a credit note of it (GraphQL). Wait for the
// decision, or replace the invoice that the message names.
// - `endpoint_limit_reached` (422): There are already 16 webhook endpoints in this environment, which is the maximum.
// Delete one that is not used.
// - `key_limit_reached` (422): There are already 50 valid keys in this environment, which is the maximum (GraphQL).
// Revoke keys that are not used.
// - `last_secret_key` (422): This is the last valid secret key of its environment (GraphQL). Create another key first,
// or pass `evenIfLast`.
// - `member_limit_reached` (422): There are already 200 people in this tenant, which is the maximum (GraphQL). Remove
// people who no longer need access.
// - `last_owner` (422): The person is the last owner of the tenant (GraphQL). Make somebody else an owner first.
// - `logo_limit_reached` (422): The tenant has stored 50 different logos, which is the maximum (GraphQL). Use one of
// the stored logos.
// - `rate_limit_exceeded` (429): The credential or, without one, the address has made too many requests in this
// minute. Wait for `Retry-After` seconds. `X-RateLimit-Remaining` tells how many requests are left.
// - `internal_error` (500, 503): The service has failed, or is not available at the moment. Try again after
// `Retry-After`, with the same `Idempotency-Key`; if it fails again, quote the `Request-Id` to support.
type ErrorCode string

// Values of ErrorCode. A newer service may have more.
const (
	ErrorCodeInvalidRequest        ErrorCode = "invalid_request"
	ErrorCodeInvalidApiKey         ErrorCode = "invalid_api_key"
	ErrorCodeApiKeyRevoked         ErrorCode = "api_key_revoked"
	ErrorCodeInvalidCredentials    ErrorCode = "invalid_credentials"
	ErrorCodeNotSignedIn           ErrorCode = "not_signed_in"
	ErrorCodeConfirmationRequired  ErrorCode = "confirmation_required"
	ErrorCodeTenantSuspended       ErrorCode = "tenant_suspended"
	ErrorCodeInsufficientScope     ErrorCode = "insufficient_scope"
	ErrorCodeResourceNotFound      ErrorCode = "resource_not_found"
	ErrorCodeIdempotencyConflict   ErrorCode = "idempotency_conflict"
	ErrorCodeDraftChanged          ErrorCode = "draft_changed"
	ErrorCodeDraftIssued           ErrorCode = "draft_issued"
	ErrorCodeImportNotChecked      ErrorCode = "import_not_checked"
	ErrorCodeAmountTooSmall        ErrorCode = "amount_too_small"
	ErrorCodeAmountMismatch        ErrorCode = "amount_mismatch"
	ErrorCodeInvalidICE            ErrorCode = "invalid_ice"
	ErrorCodeDuplicateNumber       ErrorCode = "duplicate_number"
	ErrorCodeInvalidDate           ErrorCode = "invalid_date"
	ErrorCodeInvalidBankAccount    ErrorCode = "invalid_bank_account"
	ErrorCodeCreditExceedsInvoice  ErrorCode = "credit_exceeds_invoice"
	ErrorCodeDepositNotDeductible  ErrorCode = "deposit_not_deductible"
	ErrorCodeInvoiceNotAccepted    ErrorCode = "invoice_not_accepted"
	ErrorCodeDraftLimitReached     ErrorCode = "draft_limit_reached"
	ErrorCodeImportLimitReached    ErrorCode = "import_limit_reached"
	ErrorCodeInvoiceNotReplaceable ErrorCode = "invoice_not_replaceable"
	ErrorCodeEndpointLimitReached  ErrorCode = "endpoint_limit_reached"
	ErrorCodeKeyLimitReached       ErrorCode = "key_limit_reached"
	ErrorCodeLastSecretKey         ErrorCode = "last_secret_key"
	ErrorCodeMemberLimitReached    ErrorCode = "member_limit_reached"
	ErrorCodeLastOwner             ErrorCode = "last_owner"
	ErrorCodeLogoLimitReached      ErrorCode = "logo_limit_reached"
	ErrorCodeRateLimitExceeded     ErrorCode = "rate_limit_exceeded"
	ErrorCodeInternalError         ErrorCode = "internal_error"
)

type ErrorDetail struct {
	Code ErrorCode `json:"code"`
	// For a person: what was wrong and what was expected.
	Message string `json:"message"`
	// Dotted path of the field at fault, such as `customer.ice`.
	Param *string `json:"param"`
	// The HTTP status.
	Status int64 `json:"status"`
}

type ErrorResponse struct {
	Error ErrorDetail `json:"error"`
}

// - `invoice.signing`: The XML is generated, and its XAdES signature has started.
// - `invoice.transmitted`: The signed invoice was sent to the tax authority.
// - `invoice.accepted`: The tax authority accepted the invoice.
// - `invoice.rejected`: The invoice was rejected; the reason is given.
type EventType string

// Values of EventType. A newer service may have more.
const (
	EventTypeInvoiceSigning     EventType = "invoice.signing"
	EventTypeInvoiceTransmitted EventType = "invoice.transmitted"
	EventTypeInvoiceAccepted    EventType = "invoice.accepted"
	EventTypeInvoiceRejected    EventType = "invoice.rejected"
)

type ExactLine struct {
	Description string `json:"description"`
	Quantity    string `json:"quantity"`
	// The code of UN/ECE Recommendation 20; null: pieces.
	Unit *string `json:"unit"`
	// In centimes, with tax if `tax_included`.
	UnitPrice   string `json:"unit_price"`
	TaxIncluded bool   `json:"tax_included"`
	// In centimes, with tax if `tax_included`.
	DiscountAmount  *int64  `json:"discount_amount"`
	DiscountPercent *string `json:"discount_percent"`
	DiscountReason  *string `json:"discount_reason"`
	// Why a line at 0 % has no VAT, if it says so itself.
	ExemptionCode *string `json:"exemption_code"`
	// Of the buyer, with `exemption_code`.
	CertificateNumber *string `json:"certificate_number"`
	// With `exemption_code`.
	CertificateDate *string `json:"certificate_date"`
	// Without tax, in centimes, before the discount, the charge and the deposits of the whole document; absent if they do
	// not change it.
	Amount *int64 `json:"amount"`
}

type Invoice struct {
	// Prefix `inv_`.
	ID     InvoiceID `json:"id"`
	Object string    `json:"object"`
	// Present status.
	Status InvoiceStatus `json:"status"`
	// Amount payable, in centimes: the total including tax, with its rounding if there is one.
	Amount int64 `json:"amount"`
	// Always `MAD`.
	Currency Currency `json:"currency"`
	// The buyer.
	Customer Customer `json:"customer"`
	// 1 to 1000 lines.
	Lines []Line `json:"lines"`
	// The client's own data, echoed back.
	Metadata map[string]string `json:"metadata"`
	// URL of the signed XML; null until accepted.
	XMLURL *string `json:"xml_url"`
	// URL of the PDF; null until accepted.
	PDFURL *string `json:"pdf_url"`
	// The tax authority's identifier; set only when accepted.
	DGIID *string `json:"dgi_id"`
	// Free text; set only when rejected.
	RejectionReason *string `json:"rejection_reason"`
	// When it was created.
	CreatedAt Timestamp `json:"created_at"`
	// When the status last changed.
	UpdatedAt Timestamp `json:"updated_at"`
	// With `include=number`: Legal number; null until it is assigned.
	Number *string `json:"number"`
	// With `include=totals`: The totals, in centimes, with the VAT of each rate; of an invoice with a discount or a
	// charge on the whole also the sum of the lines, the discount and the charge.
	Totals *InvoiceTotals `json:"totals"`
	// With `include=terms`: Dates and payment as the documents state them.
	Terms *Terms `json:"terms"`
	// With `include=warnings`: What the law or the tax authority may object to. Empty without a secret key.
	Warnings []InvoiceWarning `json:"warnings"`
	// With `include=credits`: The sum of its credit notes that are not rejected, the 20 newest of them (more are in
	// GraphQL), the ids of the invoice that it replaces and of the one that replaces it. Without a secret key only the
	// one that it replaces.
	Credits *InvoiceCredits `json:"credits"`
}

type InvoiceCredits struct {
	CreditedAmount *int64              `json:"credited_amount"`
	CreditNotes    []CreditNoteSummary `json:"credit_notes"`
	Replaces       *string             `json:"replaces"`
	ReplacedBy     *string             `json:"replaced_by"`
}

type InvoiceEvent struct {
	// An event may arrive more than once: deduplicate by this id.
	ID     string `json:"id"`
	Object string `json:"object"`
	// The type. More may be added.
	Type EventType `json:"type"`
	// UNIX time in seconds.
	Created int64           `json:"created"`
	Data    InvoiceSnapshot `json:"data"`
}

type InvoiceID = string

type InvoiceList struct {
	Object string `json:"object"`
	// Newest first.
	Data    []Invoice `json:"data"`
	HasMore bool      `json:"has_more"`
	// The id of the last object; null when there is none.
	NextCursor *string `json:"next_cursor"`
}

// The invoice right after the event.
type InvoiceSnapshot struct {
	// Prefix `inv_`.
	ID     InvoiceID `json:"id"`
	Object string    `json:"object"`
	// Present status.
	Status InvoiceStatus `json:"status"`
	// Amount payable, in centimes: the total including tax, with its rounding if there is one.
	Amount int64 `json:"amount"`
	// Always `MAD`.
	Currency Currency `json:"currency"`
	// The buyer.
	Customer Customer `json:"customer"`
	// The tax authority's identifier; set only when accepted.
	DGIID *string `json:"dgi_id"`
	// URL of the signed XML; null until accepted.
	XMLURL *string `json:"xml_url"`
	// URL of the PDF; null until accepted.
	PDFURL *string `json:"pdf_url"`
	// The client's own data, echoed back.
	Metadata map[string]string `json:"metadata"`
	// Free text; set only when rejected.
	RejectionReason *string `json:"rejection_reason"`
	// When it was created.
	CreatedAt Timestamp `json:"created_at"`
	// When the status last changed.
	UpdatedAt Timestamp `json:"updated_at"`
}

// - `pending`: Created, awaiting XML normalization.
// - `signing`: UBL XML generated, XAdES signature in progress.
// - `transmitted`: The tax authority holds the signed invoice.
// - `accepted`: The tax authority accepted it; its identifier is known.
// - `rejected`: It was rejected; the reason is known.
type InvoiceStatus string

// Values of InvoiceStatus. A newer service may have more.
const (
	InvoiceStatusPending     InvoiceStatus = "pending"
	InvoiceStatusSigning     InvoiceStatus = "signing"
	InvoiceStatusTransmitted InvoiceStatus = "transmitted"
	InvoiceStatusAccepted    InvoiceStatus = "accepted"
	InvoiceStatusRejected    InvoiceStatus = "rejected"
)

type InvoiceTotals struct {
	Subtotal  int64      `json:"subtotal"`
	TaxTotal  int64      `json:"tax_total"`
	TaxTotals []TaxTotal `json:"tax_totals"`
	Total     int64      `json:"total"`
	// Sum of the lines as they are stated, without tax.
	LinesTotal *int64      `json:"lines_total"`
	Discount   *Adjustment `json:"discount"`
	Charge     *Adjustment `json:"charge"`
	// The deducted deposits, without tax, in centimes.
	DepositsTotal *int64 `json:"deposits_total"`
}

type InvoiceWarning struct {
	Code    string `json:"code"`
	Path    string `json:"path"`
	Message string `json:"message"`
}

type Line struct {
	// Designation of the service or product, at most 500 characters.
	Description string `json:"description"`
	// A positive integer.
	Quantity int64 `json:"quantity"`
	// Unit price excluding tax, in centimes.
	UnitPrice int64 `json:"unit_price"`
	// VAT in percent: 0, 7, 10, 14 or 20.
	TaxRate TaxRate `json:"tax_rate"`
	// Quantity times unit price, excluding tax, in centimes.
	Amount int64 `json:"amount"`
	// With `include=lines`: A line that whole numbers cannot show also has `exact`.
	Exact *ExactLine `json:"exact"`
}

type LineInput struct {
	// Designation of the service or product, at most 500 characters.
	Description string `json:"description"`
	// A positive integer.
	Quantity int64 `json:"quantity"`
	// Unit price excluding tax, in centimes.
	UnitPrice int64 `json:"unit_price"`
	// VAT in percent: 0, 7, 10, 14 or 20. Default: 20, also for null.
	TaxRate *TaxRate `json:"tax_rate,omitempty"`
}

type PaymentMeans string

// Values of PaymentMeans. A newer service may have more.
const (
	PaymentMeansTransfer       PaymentMeans = "transfer"
	PaymentMeansCheque         PaymentMeans = "cheque"
	PaymentMeansCash           PaymentMeans = "cash"
	PaymentMeansCard           PaymentMeans = "card"
	PaymentMeansDirectDebit    PaymentMeans = "direct_debit"
	PaymentMeansBillOfExchange PaymentMeans = "bill_of_exchange"
	PaymentMeansPromissoryNote PaymentMeans = "promissory_note"
	PaymentMeansClearing       PaymentMeans = "clearing"
	PaymentMeansOnline         PaymentMeans = "online"
)

type StatusMessage struct {
	// Prefix `inv_`.
	ID     InvoiceID `json:"id"`
	Object string    `json:"object"`
	// Present status.
	Status InvoiceStatus `json:"status"`
	// The tax authority's identifier; set only when accepted.
	DGIID *string `json:"dgi_id"`
	// Free text; set only when rejected.
	RejectionReason *string `json:"rejection_reason"`
	// When the status last changed.
	UpdatedAt Timestamp `json:"updated_at"`
}

// VAT, percent.
type TaxRate int64

// Values of TaxRate. A newer service may have more.
const (
	TaxRate0  TaxRate = 0
	TaxRate7  TaxRate = 7
	TaxRate10 TaxRate = 10
	TaxRate14 TaxRate = 14
	TaxRate20 TaxRate = 20
)

type TaxTotal struct {
	Rate int64 `json:"rate"`
	Base int64 `json:"base"`
	Tax  int64 `json:"tax"`
}

type Terms struct {
	OperationDate    *string `json:"operation_date"`
	DueDate          *string `json:"due_date"`
	PaymentMode      *string `json:"payment_mode"`
	PaymentMeans     *string `json:"payment_means"`
	PaymentReference *string `json:"payment_reference"`
	BankAccount      *string `json:"bank_account"`
}

type TermsInput struct {
	// When the goods were delivered or the service was done, such as `2026-01-31`: at most 10 years before the date of
	// the invoice and 1 year after it.
	OperationDate string `json:"operation_date,omitempty"`
	// When payment is due: the date of the invoice, or up to 5 years after it.
	DueDate string `json:"due_date,omitempty"`
	// How to pay, in words, at most 100 characters. An invoice that has this or `paymentMeans` takes neither from the
	// profile: send both, or `paymentMeans` only.
	PaymentMode string `json:"payment_mode,omitempty"`
	// How to pay, as a code.
	PaymentMeans PaymentMeans `json:"payment_means,omitempty"`
	// What the buyer quotes, at most 50 characters. Default: the number of the invoice.
	PaymentReference string `json:"payment_reference,omitempty"`
	// The account to pay to: a RIB, 24 digits, with its check key.
	BankAccount string `json:"bank_account,omitempty"`
}

// ISO 8601, UTC, whole seconds.
type Timestamp = time.Time

type UpdateWebhookEndpoint struct {
	// The https:// address that receives events: a public one, at port 443 or from 1024 on.
	URL string `json:"url,omitempty"`
	// The subscribed types.
	Events      []EventType      `json:"events,omitempty"`
	Description Nullable[string] `json:"description,omitzero"`
	Active      *bool            `json:"active,omitempty"`
}

type WebhookEndpoint struct {
	ID     WebhookEndpointID `json:"id"`
	Object string            `json:"object"`
	// The https:// address that receives events.
	URL string `json:"url"`
	// The subscribed types, each once.
	Events      []EventType `json:"events"`
	Description *string     `json:"description"`
	// False: nothing is delivered to the endpoint.
	Active    bool      `json:"active"`
	CreatedAt Timestamp `json:"created_at"`
}

type WebhookEndpointID = string

type WebhookEndpointList struct {
	Object string            `json:"object"`
	Data   []WebhookEndpoint `json:"data"`
	// Always false: one page contains all endpoints.
	HasMore bool `json:"has_more"`
	// The id of the last object; null when there is none.
	NextCursor *string `json:"next_cursor"`
}
