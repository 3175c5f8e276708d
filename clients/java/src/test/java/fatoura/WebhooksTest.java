package fatoura;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import fatoura.Models.EventType;
import java.nio.charset.StandardCharsets;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;
import org.junit.jupiter.api.Test;

class WebhooksTest {
  private static final String DELIVERY =
      "{\"id\":\"evt_1\",\"object\":\"event\",\"type\":\"invoice.accepted\",\"created\":1764000000,"
          + "\"data\":{\"id\":\"inv_1\"}}";

  private static Function<String, String> signed(String body, Instant at) {
    try {
      Mac mac = Mac.getInstance("HmacSHA256");
      mac.init(new SecretKeySpec("whsec_a".getBytes(StandardCharsets.UTF_8), "HmacSHA256"));
      byte[] code = mac.doFinal(bytes(at.getEpochSecond() + "." + body));
      String header = "t=" + at.getEpochSecond() + ",v1=" + HexFormat.of().formatHex(code);
      return Map.of("Service-Signature", header)::get;
    } catch (Exception error) {
      throw new IllegalStateException(error);
    }
  }

  private static byte[] bytes(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }

  @Test
  void aDeliveryOfNowIsVerified() {
    // Of a rotation, one variable of the environment is unset.
    var event = Webhooks.verify(bytes(DELIVERY), signed(DELIVERY, Instant.now()), null, "", "whsec_b", "whsec_a");
    assertEquals(
        List.of("evt_1", EventType.INVOICE_ACCEPTED, "inv_1"), List.of(event.id(), event.type(), event.data().id()));
  }

  @Test
  void theToleranceOfTimeIsFiveMinutesOrTheCallers() {
    var now = Instant.ofEpochSecond(1764000000);
    assertTrue(isTaken(now, 300, 300) && isTaken(now, -300, 300) && isTaken(now, 3540, 3600));
    assertTrue(!isTaken(now, 301, 300) && !isTaken(now, -301, 300) && !isTaken(now, 2, 1));
    Instant tooOld = Instant.now().minusSeconds(310);
    assertThrows(
        FatouraException.Signature.class,
        () -> Webhooks.verify(bytes(DELIVERY), signed(DELIVERY, tooOld), "whsec_a"));
  }

  private static boolean isTaken(Instant now, long ageSeconds, long toleranceSeconds) {
    var headers = signed(DELIVERY, now.minusSeconds(ageSeconds));
    var clock = Clock.fixed(now, ZoneOffset.UTC);
    try {
      Webhooks.verify(bytes(DELIVERY), headers, List.of("whsec_a"), Duration.ofSeconds(toleranceSeconds), clock);
      return true;
    } catch (FatouraException.Signature error) {
      return false;
    }
  }

  @Test
  void whatIsWrongWithADeliveryIsNamed() {
    var right = signed(DELIVERY, Instant.now());
    refused("read or parsed before", "", right, "whsec_a");
    refused("parsed and printed again", DELIVERY.replace(",", ", "), right, "whsec_a");
    refused("Service-Signature is missing", DELIVERY, name -> null, "whsec_a");
    refused("has no time", DELIVERY, name -> "v1=00", "whsec_a");
    refused("whsec_", DELIVERY, right);
    refused("whsec_", DELIVERY, right, "");
    refused("whsec_", DELIVERY, right, "whsec_a", "sk_test_1");
    refused("no event", "no JSON", signed("no JSON", Instant.now()), "whsec_a");
  }

  @Test
  void whatIsNullIsASignatureThatIsNotRight() {
    var right = signed(DELIVERY, Instant.now());
    refused("Service-Signature is missing", DELIVERY, null, "whsec_a");
    for (Duration wrong : new Duration[] {null, Duration.ofSeconds(-1)}) {
      var error =
          assertThrows(
              FatouraException.Signature.class,
              () -> Webhooks.verify(bytes(DELIVERY), right, List.of("whsec_a"), wrong, Clock.systemUTC()));
      assertTrue(error.getMessage().contains("tolerance"), error.getMessage());
    }
    assertThrows(FatouraException.Signature.class, () -> Webhooks.verify(null, right, "whsec_a"));
    assertThrows(
        FatouraException.Signature.class,
        () -> Webhooks.verify(bytes(DELIVERY), right, null, Duration.ofMinutes(5), Clock.systemUTC()));
  }

  private static void refused(String part, String body, Function<String, String> headers, String... secrets) {
    var error =
        assertThrows(FatouraException.Signature.class, () -> Webhooks.verify(bytes(body), headers, secrets));
    assertTrue(error.getMessage().contains(part) && !error.getMessage().contains("sk_test"), error.getMessage());
  }
}
