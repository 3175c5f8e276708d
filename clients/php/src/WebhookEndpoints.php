<?php

declare(strict_types=1);

namespace Fatoura;

/**
 * The addresses that events are delivered to.
 *
 * @phpstan-import-type CreateWebhookEndpoint from Models
 * @phpstan-import-type CreatedWebhookEndpoint from Models
 * @phpstan-import-type DeletedWebhookEndpoint from Models
 * @phpstan-import-type UpdateWebhookEndpoint from Models
 * @phpstan-import-type WebhookEndpoint from Models
 * @phpstan-import-type WebhookEndpointList from Models
 */
final class WebhookEndpoints
{
    private const PATH = '/v1/webhook_endpoints';

    public function __construct(private readonly Http $http)
    {
    }

    /**
     * Creates an endpoint. Its `secret` is shown only here. The call is repeated only after a 429: if its answer is
     * lost, list the endpoints, delete the new one, and create it again.
     *
     * @param CreateWebhookEndpoint $endpoint
     * @return CreatedWebhookEndpoint
     */
    public function create(array $endpoint, ?float $timeout = null): array
    {
        /** @var CreatedWebhookEndpoint */
        return $this->http->send('POST', self::PATH, [], $endpoint, isRepeatable: false, timeout: $timeout)->value;
    }

    /**
     * All endpoints of the key's environment, at most 16.
     *
     * @return list<WebhookEndpoint>
     */
    public function list(?float $timeout = null): array
    {
        /** @var WebhookEndpointList $list */
        $list = $this->http->send('GET', self::PATH, timeout: $timeout)->value;

        return $list['data'];
    }

    /**
     * @param UpdateWebhookEndpoint $change
     * @return WebhookEndpoint
     */
    public function update(string $id, array $change, ?float $timeout = null): array
    {
        $path = self::PATH . '/' . rawurlencode($id);

        /** @var WebhookEndpoint */
        return $this->http->send('PATCH', $path, [], $change, timeout: $timeout)->value;
    }

    /** @return DeletedWebhookEndpoint */
    public function delete(string $id, ?float $timeout = null): array
    {
        $path = self::PATH . '/' . rawurlencode($id);

        /** @var DeletedWebhookEndpoint */
        return $this->http->send('DELETE', $path, timeout: $timeout)->value;
    }
}
