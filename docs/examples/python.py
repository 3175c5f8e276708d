# The examples of the reference; test/long/docs-examples.test.ts runs this file.
# example setup
import os

from fatoura import Fatoura

fatoura = Fatoura(os.environ["FATOURA_KEY"], base_url=os.environ["FATOURA_URL"])
# end
# example createInvoice
created = fatoura.invoices.create(
    {
        "amount": 12_000,
        "currency": "MAD",
        "customer": {"ice": "001234567000089", "name": "Atlas SARL"},
        "lines": [{"description": "Conseil", "quantity": 1, "unit_price": 10_000}],
    },
    order_number="2003",
)
print(created["id"], created["status"])
# end
# example streamInvoice
for message in fatoura.invoices.follow(created["id"]):
    print(message["status"])
# end
# example readInvoice
invoice = fatoura.invoices.get(created["id"])
print(invoice["status"], invoice["dgi_id"], invoice["pdf_url"])
# end
# example listInvoices
for each in fatoura.invoices.list(status="accepted"):
    print(each["id"], each["amount"])
# end
# example createWebhookEndpoint
endpoint = fatoura.webhook_endpoints.create(
    {"url": "https://example.com/hook", "events": ["invoice.accepted", "invoice.rejected"]}
)
# endpoint["secret"] signs the deliveries: keep it, only this answer has it.
print(endpoint["id"])
# end
# example listWebhookEndpoints
for each in fatoura.webhook_endpoints.list():
    print(each["url"], each["active"])
# end
# example updateWebhookEndpoint
fatoura.webhook_endpoints.update(endpoint["id"], {"active": False})
# end
# example deleteWebhookEndpoint
fatoura.webhook_endpoints.delete(endpoint["id"])
# end
