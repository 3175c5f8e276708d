package fatoura;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.regex.Pattern;

/** Options of one call, each with a default. */
public final class CallOptions {
  private static final Pattern SEEN = Pattern.compile("[^\\p{Z}\\p{Cc}\\p{Cf}]");
  private static final Pattern LOST_IN_HEADERS = Pattern.compile("^ +| +\\z|[^ -~]+");

  private String idempotencyKey;
  Duration timeout;
  List<String> include = List.of();
  Map<String, ?> further = Map.of();

  /**
   * Your number of the order: the same order never becomes a second invoice, also from another process.
   *
   * @throws IllegalArgumentException if it is null or blank: all orders without a number would be one
   */
  public CallOptions orderNumber(String orderNumber) {
    idempotencyKey = "order " + inHeader("orderNumber", orderNumber);
    return this;
  }

  /**
   * By what a repeated call is known: 1 to 255 printable characters. Default: new for each call.
   *
   * @throws IllegalArgumentException if it is null or blank
   */
  public CallOptions idempotencyKey(String idempotencyKey) {
    this.idempotencyKey = inHeader("idempotencyKey", idempotencyKey);
    return this;
  }

  /**
   * Members that answers have only if they are asked for: {@code number}, {@code totals}, {@code terms},
   * {@code warnings}, {@code credits}, {@code customer}, {@code lines}.
   */
  public CallOptions include(String... members) {
    include = List.of(members);
    return this;
  }

  /** For a whole call, instead of the client's; for a followed invoice: until it is final. */
  public CallOptions timeout(Duration timeout) {
    this.timeout = timeout;
    return this;
  }

  /** Members of a creation that this version of the client does not know. */
  public CallOptions further(Map<String, ?> members) {
    further = Map.copyOf(members);
    return this;
  }

  String key() {
    return idempotencyKey == null ? UUID.randomUUID().toString() : idempotencyKey;
  }

  /** Writes as addresses do what a header does not keep: other characters than ASCII's, and spaces at the ends. */
  private static String inHeader(String name, String text) {
    if (text == null || !SEEN.matcher(text).find())
      throw new IllegalArgumentException(
          name + " is null or blank: state it, or leave it out for a key of the call's own");
    return LOST_IN_HEADERS.matcher(text).replaceAll(found -> Http.encoded(found.group()));
  }
}
