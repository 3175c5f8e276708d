package fatoura;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.regex.Pattern;

/** Options of one call, each with a default. */
public final class CallOptions {
  private static final Pattern OTHER_THAN_ASCII = Pattern.compile("[^ -~]+");

  private String idempotencyKey;
  Duration timeout;
  List<String> include = List.of();
  Map<String, ?> further = Map.of();

  /** Your number of the order: the same order never becomes a second invoice, also from another process. */
  public CallOptions orderNumber(String orderNumber) {
    return idempotencyKey("order " + orderNumber);
  }

  /** By what a repeated call is known: 1 to 255 printable characters. Default: new for each call. */
  public CallOptions idempotencyKey(String idempotencyKey) {
    this.idempotencyKey = idempotencyKey;
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
    if (idempotencyKey == null) return UUID.randomUUID().toString();
    // A header has ASCII only.
    return OTHER_THAN_ASCII.matcher(idempotencyKey).replaceAll(found -> Http.encoded(found.group()));
  }
}
