<?php

declare(strict_types=1);

namespace Fatoura;

/**
 * Sends requests, and repeats those that failed for a reason that passes.
 *
 * @internal
 */
final class Http
{
    /** The pause before the first repetition, and the longest one, seconds. Each is up to twice the one before. */
    private const FIRST_PAUSE = 0.25;
    private const LONGEST_PAUSE = 8.0;
    /** A longer `Retry-After` is not waited for, seconds. */
    private const LONGEST_RETRY_AFTER = 60.0;
    /** Answers that say that a later attempt may succeed. */
    private const PASSING = [408, 429, 500, 502, 503, 504];

    private ?\CurlHandle $curl = null;

    public function __construct(private readonly Key $key, public readonly Options $options)
    {
    }

    /**
     * @param array<string, string|int|null> $query
     * @param array<array-key, mixed>|null $body
     * @param string|null $key the idempotency key
     * @param bool $isRepeatable whether a repetition does no harm
     * @param float|null $timeout instead of the client's, seconds
     * @throws ApiError
     * @throws ConnectionError
     * @throws CancelledError
     */
    public function send(
        string $method,
        string $path,
        array $query = [],
        ?array $body = null,
        ?string $key = null,
        bool $isRepeatable = true,
        ?float $timeout = null,
    ): Answer {
        $until = microtime(true) + ($timeout ?? $this->options->timeout);
        $retries = $isRepeatable ? $this->options->maxRetries : 0;
        $stated = http_build_query(array_filter($query, static fn ($each) => $each !== null));
        $options = [
            CURLOPT_URL => $this->options->baseUrl . $path . ($stated === '' ? '' : "?{$stated}"),
            CURLOPT_CUSTOMREQUEST => $method,
            // curl itself repeats a request on a connection that was idle and is dead.
            CURLOPT_FRESH_CONNECT => $retries === 0,
        ];
        if ($body !== null) {
            $options[CURLOPT_POSTFIELDS] = json_encode(self::withMaps($body), JSON_THROW_ON_ERROR | JSON_UNESCAPED_UNICODE);
        }
        $headers = [
            'Accept: application/json',
            ...($body === null ? [] : ['Content-Type: application/json']),
            ...($key === null ? [] : ["Idempotency-Key: {$key}"]),
        ];
        for ($attempt = 1; ; $attempt++) {
            try {
                return $this->attempt($method, $path, $options, $headers, $attempt, $until);
            } catch (ApiError | ConnectionError $error) {
                $pause = self::pauseBefore($error, $attempt);
                if ($attempt > $retries || $pause === null || microtime(true) + $pause >= $until) {
                    throw $error;
                }
                $this->options->sleep($pause);
            }
        }
    }

    /**
     * Yields the parts of a stream of events. The stream ends where something else answers.
     *
     * @param list<string> $headers
     * @param float $silence how long it may be silent, seconds
     * @param float|null $until when it ends, as `microtime`
     * @return \Generator<int, string>
     * @throws ApiError
     * @throws ConnectionError
     * @throws CancelledError
     */
    public function open(string $path, array $headers, float $silence, ?float $until): \Generator
    {
        $transfer = $this->transfer(curl_init(), [
            CURLOPT_URL => $this->options->baseUrl . $path,
            CURLOPT_CONNECTTIMEOUT_MS => (int) ceil(1000 * $silence),
        ], ['Accept: text/event-stream', ...$headers]);
        $other = '';
        try {
            foreach ($transfer->parts($silence, $until) as $part) {
                if ($transfer->status === 200 && str_starts_with($transfer->headers['content-type'] ?? '', 'text/event')) {
                    yield $part;
                } else {
                    $other .= $part;
                }
            }
        } catch (ConnectionError $error) {
            $this->options->throwIfCancelled();
            throw new ConnectionError("The stream broke: {$error->getMessage()}", 0, $error);
        }
        if ($transfer->status >= 300) {
            throw self::refusal($transfer, $other);
        }
    }

    /**
     * @param array<int, mixed> $options
     * @param list<string> $headers
     */
    private function attempt(
        string $method,
        string $path,
        array $options,
        array $headers,
        int $attempt,
        float $until,
    ): Answer {
        $this->options->throwIfCancelled();
        $begun = microtime(true);
        $limit = max(0.001, min($this->options->attemptTimeout, $until - $begun));
        $options[CURLOPT_TIMEOUT_MS] = $options[CURLOPT_CONNECTTIMEOUT_MS] = (int) ceil(1000 * $limit);
        $tell = fn (?int $status, ?string $requestId) => $this->options->onAttempt !== null
            && ($this->options->onAttempt)(
                new Attempt($method, $path, $attempt, $status, $requestId, microtime(true) - $begun),
            );
        // One handle, so that connections are used again.
        $this->curl ??= curl_init();
        curl_reset($this->curl);
        $transfer = $this->transfer($this->curl, $options, $headers);
        try {
            $transfer->run();
        } catch (ConnectionError $error) {
            $this->options->throwIfCancelled();
            $tell(null, null);
            $message = "{$method} {$path}: no complete answer ({$error->getMessage()})";
            throw new ConnectionError($message, 0, $error);
        }
        $tell($transfer->status, $transfer->headers['request-id'] ?? null);
        if ($transfer->status < 200 || $transfer->status >= 300) {
            throw self::refusal($transfer, $transfer->body);
        }
        $value = json_decode($transfer->body, true);
        if (!is_array($value)) {
            throw new ConnectionError("{$method} {$path}: the answer is no JSON");
        }

        return new Answer($value, $transfer->headers);
    }

    /**
     * @param array<int, mixed> $options
     * @param list<string> $headers
     */
    private function transfer(\CurlHandle $curl, array $options, array $headers): Transfer
    {
        // curl would ask whether a large body is welcome, and wait.
        $all = ["Authorization: Bearer {$this->key->value()}", 'Expect:', ...$headers];

        return new Transfer($curl, $options + [CURLOPT_HTTPHEADER => $all], $this->options->isCancelled);
    }

    /** Reads a refusal. What is not from the service, such as a page of a proxy, has no code. */
    private static function refusal(Transfer $transfer, string $body): ApiError
    {
        $value = json_decode($body, true);
        $stated = is_array($value) && is_array($value['error'] ?? null) ? $value['error'] : [];
        $requestId = $transfer->headers['request-id'] ?? null;

        return ApiError::of($transfer->status, $stated, $requestId, self::retryAfter($transfer->headers));
    }

    /**
     * `Retry-After` is a number of seconds or a date (RFC 9110, section 10.2.3).
     *
     * @param array<string, string> $headers
     */
    private static function retryAfter(array $headers): ?float
    {
        $text = $headers['retry-after'] ?? '';
        if (preg_match('/^\d+$/D', $text)) {
            return (float) $text;
        }
        $date = $text === '' ? false : strtotime($text);

        return $date === false ? null : max(0.0, $date - microtime(true));
    }

    /** How long a call pauses before its next attempt, seconds; null if a repetition would not help. */
    private static function pauseBefore(ApiError|ConnectionError $error, int $attempt): ?float
    {
        $most = min(self::LONGEST_PAUSE, self::FIRST_PAUSE * 2 ** $attempt);
        $pause = $most / 2 + $most / 2 * mt_rand() / mt_getrandmax();
        if ($error instanceof ConnectionError) {
            return $pause;
        }
        if (!in_array($error->status, self::PASSING, true)) {
            return null;
        }
        if ($error->retryAfter === null) {
            return $pause;
        }

        return $error->retryAfter > self::LONGEST_RETRY_AFTER ? null : max($error->retryAfter, self::FIRST_PAUSE);
    }

    /**
     * An empty array of PHP would be sent as a list.
     *
     * @param array<array-key, mixed> $body
     */
    private static function withMaps(array $body): object
    {
        foreach (['metadata', 'content', 'variables', 'input'] as $name) {
            if (is_array($body[$name] ?? null)) {
                $body[$name] = self::withMaps($body[$name]);
            }
        }

        return (object) $body;
    }
}
