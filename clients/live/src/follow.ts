import { FatouraError } from '../../typescript/src/errors.ts';
import { isFinal, isLater, follow as statusesOf } from '../../typescript/src/follow.ts';
import { run } from '../../typescript/src/graphql.ts';
import { Http } from '../../typescript/src/http.ts';
import type { InvoiceStatus, StatusMessage } from '../../typescript/src/models.ts';
import { isPassing, restOf, sleep } from '../../typescript/src/retries.ts';

/** What a `client_secret` shows of its invoice. Members that the API has too have its names. */
export interface LiveInvoice extends StatusMessage {
  readonly status: InvoiceStatus;
  readonly environment: 'test' | 'live';
  /** Null until it has one. */
  readonly number: string | null;
  /** The total including tax with its rounding, centimes. */
  readonly amount: number;
  /** What the customer has to pay, centimes: less than `amount` if VAT is withheld. */
  readonly net_to_pay: number;
  readonly currency: string;
  readonly seller_name: string | null;
  /** What accepted credit notes credit of it, when it was read; null if there is none. */
  readonly credited: {
    /** Their sum, centimes. */
    readonly amount: number;
    /** The day of the last one in Morocco: `2026-01-31`. */
    readonly last_date: string;
  } | null;
  /** Why the authority rejected it, in French. */
  readonly problems: readonly { readonly message: string }[];
  /** Null until it is accepted. */
  readonly documents: Readonly<Record<'pdf' | 'xml', { readonly url: string }>> | null;
}

/** Options of `follow`. */
export interface FollowOptions {
  /** Origin of the service. Default: the one that served this file. */
  readonly service?: string | undefined;
  /** Ends it with an error. */
  readonly signal?: AbortSignal | undefined;
  /** Is told whether the service answers, when that changes. */
  readonly onConnection?: ((isConnected: boolean) => void) | undefined;
}

const READ = `query ($id: ID!) { node(id: $id) { ... on Invoice {
  id status environment number amount net_to_pay: netToPay currency seller_name: sellerName dgi_id: dgiId
  rejection_reason: rejectionReason updated_at: updatedAt credited: acceptedCredit { amount last_date: lastDate }
  problems { message } documents { pdf { url } xml { url } }
} } }`;

/** Pause before an invoice is read again that could not be read, milliseconds. */
const READ_AGAIN_MS = 2000;

/**
 * Invoices of a page that have a stream. Over HTTP/1.1 a browser opens six connections to an origin; the others are
 * needed to read. Further invoices are read every two seconds.
 */
const MOST_STREAMS = 3;
let streams = 0;

/**
 * Yields an invoice as it is, and again after each change of its status, until that is final. Resumes after the network
 * was cut, and reads where streams are cut.
 * @param clientSecret of the invoice: `inv_…_secret_…`
 * @throws FatouraError if the secret opens no invoice; CancelledError after `signal`
 */
export async function* follow(
  clientSecret: string,
  { service = new URL(import.meta.url).origin, signal, onConnection }: FollowOptions = {},
): AsyncGenerator<LiveInvoice, void> {
  const [, id] = /^(inv_[\w-]+)_secret_[\w-]+$/.exec(clientSecret) ?? [];
  if (id === undefined) throw new FatouraError('A client_secret of an invoice begins with inv_.');
  let wasConnected: boolean | null = null;
  const told = (isConnected: boolean) => {
    if (isConnected !== wasConnected) onConnection?.(isConnected);
    wasConnected = isConnected;
  };
  const http = new Http(clientSecret, service.replace(/\/+$/, ''), {
    maxRetries: 0,
    onAttempt: ({ status }) => {
      if (!signal?.aborted) told(status !== null);
    },
  });
  const read = async (by = signal): Promise<LiveInvoice> => {
    for (;;) {
      let restMs = READ_AGAIN_MS;
      try {
        const request = { query: READ, variables: { id } };
        const read = await run<Omit<LiveInvoice, 'object'>>(http, 'node', request, { signal: by, isRepeatable: true });
        return { ...read, object: 'invoice' };
      } catch (error) {
        if (!isPassing(error)) throw error;
        restMs = Math.max(restMs, restOf(error));
      }
      await sleep(restMs, by);
    }
  };
  let hasPlace = false;
  const open: Http['open'] = async (...stream) => {
    if (!hasPlace && streams === MOST_STREAMS) return new Response(null, { status: 204 });
    if (!hasPlace) streams++;
    hasPlace = true;
    return http.open(...stream);
  };
  try {
    let shown = await read();
    yield shown;
    if (isFinal(shown)) return;
    for await (const { status } of statusesOf({ open }, id, read, { signal })) {
      // What was read may be ahead of the stream.
      if (!isLater(status, shown.status)) continue;
      shown = await read();
      yield shown;
      if (isFinal(shown)) return;
    }
  } finally {
    if (hasPlace) streams--;
  }
}
