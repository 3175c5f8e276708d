/** One message of `text/event-stream` as it was received. */
export interface SentMessage {
  readonly event: string | null;
  readonly id: string | null;
  readonly data: string;
}

/** Reads a stream message by message. Counts comments without returning them, and skips a `retry:` alone. */
export class EventReader {
  /** Number of comments so far. */
  comments = 0;
  /** The last `retry:`, after which the stream is to be reopened; milliseconds. */
  retry: number | null = null;
  readonly #chunks: AsyncIterator<string>;
  #rest = '';

  constructor(response: Response) {
    if (!response.body) throw new Error(`no body: ${response.status}`);
    this.#chunks = response.body.pipeThrough(new TextDecoderStream())[Symbol.asyncIterator]();
  }

  /** Returns the next message; null at the end. */
  async next(): Promise<SentMessage | null> {
    for (;;) {
      const end = this.#rest.indexOf('\n\n');
      if (end < 0) {
        const { done, value } = await this.#chunks.next();
        if (done) return null;
        this.#rest += value;
        continue;
      }
      const lines = this.#rest.slice(0, end).split('\n');
      this.#rest = this.#rest.slice(end + 2);
      const field = (name: string) => lines.find((line) => line.startsWith(`${name}:`))?.slice(name.length + 1);
      const retry = field('retry');
      if (retry !== undefined) this.retry = Number(retry);
      if (retry !== undefined && lines.length === 1) continue;
      if (lines.every((line) => line.startsWith(':'))) this.comments++;
      else
        return {
          event: field('event')?.trim() ?? null,
          id: field('id')?.trim() ?? null,
          data: field('data')?.trim() ?? '',
        };
    }
  }

  /** Returns all messages until the end. */
  async all(): Promise<SentMessage[]> {
    const messages: SentMessage[] = [];
    for (let each = await this.next(); each; each = await this.next()) messages.push(each);
    return messages;
  }

  /** Ends the connection. */
  async close(): Promise<void> {
    await this.#chunks.return?.();
  }
}
