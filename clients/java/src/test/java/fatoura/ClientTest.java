package fatoura;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import fatoura.ClientOptions.Attempt;
import fatoura.Models.CreatedWebhookEndpoint;
import fatoura.Models.UpdateWebhookEndpoint;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.http.HttpClient;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.SubmissionPublisher;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class ClientTest {
  private HttpServer server;

  @BeforeEach
  void start() throws IOException {
    server = HttpServer.create(new InetSocketAddress("127.0.0.1", 0), 0);
    server.start();
  }

  @AfterEach
  void stop() {
    server.stop(0);
  }

  @Test
  void aKeyMayEndWithALineBreakAndOneWithOtherCharactersIsRefused() {
    ClientOptions options = new ClientOptions().baseUrl("http://localhost");
    new Fatoura("sk_test_hidden\n", options);
    for (String wrong : List.of("sk_test_hidden\r\nX-Other: 1", "sk_test_hidden x", "sk_test_hidden\u00e9")) {
      var error = assertThrows(IllegalArgumentException.class, () -> new Fatoura(wrong, options));
      assertFalse(error.getMessage().contains("hidden"));
    }
  }

  private interface Handler {
    void handle(HttpExchange exchange) throws Exception;
  }

  private Fatoura client(ClientOptions options, Handler handler) {
    server.createContext(
        "/",
        exchange -> {
          try (exchange) {
            handler.handle(exchange);
          } catch (IOException error) {
            throw error;
          } catch (Exception error) {
            throw new IllegalStateException(error);
          }
        });
    return new Fatoura("sk_test_hidden", options.baseUrl("http://127.0.0.1:" + server.getAddress().getPort() + "/"));
  }

  private static void answer(HttpExchange exchange, int status, String body) throws IOException {
    byte[] bytes = body.getBytes(StandardCharsets.UTF_8);
    exchange.getResponseHeaders().set("Request-Id", "req_1");
    exchange.sendResponseHeaders(status, bytes.length);
    exchange.getResponseBody().write(bytes);
  }

  @Test
  void noPrintOfAClientOrAnAnswerHasASecret() {
    var secret = new Secret("whsec_hidden");
    var answer = new CreatedWebhookEndpoint("we_1", "webhook_endpoint", "https://a", List.of(), null, true, null, secret);
    String shown = answer + " " + new Fatoura("sk_test_hidden", new ClientOptions().baseUrl("http://localhost"));
    assertFalse(shown.contains("hidden"), shown);
    // A page of the caller may need it.
    assertTrue(Json.GSON.toJson(answer).contains("whsec_hidden"));
  }

  @Test
  void aKeyOrAnOrderNumberThatIsNullOrBlankIsRefused() {
    for (String text : new String[] {null, "", "  ", "\t\u00a0\u200f"}) {
      var options = new CallOptions();
      var ofNumber = assertThrows(IllegalArgumentException.class, () -> options.orderNumber(text));
      assertTrue(ofNumber.getMessage().startsWith("orderNumber is null or blank"), ofNumber.getMessage());
      var ofKey = assertThrows(IllegalArgumentException.class, () -> options.idempotencyKey(text));
      assertTrue(ofKey.getMessage().contains("leave it out"), ofKey.getMessage());
    }
    for (String half : List.of("7\ud83d", "\ude00")) {
      var options = new CallOptions();
      var error = assertThrows(IllegalArgumentException.class, () -> options.orderNumber(half));
      assertTrue(error.getMessage().contains("half of a character"), error.getMessage());
      assertThrows(IllegalArgumentException.class, () -> options.idempotencyKey(half));
    }
    assertEquals("order %F0%9F%98%80", new CallOptions().orderNumber("\ud83d\ude00").key());
    assertEquals("order 77 %0A", new CallOptions().orderNumber("77 \n").key());
    assertEquals("order %2077%20", new CallOptions().orderNumber(" 77 ").key());
  }

  @Test
  void theKeyIsTakenWhereBothAreStatedInEitherOrder() {
    for (var options :
        List.of(
            new CallOptions().orderNumber("77").idempotencyKey("order 77 again"),
            new CallOptions().idempotencyKey("order 77 again").orderNumber("77"))) {
      assertEquals("order 77 again", options.key());
      assertThrows(IllegalArgumentException.class, options::keyOfCorrection);
    }
  }

  @Test
  void anInterruptedCallEndsAtOnceAsCancelled() {
    Thread caller = Thread.currentThread();
    var client =
        client(
            new ClientOptions(),
            exchange -> {
              caller.interrupt();
              Thread.sleep(2000);
            });
    assertThrows(FatouraException.Cancelled.class, () -> client.invoices().get("inv_1"));
    assertTrue(Thread.interrupted());
  }

  @Test
  void aTimeoutOfFollowIsAConnection() {
    var client = client(new ClientOptions(), exchange -> exchange.sendResponseHeaders(503, -1));
    long begun = System.nanoTime();
    var options = new CallOptions().timeout(Duration.ofMillis(600));
    assertThrows(FatouraException.Connection.class, () -> client.invoices().settled("inv_1", options));
    assertTrue(System.nanoTime() - begun < Duration.ofSeconds(2).toNanos());
  }

  @Test
  void aRedirectionIsRefused() {
    var client =
        client(
            new ClientOptions(),
            exchange -> {
              assertEquals("/v1/invoices/inv_1", exchange.getRequestURI().getPath());
              exchange.getResponseHeaders().set("Location", "/elsewhere");
              exchange.sendResponseHeaders(302, -1);
            });
    var error = assertThrows(FatouraException.Api.class, () -> client.invoices().get("inv_1"));
    assertEquals(302, error.status());
  }

  @Test
  void anHttpClientThatFollowsRedirectionsIsRefused() {
    var follows = HttpClient.newBuilder().followRedirects(HttpClient.Redirect.NORMAL).build();
    var options = new ClientOptions().baseUrl("http://localhost").httpClient(follows);
    assertThrows(IllegalArgumentException.class, () -> new Fatoura("sk_test_hidden", options));
  }

  @Test
  void eachAttemptIsToldWithoutItsQuery() {
    var told = new ArrayList<Attempt>();
    var options = new ClientOptions().onAttempt(told::add);
    var client = client(options, exchange -> answer(exchange, told.isEmpty() ? 502 : 200, "{\"object\":\"list\",\"data\":[]}"));
    assertNull(client.invoices().findByNumber("FA-1"));
    assertEquals(
        List.of("GET /v1/invoices 1 502 req_1", "GET /v1/invoices 2 200 req_1"),
        told.stream()
            .map(of -> String.join(" ", of.method(), of.path(), of.attempt() + " " + of.status(), of.requestId()))
            .toList());
  }

  @Test
  void changesStateOnlyWhatTheyChange() {
    var change = UpdateWebhookEndpoint.of();
    assertEquals("{}", Json.GSON.toJson(change));
    assertEquals(
        "{\"description\":null,\"active\":false}", Json.GSON.toJson(change.withoutDescription().withActive(false)));
    assertEquals("{\"description\":\"b\"}", Json.GSON.toJson(change.withDescription("b")));
  }

  @Test
  void retryAfterIsSecondsOrADate() {
    assertEquals(Duration.ofSeconds(30), Retries.retryAfterOf("30"));
    assertEquals(Duration.ZERO, Retries.retryAfterOf("Wed, 21 Oct 2015 07:28:00 GMT"));
    assertNull(Retries.retryAfterOf("soon"));
  }

  @Test
  void streamsAreReadWithEachEndOfLine() {
    var shown = new StringBuilder();
    var body = new SubmissionPublisher<List<ByteBuffer>>();
    try (var stream = new EventStream(body)) {
      // Each part may end between CR and LF, or within a letter.
      byte[] bytes =
          "id: 1\rdata: é\r\r: alive\n\nid:2\r\ndata: b\r\ndata:c\r\n\r\ndata: cut".getBytes(StandardCharsets.UTF_8);
      for (byte each : bytes) body.submit(List.of(ByteBuffer.wrap(new byte[] {each})));
      body.close();
      for (var event = stream.next(Duration.ofSeconds(5)); event != null; event = stream.next(Duration.ofSeconds(5)))
        shown.append(event.data() == null ? "alive " : event.id() + "=" + event.data().replace('\n', '|') + " ");
    }
    assertEquals("1=é alive 2=b|c ", shown.toString());
  }
}
