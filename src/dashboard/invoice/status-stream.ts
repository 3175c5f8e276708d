import { FINAL_STATUSES } from '../../domain/invoice/lifecycle.ts';
import { SILENCE_MS } from '../../domain/limits.ts';
import { waitToRetry } from '../graphql/retry.ts';
import { watchedFetch } from '../graphql/watched-fetch.ts';

/** An invoice whose status is followed. */
export interface FollowedInvoice {
  readonly id: string;
  /** A client_secret, or the token of an embedded page. */
  readonly token: string;
  /** The id of the last event that is known. */
  after: string | null;
}

/** Receives the messages of a stream. Keys are those of {@link openStatusStream}. */
export interface StreamListener {
  /** From now on each change of these invoices is reported at once. */
  connected(keys: readonly string[]): void;
  /**
   * The connection is lost, cannot be made, or does not accept these invoices at the moment. Another attempt follows.
   */
  lost(keys: readonly string[]): void;
  changed(key: string, eventId: string): void;
  /** The token no longer opens the invoice. */
  refused(key: string): void;
}

/** Maximum number of invoices in one stream. */
const MOST = 100;

/**
 * Follows the status changes of several invoices over one connection, which reconnects endlessly. It ends by itself
 * when no remaining invoice can change. Final and refused invoices are removed from the map.
 * @param invoices by keys of the caller; their `after` is updated
 * @returns a function that closes the stream
 */
export function openStatusStream(invoices: Map<string, FollowedInvoice>, listener: StreamListener): () => void {
  const control = new AbortController();
  const { signal } = control;
  const send = watchedFetch(SILENCE_MS);

  /**
   * Follows these invoices until the connection ends.
   * @returns whether it was closed in order to follow all invoices again, including those that had to wait
   */
  async function follow(keys: readonly string[]): Promise<boolean> {
    const turn = new AbortController();
    const giveUp = () => turn.abort();
    signal.addEventListener('abort', giveUp);
    let waiting: ReturnType<typeof setTimeout> | undefined;
    try {
      const body = JSON.stringify({ invoices: keys.map((key) => invoices.get(key)) });
      const headers = { 'Content-Type': 'application/json', Accept: 'text/event-stream' };
      const init = { method: 'POST', headers, body, signal: turn.signal, cache: 'no-store' } as const;
      const response = await send('/embed/api/statuses', init);
      if (response.status === 401) for (const key of keys) refuse(key);
      if (!response.ok || !response.body) return false;
      listener.connected(keys);
      for await (const data of messagesIn(response.body)) {
        const { n, ...news } = JSON.parse(data) as { n: number; eventId?: string; status?: string; later?: number };
        const key = keys[n];
        const invoice = key === undefined ? undefined : invoices.get(key);
        if (signal.aborted || key === undefined || !invoice) continue;
        if (news.later !== undefined) {
          listener.lost([key]);
          waiting ??= setTimeout(giveUp, 1000 * news.later);
        } else if (news.eventId === undefined) refuse(key);
        else {
          invoice.after = news.eventId;
          if ((FINAL_STATUSES as readonly unknown[]).includes(news.status)) invoices.delete(key);
          listener.changed(key, news.eventId);
        }
      }
      return false;
    } catch {
      return turn.signal.aborted;
    } finally {
      clearTimeout(waiting);
      signal.removeEventListener('abort', giveUp);
    }
  }

  function refuse(key: string): void {
    invoices.delete(key);
    listener.refused(key);
  }

  async function followAll(): Promise<void> {
    for (let attempt = 0; !signal.aborted && invoices.size > 0; attempt++) {
      const keys = [...invoices.keys()].slice(0, MOST);
      const started = performance.now();
      const goOn = await follow(keys);
      if (signal.aborted || invoices.size === 0) return;
      // A connection that lasted for a while does not count as a failed attempt.
      if (performance.now() - started > SILENCE_MS) attempt = 0;
      if (goOn) continue;
      listener.lost(keys);
      await waitToRetry(attempt);
    }
  }

  void followAll();
  return () => control.abort();
}

/**
 * Yields the data of the messages in an event stream of this service, which are one line each. Uses a reader, because
 * not every browser can iterate a stream.
 */
async function* messagesIn(body: ReadableStream<Uint8Array>): AsyncGenerator<string> {
  const reader = body.pipeThrough(new TextDecoderStream() as ReadableWritablePair<string, Uint8Array>).getReader();
  let rest = '';
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    const lines = (rest + value).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) if (line.startsWith('data: ')) yield line.slice(6);
  }
}
