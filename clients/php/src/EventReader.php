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
        $text = $this->rest . $part;
        // A CR at the end may be the first half of a CRLF.
        $held = str_ends_with($text, "\r") ? 1 : 0;
        $lines = preg_split('/\r\n|\n|\r/', substr($text, 0, strlen($text) - $held)) ?: [''];
        $this->rest = array_pop($lines) . substr($text, strlen($text) - $held);

        return $lines;
    }
}
