import { waitToRetry } from '../graphql/retry.ts';
import { FINAL_STATUSES, SILENCE_MS } from '../graphql/sets.ts';
import { watchedFetch } from '../graphql/watched-fetch.ts';

/** An invoice whose status is followed. */
export interface FollowedInvoice {
  readonly id: string;
  /** A client_secret, or the token of an embedded page. */
  readonly token: string;
  /** The id of the last event that is known. */
  after: string | null;
}

/** Told of what a stream brings. Keys are those of {@link openStatusStream}. */
export interface StreamListener {
  /** Each change of these is told at once from now on. */
  connected(keys: readonly string[]): void;
  /** The connection is lost, or cannot be made; another attempt follows. */
  lost(keys: readonly string[]): void;
  changed(key: string, eventId: string): void;
  /** The token opens the invoice no more. */
  refused(key: string): void;
}

/** Invoices that the service takes in one stream. */
const MOST = 100;

/**
 * Follows the status changes of several invoices over one connection, which is made again without end. It ends by itself
 * when nothing is left that can change; final and refused invoices are taken out of the map.
 * @param invoices by keys of the caller; their `after` moves on
 * @returns closes it
 */
export function openStatusStream(invoices: Map<string, FollowedInvoice>, listener: StreamListener): () => void {
  const control = new AbortController();
  const { signal } = control;
  const send = watchedFetch(SILENCE_MS);

  async function follow(keys: readonly string[]): Promise<void> {
    const body = JSON.stringify({ invoices: keys.map((key) => invoices.get(key)) });
    const headers = { 'Content-Type': 'application/json', Accept: 'text/event-stream' };
    const response = await send('/embed/api/statuses', { method: 'POST', headers, body, signal, cache: 'no-store' });
    if (response.status === 401) {
      for (const key of keys) refuse(key);
      return;
    }
    if (!response.ok || !response.body) throw new Error(String(response.status));
    listener.connected(keys);
    for await (const data of messagesIn(response.body)) {
      const { n, ...news } = JSON.parse(data) as { n: number; eventId?: string; status?: string };
      const key = keys[n];
      const invoice = key === undefined ? undefined : invoices.get(key);
      if (signal.aborted || key === undefined || !invoice) continue;
      if (news.eventId === undefined) {
        refuse(key);
        continue;
      }
      invoice.after = news.eventId;
      if ((FINAL_STATUSES as readonly unknown[]).includes(news.status)) invoices.delete(key);
      listener.changed(key, news.eventId);
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
      await follow(keys).catch(() => undefined);
      if (signal.aborted || invoices.size === 0) return;
      listener.lost(keys);
      // A connection that held for a while is no failed attempt.
      if (performance.now() - started > SILENCE_MS) attempt = 0;
      await waitToRetry(attempt);
    }
  }

  void followAll();
  return () => control.abort();
}

/** The data of the messages of an event stream of this service, one line each. Not every browser can iterate a stream. */
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
