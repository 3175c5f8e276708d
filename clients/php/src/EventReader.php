<?php

declare(strict_types=1);

namespace Fatoura;

/**
 * Reads Server-Sent Events (HTML Living Standard, section 9.2.6) from bytes that come in parts. Comments keep the
 * connection alive, and give nothing.
 *
 * @internal
 */
final class EventReader
{
    private string $rest = '';
    private bool $afterCr = false;
    private ?string $id = null;
    /** @var list<string> */
    private array $data = [];

    /** @return \Generator<int, array{id: string|null, data: string}> the messages that end in the next part */
    public function feed(string $part): \Generator
    {
        foreach ($this->lines($part) as $line) {
            if ($line === '') {
                $data = $this->data;
                $this->data = [];
                if ($data !== []) {
                    yield ['id' => $this->id, 'data' => implode("\n", $data)];
                }
                continue;
            }
            [$name, $text] = [...explode(':', $line, 2), ''];
            $text = str_starts_with($text, ' ') ? substr($text, 1) : $text;
            if ($name === 'data') {
                $this->data[] = $text;
            } elseif ($name === 'id' && preg_match('/^[ -~]*$/D', $text)) {
                // What no header carries could not be sent back.
                $this->id = $text;
            }
        }
    }

    /** @return list<string> lines, which end with CRLF, LF or CR */
    private function lines(string $part): array
    {
        // The LF of a CRLF that came in two parts.
        $text = $this->afterCr && str_starts_with($part, "\n") ? substr($part, 1) : $part;
        if ($part !== '') {
            $this->afterCr = str_ends_with($part, "\r");
        }
        $lines = preg_split('/\r\n|\n|\r/', $this->rest . $text) ?: [''];
        $this->rest = array_pop($lines);

        return $lines;
    }
}
