/** A message of a stream of Server-Sent Events. */
export interface StreamMessage {
  readonly id: string | null;
  readonly data: string;
}

/**
 * Reads the messages with data of Server-Sent Events (HTML Living Standard, section 9.2.6). Yields null for a comment,
 * which keeps the connection alive.
 */
export async function* readEventStream(body: ReadableStream<Uint8Array>): AsyncGenerator<StreamMessage | null> {
  const lines = new LineReader();
  const reader = body.getReader();
  const decoder = new TextDecoder();
  let id: string | null = null;
  let data: string[] = [];
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      for (const line of lines.push(decoder.decode(value, { stream: true }))) {
        if (line === '') {
          if (data.length > 0) yield { id, data: data.join('\n') };
          data = [];
        } else if (line.startsWith(':')) yield null;
        else {
          const [, name = line, text = ''] = /^([^:]*): ?(.*)$/s.exec(line) ?? [];
          if (name === 'data') data.push(text);
          // An id that cannot be in a header could not be sent back.
          else if (name === 'id' && /^[ -~]*$/.test(text)) id = text;
        }
      }
    }
  } finally {
    await reader.cancel().catch(() => undefined);
  }
}

/** Splits a text that arrives in parts into lines, which end with CRLF, LF or CR. */
class LineReader {
  #rest = '';
  #afterCr = false;

  push(part: string): string[] {
    // Skips the LF of a CRLF that was split between two parts.
    const text = this.#afterCr && part.startsWith('\n') ? part.slice(1) : part;
    if (part !== '') this.#afterCr = part.endsWith('\r');
    const lines = (this.#rest + text).split(/\r\n|\n|\r/);
    this.#rest = lines.pop() ?? '';
    return lines;
  }
}
