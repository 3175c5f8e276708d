<?php

declare(strict_types=1);

namespace Fatoura;

/**
 * Follows an invoice.
 *
 * @internal
 * @phpstan-import-type Invoice from Models
 * @phpstan-import-type StatusMessage from Models
 */
final class Following
{
    /** The service sends something every 15 s. A stream that is silent for longer is dead, seconds. Shorter in tests. */
    public static float $longestSilence = 40.0;
    /** Pauses between two connections, and between two readings where streams do not pass, seconds. */
    private const RECONNECT = 0.5;
    private const POLL = 2.0;
    /** After so many connections without any message the invoice is read instead: something holds streams back. */
    private const FUTILE_STREAMS = 3;
    /** Then a stream is tried in every so many readings: the network may only have been down. */
    private const READINGS_PER_STREAM = 15;
    /** Statuses before the final ones, in their order. */
    private const IN_ORDER = ['pending', 'signing', 'transmitted'];

    private readonly ?float $until;
    private ?string $lastEventId = null;
    private ?string $status = null;
    /** @var list<string> statuses that were told */
    private array $told = [];

    /**
     * @param \Closure(float|null): Invoice $read reads the invoice within so many seconds
     * @param float|null $timeout seconds; null: none
     */
    public function __construct(
        private readonly Http $http,
        private readonly string $id,
        private readonly \Closure $read,
        private readonly ?float $timeout,
    ) {
        $this->until = $timeout === null ? null : microtime(true) + $timeout;
    }

    /** @return \Generator<int, StatusMessage> */
    public function messages(): \Generator
    {
        $futile = 0;
        while (true) {
            $before = $this->status;
            $rest = 0.0;
            try {
                if ($futile < self::FUTILE_STREAMS || $futile % self::READINGS_PER_STREAM === 0) {
                    foreach ($this->streamed() as $message) {
                        if ($this->takes($message)) {
                            yield $message;
                        }
                        if ($this->isFinal()) {
                            return;
                        }
                    }
                }
                // The stream ends after the final status, of which a message may be lost on the way.
                $message = self::statusOf(($this->read)($this->left()));
                if ($this->takes($message)) {
                    yield $message;
                }
                if ($this->isFinal()) {
                    return;
                }
            } catch (ApiError | ConnectionError $error) {
                $this->left();
                if (!Retries::isPassing($error)) {
                    throw $error;
                }
                $rest = Retries::restOf($error);
            }
            $futile = $before === $this->status ? $futile + 1 : 0;
            $pause = max($rest, $futile < self::FUTILE_STREAMS ? self::RECONNECT : self::POLL);
            $this->http->options->sleep(min($pause, $this->left() ?? $pause));
        }
    }

    /** @return \Generator<int, StatusMessage> the messages of one connection */
    private function streamed(): \Generator
    {
        $headers = $this->lastEventId === null ? [] : ["Last-Event-ID: {$this->lastEventId}"];
        $silence = min(self::$longestSilence, $this->left() ?? self::$longestSilence);
        $reader = new EventReader();
        $path = '/v1/invoices/' . rawurlencode($this->id) . '/stream';
        foreach ($this->http->open($path, $headers, $silence, $this->until) as $part) {
            foreach ($reader->feed($part) as $message) {
                $status = self::statusIn($message['data']);
                $this->lastEventId = $message['id'] ?? $this->lastEventId;
                yield $status;
            }
            $this->left();
        }
    }

    /**
     * Reads a message of a stream.
     *
     * @return StatusMessage
     * @throws ConnectionError if it is none of the service
     */
    private static function statusIn(string $text): array
    {
        $message = json_decode($text, true);
        if (!is_array($message) || !is_string($message['status'] ?? null)) {
            throw new ConnectionError('A message of the stream has no status.');
        }

        /** @var StatusMessage */
        return $message;
    }

    /**
     * Notes a status. Returns whether it comes after the last one that was told. A stream repeats what came after its
     * last message, of which a reading may have told the end.
     *
     * @param StatusMessage $message
     */
    private function takes(array $message): bool
    {
        ['status' => $status] = $message;
        $place = array_search($status, self::IN_ORDER, true);
        $last = array_search($this->status, self::IN_ORDER, true);
        if (in_array($status, $this->told, true) || ($place !== false && $last !== false && $place < $last)) {
            return false;
        }
        $this->told[] = $this->status = $status;

        return true;
    }

    private function isFinal(): bool
    {
        return $this->status === 'accepted' || $this->status === 'rejected';
    }

    /** Seconds to the time-out; null: there is none. @throws ConnectionError after it */
    private function left(): ?float
    {
        if ($this->until === null) {
            return null;
        }
        $left = $this->until - microtime(true);

        return $left > 0 ? $left : throw new ConnectionError(
            "{$this->id} had no final status within {$this->timeout} s.",
        );
    }

    /**
     * @param Invoice $invoice
     * @return StatusMessage
     */
    private static function statusOf(array $invoice): array
    {
        return [
            'id' => $invoice['id'],
            'object' => $invoice['object'],
            'status' => $invoice['status'],
            'dgi_id' => $invoice['dgi_id'],
            'rejection_reason' => $invoice['rejection_reason'],
            'updated_at' => $invoice['updated_at'],
        ];
    }
}
