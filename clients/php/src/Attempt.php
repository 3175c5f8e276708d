<?php

declare(strict_types=1);

namespace Fatoura;

/** One attempt of a call, for logs. Has no keys, secrets or bodies. */
final class Attempt
{
    /**
     * @param string $path without the query
     * @param int $attempt from 1
     * @param int|null $status the HTTP status; null if nothing answered
     * @param float $duration seconds
     */
    public function __construct(
        public readonly string $method,
        public readonly string $path,
        public readonly int $attempt,
        public readonly ?int $status,
        public readonly ?string $requestId,
        public readonly float $duration,
    ) {
    }
}
