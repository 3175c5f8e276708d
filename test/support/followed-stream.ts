import { setTimeout as sleep } from 'node:timers/promises';
import { EventReader } from './event-stream.ts';

/** What somebody saw who followed an invoice as a browser does. */
export interface FollowedStream {
  readonly invoiceId: string;
  /** The statuses of the messages. */
  readonly statuses: readonly string[];
  /** Connections that gave no byte for three heartbeats: nobody would have noticed that they were dead. */
  readonly silent: number;
  /** Whether the service said that there is nothing more to come. */
  readonly ended: boolean;
}

/** Three heartbeats. */
const SILENCE_MS = 45_000;
const RECONNECT_MS = 200;
/** A request whose headers do not come. */
const OPENING_MS = 20_000;

/**
 * Follows the stream of an invoice to its end: opens it again where it breaks, at any process, with `Last-Event-ID`.
 * @param address of any process that serves
 * @param patienceMs when it gives up
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
      // The process was killed; another one goes on.
    } finally {
      clearTimeout(timer);
      abort.abort();
    }
  }
  return { invoiceId: id, statuses, silent, ended: false };
}

/** The next message, null at the end; `silent` if nothing, not even a heartbeat, came for too long. */
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
