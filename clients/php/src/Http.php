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
     * @param (\Closure(Answer): void)|null $check throws the ApiError of a refusal that an answer with status 200 has
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
        ?\Closure $check = null,
    ): Answer {
        $until = microtime(true) + ($timeout ?? $this->options->timeout);
        $stated = http_build_query(array_filter($query, static fn ($each) => $each !== null));
        $options = [
            CURLOPT_URL => $this->options->baseUrl . $path . ($stated === '' ? '' : "?{$stated}"),
            CURLOPT_CUSTOMREQUEST => $method,
            // curl itself repeats a request on a connection that was idle and is dead.
            CURLOPT_FRESH_CONNECT => !$isRepeatable || $this->options->maxRetries === 0,
        ];
        if ($body !== null) {
            $options[CURLOPT_POSTFIELDS] = json_encode(self::withMaps($body), JSON_THROW_ON_ERROR | JSON_UNESCAPED_UNICODE);
        }
        $headers = [
            'Accept: application/json',
            ...($body === null ? [] : ['Content-Type: application/json']),
            ...($key === null ? [] : ["Idempotency-Key: {$key}"]),
        ];
        $attempt = 0;
        while (true) {
            $attempt++;
            try {
                $answer = $this->attempt($method, $path, $options, $headers, $attempt, $until);
                if ($check !== null) {
                    $check($answer);
                }

                return $answer;
            } catch (ApiError | ConnectionError $error) {
                $pause = Retries::pauseBefore($error, $attempt);
                $mayRepeat = $attempt <= $this->options->maxRetries && ($isRepeatable || Retries::isUndone($error));
                if (!$mayRepeat || $pause === null || microtime(true) + $pause >= $until) {
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
            throw $this->unanswered("GET {$path}", $error);
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
        $tell = function (?int $status, ?string $requestId) use ($method, $path, $attempt, $begun): void {
            if ($this->options->onAttempt !== null) {
                $duration = microtime(true) - $begun;
                ($this->options->onAttempt)(new Attempt($method, $path, $attempt, $status, $requestId, $duration));
            }
        };
        // One handle, so that connections are used again.
        $this->curl ??= curl_init();
        curl_reset($this->curl);
        $transfer = $this->transfer($this->curl, $options, $headers);
        try {
            $transfer->run();
        } catch (ConnectionError $error) {
            $this->options->throwIfCancelled();
            $tell(null, null);
            throw $this->unanswered("{$method} {$path}", $error);
        }
        $tell($transfer->status, $transfer->headers['request-id'] ?? null);
        if ($transfer->status < 200 || $transfer->status >= 300) {
            throw self::refusal($transfer, $transfer->body);
        }
        $value = json_decode($transfer->body, true);
        $what = "{$method} {$path}: the answer of {$this->options->baseUrl}";
        if ($value === null && json_last_error() !== JSON_ERROR_NONE) {
            throw new ConnectionError("{$what} is no JSON");
        }
        if (!is_array($value) || !self::isExpected("{$method} {$path}", $value)) {
            throw new ConnectionError("{$what} is not from the service: is baseUrl right?", isLasting: true);
        }

        return new Answer($value, $transfer->headers);
    }

    /**
     * Whether an answer is what the request asks for. REST names the type of each object.
     *
     * @param array<array-key, mixed> $value
     */
    private static function isExpected(string $request, array $value): bool
    {
        [$object, $data] = [$value['object'] ?? null, $value['data'] ?? null];
        if ($request === 'POST /graphql') {
            $errors = $value['errors'] ?? null;

            return is_array($data) || (is_array($errors) && array_is_list($errors) && $errors !== []);
        }
        if (preg_match('~^GET /v1/\w+$~D', $request) === 1) {
            return $object === 'list' && is_array($data);
        }

        return $object === (str_contains($request, ' /v1/invoices') ? 'invoice' : 'webhook_endpoint');
    }

    private function unanswered(string $request, ConnectionError $cause): ConnectionError
    {
        $message = "{$request}: no complete answer from {$this->options->baseUrl} ({$cause->getMessage()})";

        return new ConnectionError($message, $cause, $cause->isLasting);
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
        // The query may have data of customers.
        [$leadsTo] = explode('?', $transfer->headers['location'] ?? '');
        $said = "The answer has status {$transfer->status}";
        $stated += ['message' => $leadsTo === '' ? "{$said}." : "{$said} and leads to {$leadsTo}: is baseUrl right?"];
        $requestId = $transfer->headers['request-id'] ?? null;

        return ApiError::of($transfer->status, $stated, $requestId, Retries::retryAfter($transfer->headers));
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
