/** One message of `text/event-stream` (WHATWG HTML, section 9.2). */
export interface StreamMessage {
  readonly id: string | null;
  readonly data: string;
}

/** The messages of a stream's text, however it is cut; comments are left out, and so is a message that was not ended. */
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
