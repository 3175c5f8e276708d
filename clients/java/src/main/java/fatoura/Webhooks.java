package fatoura;

import com.google.gson.JsonParseException;
import fatoura.FatouraException.Signature;
import fatoura.Models.InvoiceEvent;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.time.Clock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.function.Function;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

/** Deliveries of webhooks. */
public final class Webhooks {
  private static final String HEADER = "Service-Signature";
  private static final Duration TOLERANCE = Duration.ofMinutes(5);

  private Webhooks() {}

  /** What the header states: when the delivery was sent, in digits, and its signatures. */
  private record Signed(String time, List<byte[]> signatures) {}

  /**
   * Checks that a delivery of a webhook is from the service, and returns its event. Deduplicate by the event's
   * {@code id}: the same one can be delivered more than once.
   *
   * @param body the raw body, as it was received
   * @param headers gives a header by its name: {@code request::getHeader} of servlets, {@code headers::getFirst} of
   *     Spring
   * @param secrets the endpoint's secret ({@code whsec_…}), or several during a rotation
   * @throws Signature which says what is wrong
   */
  public static InvoiceEvent verify(byte[] body, Function<String, String> headers, String... secrets) {
    return verify(body, headers, Arrays.asList(secrets), TOLERANCE, Clock.systemUTC());
  }

  /**
   * The same.
   *
   * @param tolerance how much the time of a delivery may differ from the clock's, from zero
   */
  public static InvoiceEvent verify(
      byte[] body, Function<String, String> headers, List<String> secrets, Duration tolerance, Clock clock) {
    if (body == null || body.length == 0)
      throw new Signature(
          "The body is empty: it was read or parsed before. Pass the bytes as they were received (Spring: @RequestBody"
              + " byte[]; servlets: request.getInputStream().readAllBytes()).");
    List<String> keys = keysOf(secrets == null ? List.of() : secrets);
    if (tolerance == null || tolerance.isNegative())
      throw new Signature("The tolerance must be a duration from zero, not " + tolerance + ".");
    Signed signed = signedOf(headers);
    Duration age = Duration.ofMillis(clock.millis()).minusSeconds(Long.parseLong(signed.time));
    if (age.abs().compareTo(tolerance) > 0)
      throw new Signature(
          "The delivery is of another time than this machine’s (t=" + signed.time + "): is its clock right?");
    for (String key : keys) {
      byte[] right = codeOf(key, signed.time, body);
      // Compares in constant time.
      if (signed.signatures.stream().anyMatch(each -> MessageDigest.isEqual(each, right))) return eventOf(body);
    }
    throw new Signature(
        "The signature does not fit: the secret is of another endpoint, or the body was changed (parsed and printed"
            + " again?).");
  }

  private static List<String> keysOf(List<String> secrets) {
    // Of a rotation, one variable of the environment is often unset or empty. One of a file ends with a line break.
    List<String> keys =
        secrets.stream().filter(each -> each != null && !each.isBlank()).map(String::strip).toList();
    if (keys.isEmpty() || !keys.stream().allMatch(each -> each.startsWith("whsec_")))
      throw new Signature(
          "The secret of an endpoint begins with whsec_. It is shown once, when the endpoint is created.");
    return keys;
  }

  private static Signed signedOf(Function<String, String> headers) {
    String header = headers == null ? null : headers.apply(HEADER);
    // Maps of some frameworks have names in lower case.
    if (header == null && headers != null) header = headers.apply(HEADER.toLowerCase());
    if (header == null) throw new Signature("The header " + HEADER + " is missing.");
    String time = "";
    List<byte[]> signatures = new ArrayList<>();
    for (String part : header.split(",")) {
      String[] pair = part.trim().split("=", 2);
      String value = pair.length > 1 ? pair[1] : "";
      if (pair[0].equals("t") && time.isEmpty()) time = value;
      if (pair[0].equals("v1") && value.matches("(?i)[0-9a-f]{64}")) signatures.add(HexFormat.of().parseHex(value));
    }
    if (!time.matches("[0-9]{1,12}")) throw new Signature("The header " + HEADER + " has no time.");
    return new Signed(time, signatures);
  }

  private static byte[] codeOf(String key, String time, byte[] body) {
    try {
      Mac mac = Mac.getInstance("HmacSHA256");
      mac.init(new SecretKeySpec(key.getBytes(StandardCharsets.UTF_8), "HmacSHA256"));
      mac.update((time + ".").getBytes(StandardCharsets.UTF_8));
      return mac.doFinal(body);
    } catch (GeneralSecurityException error) {
      // Each JDK has it.
      throw new IllegalStateException(error);
    }
  }

  private static InvoiceEvent eventOf(byte[] body) {
    try {
      InvoiceEvent event = Json.GSON.fromJson(new String(body, StandardCharsets.UTF_8), InvoiceEvent.class);
      if (event != null && event.id() != null) return event;
    } catch (JsonParseException error) {
      // Not JSON, or not of this shape.
    }
    throw new Signature("The body is signed, but is no event.");
  }
}
