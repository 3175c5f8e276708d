import { setTimeout as sleep } from 'node:timers/promises';
import { EventReader } from './event-stream.ts';

/** The observations of a client that followed an invoice as a browser does. */
export interface FollowedStream {
  readonly invoiceId: string;
  /** The statuses of the messages. */
  readonly statuses: readonly string[];
  /** Number of connections without a byte for three heartbeats: a browser would not notice that they are dead. */
  readonly silent: number;
  /** Whether the service ended the stream as complete. */
  readonly ended: boolean;
}

/** Three heartbeats. */
const SILENCE_MS = 45_000;
const RECONNECT_MS = 200;
/** Time limit for the headers of an answer, milliseconds. */
const OPENING_MS = 20_000;

/**
 * Follows the stream of an invoice to its end. Reopens a broken stream at any process, with `Last-Event-ID`.
 * @param address returns the address of any process that serves
 * @param patienceMs time limit, milliseconds
 */
export async function followInvoice(
  address: () => Promise<string>,
  { id, clientSecret }: { readonly id: string; readonly clientSecret: string },
  patienceMs: number,
): Promise<FollowedStream> {
  const statuses: string[] = [];
  let silent = 0;
  let lastEventId: string | null = null;
  for (const end = Date.now() + patienceMs; Date.now() < end; await sleep(RECONNECT_MS)) {
    const abort = new AbortController();
    const timer = setTimeout(() => abort.abort(), OPENING_MS);
    try {
      const response = await fetch(`${await address()}/v1/invoices/${id}/stream`, {
        headers: { Authorization: `Bearer ${clientSecret}`, ...(lastEventId && { 'Last-Event-ID': lastEventId }) },
        signal: abort.signal,
      });
      clearTimeout(timer);
      if (response.status === 204) return { invoiceId: id, statuses, silent, ended: true };
      if (response.status !== 200) {
        await response.arrayBuffer();
        continue;
      }
      const reader = new EventReader(response);
      for (;;) {
        const message = await withinSilence(reader, abort);
        if (message === 'silent') {
          silent++;
          break;
        }
        if (message === null) break;
        if (message.id) lastEventId = message.id;
        statuses.push((JSON.parse(message.data) as { status: string }).status);
      }
    } catch {
      // The process was killed; another one continues the stream.
    } finally {
      clearTimeout(timer);
      abort.abort();
    }
  }
  return { invoiceId: id, statuses, silent, ended: false };
}

/** Returns the next message, null at the end, or `silent` if nothing, not even a heartbeat, came for too long. */
async function withinSilence(reader: EventReader, abort: AbortController) {
  const next = reader.next();
  next.catch(() => undefined);
  for (let comments = reader.comments; ; comments = reader.comments) {
    const silence = sleep(SILENCE_MS, 'silent' as const, { signal: abort.signal, ref: false });
    silence.catch(() => undefined);
    const outcome = await Promise.race([next, silence]);
    if (outcome !== 'silent' || reader.comments === comments) return outcome;
  }
}
