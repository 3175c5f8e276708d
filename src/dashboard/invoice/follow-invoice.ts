import type { Client } from '@urql/core';
import { createGraphqlClient, isRefusal } from '../graphql/client.ts';
import { waitToRetry } from '../graphql/retry.ts';
import { INVOICE, type Invoice, isFinal, STATUS_CHANGES, type StatusVariables } from './documents.ts';

/** The known state of an invoice, and the state of the connection. */
export interface InvoiceView {
  /** Null until it is first read. */
  readonly invoice: Invoice | null;
  /**
   * `live`: each change is shown at once. `lost`: what is shown may be out of date. `final`: it changes no more.
   * `refused`: the secret is not that of an invoice with this id; nothing tells which of the two is wrong.
   */
  readonly state: 'connecting' | 'live' | 'lost' | 'final' | 'refused';
}

export const CONNECTING: InvoiceView = { invoice: null, state: 'connecting' };

/** The characters of a client_secret and of an embedded page's token. Others could not be sent in a header. */
const SECRET = /^[\w-]{1,400}$/;

/**
 * Reads an invoice with its client_secret and follows its status to the end, over lost connections.
 * @param show called with each view
 * @returns ends it
 */
export function followInvoice(id: string, secret: string, show: (view: InvoiceView) => void): () => void {
  let invoice: Invoice | null = null;
  let stream: 'connecting' | 'live' | 'lost' = 'connecting';
  let unread = false;
  let reads = 0;
  let unsubscribe = () => {};

  function end(): void {
    reads = Number.POSITIVE_INFINITY;
    unsubscribe();
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
  const client = createGraphqlClient(
    { Authorization: `Bearer ${secret}` },
    { connected: moved('live'), lost: moved('lost') },
  );

  /** Reads the invoice until an answer comes. A later call takes over, so that an older answer never replaces a newer one. */
  async function read(): Promise<void> {
    const turn = ++reads;
    for (let attempt = 0; turn === reads; attempt++) {
      const { data, error } = await client.query(INVOICE, { id }).toPromise();
      if (turn !== reads) return;
      if (error && isRefusal(error)) return refuse();
      unread = !data || error !== undefined;
      if (data && !error) invoice = data.invoice;
      tell();
      if (!unread) return;
      await waitToRetry(attempt);
    }
  }

  void read().then(() => {
    if (invoice && reads !== Number.POSITIVE_INFINITY)
      unsubscribe = subscribe(client, invoice, () => void read(), moved('lost'));
  });
  return end;
}

/** Calls `changed` at each status change after what `invoice` shows. */
function subscribe(client: Client, invoice: Invoice, changed: () => void, failed: () => void): () => void {
  const variables: StatusVariables = { id: invoice.id, after: invoice.timeline.at(-1)?.eventId ?? null };
  return client.subscription(STATUS_CHANGES, variables).subscribe(({ data, error }) => {
    if (error) return failed();
    if (!data) return;
    // A connection that is made again continues from here (`createGraphqlClient`).
    variables.after = data.invoiceStatus.eventId;
    changed();
  }).unsubscribe;
}
