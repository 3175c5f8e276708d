package fatoura;

import com.google.gson.JsonParseException;
import fatoura.FatouraException.Api;
import fatoura.FatouraException.Cancelled;
import fatoura.FatouraException.Connection;
import fatoura.FatouraException.Refusal;
import java.lang.reflect.Type;
import java.net.URI;
import java.net.URLEncoder;
import java.net.http.HttpClient;
import java.net.http.HttpHeaders;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandler;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.time.format.DateTimeFormatter;
import java.time.format.DateTimeParseException;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.UnaryOperator;
import java.util.stream.Collectors;

/** Sends requests, and repeats those that failed for a reason that passes. */
final class Http {
  /** The pause before the first repetition, and the longest one. Each is up to twice the one before. */
  private static final long FIRST_PAUSE_MS = 250;

  private static final long LONGEST_PAUSE_MS = 8000;

  /** A longer {@code Retry-After} is not waited for. */
  private static final Duration LONGEST_RETRY_AFTER = Duration.ofMinutes(1);

  /** Answers that say that a later attempt may succeed. */
  private static final Set<Integer> PASSING = Set.of(408, 429, 500, 502, 503, 504);

  private final UnaryOperator<HttpRequest.Builder> authorized;
  private final ClientOptions options;
  private final HttpClient client;

  /** @param isRepeatable whether a repetition does no harm */
  record Call(
      String method,
      String path,
      Map<String, String> query,
      Object body,
      Map<String, String> headers,
      boolean isRepeatable,
      Duration timeout) {
    static Call get(String path, CallOptions options) {
      return new Call("GET", path, including(options), null, Map.of(), true, options.timeout);
    }
  }

  record Answer<Value>(Value value, HttpHeaders headers) {
    String header(String name) {
      return headers.firstValue(name).orElse(null);
    }
  }

  Http(String key, ClientOptions options) {
    authorized = request -> request.setHeader("Authorization", "Bearer " + key);
    this.options = options;
    client =
        options.httpClient == null
            ? HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build()
            : options.httpClient;
  }

  /** Makes a call, and reads its answer as an object of the type. */
  <Value> Answer<Value> send(Call call, Type type) {
    long until = System.nanoTime() + (call.timeout == null ? options.timeout : call.timeout).toNanos();
    int retries = call.isRepeatable ? options.maxRetries : 0;
    for (int attempt = 1; ; attempt++) {
      try {
        return attempt(call, type, attempt, Duration.ofNanos(until - System.nanoTime()));
      } catch (Api | Connection error) {
        Duration pause = pauseBefore(error, attempt);
        if (attempt > retries || pause == null || pause.toNanos() >= until - System.nanoTime()) throw error;
        sleep(pause);
      }
    }
  }

  <Value> Value read(Call call, Class<Value> type) {
    return this.<Value>send(call, type).value;
  }

  /** Opens a stream of events; null if the answer is none. */
  EventStream open(String path, Map<String, String> headers, Duration limit) {
    Call call = new Call("GET", path, Map.of(), null, headers, false, null);
    var response =
        answered(call, "text/event-stream", BodyHandlers.ofPublisher(), shorter(limit, options.attemptTimeout));
    var stream = new EventStream(response.body());
    if (response.statusCode() != 200) {
      String text = stream.text(options.attemptTimeout);
      throw FatouraException.of(refusalOf(response.statusCode(), response.headers(), text));
    }
    if (response.headers().firstValue("content-type").orElse("").startsWith("text/event-stream")) return stream;
    stream.close();
    return null;
  }

  private <Value> Answer<Value> attempt(Call call, Type type, int attempt, Duration left) {
    long begun = System.nanoTime();
    int status = 0;
    String requestId = null;
    try {
      BodyHandler<String> texts = BodyHandlers.ofString(StandardCharsets.UTF_8);
      HttpResponse<String> response =
          answered(call, "application/json", texts, shorter(left, options.attemptTimeout));
      status = response.statusCode();
      requestId = response.headers().firstValue("request-id").orElse(null);
      if (status < 200 || status >= 300)
        throw FatouraException.of(refusalOf(status, response.headers(), response.body()));
      return new Answer<>(Json.GSON.fromJson(response.body(), type), response.headers());
    } catch (JsonParseException error) {
      throw new Connection(call.method + " " + call.path + ": no complete answer", error);
    } finally {
      Duration duration = Duration.ofNanos(System.nanoTime() - begun);
      options.onAttempt.accept(
          new ClientOptions.Attempt(call.method, call.path, attempt, status, requestId, duration));
    }
  }

  /** Waits for an answer, until it is complete as its handler sees it. */
  private <Body> HttpResponse<Body> answered(Call call, String accept, BodyHandler<Body> handler, Duration limit) {
    String what = call.method + " " + call.path + ": ";
    var sent = client.sendAsync(requestOf(call, accept), handler);
    try {
      return sent.get(Math.max(0, limit.toMillis()), TimeUnit.MILLISECONDS);
    } catch (TimeoutException error) {
      throw new Connection(what + "no complete answer within " + limit.toMillis() + " ms", error);
    } catch (ExecutionException error) {
      throw new Connection(what + "no complete answer", error.getCause());
    } catch (InterruptedException error) {
      throw interrupted(error);
    } finally {
      sent.cancel(true);
    }
  }

  private HttpRequest requestOf(Call call, String accept) {
    String query =
        call.query.entrySet().stream()
            .map(each -> each.getKey() + "=" + encoded(each.getValue()))
            .collect(Collectors.joining("&", call.query.isEmpty() ? "" : "?", ""));
    String address = options.baseUrl.replaceAll("/+$", "") + call.path + query;
    var body =
        call.body == null ? BodyPublishers.noBody() : BodyPublishers.ofString(Json.GSON.toJson(call.body));
    var request = authorized.apply(HttpRequest.newBuilder(URI.create(address))).method(call.method, body);
    request.setHeader("Accept", accept);
    if (call.body != null) request.setHeader("Content-Type", "application/json");
    call.headers.forEach(request::setHeader);
    return request.build();
  }

  static Map<String, String> including(CallOptions options) {
    return options.include.isEmpty() ? Map.of() : Map.of("include", String.join(",", options.include));
  }

  static String encoded(String text) {
    return URLEncoder.encode(text, StandardCharsets.UTF_8).replace("+", "%20");
  }

  static Duration shorter(Duration a, Duration b) {
    return a.compareTo(b) < 0 ? a : b;
  }

  static void sleep(Duration pause) {
    try {
      Thread.sleep(Math.max(0, pause.toMillis()));
    } catch (InterruptedException error) {
      throw interrupted(error);
    }
  }

  /** The interruption of a thread stays set. */
  static Cancelled interrupted(InterruptedException error) {
    Thread.currentThread().interrupt();
    return new Cancelled("the thread was interrupted", error);
  }

  private record ErrorAnswer(Models.ErrorDetail error) {}

  /** Reads a refusal. What is not from the service, such as a page of a proxy, has no code. */
  private static Refusal refusalOf(int status, HttpHeaders headers, String text) {
    String requestId = headers.firstValue("request-id").orElse(null);
    Duration retryAfter = headers.firstValue("retry-after").map(Http::retryAfterOf).orElse(null);
    try {
      ErrorAnswer answer = Json.GSON.fromJson(text, ErrorAnswer.class);
      if (answer != null && answer.error != null && answer.error.message() != null) {
        Models.ErrorDetail error = answer.error;
        return new Refusal(error.code(), error.message(), error.param(), status, requestId, retryAfter);
      }
    } catch (JsonParseException error) {
      // A page of a proxy.
    }
    return new Refusal(null, "The answer has status " + status + ".", null, status, requestId, retryAfter);
  }

  /** Reads {@code Retry-After}: a number of seconds or a date (RFC 9110, section 10.2.3); null if it is neither. */
  static Duration retryAfterOf(String text) {
    if (text.matches("\\d{1,9}")) return Duration.ofSeconds(Long.parseLong(text));
    try {
      Instant date = Instant.from(DateTimeFormatter.RFC_1123_DATE_TIME.parse(text));
      Duration left = Duration.between(Instant.now(), date);
      return left.isNegative() ? Duration.ZERO : left;
    } catch (DateTimeParseException error) {
      return null;
    }
  }

  /** How long a call pauses before its next attempt; null if a repetition would not help. */
  private static Duration pauseBefore(FatouraException error, int attempt) {
    long most = Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS << Math.min(attempt, 10));
    Duration pause = Duration.ofMillis(most / 2 + ThreadLocalRandom.current().nextLong(most / 2));
    if (!(error instanceof Api api)) return pause;
    if (!PASSING.contains(api.status())) return null;
    Duration stated = api.refusal().retryAfter();
    if (stated == null) return pause;
    if (stated.compareTo(LONGEST_RETRY_AFTER) > 0) return null;
    return stated.toMillis() < FIRST_PAUSE_MS ? Duration.ofMillis(FIRST_PAUSE_MS) : stated;
  }
}
