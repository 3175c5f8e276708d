package fatoura;

import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import fatoura.FatouraException.Refusal;
import java.util.List;
import java.util.Map;

/** Runs operations with one field. */
final class Graphql {
  static final String PATH = "/graphql";

  /** An error: in the result of a mutation, or in the extensions of an error of the answer. */
  private record Stated(String code, String message, String param, Integer status) {}

  private record GraphqlError(String message, Stated extensions) {}

  private record GraphqlAnswer(JsonElement data, List<GraphqlError> errors) {}

  private record Operation(String query, Map<String, Object> variables) {}

  private Graphql() {}

  /** Returns what the field has. */
  static <Value> Value run(
      Http http, String field, String query, Map<String, Object> variables, CallOptions options,
      boolean isRepeatable, Class<Value> type) {
    var call =
        new Http.Call(
            "POST", PATH, Map.of(), new Operation(query, variables), Map.of(), isRepeatable, options.timeout);
    Http.Answer<GraphqlAnswer> answer = http.send(call, GraphqlAnswer.class);
    String requestId = answer.header("request-id");
    List<GraphqlError> errors = answer.value().errors;
    if (errors != null && !errors.isEmpty()) {
      GraphqlError first = errors.get(0);
      throw refused(first.extensions, first.message, requestId);
    }
    JsonElement data = answer.value().data;
    JsonElement result = data instanceof JsonObject members ? members.get(field) : null;
    if (result == null || !result.isJsonObject()) throw new FatouraException("the answer has no " + field, null);
    if (result.getAsJsonObject().has("code") && result.getAsJsonObject().has("message")) {
      Stated stated = Json.GSON.fromJson(result, Stated.class);
      throw refused(stated, stated.message, requestId);
    }
    return Json.GSON.fromJson(result, type);
  }

  private static FatouraException refused(Stated stated, String message, String requestId) {
    if (stated == null) return FatouraException.of(new Refusal(null, message, null, 400, requestId, null));
    int status = stated.status == null ? 400 : stated.status;
    return FatouraException.of(new Refusal(stated.code, message, stated.param, status, requestId, null));
  }
}
