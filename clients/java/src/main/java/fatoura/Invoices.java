package fatoura;

import fatoura.Models.CreateInvoice;
import fatoura.Models.CreatedInvoice;
import fatoura.Models.Invoice;
import fatoura.Models.InvoiceList;
import java.math.BigDecimal;
import java.time.Duration;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Invoices: creation, reading, following, correction. */
public final class Invoices {
  private static final String CREDIT =
      """
      mutation ($id: ID!, $input: CreditInvoiceInput!, $key: String) {
        creditInvoice(invoiceId: $id, input: $input, idempotencyKey: $key) {
          ... on CreditInvoicePayload { replayed creditNote { id status amount } }
          ... on Error { code message param status }
        }
      }""";
  private static final String REPLACE =
      """
      mutation (
        $id: ID!, $input: CreateInvoiceInput!, $reason: CreditReason!, $note: String, $key: String
      ) {
        replaceInvoice(invoiceId: $id, input: $input, reason: $reason, note: $note, idempotencyKey: $key) {
          ... on ReplaceInvoicePayload { replayed invoice { id status amount } creditNote { id status amount } }
          ... on Error { code message param status }
        }
      }""";

  private final Http http;

  Invoices(Http http) {
    this.http = http;
  }

  /** A created invoice, and whether an earlier request with the same key had created it. */
  public record Creation(CreatedInvoice invoice, boolean replayed) {
    public String id() {
      return invoice.id();
    }
  }

  /** An invoice or a credit note (prefix {@code crn_}) as it was created. The amount is positive, in centimes. */
  public record Document(String id, String status, long amount) {}

  /** How many of a line, counted from 1, are credited: with up to three decimal places. */
  public record CreditLine(int line, BigDecimal quantity) {
    public CreditLine(int line, long quantity) {
      this(line, BigDecimal.valueOf(quantity));
    }
  }

  /** How much is credited at a rate of VAT, without it, in centimes. The description may be null. */
  public record CreditAmount(int taxRate, long net, String description) {}

  /**
   * What is credited: all that is left, or lines, or amounts.
   *
   * @param reason {@code error}, {@code return}, {@code cancellation}, {@code discount} or {@code other}
   */
  public record CreditInput(
      String reason,
      String note,
      List<CreditLine> lines,
      List<CreditAmount> amounts,
      Map<String, String> metadata) {
    public static CreditInput all(String reason) {
      return new CreditInput(reason, null, null, null, null);
    }

    public static CreditInput lines(String reason, List<CreditLine> lines) {
      return new CreditInput(reason, null, lines, null, null);
    }

    public static CreditInput amounts(String reason, List<CreditAmount> amounts) {
      return new CreditInput(reason, null, null, amounts, null);
    }

    public CreditInput withNote(String note) {
      return new CreditInput(reason, note, lines, amounts, metadata);
    }

    public CreditInput withMetadata(Map<String, String> metadata) {
      return new CreditInput(reason, note, lines, amounts, metadata);
    }
  }

  /** A created credit note. */
  public record Credit(Document creditNote, boolean replayed) {}

  /** An invoice in place of another. The credit note is null if there was nothing to credit. */
  public record Replacement(Document invoice, Document creditNote, boolean replayed) {}

  public Creation create(CreateInvoice invoice) {
    return create(invoice, new CallOptions());
  }

  /**
   * Creates an invoice. It is {@code pending} in the answer; {@link #follow} waits for the authority. Repeated attempts
   * of a call have one key, so a lost answer never makes a second invoice.
   */
  public Creation create(CreateInvoice invoice, CallOptions options) {
    var body = Json.GSON.toJsonTree(invoice).getAsJsonObject();
    options.further.forEach((name, value) -> body.add(name, Json.GSON.toJsonTree(value)));
    var query = Http.including(options);
    return IdempotencyKey.with(
        options.key(),
        key -> {
          var headers = Map.of("Idempotency-Key", key);
          var call = new Http.Call("POST", "/v1/invoices", query, body, headers, true, options.timeout);
          Http.Answer<CreatedInvoice> answer = http.send(call, CreatedInvoice.class);
          return new Creation(answer.value(), "true".equals(answer.header("idempotent-replayed")));
        });
  }

  public Invoice get(String id) {
    return get(id, new CallOptions());
  }

  public Invoice get(String id, CallOptions options) {
    return http.read(Http.Call.get(path(id), options), Invoice.class);
  }

  public Pages list() {
    return list(new ListOptions());
  }

  /** Lists invoices, newest first; with {@code endingBefore} back to the newest. */
  public Pages list(ListOptions options) {
    return new Pages(options.query(), query -> page(query, null));
  }

  private InvoiceList page(Map<String, String> query, Duration timeout) {
    var call = new Http.Call("GET", "/v1/invoices", query, null, Map.of(), true, timeout);
    return http.read(call, InvoiceList.class);
  }

  /** Finds the invoice with a legal number; null if there is none. */
  public Invoice findByNumber(String number) {
    return findByNumber(number, new CallOptions());
  }

  /** Finds the invoice with a legal number; null if there is none. */
  public Invoice findByNumber(String number, CallOptions options) {
    var query = new LinkedHashMap<>(Http.including(options));
    query.put("number", number);
    List<Invoice> found = page(query, options.timeout).data();
    return found.isEmpty() ? null : found.get(0);
  }

  public Following follow(String id) {
    return follow(id, new CallOptions());
  }

  /**
   * The status of an invoice, and each change once and in order, until it is accepted or rejected. Connections that
   * break are resumed; where none carries a stream, the invoice is read every two seconds. {@code Retry-After} is
   * obeyed, up to a minute.
   */
  public Following follow(String id, CallOptions options) {
    return new Following(http, path(id), options.timeout);
  }

  public Invoice settled(String id) {
    return settled(id, new CallOptions());
  }

  /**
   * Waits until an invoice is accepted or rejected, and reads it: for as long as that takes, where the authority does
   * not answer for hours, unless the time-out of the options ends it.
   */
  public Invoice settled(String id, CallOptions options) {
    follow(id, options).forEachRemaining(message -> {});
    return get(id, options);
  }

  public Credit credit(String id, CreditInput input) {
    return credit(id, input, new CallOptions());
  }

  /** Credits an accepted invoice; the credit note passes through the same states as an invoice. */
  public Credit credit(String id, CreditInput input, CallOptions options) {
    Map<String, Object> variables = Map.of("id", id, "input", input);
    return correct("creditInvoice", CREDIT, variables, options, Credit.class);
  }

  /**
   * Replaces an invoice by a corrected one. What is left of an accepted one is credited first.
   *
   * @param input as of GraphQL's {@code createInvoice}, with its names: {@code unitPrice}, {@code taxRate}
   * @param reason see {@link CreditInput}
   * @param note may be null
   */
  public Replacement replace(
      String id, Map<String, ?> input, String reason, String note, CallOptions options) {
    var variables = new HashMap<String, Object>(Map.of("id", id, "input", input, "reason", reason));
    variables.put("note", note);
    return correct("replaceInvoice", REPLACE, variables, options, Replacement.class);
  }

  private <Value> Value correct(
      String field, String query, Map<String, Object> variables, CallOptions options, Class<Value> type) {
    var all = new HashMap<>(variables);
    return IdempotencyKey.with(
        options.keyOfCorrection(),
        key -> {
          all.put("key", key);
          return Graphql.run(http, field, query, all, options, true, type);
        });
  }

  private static String path(String id) {
    return "/v1/invoices/" + Http.encoded(id);
  }
}
