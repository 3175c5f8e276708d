// The examples of the reference; test/long/docs-examples.test.ts runs this file.
import fatoura.*;
import fatoura.Models.*;
import java.util.List;

class Examples {
  public static void main(String[] args) {
    // example setup
    // import fatoura.*; import fatoura.Models.*; import java.util.List;
    var fatoura = new Fatoura(System.getenv("FATOURA_KEY"));
    // end
    // example createInvoice
    var lines = List.of(LineInput.of("Conseil", 1, 10_000));
    var atlas = CustomerInput.of("001234567000089", "Atlas SARL");
    var created = fatoura.invoices()
        .create(CreateInvoice.of(12_000, "MAD", atlas, lines), new CallOptions().orderNumber("2005"));
    System.out.println(created.id() + " " + created.invoice().status());
    // end
    // example streamInvoice
    try (var changes = fatoura.invoices().follow(created.id())) {
      for (var message : changes) System.out.println(message.status());
    }
    // end
    // example readInvoice
    var invoice = fatoura.invoices().get(created.id());
    System.out.println(invoice.status() + " " + invoice.dgiId() + " " + invoice.pdfUrl());
    // end
    // example listInvoices
    for (var each : fatoura.invoices().list(new ListOptions().status(InvoiceStatus.ACCEPTED)))
      System.out.println(each.id() + " " + each.amount());
    // end
    // example createWebhookEndpoint
    var endpoint = fatoura.webhookEndpoints().create(CreateWebhookEndpoint.of(
        "https://example.com/hook", List.of(EventType.INVOICE_ACCEPTED, EventType.INVOICE_REJECTED)));
    // endpoint.secret().value() signs the deliveries: keep it, only this answer has it.
    System.out.println(endpoint.id());
    // end
    // example listWebhookEndpoints
    for (var each : fatoura.webhookEndpoints().list())
      System.out.println(each.url() + " " + each.active());
    // end
    // example updateWebhookEndpoint
    fatoura.webhookEndpoints().update(endpoint.id(), UpdateWebhookEndpoint.of().withActive(false));
    // end
    // example deleteWebhookEndpoint
    fatoura.webhookEndpoints().delete(endpoint.id());
    // end
  }
}
