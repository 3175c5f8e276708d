"""Calls a running service with openapi-generator's Python client: URL and secret key as arguments."""

import sys
from datetime import datetime, timedelta, timezone

import openapi_client as fatoura

url, key = sys.argv[1:]
client = fatoura.ApiClient(fatoura.Configuration(host=url, access_token=key))
invoices = fatoura.InvoicesApi(client)
endpoints = fatoura.WebhookEndpointsApi(client)


def wanted() -> fatoura.CreateInvoice:
    """Without what may be left out: tax_rate, metadata, address and email."""
    line = fatoura.LineInput(description="Conseil", quantity=1, unit_price=10000)
    customer = fatoura.CustomerInput(ice="001234567000062", name="Société Générale « Été »")
    return fatoura.CreateInvoice(amount=12000, currency=fatoura.Currency.MAD, customer=customer, lines=[line])


created = invoices.create_invoice(wanted(), idempotency_key="python-1")
assert created.status is fatoura.InvoiceStatus.PENDING and created.pdf_url is None
assert created.lines[0].tax_rate == 20 and created.metadata == {}
again = invoices.create_invoice_with_http_info(wanted(), idempotency_key="python-1")
assert again.data.id == created.id and (again.headers or {})["Idempotent-Replayed"] == "true"

secret = created.client_secret
reader = fatoura.InvoicesApi(fatoura.ApiClient(fatoura.Configuration(host=url, access_token=secret)))
assert '"status":"accepted"' in reader.stream_invoice(created.id)
invoice = reader.read_invoice(created.id)
assert invoice.status is fatoura.InvoiceStatus.ACCEPTED and invoice.dgi_id is not None
assert invoice.pdf_url is not None and invoice.rejection_reason is None
assert abs(datetime.now(timezone.utc) - invoice.created_at) < timedelta(minutes=5)

page = invoices.list_invoices(status=fatoura.InvoiceStatus.ACCEPTED, limit=100, created_after=invoice.created_at - timedelta(minutes=1))
assert invoice.id in [each.id for each in page.data] and page.next_cursor == page.data[-1].id
empty = invoices.list_invoices(created_after=datetime.now(timezone.utc) + timedelta(days=1))
assert empty.data == [] and empty.next_cursor is None and not empty.has_more

endpoint = endpoints.create_webhook_endpoint(
    fatoura.CreateWebhookEndpoint(url="https://example.com/hook", events=[fatoura.EventType.INVOICE_DOT_ACCEPTED])
)
assert endpoint.secret.startswith("whsec_") and endpoint.description is None
changed = endpoints.update_webhook_endpoint(endpoint.id, fatoura.UpdateWebhookEndpoint(active=False))
assert changed.active is False
assert endpoint.id in [each.id for each in endpoints.list_webhook_endpoints().data]
assert endpoints.delete_webhook_endpoint(endpoint.id).deleted

try:
    # As it would be without the client's own checks.
    refused = fatoura.CustomerInput.model_construct(ice="12", name="X")
    invoices.create_invoice(wanted().model_copy(update={"customer": refused}))
    raise AssertionError("an ICE of two digits is taken")
except fatoura.ApiException as error:
    assert isinstance(error.data, fatoura.ErrorResponse) and error.status == 422
    assert error.data.error.code == "invalid_ice" and error.data.error.param == "customer.ice"
try:
    endpoints.delete_webhook_endpoint(endpoint.id)
    raise AssertionError("an endpoint is deleted twice")
except fatoura.exceptions.NotFoundException as missing:
    assert isinstance(missing.data, fatoura.ErrorResponse)
    assert missing.data.error.code == "resource_not_found" and missing.data.error.param == "id"
