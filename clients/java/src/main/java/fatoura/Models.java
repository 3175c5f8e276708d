// Made from openapi.json by `npm run build`.
package fatoura;

import com.google.gson.annotations.SerializedName;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** The objects of the API. What is absent or null is null. Amounts are integers in centimes. */
public final class Models {
  private Models() {}

  /**
   * @param amount In centimes, with tax if {@code tax_included}; null: a percentage.
   * @param percent Of the sum of the lines.
   * @param total Without tax, in centimes.
   */
  public record Adjustment(
      Long amount,
      String percent,
      @SerializedName("tax_included") boolean taxIncluded,
      String reason,
      long total) {}

  /**
   * @param amount Total including tax, in centimes. It must equal the total of the lines with their VAT, computed once
   * per rate and rounded half up; VAT rounded on each line may differ by up to half a centime per line.
   * @param currency Always {@code MAD}.
   * @param customer The buyer.
   * @param lines 1 to 1000 lines.
   * @param metadata Free key/value data, echoed back: at most 50 keys of 40 characters with values of 500. Default:
   * empty.
   * @param number A number of your own series: letters A to Z and a to z, digits, and between them single spaces and
   * {@code . / _ -}, at most 50 characters; never used before in this environment. Default: the next number of the
   * service’s series.
   * @param terms Dates and payment. What is left out is taken from the seller’s profile.
   */
  public record CreateInvoice(
      long amount,
      String currency,
      CustomerInput customer,
      List<LineInput> lines,
      Map<String, String> metadata,
      String number,
      TermsInput terms) {
    /** What it must have. The methods below add the rest. */
    public static CreateInvoice of(long amount, String currency, CustomerInput customer, List<LineInput> lines) {
      return new CreateInvoice(amount, currency, customer, lines, null, null, null);
    }

    public CreateInvoice withMetadata(Map<String, String> metadata) {
      return new CreateInvoice(amount, currency, customer, lines, metadata, number, terms);
    }

    public CreateInvoice withNumber(String number) {
      return new CreateInvoice(amount, currency, customer, lines, metadata, number, terms);
    }

    public CreateInvoice withTerms(TermsInput terms) {
      return new CreateInvoice(amount, currency, customer, lines, metadata, number, terms);
    }
  }

  /**
   * @param url The https:// address that receives events: a public one, at port 443 or from 1024 on.
   * @param events The subscribed types.
   */
  public record CreateWebhookEndpoint(
      String url,
      List<String> events,
      String description) {
    /** What it must have. The methods below add the rest. */
    public static CreateWebhookEndpoint of(String url, List<String> events) {
      return new CreateWebhookEndpoint(url, events, null);
    }

    public CreateWebhookEndpoint withDescription(String description) {
      return new CreateWebhookEndpoint(url, events, description);
    }
  }

  /**
   * @param id Prefix {@code inv_}.
   * @param clientSecret Read-only access to this one invoice. Shown in the answer to the creation only.
   * @param status Present status.
   * @param amount Amount payable, in centimes: the total including tax, with its rounding if there is one.
   * @param currency Always {@code MAD}.
   * @param customer The buyer.
   * @param lines 1 to 1000 lines.
   * @param metadata The client's own data, echoed back.
   * @param xmlUrl URL of the signed XML; null until accepted.
   * @param pdfUrl URL of the PDF; null until accepted.
   * @param dgiId The tax authority's identifier; set only when accepted.
   * @param rejectionReason Free text; set only when rejected.
   * @param createdAt When it was created.
   * @param updatedAt When the status last changed.
   * @param number With {@code include=number}: Legal number; null until it is assigned.
   * @param totals With {@code include=totals}: The totals, in centimes, with the VAT of each rate; of an invoice with
   * a discount or a charge on the whole also the sum of the lines, the discount and the charge.
   * @param terms With {@code include=terms}: Dates and payment as the documents state them.
   * @param warnings With {@code include=warnings}: What the law or the tax authority may object to. Empty without a
   * secret key.
   * @param credits With {@code include=credits}: The sum of its credit notes that are not rejected, the 20 newest of
   * them (more are in GraphQL), the ids of the invoice that it replaces and of the one that replaces it. Without a
   * secret key only the one that it replaces.
   */
  public record CreatedInvoice(
      String id,
      String object,
      @SerializedName("client_secret") Secret clientSecret,
      String status,
      long amount,
      String currency,
      Customer customer,
      List<Line> lines,
      Map<String, String> metadata,
      @SerializedName("xml_url") String xmlUrl,
      @SerializedName("pdf_url") String pdfUrl,
      @SerializedName("dgi_id") String dgiId,
      @SerializedName("rejection_reason") String rejectionReason,
      @SerializedName("created_at") Instant createdAt,
      @SerializedName("updated_at") Instant updatedAt,
      String number,
      InvoiceTotals totals,
      Terms terms,
      List<InvoiceWarning> warnings,
      InvoiceCredits credits) {}

  /**
   * @param url The https:// address that receives events.
   * @param events The subscribed types, each once.
   * @param active False: nothing is delivered to the endpoint.
   * @param secret The signing secret of its deliveries. Shown in this answer only.
   */
  public record CreatedWebhookEndpoint(
      String id,
      String object,
      String url,
      List<String> events,
      String description,
      boolean active,
      @SerializedName("created_at") Instant createdAt,
      Secret secret) {}

  public record CreditNoteSummary(
      String id,
      String number,
      String status,
      long amount) {}

  /** ISO 4217. Only dirhams are supported. */
  public static final class Currency {
    public static final String MAD = "MAD";

    private Currency() {}
  }

  /**
   * @param ice Identifiant commun de l’entreprise: exactly 15 digits. Null for a customer who has none; such invoices
   * are created with GraphQL.
   * @param name Company name, at most 200 characters.
   * @param kind With {@code include=customer}: what the customer is.
   * @param country With {@code include=customer}: the country of a customer abroad, ISO 3166-1 alpha-2; null: Morocco.
   * @param taxNumber With {@code include=customer}: the tax number of a customer abroad.
   */
  public record Customer(
      String ice,
      String name,
      String kind,
      String country,
      @SerializedName("tax_number") String taxNumber) {}

  /**
   * @param ice Identifiant commun de l’entreprise: exactly 15 digits.
   * @param name Company name, at most 200 characters.
   * @param address Full address, at most 500 characters.
   * @param email Where the signed PDF is sent.
   */
  public record CustomerInput(
      String ice,
      String name,
      String address,
      String email) {
    /** What it must have. The methods below add the rest. */
    public static CustomerInput of(String ice, String name) {
      return new CustomerInput(ice, name, null, null);
    }

    public CustomerInput withAddress(String address) {
      return new CustomerInput(ice, name, address, email);
    }

    public CustomerInput withEmail(String email) {
      return new CustomerInput(ice, name, address, email);
    }
  }

  /**
   * @param deleted Always true.
   */
  public record DeletedWebhookEndpoint(
      String id,
      String object,
      boolean deleted) {}

  /** The environment of an invoice. A key only sees data of its own environment. */
  public static final class Environment {
    public static final String TEST = "test";
    public static final String LIVE = "live";

    private Environment() {}
  }

  /**
   * For programs. More may be added.
   *
   * <ul>
   * <li>{@code invalid_request} (400, 405, 406, 408, 413, 414, 415, 416, 417, 431): A field, parameter or header is
   * missing, unknown or malformed: {@code param} names it. Correct the request. Sent again unchanged, it fails again.
   * <li>{@code invalid_api_key} (401): No credential was sent, its header is malformed, or the key is unknown. Also a
   * key in the wrong place: of the other environment’s address, or a live key that arrived unencrypted or through a
   * proxy that the service does not trust ({@code TRUST_PROXY}). Send {@code Authorization: Bearer <key>}, with a key
   * of this environment, over HTTPS. Where the message names {@code TRUST_PROXY}, the operator has to set it; the key
   * is good.
   * <li>{@code api_key_revoked} (401): The key was revoked. Use the key that replaced it.
   * <li>{@code invalid_credentials} (401): The e-mail address or the password is wrong (accounts of people). Check
   * both, or set a new password.
   * <li>{@code not_signed_in} (401): Nobody is signed in, or the session has ended (accounts of people). Sign in at
   * {@code /sign-in}.
   * <li>{@code confirmation_required} (403): A person creates a live document in a session without a second factor,
   * and has not entered the password within the last 15 minutes. Secret keys never get it. Send the password to {@code
   * POST /auth/confirm} from a page of this service, then the same request again, with its idempotency key.
   * <li>{@code tenant_suspended} (403): An operator has suspended the tenant: it can read everything and change
   * nothing. Ask the operator of the service. Send the request again once the suspension has ended.
   * <li>{@code insufficient_scope} (403): The credential is valid but does not allow this: a publishable key or a
   * client_secret gives access to its own invoice only. Also the creation of a live invoice while the seller’s profile
   * is incomplete: the message names the missing fields. Call from your back end with a secret key ({@code sk_…}), or
   * complete the profile (GraphQL’s {@code updateSellerProfile}, or the operator) and send the request again.
   * <li>{@code resource_not_found} (404): There is no such object for this key. Objects of other tenants and
   * environments are not found either. Check the id, the environment of the key and the address.
   * <li>{@code idempotency_conflict} (409): The idempotency key was used before with a different payload. Use a new
   * key for a new invoice; to repeat a request, send the same payload.
   * <li>{@code draft_changed} (409): The draft was changed after it was read (GraphQL). Read the draft again, and
   * decide on its present content.
   * <li>{@code draft_issued} (409): The draft is an invoice by now, or is being issued (GraphQL). Read the invoice
   * that the message names. A draft that is being issued is one within a minute, or is free again.
   * <li>{@code import_not_checked} (409): The import is not at the point that the request assumes: its file is still
   * read, cannot be read, or its invoices are being issued (GraphQL). Read the import again. {@code status} says what
   * comes next.
   * <li>{@code amount_too_small} (422): {@code amount} is below 100 centimes, the minimum. Amounts are in centimes:
   * 120.00 MAD is 12000.
   * <li>{@code amount_mismatch} (422): {@code amount} is not the total of the lines with their VAT; the message states
   * that total. Compute VAT once for each rate, on the sum of its lines, and round half up.
   * <li>{@code invalid_ice} (422): {@code customer.ice} is not exactly 15 digits. Ask the customer for its ICE. Keep
   * it as a string: it may begin with zeros.
   * <li>{@code duplicate_number} (422): Another invoice has this number of the client’s own series. Send the next
   * number of your series, or none to get one of the service’s series.
   * <li>{@code invalid_date} (422): A date of the terms is too far from the date of the invoice, or the due date is
   * before it. Check the date; the message states the first and the last date allowed.
   * <li>{@code invalid_bank_account} (422): The check key of the RIB (its last two digits) does not match. Check the
   * 24 digits with the owner of the account.
   * <li>{@code credit_exceeds_invoice} (422): The credit note would take more from the invoice than is left at a rate
   * of VAT (GraphQL). Credit at most what is left; the message states it.
   * <li>{@code deposit_not_deductible} (422): The final invoice cannot deduct the deposit: it is not a deposit invoice
   * of the same customer, nothing is left of it, or the lines have less than it (GraphQL). Follow the message. What a
   * final invoice has deducted is free again once that invoice is rejected, replaced or credited completely.
   * <li>{@code invoice_not_accepted} (422): The invoice is not accepted, so it cannot be credited or deducted
   * (GraphQL). Wait until it is accepted. A rejected invoice has no effect: create a corrected one.
   * <li>{@code draft_limit_reached} (422): There are already 1000 drafts in this environment, which is the maximum
   * (GraphQL). Issue or delete some.
   * <li>{@code import_limit_reached} (422): There are already 1000 imports of files in this environment, or their
   * files have 500 MiB together, which is the maximum ({@code POST /imports}). Discard some. They also go by
   * themselves 30 days after their upload.
   * <li>{@code invoice_not_replaceable} (422): The invoice cannot be replaced: it is neither accepted nor rejected,
   * another invoice replaces it, or the tax authority has not decided about a credit note of it (GraphQL). Wait for
   * the decision, or replace the invoice that the message names.
   * <li>{@code endpoint_limit_reached} (422): There are already 16 webhook endpoints in this environment, which is the
   * maximum. Delete one that is not used.
   * <li>{@code key_limit_reached} (422): There are already 50 valid keys in this environment, which is the maximum
   * (GraphQL). Revoke keys that are not used.
   * <li>{@code last_secret_key} (422): This is the last valid secret key of its environment (GraphQL). Create another
   * key first, or pass {@code evenIfLast}.
   * <li>{@code member_limit_reached} (422): There are already 200 people in this tenant, which is the maximum
   * (GraphQL). Remove people who no longer need access.
   * <li>{@code last_owner} (422): The person is the last owner of the tenant (GraphQL). Make somebody else an owner
   * first.
   * <li>{@code logo_limit_reached} (422): The tenant has stored 50 different logos, which is the maximum (GraphQL).
   * Use one of the stored logos.
   * <li>{@code rate_limit_exceeded} (429): The credential or, without one, the address has made too many requests in
   * this minute. Wait for {@code Retry-After} seconds. {@code X-RateLimit-Remaining} tells how many requests are left.
   * <li>{@code internal_error} (500, 503): The service has failed, or is not available at the moment. Try again after
   * {@code Retry-After}, with the same {@code Idempotency-Key}; if it fails again, quote the {@code Request-Id} to
   * support.
   * </ul>
   */
  public static final class ErrorCode {
    public static final String INVALID_REQUEST = "invalid_request";
    public static final String INVALID_API_KEY = "invalid_api_key";
    public static final String API_KEY_REVOKED = "api_key_revoked";
    public static final String INVALID_CREDENTIALS = "invalid_credentials";
    public static final String NOT_SIGNED_IN = "not_signed_in";
    public static final String CONFIRMATION_REQUIRED = "confirmation_required";
    public static final String TENANT_SUSPENDED = "tenant_suspended";
    public static final String INSUFFICIENT_SCOPE = "insufficient_scope";
    public static final String RESOURCE_NOT_FOUND = "resource_not_found";
    public static final String IDEMPOTENCY_CONFLICT = "idempotency_conflict";
    public static final String DRAFT_CHANGED = "draft_changed";
    public static final String DRAFT_ISSUED = "draft_issued";
    public static final String IMPORT_NOT_CHECKED = "import_not_checked";
    public static final String AMOUNT_TOO_SMALL = "amount_too_small";
    public static final String AMOUNT_MISMATCH = "amount_mismatch";
    public static final String INVALID_ICE = "invalid_ice";
    public static final String DUPLICATE_NUMBER = "duplicate_number";
    public static final String INVALID_DATE = "invalid_date";
    public static final String INVALID_BANK_ACCOUNT = "invalid_bank_account";
    public static final String CREDIT_EXCEEDS_INVOICE = "credit_exceeds_invoice";
    public static final String DEPOSIT_NOT_DEDUCTIBLE = "deposit_not_deductible";
    public static final String INVOICE_NOT_ACCEPTED = "invoice_not_accepted";
    public static final String DRAFT_LIMIT_REACHED = "draft_limit_reached";
    public static final String IMPORT_LIMIT_REACHED = "import_limit_reached";
    public static final String INVOICE_NOT_REPLACEABLE = "invoice_not_replaceable";
    public static final String ENDPOINT_LIMIT_REACHED = "endpoint_limit_reached";
    public static final String KEY_LIMIT_REACHED = "key_limit_reached";
    public static final String LAST_SECRET_KEY = "last_secret_key";
    public static final String MEMBER_LIMIT_REACHED = "member_limit_reached";
    public static final String LAST_OWNER = "last_owner";
    public static final String LOGO_LIMIT_REACHED = "logo_limit_reached";
    public static final String RATE_LIMIT_EXCEEDED = "rate_limit_exceeded";
    public static final String INTERNAL_ERROR = "internal_error";

    private ErrorCode() {}
  }

  /**
   * @param message For a person: what was wrong and what was expected.
   * @param param Dotted path of the field at fault, such as {@code customer.ice}.
   * @param status The HTTP status.
   */
  public record ErrorDetail(
      String code,
      String message,
      String param,
      long status) {}

  public record ErrorResponse(
      ErrorDetail error) {}

  /**
   * <ul>
   * <li>{@code invoice.signing}: The XML is generated, and its XAdES signature has started.
   * <li>{@code invoice.transmitted}: The signed invoice was sent to the tax authority.
   * <li>{@code invoice.accepted}: The tax authority accepted the invoice.
   * <li>{@code invoice.rejected}: The invoice was rejected; the reason is given.
   * </ul>
   */
  public static final class EventType {
    public static final String INVOICE_SIGNING = "invoice.signing";
    public static final String INVOICE_TRANSMITTED = "invoice.transmitted";
    public static final String INVOICE_ACCEPTED = "invoice.accepted";
    public static final String INVOICE_REJECTED = "invoice.rejected";

    private EventType() {}
  }

  /**
   * @param unit The code of UN/ECE Recommendation 20; null: pieces.
   * @param unitPrice In centimes, with tax if {@code tax_included}.
   * @param discountAmount In centimes, with tax if {@code tax_included}.
   * @param exemptionCode Why a line at 0 % has no VAT, if it says so itself.
   * @param certificateNumber Of the buyer, with {@code exemption_code}.
   * @param certificateDate With {@code exemption_code}.
   * @param amount Without tax, in centimes, before the discount, the charge and the deposits of the whole document;
   * absent if they do not change it.
   */
  public record ExactLine(
      String description,
      String quantity,
      String unit,
      @SerializedName("unit_price") String unitPrice,
      @SerializedName("tax_included") boolean taxIncluded,
      @SerializedName("discount_amount") Long discountAmount,
      @SerializedName("discount_percent") String discountPercent,
      @SerializedName("discount_reason") String discountReason,
      @SerializedName("exemption_code") String exemptionCode,
      @SerializedName("certificate_number") String certificateNumber,
      @SerializedName("certificate_date") String certificateDate,
      Long amount) {}

  /**
   * @param id Prefix {@code inv_}.
   * @param status Present status.
   * @param amount Amount payable, in centimes: the total including tax, with its rounding if there is one.
   * @param currency Always {@code MAD}.
   * @param customer The buyer.
   * @param lines 1 to 1000 lines.
   * @param metadata The client's own data, echoed back.
   * @param xmlUrl URL of the signed XML; null until accepted.
   * @param pdfUrl URL of the PDF; null until accepted.
   * @param dgiId The tax authority's identifier; set only when accepted.
   * @param rejectionReason Free text; set only when rejected.
   * @param createdAt When it was created.
   * @param updatedAt When the status last changed.
   * @param number With {@code include=number}: Legal number; null until it is assigned.
   * @param totals With {@code include=totals}: The totals, in centimes, with the VAT of each rate; of an invoice with
   * a discount or a charge on the whole also the sum of the lines, the discount and the charge.
   * @param terms With {@code include=terms}: Dates and payment as the documents state them.
   * @param warnings With {@code include=warnings}: What the law or the tax authority may object to. Empty without a
   * secret key.
   * @param credits With {@code include=credits}: The sum of its credit notes that are not rejected, the 20 newest of
   * them (more are in GraphQL), the ids of the invoice that it replaces and of the one that replaces it. Without a
   * secret key only the one that it replaces.
   */
  public record Invoice(
      String id,
      String object,
      String status,
      long amount,
      String currency,
      Customer customer,
      List<Line> lines,
      Map<String, String> metadata,
      @SerializedName("xml_url") String xmlUrl,
      @SerializedName("pdf_url") String pdfUrl,
      @SerializedName("dgi_id") String dgiId,
      @SerializedName("rejection_reason") String rejectionReason,
      @SerializedName("created_at") Instant createdAt,
      @SerializedName("updated_at") Instant updatedAt,
      String number,
      InvoiceTotals totals,
      Terms terms,
      List<InvoiceWarning> warnings,
      InvoiceCredits credits) {}

  public record InvoiceCredits(
      @SerializedName("credited_amount") Long creditedAmount,
      @SerializedName("credit_notes") List<CreditNoteSummary> creditNotes,
      String replaces,
      @SerializedName("replaced_by") String replacedBy) {}

  /**
   * @param id An event may arrive more than once: deduplicate by this id.
   * @param type The type. More may be added.
   * @param created UNIX time in seconds.
   */
  public record InvoiceEvent(
      String id,
      String object,
      String type,
      long created,
      InvoiceSnapshot data) {}

  /**
   * @param data Newest first.
   * @param nextCursor The id of the last object; null when there is none.
   */
  public record InvoiceList(
      String object,
      List<Invoice> data,
      @SerializedName("has_more") boolean hasMore,
      @SerializedName("next_cursor") String nextCursor) {}

  /**
   * The invoice right after the event.
   * @param id Prefix {@code inv_}.
   * @param status Present status.
   * @param amount Amount payable, in centimes: the total including tax, with its rounding if there is one.
   * @param currency Always {@code MAD}.
   * @param customer The buyer.
   * @param dgiId The tax authority's identifier; set only when accepted.
   * @param xmlUrl URL of the signed XML; null until accepted.
   * @param pdfUrl URL of the PDF; null until accepted.
   * @param metadata The client's own data, echoed back.
   * @param rejectionReason Free text; set only when rejected.
   * @param createdAt When it was created.
   * @param updatedAt When the status last changed.
   */
  public record InvoiceSnapshot(
      String id,
      String object,
      String status,
      long amount,
      String currency,
      Customer customer,
      @SerializedName("dgi_id") String dgiId,
      @SerializedName("xml_url") String xmlUrl,
      @SerializedName("pdf_url") String pdfUrl,
      Map<String, String> metadata,
      @SerializedName("rejection_reason") String rejectionReason,
      @SerializedName("created_at") Instant createdAt,
      @SerializedName("updated_at") Instant updatedAt) {}

  /**
   * <ul>
   * <li>{@code pending}: Created, awaiting XML normalization.
   * <li>{@code signing}: UBL XML generated, XAdES signature in progress.
   * <li>{@code transmitted}: The tax authority holds the signed invoice.
   * <li>{@code accepted}: The tax authority accepted it; its identifier is known.
   * <li>{@code rejected}: It was rejected; the reason is known.
   * </ul>
   */
  public static final class InvoiceStatus {
    public static final String PENDING = "pending";
    public static final String SIGNING = "signing";
    public static final String TRANSMITTED = "transmitted";
    public static final String ACCEPTED = "accepted";
    public static final String REJECTED = "rejected";

    private InvoiceStatus() {}
  }

  /**
   * @param linesTotal Sum of the lines as they are stated, without tax.
   * @param depositsTotal The deducted deposits, without tax, in centimes.
   */
  public record InvoiceTotals(
      long subtotal,
      @SerializedName("tax_total") long taxTotal,
      @SerializedName("tax_totals") List<TaxTotal> taxTotals,
      long total,
      @SerializedName("lines_total") Long linesTotal,
      Adjustment discount,
      Adjustment charge,
      @SerializedName("deposits_total") Long depositsTotal) {}

  public record InvoiceWarning(
      String code,
      String path,
      String message) {}

  /**
   * @param description Designation of the service or product, at most 500 characters.
   * @param quantity A positive integer.
   * @param unitPrice Unit price excluding tax, in centimes.
   * @param taxRate VAT in percent: 0, 7, 10, 14 or 20.
   * @param amount Quantity times unit price, excluding tax, in centimes.
   * @param exact With {@code include=lines}: A line that whole numbers cannot show also has {@code exact}.
   */
  public record Line(
      String description,
      long quantity,
      @SerializedName("unit_price") long unitPrice,
      @SerializedName("tax_rate") long taxRate,
      long amount,
      ExactLine exact) {}

  /**
   * @param description Designation of the service or product, at most 500 characters.
   * @param quantity A positive integer.
   * @param unitPrice Unit price excluding tax, in centimes.
   * @param taxRate VAT in percent: 0, 7, 10, 14 or 20. Default: 20, also for null.
   */
  public record LineInput(
      String description,
      long quantity,
      @SerializedName("unit_price") long unitPrice,
      @SerializedName("tax_rate") Long taxRate) {
    /** What it must have. The methods below add the rest. */
    public static LineInput of(String description, long quantity, long unitPrice) {
      return new LineInput(description, quantity, unitPrice, null);
    }

    public LineInput withTaxRate(long taxRate) {
      return new LineInput(description, quantity, unitPrice, taxRate);
    }
  }

  public static final class PaymentMeans {
    public static final String TRANSFER = "transfer";
    public static final String CHEQUE = "cheque";
    public static final String CASH = "cash";
    public static final String CARD = "card";
    public static final String DIRECT_DEBIT = "direct_debit";
    public static final String BILL_OF_EXCHANGE = "bill_of_exchange";
    public static final String PROMISSORY_NOTE = "promissory_note";
    public static final String CLEARING = "clearing";
    public static final String ONLINE = "online";

    private PaymentMeans() {}
  }

  /**
   * @param id Prefix {@code inv_}.
   * @param status Present status.
   * @param dgiId The tax authority's identifier; set only when accepted.
   * @param rejectionReason Free text; set only when rejected.
   * @param updatedAt When the status last changed.
   */
  public record StatusMessage(
      String id,
      String object,
      String status,
      @SerializedName("dgi_id") String dgiId,
      @SerializedName("rejection_reason") String rejectionReason,
      @SerializedName("updated_at") Instant updatedAt) {}

  public record TaxTotal(
      long rate,
      long base,
      long tax) {}

  public record Terms(
      @SerializedName("operation_date") String operationDate,
      @SerializedName("due_date") String dueDate,
      @SerializedName("payment_mode") String paymentMode,
      @SerializedName("payment_means") String paymentMeans,
      @SerializedName("payment_reference") String paymentReference,
      @SerializedName("bank_account") String bankAccount) {}

  /**
   * @param operationDate When the goods were delivered or the service was done, such as {@code 2026-01-31}: at most 10
   * years before the date of the invoice and 1 year after it.
   * @param dueDate When payment is due: the date of the invoice, or up to 5 years after it.
   * @param paymentMode How to pay, in words, at most 100 characters. An invoice that has this or {@code paymentMeans}
   * takes neither from the profile: send both, or {@code paymentMeans} only.
   * @param paymentMeans How to pay, as a code.
   * @param paymentReference What the buyer quotes, at most 50 characters. Default: the number of the invoice.
   * @param bankAccount The account to pay to: a RIB, 24 digits, with its check key.
   */
  public record TermsInput(
      @SerializedName("operation_date") String operationDate,
      @SerializedName("due_date") String dueDate,
      @SerializedName("payment_mode") String paymentMode,
      @SerializedName("payment_means") String paymentMeans,
      @SerializedName("payment_reference") String paymentReference,
      @SerializedName("bank_account") String bankAccount) {
    /** What it must have. The methods below add the rest. */
    public static TermsInput of() {
      return new TermsInput(null, null, null, null, null, null);
    }

    public TermsInput withOperationDate(String operationDate) {
      return new TermsInput(operationDate, dueDate, paymentMode, paymentMeans, paymentReference, bankAccount);
    }

    public TermsInput withDueDate(String dueDate) {
      return new TermsInput(operationDate, dueDate, paymentMode, paymentMeans, paymentReference, bankAccount);
    }

    public TermsInput withPaymentMode(String paymentMode) {
      return new TermsInput(operationDate, dueDate, paymentMode, paymentMeans, paymentReference, bankAccount);
    }

    public TermsInput withPaymentMeans(String paymentMeans) {
      return new TermsInput(operationDate, dueDate, paymentMode, paymentMeans, paymentReference, bankAccount);
    }

    public TermsInput withPaymentReference(String paymentReference) {
      return new TermsInput(operationDate, dueDate, paymentMode, paymentMeans, paymentReference, bankAccount);
    }

    public TermsInput withBankAccount(String bankAccount) {
      return new TermsInput(operationDate, dueDate, paymentMode, paymentMeans, paymentReference, bankAccount);
    }
  }

  /**
   * @param url The https:// address that receives events: a public one, at port 443 or from 1024 on.
   * @param events The subscribed types.
   */
  public record UpdateWebhookEndpoint(
      String url,
      List<String> events,
      Optional<String> description,
      Boolean active) {
    /** What it must have. The methods below add the rest. */
    public static UpdateWebhookEndpoint of() {
      return new UpdateWebhookEndpoint(null, null, null, null);
    }

    public UpdateWebhookEndpoint withUrl(String url) {
      return new UpdateWebhookEndpoint(url, events, description, active);
    }

    public UpdateWebhookEndpoint withEvents(List<String> events) {
      return new UpdateWebhookEndpoint(url, events, description, active);
    }

    public UpdateWebhookEndpoint withDescription(String description) {
      return new UpdateWebhookEndpoint(url, events, Optional.of(description), active);
    }

    public UpdateWebhookEndpoint withoutDescription() {
      return new UpdateWebhookEndpoint(url, events, Optional.empty(), active);
    }

    public UpdateWebhookEndpoint withActive(boolean active) {
      return new UpdateWebhookEndpoint(url, events, description, active);
    }
  }

  /**
   * @param url The https:// address that receives events.
   * @param events The subscribed types, each once.
   * @param active False: nothing is delivered to the endpoint.
   */
  public record WebhookEndpoint(
      String id,
      String object,
      String url,
      List<String> events,
      String description,
      boolean active,
      @SerializedName("created_at") Instant createdAt) {}

  /**
   * @param hasMore Always false: one page contains all endpoints.
   * @param nextCursor The id of the last object; null when there is none.
   */
  public record WebhookEndpointList(
      String object,
      List<WebhookEndpoint> data,
      @SerializedName("has_more") boolean hasMore,
      @SerializedName("next_cursor") String nextCursor) {}
}
