package fatoura;

import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import fatoura.FatouraException.Refusal;
import java.net.http.HttpHeaders;
import java.time.Duration;
import java.util.List;
import java.util.Map;

/** Runs operations with one field. */
final class Graphql {
  static final String PATH = "/graphql";

  /** An error: in the result of a mutation, or in the extensions of an error of the answer. */
  private record Stated(String code, String message, String param, Integer status) {}

  private record GraphqlError(String message, Stated extensions) {}

  private record GraphqlAnswer(JsonElement data, List<GraphqlError> errors) implements Http.Refusing {
    @Override
    public Refusal refusal(HttpHeaders headers) {
      if (errors != null && !errors.isEmpty()) return refused(errors.get(0).extensions, errors.get(0).message, headers);
      // The operation has one field.
      if (!(data instanceof JsonObject fields)) return null;
      for (JsonElement result : fields.asMap().values())
        if (result instanceof JsonObject members && members.has("code") && members.has("message")) {
          Stated stated = Json.GSON.fromJson(result, Stated.class);
          return refused(stated, stated.message, headers);
        }
      return null;
    }
  }

  private record Operation(String query, Map<String, Object> variables) {}

  private Graphql() {}

  /** Returns what the field has. */
  static <Value> Value run(
      Http http, String field, String query, Map<String, Object> variables, CallOptions options,
      boolean isRepeatable, Class<Value> type) {
    var call =
        new Http.Call(
            "POST", PATH, Map.of(), new Operation(query, variables), Map.of(), isRepeatable, options.timeout);
    JsonElement data = http.read(call, GraphqlAnswer.class).data;
    JsonElement result = data instanceof JsonObject members ? members.get(field) : null;
    if (result == null || !result.isJsonObject()) throw new FatouraException("the answer has no " + field, null);
    return Json.GSON.fromJson(result, type);
  }

  private static Refusal refused(Stated stated, String message, HttpHeaders headers) {
    String requestId = headers.firstValue("request-id").orElse(null);
    Duration retryAfter = Retries.retryAfterOf(headers);
    if (stated == null) return new Refusal(null, message, null, 400, requestId, retryAfter);
    int status = stated.status == null ? 400 : stated.status;
    return new Refusal(stated.code, message, stated.param, status, requestId, retryAfter);
  }
}
