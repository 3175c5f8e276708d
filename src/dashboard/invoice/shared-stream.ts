import { type FollowedInvoice, openStatusStream, type StreamListener } from './status-stream.ts';

/** Receives the changes of the invoice that a page follows. */
export interface StatusListener {
  connected(): void;
  lost(): void;
  changed(): void;
  refused(): void;
}

/** The messages between the pages of a browser. `key` names a page. */
type Word =
  | { readonly kind: 'follow'; readonly key: string; readonly invoice: FollowedInvoice }
  | { readonly kind: 'leave' | 'refused'; readonly key: string }
  | { readonly kind: 'changed'; readonly key: string; readonly eventId: string }
  | { readonly kind: 'connected' | 'lost'; readonly keys: readonly string[] }
  /** Sent by a new leader, to ask the other pages which invoices they follow. */
  | { readonly kind: 'lead' };

/**
 * How long changes are collected before the stream is changed, milliseconds, because pages often start or leave
 * together.
 */
const TOGETHER_MS = 50;
const NAME = 'statuses';

/**
 * Follows an invoice's status over one connection for all pages of this browser that can share it: the frames of a
 * page, and windows side by side. The reason is that browsers open six connections to a server over HTTP/1.1. Browsers
 * separate storage and connections by the sites that contain a frame, and with them the lock and the channel. The page
 * that holds the lock leads: it owns the stream and forwards its messages. When it closes, another page gets the lock
 * and asks the others which invoices they follow.
 * @param invoice the invoice to follow; its `after` is updated
 * @returns a function that stops it
 */
export function followStatus(invoice: FollowedInvoice, listener: StatusListener): () => void {
  // Only secure contexts have locks. Pages in other contexts do not share a stream.
  if (!navigator.locks) return followAlone(invoice, listener);
  const key = crypto.randomUUID();
  const channel = new BroadcastChannel(NAME);
  const ended = new AbortController();
  const say = (word: Word) => channel.postMessage(word);
  const ask = () => say({ kind: 'follow', key, invoice });

  /** Handles a message of the leader, which may be this page itself. */
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
      // The browser refuses locks to this page, for instance in a frame without storage.
      if (!ended.signal.aborted) ended.signal.addEventListener('abort', followAlone(invoice, listener));
    });
  function leave(): void {
    if (ended.signal.aborted) return;
    removeEventListener('pagehide', leave);
    say({ kind: 'leave', key });
    ended.abort();
    channel.close();
  }
  // This event also occurs when the page's frame is removed.
  addEventListener('pagehide', leave);
  return leave;
}

/** Owns the stream of all pages until `signal` aborts. */
function lead(
  channel: BroadcastChannel,
  own: { readonly key: string; readonly invoice: FollowedInvoice },
  hear: (word: Word) => void,
  signal: AbortSignal,
): Promise<void> {
  const invoices = new Map([[own.key, { ...own.invoice }]]);
  const tell = (word: Word) => {
    // A channel does not deliver a message to its sender.
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
