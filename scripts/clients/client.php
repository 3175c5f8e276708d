<?php

// Calls a running service with openapi-generator's PHP client: URL and secret key as arguments, after the folder of the client and the
// file that loads Guzzle.

use OpenAPI\Client\Api\InvoicesApi;
use OpenAPI\Client\Api\WebhookEndpointsApi;
use OpenAPI\Client\ApiException;
use OpenAPI\Client\Configuration;
use OpenAPI\Client\Model;

[, $folder, $guzzle, $url, $key] = $argv;
require $guzzle;
spl_autoload_register(function (string $class) use ($folder): void {
    if (str_starts_with($class, 'OpenAPI\\Client\\')) {
        require $folder . '/lib/' . str_replace('\\', '/', substr($class, 15)) . '.php';
    }
});
set_error_handler(function (int $level, string $message, string $file, int $line): bool {
    // A newer PHP finds old-fashioned code in the client's templates: that is not the document's fault.
    if ($level !== E_DEPRECATED) throw new ErrorException($message, 0, $level, $file, $line);
    return true;
});

function check(bool $holds, string $what): void
{
    if (!$holds) throw new Exception($what);
}

function configured(string $url, string $token): Configuration
{
    return (new Configuration())->setHost($url)->setAccessToken($token);
}

/** Without what may be left out: tax_rate, metadata, address and email. */
function wanted(array $customer = []): Model\CreateInvoice
{
    return new Model\CreateInvoice([
        'amount' => 12000,
        'currency' => Model\Currency::MAD,
        'customer' => new Model\CustomerInput(['ice' => '001234567000062', 'name' => 'Société Générale « Été »', ...$customer]),
        'lines' => [new Model\LineInput(['description' => 'Conseil', 'quantity' => 1, 'unit_price' => 10000])],
    ]);
}

function refused(int $status, string $code, string $param, callable $call): void
{
    try {
        $call();
    } catch (ApiException $thrown) {
        $response = $thrown->getResponseObject();
        check($response instanceof Model\ErrorResponse, "the error of $code is typed");
        $error = $response->getError();
        check($thrown->getCode() === $status && $error->getCode() === $code && $error->getParam() === $param, (string) $error);
        return;
    }
    throw new Exception("not refused: $code");
}

$invoices = new InvoicesApi(null, configured($url, $key));
$endpoints = new WebhookEndpointsApi(null, configured($url, $key));

// Its setters check what the constructor does not.
(new Model\CustomerInput())->setIce('001234567000062')->setName('Société Générale « Été »')->setAddress('شارع');
$created = $invoices->createInvoice(wanted(), 'php-1');
check($created->getStatus() === Model\InvoiceStatus::PENDING && $created->getPdfUrl() === null, 'created');
check($created->getLines()[0]->getTaxRate() === 20, 'the usual rate');
[$again, , $headers] = $invoices->createInvoiceWithHttpInfo(wanted(), 'php-1');
check($again->getId() === $created->getId() && $headers['Idempotent-Replayed'] === ['true'], 'replayed');

$stream = (new InvoicesApi(null, configured($url, $created->getClientSecret())))->streamInvoice($created->getId());
check(str_contains($stream, '"status":"accepted"'), 'stream');
$invoice = $invoices->readInvoice($created->getId());
check($invoice->getStatus() === Model\InvoiceStatus::ACCEPTED && $invoice->getDgiId() !== null, 'accepted');
check($invoice->getPdfUrl() !== null && $invoice->getRejectionReason() === null, 'documents');

// Instants in queries as texts: openapi-generator 7.17 declares DateTime there, and fails on one.
$earlier = (clone $invoice->getCreatedAt())->modify('-1 minute')->format(DATE_ATOM);
$page = $invoices->listInvoices(Model\InvoiceStatus::ACCEPTED, 100, null, null, $earlier);
check(in_array($invoice->getId(), array_map(fn ($each) => $each->getId(), $page->getData()), true), 'listed');
$empty = $invoices->listInvoices(created_after: (new DateTime('+1 day'))->format(DATE_ATOM));
check($empty->getData() === [] && $empty->getNextCursor() === null && !$empty->getHasMore(), 'an empty list');

$wanted = new Model\CreateWebhookEndpoint(['url' => 'https://example.com/hook', 'events' => [Model\EventType::INVOICE_ACCEPTED]]);
check($wanted->valid(), implode(' ', $wanted->listInvalidProperties()));
$endpoint = $endpoints->createWebhookEndpoint($wanted);
check(str_starts_with($endpoint->getSecret(), 'whsec_') && $endpoint->getDescription() === null, 'endpoint created');
$changed = $endpoints->updateWebhookEndpoint($endpoint->getId(), new Model\UpdateWebhookEndpoint(['active' => false]));
check($changed->getActive() === false, 'endpoint changed');
$ids = array_map(fn ($each) => $each->getId(), $endpoints->listWebhookEndpoints()->getData());
check(in_array($endpoint->getId(), $ids, true), 'endpoint listed');
check($endpoints->deleteWebhookEndpoint($endpoint->getId())->getDeleted(), 'endpoint deleted');

refused(422, 'invalid_ice', 'customer.ice', fn () => $invoices->createInvoice(wanted(['ice' => '12'])));
refused(404, 'resource_not_found', 'id', fn () => $endpoints->deleteWebhookEndpoint($endpoint->getId()));
