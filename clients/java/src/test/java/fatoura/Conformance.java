package fatoura;

import com.google.gson.Gson;
import com.google.gson.JsonArray;
import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import fatoura.Drafts.Draft;
import fatoura.Invoices.CreditInput;
import fatoura.Models.CreateInvoice;
import fatoura.Models.CreateWebhookEndpoint;
import fatoura.Models.LineInput;
import fatoura.Models.UpdateWebhookEndpoint;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.function.BiFunction;

/** Runs the calls of the conformance suite (clients/conformance/README.md). */
final class Conformance {
  private static final Gson GSON = Json.GSON.newBuilder().serializeNulls().create();
  private static final ExecutorService THREADS = Executors.newCachedThreadPool();

  private static final Map<String, BiFunction<Fatoura, JsonArray, Object>> CALLS =
      Map.ofEntries(
          Map.entry("invoices.create", Conformance::created),
          Map.entry("invoices.get", (client, args) -> client.invoices().get(text(args, 0), options(args, 1))),
          Map.entry("invoices.list", (client, args) -> client.invoices().list(listOptions(args)).stream().toList()),
          Map.entry("invoices.findByNumber", (client, args) -> client.invoices().findByNumber(text(args, 0))),
          Map.entry("invoices.follow", Conformance::followed),
          Map.entry("invoices.settled", (client, args) -> client.invoices().settled(text(args, 0), options(args, 1))),
          Map.entry(
              "invoices.credit",
              (client, args) ->
                  client.invoices().credit(text(args, 0), as(args, 1, CreditInput.class), options(args, 2))),
          Map.entry("invoices.replace", Conformance::replaced),
          Map.entry("drafts.create", (client, args) -> client.drafts().create(members(args, 0))),
          Map.entry("drafts.get", (client, args) -> client.drafts().get(text(args, 0))),
          Map.entry(
              "drafts.update",
              (client, args) -> client.drafts().update(as(args, 0, Draft.class), members(args, 1))),
          Map.entry("drafts.issue", (client, args) -> client.drafts().issue(as(args, 0, Draft.class))),
          Map.entry("drafts.delete", Conformance::deleted),
          Map.entry(
              "webhookEndpoints.create",
              (client, args) -> client.webhookEndpoints().create(as(args, 0, CreateWebhookEndpoint.class))),
          Map.entry("webhookEndpoints.list", (client, args) -> client.webhookEndpoints().list()),
          Map.entry(
              "webhookEndpoints.update",
              (client, args) ->
                  client.webhookEndpoints().update(text(args, 0), as(args, 1, UpdateWebhookEndpoint.class))),
          Map.entry("webhookEndpoints.delete", (client, args) -> client.webhookEndpoints().delete(text(args, 0))),
          Map.entry("webhooks.verify", Conformance::verified),
          Map.entry("amounts.centimes", (client, args) -> Amounts.centimes(text(args, 0))),
          Map.entry("amounts.dirhams", (client, args) -> Amounts.dirhams(args.get(0).getAsLong())),
          Map.entry("amounts.totals", (client, args) -> Amounts.totals(List.of(as(args, 0, LineInput[].class)))));

  private Conformance() {}

  public static void main(String[] args) throws IOException {
    var input = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    var output = new PrintStream(System.out, true, StandardCharsets.UTF_8);
    for (String line = input.readLine(); line != null; line = input.readLine())
      output.println(GSON.toJson(run(JsonParser.parseString(line).getAsJsonObject())));
    THREADS.shutdown();
  }

  private static JsonObject run(JsonObject call) {
    var result = new JsonObject();
    JsonArray args = call.getAsJsonArray("args");
    String name = call.get("call").getAsString();
    try {
      Object value = name.equals("many") ? runAll(args) : CALLS.get(name).apply(clientOf(call), args);
      result.add("ok", GSON.toJsonTree(value));
    } catch (FatouraException error) {
      result.add("error", GSON.toJsonTree(shown(error)));
    } catch (IllegalArgumentException | ArithmeticException error) {
      result.add("error", GSON.toJsonTree(Map.of("class", "ArgumentError", "message", error.getMessage())));
    }
    return result;
  }

  private static List<JsonObject> runAll(JsonArray args) {
    List<Future<JsonObject>> running = new ArrayList<>();
    for (JsonElement each : args.get(0).getAsJsonArray()) running.add(THREADS.submit(() -> run(each.getAsJsonObject())));
    return running.stream().map(Conformance::wait).toList();
  }

  private static JsonObject wait(Future<JsonObject> result) {
    try {
      return result.get();
    } catch (Exception error) {
      throw new IllegalStateException(error);
    }
  }

  private static Fatoura clientOf(JsonObject call) {
    var options = new ClientOptions();
    var given = Optional.ofNullable(call.getAsJsonObject("options")).orElseGet(JsonObject::new);
    if (given.has("attemptTimeoutMs")) options.attemptTimeout(milliseconds(given, "attemptTimeoutMs"));
    if (given.has("timeoutMs")) options.timeout(milliseconds(given, "timeoutMs"));
    if (given.has("maxRetries")) options.maxRetries(given.get("maxRetries").getAsInt());
    if (given.has("silenceMs")) options.longestSilence = milliseconds(given, "silenceMs");
    if (given.has("baseUrl")) options.baseUrl(given.get("baseUrl").getAsString());
    return new Fatoura(given.has("key") ? given.get("key").getAsString() : System.getenv("FATOURA_KEY"), options);
  }

  private static JsonObject created(Fatoura client, JsonArray args) {
    CreateInvoice invoice = as(args, 0, CreateInvoice.class);
    var unknown = args.get(0).getAsJsonObject().deepCopy();
    Json.GSON.toJsonTree(invoice).getAsJsonObject().keySet().forEach(unknown::remove);
    var creation = client.invoices().create(invoice, options(args, 1).further(unknown.asMap()));
    JsonObject shown = GSON.toJsonTree(creation.invoice()).getAsJsonObject();
    shown.addProperty("replayed", creation.replayed());
    return shown;
  }

  private static Object followed(Fatoura client, JsonArray args) {
    var messages = new ArrayList<Object>();
    try (Following changes = client.invoices().follow(text(args, 0), options(args, 1))) {
      changes.forEachRemaining(messages::add);
    }
    return messages;
  }

  private static Object replaced(Fatoura client, JsonArray args) {
    JsonObject given = args.get(2).getAsJsonObject();
    String note = given.has("note") ? given.get("note").getAsString() : null;
    String reason = given.get("reason").getAsString();
    return client.invoices().replace(text(args, 0), members(args, 1), reason, note, options(args, 2));
  }

  private static Object deleted(Fatoura client, JsonArray args) {
    client.drafts().delete(as(args, 0, Draft.class));
    return null;
  }

  private static Object verified(Fatoura client, JsonArray args) {
    JsonObject headers = args.get(1).getAsJsonObject();
    JsonObject options = args.get(3).getAsJsonObject();
    var clock = Clock.fixed(Instant.ofEpochMilli(options.get("now").getAsLong()), ZoneOffset.UTC);
    return Webhooks.verify(
        bodyOf(args.get(0)),
        name -> headers.has(name) ? headers.get(name).getAsString() : null,
        textsOf(args.get(2)),
        options.has("toleranceMs") ? milliseconds(options, "toleranceMs") : Duration.ofMinutes(5),
        clock);
  }

  /** The text that an argument is; of an object what a program prints that has parsed it. */
  private static byte[] bodyOf(JsonElement argument) {
    String body = argument.isJsonObject() ? argument.toString().replace(":", ": ") : argument.getAsString();
    return body.getBytes(StandardCharsets.UTF_8);
  }

  private static List<String> textsOf(JsonElement argument) {
    if (!argument.isJsonArray()) return List.of(argument.getAsString());
    return argument.getAsJsonArray().asList().stream().map(JsonElement::getAsString).toList();
  }

  private static String text(JsonArray args, int nth) {
    return args.get(nth).getAsString();
  }

  private static <Value> Value as(JsonArray args, int nth, Class<Value> type) {
    return Json.GSON.fromJson(args.get(nth), type);
  }

  private static Map<String, JsonElement> members(JsonArray args, int nth) {
    return args.get(nth).getAsJsonObject().asMap();
  }

  private static CallOptions options(JsonArray args, int nth) {
    var options = new CallOptions();
    JsonObject given = args.size() > nth ? args.get(nth).getAsJsonObject() : new JsonObject();
    // Where both are stated, the key is not the last one.
    if (given.has("idempotencyKey")) options.idempotencyKey(given.get("idempotencyKey").getAsString());
    if (given.has("orderNumber")) options.orderNumber(given.get("orderNumber").getAsString());
    if (given.has("timeoutMs")) options.timeout(milliseconds(given, "timeoutMs"));
    if (given.has("include")) options.include(textsOf(given.get("include")).toArray(String[]::new));
    return options;
  }

  private static ListOptions listOptions(JsonArray args) {
    var options = new ListOptions();
    JsonObject given = args.size() > 0 ? args.get(0).getAsJsonObject() : new JsonObject();
    if (given.has("status")) options.status(given.get("status").getAsString());
    if (given.has("customer_ice")) options.customerIce(given.get("customer_ice").getAsString());
    if (given.has("starting_after")) options.startingAfter(given.get("starting_after").getAsString());
    if (given.has("ending_before")) options.endingBefore(given.get("ending_before").getAsString());
    if (given.has("limit")) options.limit(given.get("limit").getAsInt());
    return options;
  }

  private static Duration milliseconds(JsonObject of, String name) {
    return Duration.ofMillis(of.get(name).getAsLong());
  }

  private static JsonObject shown(FatouraException error) {
    var shown = new JsonObject();
    shown.addProperty("class", error.getClass().getSimpleName() + "Error");
    shown.addProperty("message", error.getMessage());
    shown.addProperty("idempotencyKey", error.idempotencyKey());
    if (error instanceof FatouraException.Api api) {
      shown.addProperty("code", api.code());
      shown.addProperty("param", api.param());
      shown.addProperty("status", api.status());
      shown.addProperty("hasRequestId", api.requestId() != null);
    }
    return shown;
  }
}
