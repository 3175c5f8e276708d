import { isFinal } from '../../domain/invoice/lifecycle.ts';
import { createGraphqlClient, isRefusal } from '../graphql/client.ts';
import { waitToRetry } from '../graphql/retry.ts';
import { DOCUMENT, type Invoice } from './documents.ts';
import { followStatus } from './shared-stream.ts';

/** The known state of an invoice or credit note, and the state of the connection. */
export interface InvoiceView {
  /** Null until it is first read. */
  readonly invoice: Invoice | null;
  /**
   * `live`: each change is shown at once. `lost`: the view may be out of date. `final`: the status cannot change any
   * more. `refused`: the secret does not belong to an invoice with this id; nothing reveals which of the two is wrong.
   */
  readonly state: 'connecting' | 'live' | 'lost' | 'final' | 'refused';
}

export const CONNECTING: InvoiceView = { invoice: null, state: 'connecting' };

/** The allowed characters of a client_secret or an embedded page's token. Others could not be sent in a header. */
const SECRET = /^[\w-]{1,400}$/;

/**
 * Reads an invoice with its client_secret and follows its status to the end, reconnecting when the connection is lost.
 * A hidden page has no stream; it reads again when it becomes visible.
 * @param show called with each view
 * @returns a function that stops it
 */
export function followInvoice(id: string, secret: string, show: (view: InvoiceView) => void): () => void {
  let invoice: Invoice | null = null;
  let stream: 'connecting' | 'live' | 'lost' = 'connecting';
  let unread = false;
  let reads = 0;
  let unsubscribe: (() => void) | null = null;

  function end(): void {
    reads = Number.POSITIVE_INFINITY;
    document.removeEventListener('visibilitychange', turnedTo);
    unsubscribe?.();
  }
  function tell(): void {
    if (reads === Number.POSITIVE_INFINITY) return;
    const final = invoice !== null && isFinal(invoice.status);
    show({ invoice, state: final ? 'final' : unread ? 'lost' : stream });
    if (final) end();
  }
  function refuse(): void {
    show({ invoice: null, state: 'refused' });
    end();
  }
  if (!SECRET.test(secret)) {
    refuse();
    return end;
  }
  const moved = (now: typeof stream) => () => {
    stream = now;
    tell();
  };
  const client = createGraphqlClient({ Authorization: `Bearer ${secret}` });

  /**
   * Reads the invoice, and retries until there is an answer. A later call takes over, so that an older answer never
   * replaces a newer one.
   */
  async function read(): Promise<void> {
    const turn = ++reads;
    for (let attempt = 0; turn === reads; attempt++) {
      const { data, error } = await client.query(DOCUMENT, { id }).toPromise();
      if (turn !== reads) return;
      if (error && isRefusal(error)) return refuse();
      const found = data?.document && 'amount' in data.document ? data.document : null;
      unread = found === null || error !== undefined;
      if (!unread) invoice = found;
      tell();
      if (!unread) return;
      await waitToRetry(attempt);
    }
  }

  /** Reads the invoice, then follows the changes after it. */
  async function listen(): Promise<void> {
    await read();
    if (!invoice || reads === Number.POSITIVE_INFINITY || document.hidden || unsubscribe) return;
    const after = invoice.timeline.at(-1)?.eventId ?? null;
    unsubscribe = followStatus(
      { id, token: secret, after },
      {
        connected: moved('live'),
        lost: moved('lost'),
        changed: () => void read(),
        refused() {
          moved('lost')();
          // Reading the invoice again shows why the stream was refused.
          void read();
        },
      },
    );
  }
  function turnedTo(): void {
    if (!document.hidden) return void listen();
    unsubscribe?.();
    unsubscribe = null;
    stream = 'connecting';
  }
  document.addEventListener('visibilitychange', turnedTo);
  void listen();
  return end;
}
