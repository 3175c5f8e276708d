import java.time.OffsetDateTime;
import java.util.List;
import org.openapitools.client.ApiClient;
import org.openapitools.client.ApiException;
import org.openapitools.client.api.InvoicesApi;
import org.openapitools.client.api.WebhookEndpointsApi;
import org.openapitools.client.model.*;

/** Calls a running service with openapi-generator's Java client: URL and secret key as arguments. */
public class Client {
  public static void main(String[] arguments) throws Exception {
    ApiClient client = new ApiClient().setBasePath(arguments[0]);
    client.setBearerToken(arguments[1]);
    InvoicesApi invoices = new InvoicesApi(client);
    WebhookEndpointsApi endpoints = new WebhookEndpointsApi(client);

    CreatedInvoice created = invoices.createInvoice(wanted("001234567000062"), "java-1");
    check(created.getStatus() == InvoiceStatus.PENDING && created.getPdfUrl() == null, "created");
    check(created.getAmount() == 12_000_000_000_000L, "64 bits");
    check(created.getLines().get(0).getTaxRate() == 20 && created.getMetadata().isEmpty(), "defaults");
    var again = invoices.createInvoiceWithHttpInfo(wanted("001234567000062"), "java-1");
    check(again.getData().getId().equals(created.getId()), "replayed");
    check(again.getHeaders().get("idempotent-replayed").equals(List.of("true")), "Idempotent-Replayed");

    ApiClient reader = new ApiClient().setBasePath(arguments[0]);
    reader.setBearerToken(created.getClientSecret());
    String stream = new InvoicesApi(reader).streamInvoice(created.getId(), null, null);
    check(stream.contains("\"status\":\"accepted\""), "stream");
    Invoice invoice = invoices.readInvoice(created.getId(), null, null);
    check(invoice.getStatus() == InvoiceStatus.ACCEPTED && invoice.getDgiId() != null, "accepted");
    check(invoice.getPdfUrl() != null && invoice.getRejectionReason() == null, "documents");

    OffsetDateTime earlier = invoice.getCreatedAt().minusMinutes(1);
    InvoiceList page = invoices.listInvoices(InvoiceStatus.ACCEPTED, 100, null, null, earlier, null, null);
    check(page.getData().stream().anyMatch(each -> each.getId().equals(invoice.getId())), "listed");
    InvoiceList empty = invoices.listInvoices(null, null, null, null, OffsetDateTime.now().plusDays(1), null, null);
    check(empty.getData().isEmpty() && empty.getNextCursor() == null && !empty.getHasMore(), "an empty list");

    CreateWebhookEndpoint wanted = new CreateWebhookEndpoint().url(java.net.URI.create("https://example.com/hook"));
    CreatedWebhookEndpoint endpoint = endpoints.createWebhookEndpoint(wanted.addEventsItem(EventType.INVOICE_ACCEPTED));
    check(endpoint.getSecret().startsWith("whsec_") && endpoint.getDescription() == null, "endpoint created");
    WebhookEndpoint changed = endpoints.updateWebhookEndpoint(endpoint.getId(), new UpdateWebhookEndpoint().active(false));
    check(!changed.getActive(), "endpoint changed");
    check(endpoints.listWebhookEndpoints(null).getData().contains(changed), "endpoint listed");
    check(endpoints.deleteWebhookEndpoint(endpoint.getId()).getDeleted(), "endpoint deleted");

    refused(422, "invalid_ice", "customer.ice", () -> invoices.createInvoice(wanted("12"), null));
    refused(404, "resource_not_found", "id", () -> endpoints.deleteWebhookEndpoint(endpoint.getId()));
  }

  /** Without what may be left out: tax_rate, metadata, address and email. */
  private static CreateInvoice wanted(String ice) {
    LineInput line = new LineInput().description("Conseil").quantity(1L).unitPrice(10_000_000_000_000L);
    CustomerInput customer = new CustomerInput().ice(ice).name("Société Générale « Été »");
    return new CreateInvoice().amount(12_000_000_000_000L).currency(Currency.MAD).customer(customer).addLinesItem(line);
  }

  private interface Call {
    void run() throws ApiException;
  }

  private static void refused(int status, String code, String param, Call call) throws Exception {
    try {
      call.run();
    } catch (ApiException thrown) {
      ErrorDetail error = ErrorResponse.fromJson(thrown.getResponseBody()).getError();
      check(thrown.getCode() == status && error.getStatus() == status, "status " + status);
      check(error.getCode().equals(code) && param.equals(error.getParam()), code + ": " + error);
      return;
    }
    throw new AssertionError("not refused: " + code);
  }

  private static void check(boolean holds, String what) {
    if (!holds) throw new AssertionError(what);
  }
}
