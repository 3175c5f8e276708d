import { CancelledError, ConnectionError, FatouraError } from './errors.ts';
import { readEventStream } from './event-stream.ts';
import type { Http } from './http.ts';
import type { InvoiceStatus, StatusMessage } from './models.ts';
import { isPassing, restOf, sleep } from './retries.ts';

/** Options of `follow`. */
export interface FollowOptions {
  /** Ends following. */
  readonly signal?: AbortSignal | undefined;
  /** Ends following with a ConnectionError if the status is not final after this time, milliseconds. Default: never. */
  readonly timeoutMs?: number | undefined;
}

/** Reads an invoice in the form of a message of its stream. */
export type ReadInvoice = (signal: AbortSignal) => Promise<StatusMessage>;

/**
 * A stream without a byte for this time is considered broken, milliseconds. The service sends a byte at least every 15
 * s.
 */
const SILENCE_MS = 40_000;
/** Pauses between two connections, and between two reads if streams do not work, milliseconds. */
const [RECONNECT_MS, POLL_MS] = [500, 2000];
/**
 * Number of connections without a message after which the invoice is read instead: a proxy may be holding streams back.
 */
const FUTILE_STREAMS = 3;
/** After that, one of this number of reads also tries a stream, because the network may only have been down. */
const READINGS_PER_STREAM = 15;
/** Statuses before the final ones, in order. */
const IN_ORDER: readonly (string | undefined)[] = ['pending', 'signing', 'transmitted'] satisfies InvoiceStatus[];

/**
 * Yields the status of an invoice, and each change once and in order, until it is final. Resumes broken connections. If
 * streams do not work, reads the invoice every two seconds. Obeys `Retry-After`, up to a minute. A change that an
 * earlier read was ahead of is left out.
 * @throws ApiError, CancelledError; ConnectionError after `timeoutMs`
 */
export async function* follow(
  http: Pick<Http, 'open'>,
  id: string,
  read: ReadInvoice,
  { signal, timeoutMs }: FollowOptions,
  silenceMs = SILENCE_MS,
): AsyncGenerator<StatusMessage, void> {
  const end = new AbortController();
  const timer = timeoutMs === undefined ? null : setTimeout(() => end.abort(), timeoutMs);
  const ended = signal ? AbortSignal.any([signal, end.signal]) : end.signal;
  let last: string | null = null;
  const told: string[] = [];
  /** Records a status, if it comes after the yielded ones. Returns whether it did. */
  const takes = ({ status }: StatusMessage) =>
    !told.includes(status) && isLater(status, told.at(-1)) && told.push(status);
  let futile = 0;
  try {
    for (;;) {
      const before = told.length;
      let restMs = 0;
      try {
        if (futile < FUTILE_STREAMS || futile % READINGS_PER_STREAM === 0) {
          for await (const { eventId, message } of streamed(http, id, last, ended, silenceMs)) {
            last = eventId ?? last;
            if (takes(message)) yield message;
            if (isFinal(message)) return;
          }
          // The stream ends after the final status, whose message may have been lost.
        }
        const message = await read(ended);
        if (takes(message)) yield message;
        if (isFinal(message)) return;
      } catch (error) {
        if (ended.aborted || !isPassing(error)) throw error;
        restMs = restOf(error);
      }
      futile = before === told.length ? futile + 1 : 0;
      await sleep(Math.max(restMs, futile < FUTILE_STREAMS ? RECONNECT_MS : POLL_MS), ended);
    }
  } catch (error) {
    if (signal?.aborted) throw new CancelledError(`following ${id} was cancelled`, { cause: error });
    if (end.signal.aborted)
      throw new ConnectionError(`${id} had no final status within ${timeoutMs} ms`, { cause: error });
    throw error;
  } finally {
    if (timer) clearTimeout(timer);
    end.abort();
  }
}

/** Yields the messages of one connection. */
async function* streamed(
  http: Pick<Http, 'open'>,
  id: string,
  last: string | null,
  ended: AbortSignal,
  silenceMs: number,
) {
  const silence = new AbortController();
  const watch = () => setTimeout(() => silence.abort(), silenceMs);
  let timer = watch();
  try {
    const headers = last === null ? {} : { 'Last-Event-ID': last };
    const path = `/v1/invoices/${encodeURIComponent(id)}/stream`;
    const response = await http.open(path, headers, AbortSignal.any([ended, silence.signal]));
    if (!response.body || !response.headers.get('content-type')?.startsWith('text/event-stream')) return;
    for await (const message of readEventStream(response.body)) {
      clearTimeout(timer);
      timer = watch();
      if (message) yield { eventId: message.id, message: statusIn(message.data) };
    }
  } catch (error) {
    if (error instanceof FatouraError) throw error;
    throw new ConnectionError('the stream broke', { cause: error });
  } finally {
    clearTimeout(timer);
  }
}

/** @throws TypeError, SyntaxError if a text is no message with a status */
function statusIn(text: string): StatusMessage {
  const message = JSON.parse(text) as StatusMessage | null;
  if (typeof message?.status !== 'string') throw new TypeError('a message has no status');
  return message;
}

/**
 * Whether a status comes after the last yielded one. A stream repeats the changes since its last message, although a
 * read may already have shown them.
 */
export function isLater(status: string, last: string | undefined): boolean {
  const place = IN_ORDER.indexOf(status);
  return place < 0 ? status !== last : place > IN_ORDER.indexOf(last);
}

export function isFinal({ status }: Pick<StatusMessage, 'status'>): boolean {
  return status === 'accepted' || status === 'rejected';
}
