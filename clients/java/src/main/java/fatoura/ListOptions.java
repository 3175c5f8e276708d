package fatoura;

import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.LinkedHashMap;
import java.util.Map;

/** Which invoices a list has, and how it is read. */
public final class ListOptions {
  private final Map<String, String> query = new LinkedHashMap<>(Map.of("limit", "100"));

  public ListOptions status(String status) {
    return with("status", status);
  }

  public ListOptions customerIce(String ice) {
    return with("customer_ice", ice);
  }

  public ListOptions createdAfter(Instant time) {
    return with("created_after", milliseconds(time));
  }

  public ListOptions createdBefore(Instant time) {
    return with("created_before", milliseconds(time));
  }

  /** The id after which the list begins. */
  public ListOptions startingAfter(String id) {
    return with("starting_after", id);
  }

  /** The id before which the list begins, back to the newest. */
  public ListOptions endingBefore(String id) {
    return with("ending_before", id);
  }

  /** Invoices of a page, 1 to 100. Default 100. */
  public ListOptions limit(int limit) {
    return with("limit", Integer.toString(limit));
  }

  /** See {@link CallOptions#include}. */
  public ListOptions include(String... members) {
    return with("include", String.join(",", members));
  }

  private static String milliseconds(Instant time) {
    return time.truncatedTo(ChronoUnit.MILLIS).toString();
  }

  private ListOptions with(String name, String value) {
    query.put(name, value);
    return this;
  }

  Map<String, String> query() {
    return new LinkedHashMap<>(query);
  }
}
