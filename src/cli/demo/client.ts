import { setTimeout as sleep } from 'node:timers/promises';
import { watchedFetch } from '../../dashboard/graphql/watched-fetch.ts';
import { SILENCE_MS } from '../../domain/limits.ts';
import { messagesOf } from '../event-stream.ts';
import { STATE_MS } from '../service-address.ts';

const RECONNECT_MS = 500;
const RECONNECTIONS = 20;
const DOCUMENT_WAIT_MS = 60_000;

/** Address and key with which the demo calls the service. */
export interface Access {
  /** Without a trailing slash. */
  readonly url: string;
  readonly secretKey: string;
}

export interface CreatedInvoice {
  readonly id: string;
  readonly client_secret: string;
  readonly status: string;
}

export interface InvoiceState {
  readonly status: string;
  readonly dgi_id: string | null;
  readonly rejection_reason: string | null;
  readonly xml_url: string | null;
  readonly pdf_url: string | null;
}

/** The message of the stream for a status change. */
export type StatusMessage = Pick<InvoiceState, 'status' | 'dgi_id' | 'rejection_reason'>;

/** Creates an invoice (POST /v1/invoices). @throws Error with the service's message */
export async function createInvoice({ url, secretKey }: Access, body: unknown, signal: AbortSignal) {
  const response = await fetch(`${url}/v1/invoices`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${secretKey}`, 'Content-Type': 'application/json' },
    body: JSON.stringify(body),
    signal,
  });
  return (await answerOf(response)) as CreatedInvoice;
}

/** Reads an invoice (GET /v1/invoices/:id). @throws Error with the service's message */
export async function readInvoice({ url, secretKey }: Access, id: string, signal: AbortSignal) {
  const response = await fetch(`${url}/v1/invoices/${id}`, {
    headers: { Authorization: `Bearer ${secretKey}` },
    signal,
  });
  return (await answerOf(response)) as InvoiceState;
}

/**
 * Yields each status change of an invoice once and in order, until it is accepted or rejected. Reads GET
 * /v1/invoices/:id/stream with the client_secret, as a front end does, and resumes a broken connection after the last
 * message.
 * @param silenceMs time without a byte after which a connection counts as broken, milliseconds
 * @throws Error when the service refuses the request, or stays unreachable
 */
export async function* followStatus(
  url: string,
  { id, client_secret }: CreatedInvoice,
  signal: AbortSignal,
  silenceMs: number = SILENCE_MS,
): AsyncGenerator<StatusMessage> {
  const fetchWatched = watchedFetch(silenceMs);
  let lastEventId: string | null = null;
  for (let left = RECONNECTIONS; ; left--) {
    try {
      const response: Response = await fetchWatched(`${url}/v1/invoices/${id}/stream`, {
        headers: {
          Authorization: `Bearer ${client_secret}`,
          Accept: 'text/event-stream',
          ...(lastEventId !== null && { 'Last-Event-ID': lastEventId }),
        },
        signal,
      });
      // A 204 means that the last message received was the final one.
      if (response.status === 204) return;
      if (!response.ok || !response.body) throw new Refusal(await messageOf(response));
      for await (const message of messagesOf(response.body.pipeThrough(new TextDecoderStream()))) {
        lastEventId = message.id;
        const change = JSON.parse(message.data) as StatusMessage;
        yield change;
        if (change.status === 'accepted' || change.status === 'rejected') return;
      }
    } catch (error) {
      if (error instanceof Refusal || signal.aborted || left === 0) throw error;
    }
    if (left === 0) throw new Error('the stream ended repeatedly before the invoice was accepted or rejected');
    await sleep(RECONNECT_MS, null, { signal });
  }
}

/**
 * Downloads `xml_url` or `pdf_url`. Waits while the document is being made (503).
 * @throws Error with the service's message
 */
export async function download(url: string, signal: AbortSignal): Promise<Buffer> {
  for (const end = Date.now() + DOCUMENT_WAIT_MS; ; ) {
    const response = await fetch(url, { signal });
    if (response.ok) return Buffer.from(await response.arrayBuffer());
    const message = await messageOf(response);
    if (response.status !== 503 || Date.now() > end) throw new Error(message);
    await sleep(1000, null, { signal });
  }
}

/** Whether the service at the address accepts the key. */
export async function acceptsKey({ url, secretKey }: Access, signal: AbortSignal): Promise<boolean> {
  try {
    const response = await fetch(`${url}/v1/invoices?limit=1`, {
      headers: { Authorization: `Bearer ${secretKey}` },
      redirect: 'error',
      signal: AbortSignal.any([signal, AbortSignal.timeout(STATE_MS)]),
    });
    return response.ok && ((await response.json()) as { object?: unknown }).object === 'list';
  } catch {
    signal.throwIfAborted();
    return false;
  }
}

class Refusal extends Error {}

async function answerOf(response: Response): Promise<unknown> {
  if (!response.ok) throw new Error(await messageOf(response));
  return response.json();
}

/** Returns the code and message of an error response, or its HTTP status if it is not in the service's error format. */
async function messageOf(response: Response): Promise<string> {
  const text = await response.text();
  try {
    const { error } = JSON.parse(text) as { error: { code: string; message: string } };
    return `${error.code}: ${error.message}`;
  } catch {
    return `${new URL(response.url).host} answered ${response.status}`;
  }
}
