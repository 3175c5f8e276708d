package fatoura;

import com.google.gson.JsonArray;
import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.gson.JsonParseException;
import com.google.gson.JsonPrimitive;
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
import java.util.Map;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.UnaryOperator;
import java.util.stream.Collectors;

/** Sends requests, and repeats those that failed for a reason that passes. */
final class Http {
  private final UnaryOperator<HttpRequest.Builder> authorized;
  private final String baseUrl;
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

  /** An answer that may have a refusal though its status is 200. */
  interface Refusing {
    /** Null if it has none. */
    Refusal refusal(HttpHeaders headers);
  }

  record Answer<Value>(Value value, HttpHeaders headers) {
    String header(String name) {
      return headers.firstValue(name).orElse(null);
    }
  }

  /** @param baseUrl without a slash at its end */
  Http(String key, String baseUrl, ClientOptions options) {
    this.baseUrl = baseUrl;
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
    for (int attempt = 1; ; attempt++) {
      try {
        return attempt(call, type, attempt, Duration.ofNanos(until - System.nanoTime()));
      } catch (Api | Connection error) {
        Duration pause = Retries.pauseBefore(error, attempt);
        boolean mayRepeat = attempt <= options.maxRetries && (call.isRepeatable || Retries.isUndone(error));
        if (!mayRepeat || pause == null || pause.toNanos() >= until - System.nanoTime()) throw error;
        sleep(pause);
      }
    }
  }

  <Value> Value read(Call call, Class<Value> type) {
    return this.<Value>send(call, type).value;
  }

  /** How long a stream may be silent. */
  Duration longestSilence() {
    return options.longestSilence;
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
      Value value = valueOf(call, response.body(), type);
      Refusal refusal = value instanceof Refusing of ? of.refusal(response.headers()) : null;
      if (refusal != null) throw FatouraException.of(refusal);
      return new Answer<>(value, response.headers());
    } finally {
      Duration duration = Duration.ofNanos(System.nanoTime() - begun);
      options.onAttempt.accept(
          new ClientOptions.Attempt(call.method, call.path, attempt, status, requestId, duration));
    }
  }

  /** Reads the answer of a call. */
  private <Value> Value valueOf(Call call, String text, Type type) {
    String what = call.method + " " + call.path + ": the answer of " + baseUrl;
    JsonElement answer;
    try {
      answer = Json.GSON.fromJson(text, JsonElement.class);
    } catch (JsonParseException error) {
      throw new Connection(what + " is no JSON", error);
    }
    if (answer == null) throw new Connection(what + " is empty", null);
    if (!(answer instanceof JsonObject object) || !isExpected(call.method + " " + call.path, object))
      throw new Connection(what + " is not from the service: is baseUrl right?", null, true);
    try {
      return Json.GSON.fromJson(answer, type);
    } catch (JsonParseException error) {
      throw new Connection(what + " is not what it should be", error);
    }
  }

  /** Whether an answer is what the request asks for. REST names the type of each object. */
  private static boolean isExpected(String request, JsonObject answer) {
    JsonElement data = answer.get("data");
    if (request.equals("POST " + Graphql.PATH))
      return data instanceof JsonObject || answer.get("errors") instanceof JsonArray;
    String type = answer.get("object") instanceof JsonPrimitive object ? object.getAsString() : "";
    if (request.matches("GET /v1/\\w+")) return type.equals("list") && data instanceof JsonArray;
    return type.equals(request.contains(" /v1/invoices") ? "invoice" : "webhook_endpoint");
  }

  /** Waits for an answer, until it is complete as its handler sees it. */
  private <Body> HttpResponse<Body> answered(Call call, String accept, BodyHandler<Body> handler, Duration limit) {
    String what = call.method + " " + call.path + ": no complete answer from " + baseUrl;
    var sent = client.sendAsync(requestOf(call, accept), handler);
    try {
      return sent.get(Math.max(0, limit.toMillis()), TimeUnit.MILLISECONDS);
    } catch (TimeoutException error) {
      throw new Connection(what + " within " + limit.toMillis() + " ms", error);
    } catch (ExecutionException error) {
      Throwable cause = error.getCause();
      throw new Connection(what + " (" + textOf(cause) + ")", cause, Retries.isOfTls(cause));
    } catch (InterruptedException error) {
      throw interrupted(error);
    } finally {
      sent.cancel(true);
    }
  }

  /** What a failure says: its message, or that of its cause, or its kind. */
  private static String textOf(Throwable failure) {
    for (Throwable cause = failure; cause != null; cause = cause.getCause())
      if (cause.getMessage() != null) return cause.getMessage();
    return failure.getClass().getSimpleName();
  }

  private HttpRequest requestOf(Call call, String accept) {
    String query =
        call.query.entrySet().stream()
            .map(each -> each.getKey() + "=" + encoded(each.getValue()))
            .collect(Collectors.joining("&", call.query.isEmpty() ? "" : "?", ""));
    String address = baseUrl + call.path + query;
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
    Duration retryAfter = Retries.retryAfterOf(headers);
    try {
      ErrorAnswer answer = Json.GSON.fromJson(text, ErrorAnswer.class);
      if (answer != null && answer.error != null && answer.error.message() != null) {
        Models.ErrorDetail error = answer.error;
        return new Refusal(error.code(), error.message(), error.param(), status, requestId, retryAfter);
      }
    } catch (JsonParseException error) {
      // A page of a proxy.
    }
    return new Refusal(null, statementOf(status, headers), null, status, requestId, retryAfter);
  }

  /** Says what was answered instead of an error of the service. */
  private static String statementOf(int status, HttpHeaders headers) {
    String said = "The answer has status " + status;
    // The query may have data of customers.
    String leadsTo = headers.firstValue("location").orElse("").split("\\?", 2)[0];
    return said + (leadsTo.isEmpty() ? "." : " and leads to " + leadsTo + ": is baseUrl right?");
  }
}
