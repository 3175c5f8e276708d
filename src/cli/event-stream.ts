/** One message of `text/event-stream` (WHATWG HTML, section 9.2). */
export interface StreamMessage {
  readonly id: string | null;
  readonly data: string;
}

/** Parses the messages of a stream from chunks of any size. Comments and an unterminated last message are dropped. */
export async function* messagesOf(chunks: AsyncIterable<string>): AsyncGenerator<StreamMessage> {
  let rest = '';
  let id: string | null = null;
  let data: string[] = [];
  for await (const chunk of chunks) {
    const lines = (rest + chunk).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines.map((each) => each.replace(/\r$/, ''))) {
      const [, field, value = ''] = /^([^:]*)(?:: ?(.*))?$/s.exec(line) ?? [];
      if (field === 'data') data.push(value);
      else if (field === 'id') id = value;
      else if (line === '') {
        if (data.length > 0) yield { id, data: data.join('\n') };
        data = [];
      }
    }
  }
}
