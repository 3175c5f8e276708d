<?php

declare(strict_types=1);

namespace Fatoura;

/**
 * By what a repeated call is known: its documents are made once for each.
 *
 * @internal
 */
final class IdempotencyKey
{
    /** The most characters of a key that the service takes. */
    private const MOST = 255;

    /**
     * Makes a call that is known by a key, which its errors then have.
     *
     * @template T
     * @param \Closure(string): T $call
     * @return T
     * @throws \InvalidArgumentException for a blank number or key: it would be the same for all that have none
     */
    public static function with(?string $orderNumber, ?string $idempotencyKey, \Closure $call): mixed
    {
        $key = self::of($orderNumber, $idempotencyKey);
        try {
            return $call($key);
        } catch (FatouraError $error) {
            $error->idempotencyKey = $key;
            throw $error;
        }
    }

    /** The key of a call, as the service takes it. A key that it has made is made of itself. */
    public static function of(?string $orderNumber, ?string $idempotencyKey): string
    {
        $number = $orderNumber === null ? null : 'order ' . self::inHeader('orderNumber', $orderNumber);
        $key = $idempotencyKey === null ? null : self::inHeader('idempotencyKey', $idempotencyKey);
        $stated = $key ?? $number ?? bin2hex(random_bytes(16));

        return strlen($stated) <= self::MOST ? $stated : 'sha256 ' . hash('sha256', $stated);
    }

    /**
     * Writes as addresses do what a header does not keep: other characters than ASCII's, and spaces at the ends. curl
     * does not send a header without a value.
     */
    private static function inHeader(string $name, string $text): string
    {
        if (preg_match('/[^\p{Z}\p{Cc}\p{Cf}]/u', $text) === 0) {
            $cure = "state it, or leave it out for a key of the call's own.";
            throw new \InvalidArgumentException("{$name} is blank: {$cure}");
        }

        return preg_replace_callback('/^ +| +$|[^ -~]+/D', self::encoded(...), $text) ?? rawurlencode($text);
    }

    /** @param array<array-key, string> $found */
    private static function encoded(array $found): string
    {
        return rawurlencode($found[0]);
    }
}
