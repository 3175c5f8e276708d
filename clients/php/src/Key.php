<?php

declare(strict_types=1);

namespace Fatoura;

/** A secret key, which is in no dump, export or serialisation of what has it. */
final class Key
{
    /** @var \WeakMap<self, string>|null */
    private static ?\WeakMap $values = null;

    public function __construct(#[\SensitiveParameter] string $value)
    {
        self::$values ??= new \WeakMap();
        self::$values[$this] = $value;
    }

    public function value(): string
    {
        return self::$values[$this] ?? throw new \LogicException('The key is not kept when a client is copied.');
    }
}
