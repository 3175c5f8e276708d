<?php

declare(strict_types=1);

namespace Fatoura;

/**
 * Which calls are repeated, and when.
 *
 * @internal
 */
final class Retries
{
    /** The pause before the first repetition, and the longest one, seconds. Each is up to twice the one before. */
    private const FIRST_PAUSE = 0.25;
    private const LONGEST_PAUSE = 8.0;
    /** A call does not wait for a longer `Retry-After`; whoever follows an invoice asks again after so long. Seconds. */
    private const LONGEST_RETRY_AFTER = 60.0;

    /** Whether the same request may succeed later. */
    public static function isPassing(ApiError|ConnectionError $error): bool
    {
        if ($error instanceof ConnectionError) {
            return !$error->isLasting;
        }

        return $error->status === 408 || $error->status === 429 || $error->status >= 500;
    }

    /** Whether the service has surely done nothing, so that a repetition does no harm whatever the request is. */
    public static function isUndone(ApiError|ConnectionError $error): bool
    {
        return $error instanceof ApiError && $error->status === 429;
    }

    /** How long a call pauses before its next attempt, seconds; null if a repetition would not help. */
    public static function pauseBefore(ApiError|ConnectionError $error, int $attempt): ?float
    {
        if (!self::isPassing($error)) {
            return null;
        }
        $retryAfter = $error instanceof ApiError ? $error->retryAfter : null;
        if ($retryAfter === null) {
            $most = min(self::LONGEST_PAUSE, self::FIRST_PAUSE * 2 ** $attempt);

            return $most / 2 + $most / 2 * mt_rand() / mt_getrandmax();
        }

        return $retryAfter > self::LONGEST_RETRY_AFTER ? null : max($retryAfter, self::FIRST_PAUSE);
    }

    /** How long an error asks whoever follows an invoice to wait, seconds. */
    public static function restOf(ApiError|ConnectionError $error): float
    {
        return $error instanceof ApiError ? min($error->retryAfter ?? 0.0, self::LONGEST_RETRY_AFTER) : 0.0;
    }

    /**
     * `Retry-After` is a number of seconds or a date (RFC 9110, section 10.2.3); null if it is neither.
     *
     * @param array<string, string> $headers
     */
    public static function retryAfter(array $headers): ?float
    {
        $text = $headers['retry-after'] ?? '';
        if (preg_match('/^\d+$/D', $text)) {
            return (float) $text;
        }
        // strtotime takes words such as `tomorrow`, too, and makes a time of `1.5`.
        $date = str_ends_with($text, 'GMT') ? strtotime($text) : false;

        return $date === false ? null : max(0.0, $date - microtime(true));
    }
}
