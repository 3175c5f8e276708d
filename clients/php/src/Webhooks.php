<?php

declare(strict_types=1);

namespace Fatoura;

/**
 * Webhooks: is a delivery from the service?
 *
 * @phpstan-import-type InvoiceEvent from Models
 */
final class Webhooks
{
    /**
     * Checks that a delivery of a webhook is from the service, and returns its event. Deduplicate by the event's `id`:
     * the same one can be delivered more than once.
     *
     * @param mixed $body the raw body, as it was received
     * @param array<array-key, mixed> $headers as `getallheaders()`, `$_SERVER`, PSR-7 or Symfony have them
     * @param string|list<string|false|null>|false|null $secret the endpoint's (`whsec_…`), or several during a rotation
     * @param float $tolerance how much the time of a delivery may differ from this machine's, seconds from 0
     * @param float|null $now the present time, UNIX seconds; default: that of this machine
     * @return InvoiceEvent
     * @throws SignatureError which says what is wrong
     */
    public static function verify(
        mixed $body,
        array $headers,
        #[\SensitiveParameter] string|array|false|null $secret,
        float $tolerance = 300,
        ?float $now = null,
    ): array {
        if (!is_string($body)) {
            throw new SignatureError(
                'The body was parsed before. The signature is of its bytes: pass the raw body (file_get_contents('
                . '"php://input"); Symfony and Laravel: $request->getContent(); PSR-7: (string) $request->getBody()).',
            );
        }
        // A variable of a rotation is often unset or empty. One that was read from a file ends with a line break.
        $trimmed = array_map(static fn ($each): string => trim((string) $each), is_array($secret) ? $secret : [$secret]);
        $secrets = array_filter($trimmed, static fn ($each): bool => $each !== '');
        if ($secrets === [] || array_filter($secrets, static fn ($each) => !str_starts_with($each, 'whsec_')) !== []) {
            throw new SignatureError('The secret of an endpoint begins with whsec_. It is shown once, at its creation.');
        }
        // No comparison applies to NAN.
        if (!($tolerance >= 0)) {
            throw new SignatureError("tolerance must be a number from 0, not {$tolerance}.");
        }
        $header = self::header($headers) ?? throw new SignatureError('The header Service-Signature is missing.');
        $parts = array_map(static fn ($part) => [...explode('=', trim($part), 2), ''], explode(',', $header));
        $values = static fn (string $name): array => array_column(
            array_filter($parts, static fn ($part) => $part[0] === $name),
            1,
        );
        $time = $values('t')[0] ?? '';
        if (!preg_match('/^\d{1,12}$/D', $time)) {
            throw new SignatureError('The header Service-Signature has no time.');
        }
        if (!(abs(($now ?? microtime(true)) - (int) $time) <= $tolerance)) {
            throw new SignatureError(
                "The delivery is of another time than this machine’s (t={$time}): is its clock right?",
            );
        }
        foreach ($secrets as $each) {
            $expected = hash_hmac('sha256', "{$time}.{$body}", $each);
            foreach ($values('v1') as $given) {
                if (hash_equals($expected, strtolower($given))) {
                    return self::event($body);
                }
            }
        }
        throw new SignatureError(
            'The signature does not fit: the secret is of another endpoint, or the body was changed (parsed and printed'
            . ' again?).',
        );
    }

    /** @return InvoiceEvent */
    private static function event(string $body): array
    {
        $event = json_decode($body, true);
        if (!is_array($event) || !is_string($event['id'] ?? null)) {
            throw new SignatureError('The body is signed, but is no event.');
        }

        /** @var InvoiceEvent */
        return $event;
    }

    /** @param array<array-key, mixed> $headers */
    private static function header(array $headers): ?string
    {
        foreach ($headers as $name => $value) {
            // `$_SERVER` has HTTP_SERVICE_SIGNATURE.
            $plain = preg_replace('/^http-/', '', strtr(strtolower((string) $name), '_', '-'));
            $first = is_array($value) ? ($value[0] ?? null) : $value;
            if ($plain === 'service-signature' && is_string($first)) {
                return $first;
            }
        }

        return null;
    }
}
