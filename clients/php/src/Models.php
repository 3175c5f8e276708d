<?php

declare(strict_types=1);

namespace Fatoura;

/**
 * The documents of the service. Made from openapi.json by `npm run build`. Amounts are integers in centimes.
 *
 * Import one with `@phpstan-import-type Invoice from \Fatoura\Models`.
 *
 * @phpstan-type Adjustment array{
 *     amount: int|null,
 *     percent: string|null,
 *     tax_included: bool,
 *     reason: string|null,
 *     total: int,
 * }
 *
 * @phpstan-type CreateInvoice array{
 *     amount: int,
 *     currency: Currency,
 *     customer: CustomerInput,
 *     lines: list<LineInput>,
 *     metadata?: array<string, string>|null,
 *     number?: string|null,
 *     terms?: TermsInput,
 * }
 *
 * @phpstan-type CreateWebhookEndpoint array{
 *     url: string,
 *     events: list<EventType>,
 *     description?: string|null,
 * }
 *
 * @phpstan-type CreatedInvoice array{
 *     id: InvoiceId,
 *     object: 'invoice',
 *     client_secret: string,
 *     status: InvoiceStatus,
 *     amount: int,
 *     currency: Currency,
 *     customer: Customer,
 *     lines: list<Line>,
 *     metadata: array<string, string>,
 *     xml_url: string|null,
 *     pdf_url: string|null,
 *     dgi_id: string|null,
 *     rejection_reason: string|null,
 *     created_at: Timestamp,
 *     updated_at: Timestamp,
 *     number?: string|null,
 *     totals?: InvoiceTotals,
 *     terms?: Terms,
 *     warnings?: list<InvoiceWarning>,
 *     credits?: InvoiceCredits,
 * }
 *
 * @phpstan-type CreatedWebhookEndpoint array{
 *     id: WebhookEndpointId,
 *     object: 'webhook_endpoint',
 *     url: string,
 *     events: list<'invoice.signing'|'invoice.transmitted'|'invoice.accepted'|'invoice.rejected'|string>,
 *     description: string|null,
 *     active: bool,
 *     created_at: Timestamp,
 *     secret: string,
 * }
 *
 * A created invoice. `replayed`: an earlier request with the same key had created it.
 * @phpstan-type Creation array{
 *     id: InvoiceId,
 *     object: 'invoice',
 *     client_secret: string,
 *     status: InvoiceStatus,
 *     amount: int,
 *     currency: Currency,
 *     customer: Customer,
 *     lines: list<Line>,
 *     metadata: array<string, string>,
 *     xml_url: string|null,
 *     pdf_url: string|null,
 *     dgi_id: string|null,
 *     rejection_reason: string|null,
 *     created_at: Timestamp,
 *     updated_at: Timestamp,
 *     number?: string|null,
 *     totals?: InvoiceTotals,
 *     terms?: Terms,
 *     warnings?: list<InvoiceWarning>,
 *     credits?: InvoiceCredits,
 *     replayed: bool,
 * }
 *
 * @phpstan-type CreditNoteSummary array{
 *     id: string,
 *     number: string|null,
 *     status: InvoiceStatus,
 *     amount: int,
 * }
 *
 * ISO 4217. Only dirhams are supported.
 * @phpstan-type Currency 'MAD'
 *
 * @phpstan-type Customer array{
 *     ice: string|null,
 *     name: string,
 *     kind?: 'company'|'person'|'foreign'|string,
 *     country?: string|null,
 *     tax_number?: string|null,
 * }
 *
 * @phpstan-type CustomerInput array{
 *     ice: string,
 *     name: string,
 *     address?: string|null,
 *     email?: string|null,
 * }
 *
 * @phpstan-type DeletedWebhookEndpoint array{
 *     id: WebhookEndpointId,
 *     object: 'webhook_endpoint',
 *     deleted: bool,
 * }
 *
 * The environment of an invoice. A key only sees data of its own environment.
 * @phpstan-type Environment 'test'|'live'
 *
 * For programs. More may be added.
 *
 * - `invalid_request` (400, 405, 406, 408, 413, 414, 415, 416, 417, 431): A field, parameter or header is missing,
 * unknown or malformed: `param` names it. Correct the request. Sent again unchanged, it fails again.
 * - `invalid_api_key` (401): No credential was sent, its header is malformed, or the key is unknown. Also a key in
 * the wrong place: of the other environment’s address, or a live key that arrived unencrypted or through a proxy
 * that the service does not trust (`TRUST_PROXY`). Send `Authorization: Bearer <key>`, with a key of this
 * environment, over HTTPS. Where the message names `TRUST_PROXY`, the operator has to set it; the key is good.
 * - `api_key_revoked` (401): The key was revoked. Use the key that replaced it.
 * - `invalid_credentials` (401): The e-mail address or the password is wrong (accounts of people). Check both, or
 * set a new password.
 * - `not_signed_in` (401): Nobody is signed in, or the session has ended (accounts of people). Sign in at
 * `/sign-in`.
 * - `confirmation_required` (403): A person creates a live document in a session without a second factor, and has
 * not entered the password within the last 15 minutes. Secret keys never get it. Send the password to `POST
 * /auth/confirm` from a page of this service, then the same request again, with its idempotency key.
 * - `tenant_suspended` (403): An operator has suspended the tenant: it can read everything and change nothing. Ask
 * the operator of the service. Send the request again once the suspension has ended.
 * - `insufficient_scope` (403): The credential is valid but does not allow this: a publishable key or a
 * client_secret gives access to its own invoice only. Also the creation of a live invoice while the seller’s
 * profile is incomplete: the message names the missing fields. Call from your back end with a secret key (`sk_…`),
 * or complete the profile (GraphQL’s `updateSellerProfile`, or the operator) and send the request again.
 * - `resource_not_found` (404): There is no such object for this key. Objects of other tenants and environments
 * are not found either. Check the id, the environment of the key and the address.
 * - `idempotency_conflict` (409): The idempotency key was used before with a different payload. Use a new key for
 * a new invoice; to repeat a request, send the same payload.
 * - `draft_changed` (409): The draft was changed after it was read (GraphQL). Read the draft again, and decide on
 * its present content.
 * - `draft_issued` (409): The draft is an invoice by now, or is being issued (GraphQL). Read the invoice that the
 * message names. A draft that is being issued is one within a minute, or is free again.
 * - `import_not_checked` (409): The import is not at the point that the request assumes: its file is still read,
 * cannot be read, or its invoices are being issued (GraphQL). Read the import again. `status` says what comes
 * next.
 * - `amount_too_small` (422): `amount` is below 100 centimes, the minimum. Amounts are in centimes: 120.00 MAD is
 * 12000.
 * - `amount_mismatch` (422): `amount` is not the total of the lines with their VAT; the message states that total.
 * Compute VAT once for each rate, on the sum of its lines, and round half up.
 * - `invalid_ice` (422): `customer.ice` is not exactly 15 digits. Ask the customer for its ICE. Keep it as a
 * string: it may begin with zeros.
 * - `duplicate_number` (422): Another invoice has this number of the client’s own series. Send the next number of
 * your series, or none to get one of the service’s series.
 * - `invalid_date` (422): A date of the terms is too far from the date of the invoice, or the due date is before
 * it. Check the date; the message states the first and the last date allowed.
 * - `invalid_bank_account` (422): The check key of the RIB (its last two digits) does not match. Check the 24
 * digits with the owner of the account.
 * - `credit_exceeds_invoice` (422): The credit note would take more from the invoice than is left at a rate of VAT
 * (GraphQL). Credit at most what is left; the message states it.
 * - `deposit_not_deductible` (422): The final invoice cannot deduct the deposit: it is not a deposit invoice of
 * the same customer, nothing is left of it, or the lines have less than it (GraphQL). Follow the message. What a
 * final invoice has deducted is free again once that invoice is rejected, replaced or credited completely.
 * - `invoice_not_accepted` (422): The invoice is not accepted, so it cannot be credited or deducted (GraphQL).
 * Wait until it is accepted. A rejected invoice has no effect: create a corrected one.
 * - `draft_limit_reached` (422): There are already 1000 drafts in this environment, which is the maximum
 * (GraphQL). Issue or delete some.
 * - `import_limit_reached` (422): There are already 1000 imports of files in this environment, or their files have
 * 500 MiB together, which is the maximum (`POST /imports`). Discard some. They also go by themselves 30 days after
 * their upload.
 * - `invoice_not_replaceable` (422): The invoice cannot be replaced: it is neither accepted nor rejected, another
 * invoice replaces it, or the tax authority has not decided about a credit note of it (GraphQL). Wait for the
 * decision, or replace the invoice that the message names.
 * - `endpoint_limit_reached` (422): There are already 16 webhook endpoints in this environment, which is the
 * maximum. Delete one that is not used.
 * - `key_limit_reached` (422): There are already 50 valid keys in this environment, which is the maximum
 * (GraphQL). Revoke keys that are not used.
 * - `last_secret_key` (422): This is the last valid secret key of its environment (GraphQL). Create another key
 * first, or pass `evenIfLast`.
 * - `member_limit_reached` (422): There are already 200 people in this tenant, which is the maximum (GraphQL).
 * Remove people who no longer need access.
 * - `last_owner` (422): The person is the last owner of the tenant (GraphQL). Make somebody else an owner first.
 * - `logo_limit_reached` (422): The tenant has stored 50 different logos, which is the maximum (GraphQL). Use one
 * of the stored logos.
 * - `rate_limit_exceeded` (429): The credential or, without one, the address has made too many requests in this
 * minute. Wait for `Retry-After` seconds. `X-RateLimit-Remaining` tells how many requests are left.
 * - `internal_error` (500, 503): The service has failed, or is not available at the moment. Try again after
 * `Retry-After`, with the same `Idempotency-Key`; if it fails again, quote the `Request-Id` to support.
 * @phpstan-type ErrorCode 'invalid_request'|'invalid_api_key'|'api_key_revoked'|'invalid_credentials'|'not_signed_in'|'confirmation_required'|'tenant_suspended'|'insufficient_scope'|'resource_not_found'|'idempotency_conflict'|'draft_changed'|'draft_issued'|'import_not_checked'|'amount_too_small'|'amount_mismatch'|'invalid_ice'|'duplicate_number'|'invalid_date'|'invalid_bank_account'|'credit_exceeds_invoice'|'deposit_not_deductible'|'invoice_not_accepted'|'draft_limit_reached'|'import_limit_reached'|'invoice_not_replaceable'|'endpoint_limit_reached'|'key_limit_reached'|'last_secret_key'|'member_limit_reached'|'last_owner'|'logo_limit_reached'|'rate_limit_exceeded'|'internal_error'|string
 *
 * @phpstan-type ErrorDetail array{
 *     code: ErrorCode,
 *     message: string,
 *     param: string|null,
 *     status: int,
 * }
 *
 * @phpstan-type ErrorResponse array{
 *     error: ErrorDetail,
 * }
 *
 * - `invoice.signing`: The XML is generated, and its XAdES signature has started.
 * - `invoice.transmitted`: The signed invoice was sent to the tax authority.
 * - `invoice.accepted`: The tax authority accepted the invoice.
 * - `invoice.rejected`: The invoice was rejected; the reason is given.
 * @phpstan-type EventType 'invoice.signing'|'invoice.transmitted'|'invoice.accepted'|'invoice.rejected'
 *
 * @phpstan-type ExactLine array{
 *     description: string,
 *     quantity: string,
 *     unit: string|null,
 *     unit_price: string,
 *     tax_included: bool,
 *     discount_amount: int|null,
 *     discount_percent: string|null,
 *     discount_reason: string|null,
 *     exemption_code?: string,
 *     certificate_number?: string|null,
 *     certificate_date?: string|null,
 *     amount?: int,
 * }
 *
 * @phpstan-type Invoice array{
 *     id: InvoiceId,
 *     object: 'invoice',
 *     status: InvoiceStatus,
 *     amount: int,
 *     currency: Currency,
 *     customer: Customer,
 *     lines: list<Line>,
 *     metadata: array<string, string>,
 *     xml_url: string|null,
 *     pdf_url: string|null,
 *     dgi_id: string|null,
 *     rejection_reason: string|null,
 *     created_at: Timestamp,
 *     updated_at: Timestamp,
 *     number?: string|null,
 *     totals?: InvoiceTotals,
 *     terms?: Terms,
 *     warnings?: list<InvoiceWarning>,
 *     credits?: InvoiceCredits,
 * }
 *
 * @phpstan-type InvoiceCredits array{
 *     credited_amount: int|null,
 *     credit_notes: list<CreditNoteSummary>,
 *     replaces: string|null,
 *     replaced_by: string|null,
 * }
 *
 * @phpstan-type InvoiceEvent array{
 *     id: string,
 *     object: 'event',
 *     type: 'invoice.signing'|'invoice.transmitted'|'invoice.accepted'|'invoice.rejected'|string,
 *     created: int,
 *     data: InvoiceSnapshot,
 * }
 *
 * @phpstan-type InvoiceId string
 *
 * @phpstan-type InvoiceList array{
 *     object: 'list',
 *     data: list<Invoice>,
 *     has_more: bool,
 *     next_cursor: string|null,
 * }
 *
 * The invoice right after the event.
 * @phpstan-type InvoiceSnapshot array{
 *     id: InvoiceId,
 *     object: 'invoice',
 *     status: InvoiceStatus,
 *     amount: int,
 *     currency: Currency,
 *     customer: Customer,
 *     dgi_id: string|null,
 *     xml_url: string|null,
 *     pdf_url: string|null,
 *     metadata: array<string, string>,
 *     rejection_reason: string|null,
 *     created_at: Timestamp,
 *     updated_at: Timestamp,
 * }
 *
 * - `pending`: Created, awaiting XML normalization.
 * - `signing`: UBL XML generated, XAdES signature in progress.
 * - `transmitted`: The tax authority holds the signed invoice.
 * - `accepted`: The tax authority accepted it; its identifier is known.
 * - `rejected`: It was rejected; the reason is known.
 * @phpstan-type InvoiceStatus 'pending'|'signing'|'transmitted'|'accepted'|'rejected'
 *
 * @phpstan-type InvoiceTotals array{
 *     subtotal: int,
 *     tax_total: int,
 *     tax_totals: list<TaxTotal>,
 *     total: int,
 *     lines_total?: int,
 *     discount?: Adjustment,
 *     charge?: Adjustment,
 *     deposits_total?: int,
 * }
 *
 * @phpstan-type InvoiceWarning array{
 *     code: 'rounding'|'ice_zero'|'ice_check_key'|'customer_is_seller'|'payment_means_missing'|'bank_account_missing'|'unprintable_characters'|'tax_rate_not_in_force'|'exemption_reason_missing'|'exemption_article_missing'|'exemption_certificate_missing'|'withholding_not_in_force'|'withholding_below_minimum'|'withholding_by_no_company'|'withholding_percent_unknown'|'withholding_certificate_missing'|'withholding_certificate_old'|'due_date_missing'|'due_date_late'|'invoiced_after_month_end'|'cash_fine'|'customer_address_missing'|'seller_field_missing'|'operation_date_missing'|'payment_reference_missing'|string,
 *     path: string,
 *     message: string,
 * }
 *
 * @phpstan-type Line array{
 *     description: string,
 *     quantity: int,
 *     unit_price: int,
 *     tax_rate: 0|7|10|14|20|string,
 *     amount: int,
 *     exact?: ExactLine,
 * }
 *
 * @phpstan-type LineInput array{
 *     description: string,
 *     quantity: int,
 *     unit_price: int,
 *     tax_rate?: TaxRate,
 * }
 *
 * @phpstan-type PaymentMeans 'transfer'|'cheque'|'cash'|'card'|'direct_debit'|'bill_of_exchange'|'promissory_note'|'clearing'|'online'
 *
 * @phpstan-type StatusMessage array{
 *     id: InvoiceId,
 *     object: 'invoice',
 *     status: InvoiceStatus,
 *     dgi_id: string|null,
 *     rejection_reason: string|null,
 *     updated_at: Timestamp,
 * }
 *
 * VAT, percent.
 * @phpstan-type TaxRate 0|7|10|14|20
 *
 * @phpstan-type TaxTotal array{
 *     rate: int,
 *     base: int,
 *     tax: int,
 * }
 *
 * @phpstan-type Terms array{
 *     operation_date: string|null,
 *     due_date: string|null,
 *     payment_mode: string|null,
 *     payment_means: string|null,
 *     payment_reference: string|null,
 *     bank_account: string|null,
 * }
 *
 * @phpstan-type TermsInput array{
 *     operation_date?: string|null,
 *     due_date?: string|null,
 *     payment_mode?: string|null,
 *     payment_means?: PaymentMeans,
 *     payment_reference?: string|null,
 *     bank_account?: string|null,
 * }
 *
 * ISO 8601, UTC, whole seconds.
 * @phpstan-type Timestamp string
 *
 * @phpstan-type UpdateWebhookEndpoint array{
 *     url?: string,
 *     events?: list<EventType>,
 *     description?: string|null,
 *     active?: bool,
 * }
 *
 * @phpstan-type WebhookEndpoint array{
 *     id: WebhookEndpointId,
 *     object: 'webhook_endpoint',
 *     url: string,
 *     events: list<'invoice.signing'|'invoice.transmitted'|'invoice.accepted'|'invoice.rejected'|string>,
 *     description: string|null,
 *     active: bool,
 *     created_at: Timestamp,
 * }
 *
 * @phpstan-type WebhookEndpointId string
 *
 * @phpstan-type WebhookEndpointList array{
 *     object: 'list',
 *     data: list<WebhookEndpoint>,
 *     has_more: bool,
 *     next_cursor: string|null,
 * }
 */
final class Models
{
}
