<?php

declare(strict_types=1);

namespace Fatoura;

/** A client of Fatoura. The key (`sk_test_…`, `sk_live_…`) decides tenant and environment. */
final class Fatoura
{
    public readonly Invoices $invoices;
    public readonly Drafts $drafts;
    public readonly WebhookEndpoints $webhookEndpoints;

    /**
     * @param string|false|null $key as `getenv` returns it
     * @param string|false|null $baseUrl address of the service; default: the environment variable FATOURA_URL
     * @param float $attemptTimeout for one attempt until its answer is complete, seconds
     * @param float $timeout for a call with all its attempts and pauses, seconds
     * @param int $maxRetries how often a call is repeated at most
     * @param (\Closure(Attempt): void)|null $onAttempt is told of each attempt; never gets keys, secrets or bodies
     * @param (\Closure(): bool)|null $isCancelled is asked during calls, at least once a second; true ends them with a
     *     CancelledError: what was sent may still be done
     * @throws \InvalidArgumentException without a key or an address, or if one of them cannot be right
     */
    public function __construct(
        #[\SensitiveParameter] string|false|null $key,
        string|false|null $baseUrl = null,
        float $attemptTimeout = 30,
        float $timeout = 120,
        int $maxRetries = 4,
        ?\Closure $onAttempt = null,
        ?\Closure $isCancelled = null,
    ) {
        $url = trim(($baseUrl ?: getenv('FATOURA_URL')) ?: '');
        // A key that was read from a file ends with a line break.
        $trimmed = trim((string) $key);
        if ($trimmed === '') {
            throw new \InvalidArgumentException('The secret key is missing.');
        }
        if (preg_match('/^[\x21-\x7e]+$/D', $trimmed) !== 1) {
            throw new \InvalidArgumentException('The secret key has characters that no key has.');
        }
        if ($url === '') {
            throw new \InvalidArgumentException('baseUrl is missing: the address of the service, or FATOURA_URL.');
        }
        $isAddress = preg_match('~^https?://[^\s/?#@\\\\][^\s?#@\\\\]*$~Di', $url) === 1;
        if (!$isAddress || preg_match('/[[:cntrl:]]/', $url) === 1 || !self::hasHost($url)) {
            // It is not shown: it may be the key.
            throw new \InvalidArgumentException(
                'baseUrl is no address such as https://invoices.example.ma: http or https, without a user and a query.',
            );
        }
        $options = new Options(rtrim($url, '/'), $attemptTimeout, $timeout, $maxRetries, $onAttempt, $isCancelled);
        $http = new Http(new Key($trimmed), $options);
        $this->invoices = new Invoices($http);
        $this->drafts = new Drafts($http);
        $this->webhookEndpoints = new WebhookEndpoints($http);
    }

    private static function hasHost(string $url): bool
    {
        // Both are false for a port that is too large, or no number.
        [$host, $port] = [parse_url($url, PHP_URL_HOST), parse_url($url, PHP_URL_PORT)];
        if (!is_string($host) || $host === '' || $port === 0) {
            return false;
        }

        if (preg_match('/^\[(.*)\]$/', $host, $found) === 1) {
            return filter_var($found[1], FILTER_VALIDATE_IP, FILTER_FLAG_IPV6) !== false;
        }

        // It has x:80 as the host of x:80:80.
        return !str_contains($host, ':');
    }
}
