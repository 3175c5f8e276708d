# The examples of the reference; test/api/docs-examples.test.ts runs this file. KEY is a secret test key.
set -eu
# example setup
BASE=http://localhost:3000   # the address of your service
# KEY is your secret test key: sk_test_…
# end
answer=$(
# example createInvoice
curl -s "$BASE/v1/invoices" -H "Authorization: Bearer $KEY" \
  -H 'Content-Type: application/json' -H 'Idempotency-Key: order-2001' \
  -d '{"amount": 12000, "currency": "MAD",
       "customer": {"ice": "001234567000089", "name": "Atlas SARL"},
       "lines": [{"description": "Conseil", "quantity": 1, "unit_price": 10000}]}'
# end
)
ID=$(echo "$answer" | sed -E 's/^\{"id":"([^"]+)".*/\1/')
# example streamInvoice
curl -sN "$BASE/v1/invoices/$ID/stream" -H "Authorization: Bearer $KEY"
# end
# example readInvoice
curl -s "$BASE/v1/invoices/$ID" -H "Authorization: Bearer $KEY"
# end
# example listInvoices
curl -s "$BASE/v1/invoices?status=accepted&limit=10" -H "Authorization: Bearer $KEY"
# end
answer=$(
# example createWebhookEndpoint
curl -s "$BASE/v1/webhook_endpoints" -H "Authorization: Bearer $KEY" \
  -H 'Content-Type: application/json' \
  -d '{"url": "https://example.com/hook", "events": ["invoice.accepted", "invoice.rejected"]}'
# end
)
ENDPOINT=$(echo "$answer" | sed -E 's/^\{"id":"([^"]+)".*/\1/')
# example listWebhookEndpoints
curl -s "$BASE/v1/webhook_endpoints" -H "Authorization: Bearer $KEY"
# end
# example updateWebhookEndpoint
curl -s -X PATCH "$BASE/v1/webhook_endpoints/$ENDPOINT" -H "Authorization: Bearer $KEY" \
  -H 'Content-Type: application/json' -d '{"active": false}'
# end
# example deleteWebhookEndpoint
curl -s -X DELETE "$BASE/v1/webhook_endpoints/$ENDPOINT" -H "Authorization: Bearer $KEY"
# end
