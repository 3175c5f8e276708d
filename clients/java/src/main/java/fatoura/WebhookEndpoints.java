package fatoura;

import fatoura.Models.CreateWebhookEndpoint;
import fatoura.Models.CreatedWebhookEndpoint;
import fatoura.Models.DeletedWebhookEndpoint;
import fatoura.Models.UpdateWebhookEndpoint;
import fatoura.Models.WebhookEndpoint;
import fatoura.Models.WebhookEndpointList;
import java.util.List;
import java.util.Map;

/** The addresses that events are delivered to. */
public final class WebhookEndpoints {
  private static final String PATH = "/v1/webhook_endpoints";

  private final Http http;

  WebhookEndpoints(Http http) {
    this.http = http;
  }

  /**
   * Creates an endpoint. Its {@code secret} is shown only here. The call is repeated only after a 429: if its answer
   * is lost, list the endpoints, delete the new one, and create it again.
   */
  public CreatedWebhookEndpoint create(CreateWebhookEndpoint endpoint) {
    return send("POST", PATH, endpoint, CreatedWebhookEndpoint.class);
  }

  /** All endpoints of the key's environment, at most 16. */
  public List<WebhookEndpoint> list() {
    return send("GET", PATH, null, WebhookEndpointList.class).data();
  }

  public WebhookEndpoint update(String id, UpdateWebhookEndpoint change) {
    return send("PATCH", PATH + "/" + Http.encoded(id), change, WebhookEndpoint.class);
  }

  public DeletedWebhookEndpoint delete(String id) {
    return send("DELETE", PATH + "/" + Http.encoded(id), null, DeletedWebhookEndpoint.class);
  }

  private <Value> Value send(String method, String path, Object body, Class<Value> type) {
    boolean isRepeatable = !method.equals("POST");
    return http.read(new Http.Call(method, path, Map.of(), body, Map.of(), isRepeatable, null), type);
  }
}
