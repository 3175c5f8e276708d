<?php

declare(strict_types=1);

// The examples of the reference; test/api/docs-examples.test.ts runs this file.
// example setup
require 'vendor/autoload.php';

$fatoura = new Fatoura\Fatoura(getenv('FATOURA_KEY'), baseUrl: getenv('FATOURA_URL'));
// end
// example createInvoice
$created = $fatoura->invoices->create([
    'amount' => 12_000,
    'currency' => 'MAD',
    'customer' => ['ice' => '001234567000089', 'name' => 'Atlas SARL'],
    'lines' => [['description' => 'Conseil', 'quantity' => 1, 'unit_price' => 10_000]],
], orderNumber: '2004');
echo $created['id'], ' ', $created['status'], "\n";
// end
// example streamInvoice
foreach ($fatoura->invoices->follow($created['id']) as $message) {
    echo $message['status'], "\n";
}
// end
// example readInvoice
$invoice = $fatoura->invoices->get($created['id']);
echo $invoice['status'], ' ', $invoice['dgi_id'], ' ', $invoice['pdf_url'], "\n";
// end
// example listInvoices
foreach ($fatoura->invoices->list(['status' => 'accepted']) as $each) {
    echo $each['id'], ' ', $each['amount'], "\n";
}
// end
// example createWebhookEndpoint
$endpoint = $fatoura->webhookEndpoints->create([
    'url' => 'https://example.com/hook',
    'events' => ['invoice.accepted', 'invoice.rejected'],
]);
// $endpoint['secret'] signs the deliveries: keep it, only this answer has it.
echo $endpoint['id'], "\n";
// end
// example listWebhookEndpoints
foreach ($fatoura->webhookEndpoints->list() as $each) {
    echo $each['url'], ' ', $each['active'] ? 'active' : 'inactive', "\n";
}
// end
// example updateWebhookEndpoint
$fatoura->webhookEndpoints->update($endpoint['id'], ['active' => false]);
// end
// example deleteWebhookEndpoint
$fatoura->webhookEndpoints->delete($endpoint['id']);
// end
