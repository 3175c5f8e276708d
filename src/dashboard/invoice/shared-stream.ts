import { type FollowedInvoice, openStatusStream, type StreamListener } from './status-stream.ts';

/** Told of the invoice that a page follows. */
export interface StatusListener {
  connected(): void;
  lost(): void;
  changed(): void;
  refused(): void;
}

/** What the pages of a browser tell each other. `key` names a page. */
type Word =
  | { readonly kind: 'follow'; readonly key: string; readonly invoice: FollowedInvoice }
  | { readonly kind: 'leave' | 'refused'; readonly key: string }
  | { readonly kind: 'changed'; readonly key: string; readonly eventId: string }
  | { readonly kind: 'connected' | 'lost'; readonly keys: readonly string[] }
  /** Asks the others what they follow. */
  | { readonly kind: 'lead' };

/** Pages that start or leave together change the stream together, milliseconds. */
const TOGETHER_MS = 50;
const NAME = 'statuses';

/**
 * Follows an invoice's status over one connection for all pages of this browser that can share it: the frames of a page,
 * and windows beside each other. Browsers open six connections to a server over HTTP/1.1, and keep what they store and
 * connect for the frames of different sites apart, the lock and the channel alike. The page that has the lock leads: it has
 * the stream, and passes on what comes. When it goes, its lock goes to another one, which asks the others what they follow.
 * @param invoice its `after` moves on
 * @returns ends it
 */
export function followStatus(invoice: FollowedInvoice, listener: StatusListener): () => void {
  // Only secure contexts have locks. Others do not share.
  if (!navigator.locks) return followAlone(invoice, listener);
  const key = crypto.randomUUID();
  const channel = new BroadcastChannel(NAME);
  const ended = new AbortController();
  const say = (word: Word) => channel.postMessage(word);
  const ask = () => say({ kind: 'follow', key, invoice });

  /** Takes what the leader says, which this page itself may be. */
  function hear(word: Word): void {
    if ('keys' in word && word.keys.includes(key)) listener[word.kind]();
    if (!('key' in word) || word.key !== key) return;
    if (word.kind === 'refused') listener.refused();
    if (word.kind !== 'changed') return;
    invoice.after = word.eventId;
    listener.changed();
  }
  channel.onmessage = ({ data }: MessageEvent<Word>) => {
    if (data.kind === 'lead') ask();
    else hear(data);
  };
  ask();
  navigator.locks
    .request(NAME, { signal: ended.signal }, () => lead(channel, { key, invoice }, hear, ended.signal))
    .catch(() => {
      // The browser keeps locks from this page, for instance in a frame without storage.
      if (!ended.signal.aborted) ended.signal.addEventListener('abort', followAlone(invoice, listener));
    });
  function leave(): void {
    if (ended.signal.aborted) return;
    removeEventListener('pagehide', leave);
    say({ kind: 'leave', key });
    ended.abort();
    channel.close();
  }
  // Also when its frame is removed.
  addEventListener('pagehide', leave);
  return leave;
}

/** Has the stream of all pages until `signal` ends it. */
function lead(
  channel: BroadcastChannel,
  own: { readonly key: string; readonly invoice: FollowedInvoice },
  hear: (word: Word) => void,
  signal: AbortSignal,
): Promise<void> {
  const invoices = new Map([[own.key, { ...own.invoice }]]);
  const tell = (word: Word) => {
    // A channel does not tell the page that speaks.
    hear(word);
    if (!signal.aborted) channel.postMessage(word);
  };
  const toAll: StreamListener = {
    connected: (keys) => tell({ kind: 'connected', keys }),
    lost: (keys) => tell({ kind: 'lost', keys }),
    changed: (key, eventId) => tell({ kind: 'changed', key, eventId }),
    refused: (key) => tell({ kind: 'refused', key }),
  };
  let close = () => {};
  let changing: ReturnType<typeof setTimeout> | undefined;
  const open = () => {
    close();
    close = openStatusStream(invoices, toAll);
  };
  const change = () => {
    clearTimeout(changing);
    changing = setTimeout(open, TOGETHER_MS);
  };
  channel.addEventListener('message', ({ data }: MessageEvent<Word>) => {
    if (data.kind === 'follow') invoices.set(data.key, { ...data.invoice });
    else if (data.kind !== 'leave' || !invoices.delete(data.key)) return;
    change();
  });
  channel.postMessage({ kind: 'lead' } satisfies Word);
  change();
  return new Promise((resolve) => {
    const end = () => {
      clearTimeout(changing);
      close();
      resolve();
    };
    if (signal.aborted) end();
    else signal.addEventListener('abort', end);
  });
}

function followAlone(invoice: FollowedInvoice, listener: StatusListener): () => void {
  return openStatusStream(new Map([['', invoice]]), {
    connected: () => listener.connected(),
    lost: () => listener.lost(),
    changed: () => listener.changed(),
    refused: () => listener.refused(),
  });
}
