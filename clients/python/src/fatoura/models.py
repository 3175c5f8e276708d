"""Made from openapi.json by `npm run build`. Amounts are integers in centimes."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from typing import Literal

if sys.version_info >= (3, 11):
    from typing import NotRequired, TypedDict
else:
    from typing_extensions import NotRequired, TypedDict

Currency = Literal["MAD"]
"""ISO 4217. Only dirhams are supported."""

Environment = Literal["test", "live"]
"""The environment of an invoice. A key only sees data of its own environment."""

ErrorCode = Literal[
    "invalid_request",
    "invalid_api_key",
    "api_key_revoked",
    "invalid_credentials",
    "not_signed_in",
    "confirmation_required",
    "tenant_suspended",
    "insufficient_scope",
    "resource_not_found",
    "idempotency_conflict",
    "draft_changed",
    "draft_issued",
    "import_not_checked",
    "amount_too_small",
    "amount_mismatch",
    "invalid_ice",
    "duplicate_number",
    "invalid_date",
    "invalid_bank_account",
    "credit_exceeds_invoice",
    "deposit_not_deductible",
    "invoice_not_accepted",
    "draft_limit_reached",
    "import_limit_reached",
    "invoice_not_replaceable",
    "endpoint_limit_reached",
    "key_limit_reached",
    "last_secret_key",
    "member_limit_reached",
    "last_owner",
    "logo_limit_reached",
    "rate_limit_exceeded",
    "internal_error",
] | str
"""For programs. More may be added.

- `invalid_request` (400, 405, 406, 408, 413, 414, 415, 416, 417, 431): A field, parameter or header is missing,
unknown or malformed: `param` names it. Correct the request. Sent again unchanged, it fails again.
- `invalid_api_key` (401): No credential was sent, its header is malformed, or the key is unknown. Also a key in the
wrong place: of the other environment’s address, or a live key that arrived unencrypted or through a proxy that the
service does not trust (`TRUST_PROXY`). Send `Authorization: Bearer <key>`, with a key of this environment, over
HTTPS. Where the message names `TRUST_PROXY`, the operator has to set it; the key is good.
- `api_key_revoked` (401): The key was revoked. Use the key that replaced it.
- `invalid_credentials` (401): The e-mail address or the password is wrong (accounts of people). Check both, or set
a new password.
- `not_signed_in` (401): Nobody is signed in, or the session has ended (accounts of people). Sign in at `/sign-in`.
- `confirmation_required` (403): A person creates a live document in a session without a second factor, and has not
entered the password within the last 15 minutes. Secret keys never get it. Send the password to `POST /auth/confirm`
from a page of this service, then the same request again, with its idempotency key.
- `tenant_suspended` (403): An operator has suspended the tenant: it can read everything and change nothing. Ask the
operator of the service. Send the request again once the suspension has ended.
- `insufficient_scope` (403): The credential is valid but does not allow this: a publishable key or a client_secret
gives access to its own invoice only. Also the creation of a live invoice while the seller’s profile is incomplete:
the message names the missing fields. Call from your back end with a secret key (`sk_…`), or complete the profile
(GraphQL’s `updateSellerProfile`, or the operator) and send the request again.
- `resource_not_found` (404): There is no such object for this key. Objects of other tenants and environments are
not found either. Check the id, the environment of the key and the address.
- `idempotency_conflict` (409): The idempotency key was used before with a different payload. Use a new key for a
new invoice; to repeat a request, send the same payload.
- `draft_changed` (409): The draft was changed after it was read (GraphQL). Read the draft again, and decide on its
present content.
- `draft_issued` (409): The draft is an invoice by now, or is being issued (GraphQL). Read the invoice that the
message names. A draft that is being issued is one within a minute, or is free again.
- `import_not_checked` (409): The import is not at the point that the request assumes: its file is still read,
cannot be read, or its invoices are being issued (GraphQL). Read the import again. `status` says what comes next.
- `amount_too_small` (422): `amount` is below 100 centimes, the minimum. Amounts are in centimes: 120.00 MAD is
12000.
- `amount_mismatch` (422): `amount` is not the total of the lines with their VAT; the message states that total.
Compute VAT once for each rate, on the sum of its lines, and round half up.
- `invalid_ice` (422): `customer.ice` is not exactly 15 digits. Ask the customer for its ICE. Keep it as a string:
it may begin with zeros.
- `duplicate_number` (422): Another invoice has this number of the client’s own series. Send the next number of your
series, or none to get one of the service’s series.
- `invalid_date` (422): A date of the terms is too far from the date of the invoice, or the due date is before it.
Check the date; the message states the first and the last date allowed.
- `invalid_bank_account` (422): The check key of the RIB (its last two digits) does not match. Check the 24 digits
with the owner of the account.
- `credit_exceeds_invoice` (422): The credit note would take more from the invoice than is left at a rate of VAT
(GraphQL). Credit at most what is left; the message states it.
- `deposit_not_deductible` (422): The final invoice cannot deduct the deposit: it is not a deposit invoice of the
same customer, nothing is left of it, or the lines have less than it (GraphQL). Follow the message. What a final
invoice has deducted is free again once that invoice is rejected, replaced or credited completely.
- `invoice_not_accepted` (422): The invoice is not accepted, so it cannot be credited or deducted (GraphQL). Wait
until it is accepted. A rejected invoice has no effect: create a corrected one.
- `draft_limit_reached` (422): There are already 1000 drafts in this environment, which is the maximum (GraphQL).
Issue or delete some.
- `import_limit_reached` (422): There are already 1000 imports of files in this environment, or their files have 500
MiB together, which is the maximum (`POST /imports`). Discard some. They also go by themselves 30 days after their
upload.
- `invoice_not_replaceable` (422): The invoice cannot be replaced: it is neither accepted nor rejected, another
invoice replaces it, or the tax authority has not decided about a credit note of it (GraphQL). Wait for the
decision, or replace the invoice that the message names.
- `endpoint_limit_reached` (422): There are already 16 webhook endpoints in this environment, which is the maximum.
Delete one that is not used.
- `key_limit_reached` (422): There are already 50 valid keys in this environment, which is the maximum (GraphQL).
Revoke keys that are not used.
- `last_secret_key` (422): This is the last valid secret key of its environment (GraphQL). Create another key first,
or pass `evenIfLast`.
- `member_limit_reached` (422): There are already 200 people in this tenant, which is the maximum (GraphQL). Remove
people who no longer need access.
- `last_owner` (422): The person is the last owner of the tenant (GraphQL). Make somebody else an owner first.
- `logo_limit_reached` (422): The tenant has stored 50 different logos, which is the maximum (GraphQL). Use one of
the stored logos.
- `rate_limit_exceeded` (429): The credential or, without one, the address has made too many requests in this
minute. Wait for `Retry-After` seconds. `X-RateLimit-Remaining` tells how many requests are left.
- `internal_error` (500, 503): The service has failed, or is not available at the moment. Try again after
`Retry-After`, with the same `Idempotency-Key`; if it fails again, quote the `Request-Id` to support.
"""

EventType = Literal["invoice.signing", "invoice.transmitted", "invoice.accepted", "invoice.rejected"]
"""- `invoice.signing`: The XML is generated, and its XAdES signature has started.
- `invoice.transmitted`: The signed invoice was sent to the tax authority.
- `invoice.accepted`: The tax authority accepted the invoice.
- `invoice.rejected`: The invoice was rejected; the reason is given.
"""

InvoiceId = str

InvoiceStatus = Literal["pending", "signing", "transmitted", "accepted", "rejected"]
"""- `pending`: Created, awaiting XML normalization.
- `signing`: UBL XML generated, XAdES signature in progress.
- `transmitted`: The tax authority holds the signed invoice.
- `accepted`: The tax authority accepted it; its identifier is known.
- `rejected`: It was rejected; the reason is known.
"""

PaymentMeans = Literal[
    "transfer",
    "cheque",
    "cash",
    "card",
    "direct_debit",
    "bill_of_exchange",
    "promissory_note",
    "clearing",
    "online",
]

TaxRate = Literal[0, 7, 10, 14, 20]
"""VAT, percent."""

Timestamp = str
"""ISO 8601, UTC, whole seconds."""

WebhookEndpointId = str


class Adjustment(TypedDict):
    amount: int | None
    """In centimes, with tax if `tax_included`; null: a percentage."""
    percent: str | None
    """Of the sum of the lines."""
    tax_included: bool
    reason: str | None
    total: int
    """Without tax, in centimes."""


class CreateInvoice(TypedDict):
    amount: int
    """Total including tax, in centimes. It must equal the total of the lines with their VAT, computed once per rate
    and rounded half up; VAT rounded on each line may differ by up to half a centime per line.
    """
    currency: Currency
    """Always `MAD`."""
    customer: CustomerInput
    """The buyer."""
    lines: Sequence[LineInput]
    """1 to 1000 lines."""
    metadata: NotRequired[Mapping[str, str] | None]
    """Free key/value data, echoed back: at most 50 keys of 40 characters with values of 500. Default: empty."""
    number: NotRequired[str | None]
    """A number of your own series: letters A to Z and a to z, digits, and between them single spaces and `. / _ -`, at
    most 50 characters; never used before in this environment. Default: the next number of the service’s series.
    """
    terms: NotRequired[TermsInput]
    """Dates and payment. What is left out is taken from the seller’s profile."""


class CreateWebhookEndpoint(TypedDict):
    url: str
    """The https:// address that receives events: a public one, at port 443 or from 1024 on."""
    events: Sequence[EventType]
    """The subscribed types."""
    description: NotRequired[str | None]


class CreatedInvoice(TypedDict):
    id: InvoiceId
    """Prefix `inv_`."""
    object: Literal["invoice"]
    client_secret: str
    """Read-only access to this one invoice. Shown in the answer to the creation only."""
    status: InvoiceStatus
    """Present status."""
    amount: int
    """Amount payable, in centimes: the total including tax, with its rounding if there is one."""
    currency: Currency
    """Always `MAD`."""
    customer: Customer
    """The buyer."""
    lines: Sequence[Line]
    """1 to 1000 lines."""
    metadata: Mapping[str, str]
    """The client's own data, echoed back."""
    xml_url: str | None
    """URL of the signed XML; null until accepted."""
    pdf_url: str | None
    """URL of the PDF; null until accepted."""
    dgi_id: str | None
    """The tax authority's identifier; set only when accepted."""
    rejection_reason: str | None
    """Free text; set only when rejected."""
    created_at: Timestamp
    """When it was created."""
    updated_at: Timestamp
    """When the status last changed."""
    number: NotRequired[str | None]
    """With `include=number`: Legal number; null until it is assigned."""
    totals: NotRequired[InvoiceTotals]
    """With `include=totals`: The totals, in centimes, with the VAT of each rate; of an invoice with a discount or a
    charge on the whole also the sum of the lines, the discount and the charge.
    """
    terms: NotRequired[Terms]
    """With `include=terms`: Dates and payment as the documents state them."""
    warnings: NotRequired[Sequence[InvoiceWarning]]
    """With `include=warnings`: What the law or the tax authority may object to. Empty without a secret key."""
    credits: NotRequired[InvoiceCredits]
    """With `include=credits`: The sum of its credit notes that are not rejected, the 20 newest of them (more are in
    GraphQL), the ids of the invoice that it replaces and of the one that replaces it. Without a secret key only the
    one that it replaces.
    """


class CreatedWebhookEndpoint(TypedDict):
    id: WebhookEndpointId
    object: Literal["webhook_endpoint"]
    url: str
    """The https:// address that receives events."""
    events: Sequence[Literal["invoice.signing", "invoice.transmitted", "invoice.accepted", "invoice.rejected"] | str]
    """The subscribed types, each once."""
    description: str | None
    active: bool
    """False: nothing is delivered to the endpoint."""
    created_at: Timestamp
    secret: str
    """The signing secret of its deliveries. Shown in this answer only."""


class CreditNoteSummary(TypedDict):
    id: str
    number: str | None
    status: InvoiceStatus
    amount: int


class Customer(TypedDict):
    ice: str | None
    """Identifiant commun de l’entreprise: exactly 15 digits. Null for a customer who has none; such invoices are
    created with GraphQL.
    """
    name: str
    """Company name, at most 200 characters."""
    kind: NotRequired[Literal["company", "person", "foreign"] | str]
    """With `include=customer`: what the customer is."""
    country: NotRequired[str | None]
    """With `include=customer`: the country of a customer abroad, ISO 3166-1 alpha-2; null: Morocco."""
    tax_number: NotRequired[str | None]
    """With `include=customer`: the tax number of a customer abroad."""


class CustomerInput(TypedDict):
    ice: str
    """Identifiant commun de l’entreprise: exactly 15 digits."""
    name: str
    """Company name, at most 200 characters."""
    address: NotRequired[str | None]
    """Full address, at most 500 characters."""
    email: NotRequired[str | None]
    """Where the signed PDF is sent."""


class DeletedWebhookEndpoint(TypedDict):
    id: WebhookEndpointId
    object: Literal["webhook_endpoint"]
    deleted: bool
    """Always true."""


class ErrorDetail(TypedDict):
    code: ErrorCode
    message: str
    """For a person: what was wrong and what was expected."""
    param: str | None
    """Dotted path of the field at fault, such as `customer.ice`."""
    status: int
    """The HTTP status."""


class ErrorResponse(TypedDict):
    error: ErrorDetail


class ExactLine(TypedDict):
    description: str
    quantity: str
    unit: str | None
    """The code of UN/ECE Recommendation 20; null: pieces."""
    unit_price: str
    """In centimes, with tax if `tax_included`."""
    tax_included: bool
    discount_amount: int | None
    """In centimes, with tax if `tax_included`."""
    discount_percent: str | None
    discount_reason: str | None
    exemption_code: NotRequired[str]
    """Why a line at 0 % has no VAT, if it says so itself."""
    certificate_number: NotRequired[str | None]
    """Of the buyer, with `exemption_code`."""
    certificate_date: NotRequired[str | None]
    """With `exemption_code`."""
    amount: NotRequired[int]
    """Without tax, in centimes, before the discount, the charge and the deposits of the whole document; absent if they
    do not change it.
    """


class Invoice(TypedDict):
    id: InvoiceId
    """Prefix `inv_`."""
    object: Literal["invoice"]
    status: InvoiceStatus
    """Present status."""
    amount: int
    """Amount payable, in centimes: the total including tax, with its rounding if there is one."""
    currency: Currency
    """Always `MAD`."""
    customer: Customer
    """The buyer."""
    lines: Sequence[Line]
    """1 to 1000 lines."""
    metadata: Mapping[str, str]
    """The client's own data, echoed back."""
    xml_url: str | None
    """URL of the signed XML; null until accepted."""
    pdf_url: str | None
    """URL of the PDF; null until accepted."""
    dgi_id: str | None
    """The tax authority's identifier; set only when accepted."""
    rejection_reason: str | None
    """Free text; set only when rejected."""
    created_at: Timestamp
    """When it was created."""
    updated_at: Timestamp
    """When the status last changed."""
    number: NotRequired[str | None]
    """With `include=number`: Legal number; null until it is assigned."""
    totals: NotRequired[InvoiceTotals]
    """With `include=totals`: The totals, in centimes, with the VAT of each rate; of an invoice with a discount or a
    charge on the whole also the sum of the lines, the discount and the charge.
    """
    terms: NotRequired[Terms]
    """With `include=terms`: Dates and payment as the documents state them."""
    warnings: NotRequired[Sequence[InvoiceWarning]]
    """With `include=warnings`: What the law or the tax authority may object to. Empty without a secret key."""
    credits: NotRequired[InvoiceCredits]
    """With `include=credits`: The sum of its credit notes that are not rejected, the 20 newest of them (more are in
    GraphQL), the ids of the invoice that it replaces and of the one that replaces it. Without a secret key only the
    one that it replaces.
    """


class InvoiceCredits(TypedDict):
    credited_amount: int | None
    credit_notes: Sequence[CreditNoteSummary]
    replaces: str | None
    replaced_by: str | None


class InvoiceEvent(TypedDict):
    id: str
    """An event may arrive more than once: deduplicate by this id."""
    object: Literal["event"]
    type: Literal["invoice.signing", "invoice.transmitted", "invoice.accepted", "invoice.rejected"] | str
    """The type. More may be added."""
    created: int
    """UNIX time in seconds."""
    data: InvoiceSnapshot


class InvoiceList(TypedDict):
    object: Literal["list"]
    data: Sequence[Invoice]
    """Newest first."""
    has_more: bool
    next_cursor: str | None
    """The id of the last object; null when there is none."""


class InvoiceSnapshot(TypedDict):
    """The invoice right after the event."""

    id: InvoiceId
    """Prefix `inv_`."""
    object: Literal["invoice"]
    status: InvoiceStatus
    """Present status."""
    amount: int
    """Amount payable, in centimes: the total including tax, with its rounding if there is one."""
    currency: Currency
    """Always `MAD`."""
    customer: Customer
    """The buyer."""
    dgi_id: str | None
    """The tax authority's identifier; set only when accepted."""
    xml_url: str | None
    """URL of the signed XML; null until accepted."""
    pdf_url: str | None
    """URL of the PDF; null until accepted."""
    metadata: Mapping[str, str]
    """The client's own data, echoed back."""
    rejection_reason: str | None
    """Free text; set only when rejected."""
    created_at: Timestamp
    """When it was created."""
    updated_at: Timestamp
    """When the status last changed."""


class InvoiceTotals(TypedDict):
    subtotal: int
    tax_total: int
    tax_totals: Sequence[TaxTotal]
    total: int
    lines_total: NotRequired[int]
    """Sum of the lines as they are stated, without tax."""
    discount: NotRequired[Adjustment]
    charge: NotRequired[Adjustment]
    deposits_total: NotRequired[int]
    """The deducted deposits, without tax, in centimes."""


class InvoiceWarning(TypedDict):
    code: Literal["rounding", "ice_zero", "ice_check_key", "customer_is_seller", "payment_means_missing", "bank_account_missing", "unprintable_characters", "tax_rate_not_in_force", "exemption_reason_missing", "exemption_article_missing", "exemption_certificate_missing", "withholding_not_in_force", "withholding_below_minimum", "withholding_by_no_company", "withholding_percent_unknown", "withholding_certificate_missing", "withholding_certificate_old", "due_date_missing", "due_date_late", "invoiced_after_month_end", "cash_fine", "customer_address_missing", "seller_field_missing", "operation_date_missing", "payment_reference_missing"] | str
    path: str
    message: str


class Line(TypedDict):
    description: str
    """Designation of the service or product, at most 500 characters."""
    quantity: int
    """A positive integer."""
    unit_price: int
    """Unit price excluding tax, in centimes."""
    tax_rate: Literal[0, 7, 10, 14, 20] | str
    """VAT in percent: 0, 7, 10, 14 or 20."""
    amount: int
    """Quantity times unit price, excluding tax, in centimes."""
    exact: NotRequired[ExactLine]
    """With `include=lines`: A line that whole numbers cannot show also has `exact`."""


class LineInput(TypedDict):
    description: str
    """Designation of the service or product, at most 500 characters."""
    quantity: int
    """A positive integer."""
    unit_price: int
    """Unit price excluding tax, in centimes."""
    tax_rate: NotRequired[TaxRate]
    """VAT in percent: 0, 7, 10, 14 or 20. Default: 20, also for null."""


class StatusMessage(TypedDict):
    id: InvoiceId
    """Prefix `inv_`."""
    object: Literal["invoice"]
    status: InvoiceStatus
    """Present status."""
    dgi_id: str | None
    """The tax authority's identifier; set only when accepted."""
    rejection_reason: str | None
    """Free text; set only when rejected."""
    updated_at: Timestamp
    """When the status last changed."""


class TaxTotal(TypedDict):
    rate: int
    base: int
    tax: int


class Terms(TypedDict):
    operation_date: str | None
    due_date: str | None
    payment_mode: str | None
    payment_means: str | None
    payment_reference: str | None
    bank_account: str | None


class TermsInput(TypedDict):
    operation_date: NotRequired[str | None]
    """When the goods were delivered or the service was done, such as `2026-01-31`: at most 10 years before the date of
    the invoice and 1 year after it.
    """
    due_date: NotRequired[str | None]
    """When payment is due: the date of the invoice, or up to 5 years after it."""
    payment_mode: NotRequired[str | None]
    """How to pay, in words, at most 100 characters. An invoice that has this or `paymentMeans` takes neither from the
    profile: send both, or `paymentMeans` only.
    """
    payment_means: NotRequired[PaymentMeans]
    """How to pay, as a code."""
    payment_reference: NotRequired[str | None]
    """What the buyer quotes, at most 50 characters. Default: the number of the invoice."""
    bank_account: NotRequired[str | None]
    """The account to pay to: a RIB, 24 digits, with its check key."""


class UpdateWebhookEndpoint(TypedDict):
    url: NotRequired[str]
    """The https:// address that receives events: a public one, at port 443 or from 1024 on."""
    events: NotRequired[Sequence[EventType]]
    """The subscribed types."""
    description: NotRequired[str | None]
    active: NotRequired[bool]


class WebhookEndpoint(TypedDict):
    id: WebhookEndpointId
    object: Literal["webhook_endpoint"]
    url: str
    """The https:// address that receives events."""
    events: Sequence[Literal["invoice.signing", "invoice.transmitted", "invoice.accepted", "invoice.rejected"] | str]
    """The subscribed types, each once."""
    description: str | None
    active: bool
    """False: nothing is delivered to the endpoint."""
    created_at: Timestamp


class WebhookEndpointList(TypedDict):
    object: Literal["list"]
    data: Sequence[WebhookEndpoint]
    has_more: bool
    """Always false: one page contains all endpoints."""
    next_cursor: str | None
    """The id of the last object; null when there is none."""
