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

/** Told of what a stream brings. Keys are those of {@link openStatusStream}. */
export interface StreamListener {
  /** Each change of these is told at once from now on. */
  connected(keys: readonly string[]): void;
  /** The connection is lost, cannot be made, or is not for these at the moment; another attempt follows. */
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

  /** @returns whether the connection was given up to follow all again, those among them that had to wait */
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
      // A connection that held for a while is no failed attempt.
      if (performance.now() - started > SILENCE_MS) attempt = 0;
      if (goOn) continue;
      listener.lost(keys);
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
