<?php

declare(strict_types=1);

namespace Fatoura;

/**
 * One request with curl, and its answer.
 *
 * @internal
 */
final class Transfer
{
    /** Errors of curl that the same address has again: itself, its certificate, or what it needs to check that. */
    private const LASTING = [
        CURLE_URL_MALFORMAT,
        CURLE_UNSUPPORTED_PROTOCOL,
        CURLE_SSL_CERTPROBLEM,
        CURLE_SSL_CACERT,
        CURLE_SSL_PEER_CERTIFICATE,
        CURLE_SSL_CACERT_BADFILE,
    ];

    public int $status = 0;
    /** @var array<string, string> by their names in lower case */
    public array $headers = [];
    /** What has come of the body and is not taken yet. */
    public string $body = '';

    /**
     * @param array<int, mixed> $options of curl
     * @param (\Closure(): bool)|null $isCancelled
     */
    public function __construct(private readonly \CurlHandle $curl, array $options, ?\Closure $isCancelled)
    {
        curl_setopt_array($curl, $options + [
            CURLOPT_PROTOCOLS => CURLPROTO_HTTP | CURLPROTO_HTTPS,
            CURLOPT_ENCODING => '',
            CURLOPT_NOSIGNAL => true,
            CURLOPT_HEADERFUNCTION => $this->takeHeader(...),
            CURLOPT_WRITEFUNCTION => function (\CurlHandle $_, string $part): int {
                $this->body .= $part;

                return strlen($part);
            },
            CURLOPT_NOPROGRESS => $isCancelled === null,
            CURLOPT_XFERINFOFUNCTION => static fn (): int => $isCancelled !== null && $isCancelled() ? 1 : 0,
        ]);
    }

    /** Runs to the end of the answer. @throws ConnectionError */
    public function run(): void
    {
        curl_exec($this->curl);
        $this->throwIfFailed(curl_errno($this->curl));
    }

    /**
     * Yields the parts of the body as they come.
     *
     * @param float $silence the longest time between two of them, seconds
     * @param float|null $until when they end, as `microtime`
     * @return \Generator<int, string>
     * @throws ConnectionError
     */
    public function parts(float $silence, ?float $until): \Generator
    {
        $multi = curl_multi_init();
        curl_multi_add_handle($multi, $this->curl);
        $last = microtime(true);
        try {
            do {
                curl_multi_exec($multi, $running);
                $left = min($last + $silence, $until ?? INF) - microtime(true);
                if ($this->body !== '') {
                    [$part, $this->body, $last] = [$this->body, '', microtime(true)];
                    yield $part;
                } elseif ($left <= 0) {
                    throw new ConnectionError('nothing came in time');
                } elseif ($running > 0) {
                    curl_multi_select($multi, min(0.5, $left));
                }
            } while ($running > 0);
            $ended = curl_multi_info_read($multi);
            $this->throwIfFailed($ended === false ? 0 : $ended['result']);
        } finally {
            curl_multi_remove_handle($multi, $this->curl);
            curl_multi_close($multi);
        }
    }

    private function throwIfFailed(int $error): void
    {
        if ($error !== CURLE_OK) {
            $text = curl_error($this->curl) ?: curl_strerror($error) ?? "curl’s error {$error}";
            $isLasting = in_array($error, self::LASTING, true) || str_contains($text, 'wrong version number');
            throw new ConnectionError($text, isLasting: $isLasting);
        }
    }

    private function takeHeader(\CurlHandle $_, string $line): int
    {
        if (preg_match('/^HTTP\/\S+ (\d{3})/', $line, $found)) {
            // An interim answer may have come before.
            $this->status = (int) $found[1];
            $this->headers = [];
        } elseif (str_contains($line, ':')) {
            [$name, $value] = explode(':', $line, 2);
            $this->headers[strtolower(trim($name))] = trim($value);
        }

        return strlen($line);
    }
}
