<?php

declare(strict_types=1);

namespace Fatoura;

/**
 * A complete answer.
 *
 * @internal
 */
final class Answer
{
    /**
     * @param array<array-key, mixed> $value
     * @param array<string, string> $headers by their names in lower case
     */
    public function __construct(public readonly array $value, public readonly array $headers)
    {
    }
}
