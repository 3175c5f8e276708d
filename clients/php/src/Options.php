<?php

declare(strict_types=1);

namespace Fatoura;

/**
 * Options of a client; seconds.
 *
 * @internal
 */
final class Options
{
    /**
     * @param (\Closure(Attempt): void)|null $onAttempt
     * @param (\Closure(): bool)|null $isCancelled
     */
    public function __construct(
        public readonly string $baseUrl,
        public readonly float $attemptTimeout,
        public readonly float $timeout,
        public readonly int $maxRetries,
        public readonly ?\Closure $onAttempt,
        public readonly ?\Closure $isCancelled,
    ) {
    }

    /** Waits. @throws CancelledError */
    public function sleep(float $seconds): void
    {
        $until = microtime(true) + $seconds;
        do {
            $this->throwIfCancelled();
            $left = $until - microtime(true);
            usleep(max(0, (int) (1e6 * min($left, 0.1))));
        } while ($left > 0.1);
    }

    /** @throws CancelledError */
    public function throwIfCancelled(): void
    {
        if ($this->isCancelled !== null && ($this->isCancelled)()) {
            throw new CancelledError('The call was cancelled.');
        }
    }
}
