// The examples of the reference; test/long/docs-examples.test.ts runs this file.
package main

import (
	"context"
	"fmt"
	"os"

	"fatoura.example/fatoura"
)

func main() {
	// example setup
	ctx := context.Background()
	client := fatoura.Must(fatoura.New(os.Getenv("FATOURA_KEY"), fatoura.Options{}))
	// end
	// example createInvoice
	created := fatoura.Must(client.Invoices.Create(ctx, fatoura.CreateInvoice{
		Amount:   12_000,
		Currency: "MAD",
		Customer: fatoura.CustomerInput{ICE: "001234567000089", Name: "Atlas SARL"},
		Lines:    []fatoura.LineInput{{Description: "Conseil", Quantity: 1, UnitPrice: 10_000}},
	}, fatoura.OrderNumber("2006")))
	fmt.Println(created.ID, created.Status)
	// end
	// example streamInvoice
	for message, err := range client.Invoices.Follow(ctx, created.ID) {
		if err != nil {
			panic(err)
		}
		fmt.Println(message.Status)
	}
	// end
	// example readInvoice
	invoice := fatoura.Must(client.Invoices.Get(ctx, created.ID))
	fmt.Println(invoice.Status, *invoice.DGIID, *invoice.PDFURL)
	// end
	// example listInvoices
	for each, err := range client.Invoices.List(ctx, fatoura.ListOptions{Status: fatoura.InvoiceStatusAccepted}) {
		if err != nil {
			panic(err)
		}
		fmt.Println(each.ID, each.Amount)
	}
	// end
	// example createWebhookEndpoint
	endpoint := fatoura.Must(client.WebhookEndpoints.Create(ctx, fatoura.CreateWebhookEndpoint{
		URL:    "https://example.com/hook",
		Events: []fatoura.EventType{fatoura.EventTypeInvoiceAccepted, fatoura.EventTypeInvoiceRejected},
	}))
	// string(endpoint.Secret) signs the deliveries: keep it, only this answer has it.
	fmt.Println(endpoint.ID)
	// end
	// example listWebhookEndpoints
	for _, each := range fatoura.Must(client.WebhookEndpoints.List(ctx)) {
		fmt.Println(each.URL, each.Active)
	}
	// end
	// example updateWebhookEndpoint
	fatoura.Must(client.WebhookEndpoints.Update(ctx, endpoint.ID, fatoura.UpdateWebhookEndpoint{Active: fatoura.Ptr(false)}))
	// end
	// example deleteWebhookEndpoint
	fatoura.Must(client.WebhookEndpoints.Delete(ctx, endpoint.ID))
	// end
}
