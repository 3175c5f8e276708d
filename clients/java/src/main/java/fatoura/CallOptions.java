package fatoura;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.UUID;

/** Options of one call, each with a default. */
public final class CallOptions {
  private String idempotencyKey;
  private String keyOfOrder;
  Duration timeout;
  List<String> include = List.of();
  Map<String, ?> further = Map.of();

  /**
   * Your number of the order: the same order never becomes a second invoice, also from another process. For creations
   * only: an order can be returned or corrected more than once. Where an idempotency key is stated, too, that is the
   * key.
   *
   * @throws IllegalArgumentException if it is null or blank: all orders without a number would be one
   */
  public CallOptions orderNumber(String orderNumber) {
    keyOfOrder = IdempotencyKey.of("orderNumber", "order ", orderNumber);
    return this;
  }

  /**
   * By what a repeated call is known: printable characters, of which more than 255 are sent as their SHA-256. Default:
   * new for each call.
   *
   * @throws IllegalArgumentException if it is null or blank
   */
  public CallOptions idempotencyKey(String idempotencyKey) {
    this.idempotencyKey = IdempotencyKey.of("idempotencyKey", "", idempotencyKey);
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
    if (idempotencyKey != null) return idempotencyKey;
    return keyOfOrder == null ? UUID.randomUUID().toString() : keyOfOrder;
  }

  /** The key of a credit or a replacement. */
  String keyOfCorrection() {
    if (keyOfOrder != null)
      throw new IllegalArgumentException(
          "orderNumber is for creations: know a correction by an idempotencyKey, such as 'return 88'");
    return key();
  }
}
