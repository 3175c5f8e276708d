import { waitToRetry } from '../graphql/retry.ts';
import { watchedFetch } from '../graphql/watched-fetch.ts';
import { pause } from '../interface/pause.ts';

/** Maximum number of attempts without a byte, or without new documents, before a download fails. */
const ATTEMPTS = 5;
/** Maximum number of successive answers without newly ready documents. */
const IDLE_ANSWERS = 3;
/**
 * Time without a byte after which a connection is considered broken, milliseconds. The service waits 10 s for
 * documents.
 */
const SILENT_MS = 60_000;
/** Number of bytes that are collected into one piece, which the browser may store outside of memory. */
const PIECE_BYTES = 4 * 1024 * 1024;

/** The progress of a download. */
export type Progress =
  | { readonly state: 'preparing' }
  /** Number of documents that the service has made so far, and of all documents. */
  | { readonly state: 'ready'; readonly done: number; readonly all: number }
  /** Number of documents received so far, and of all documents. */
  | { readonly state: 'received'; readonly done: number; readonly all: number };

export interface DownloadOptions {
  readonly headers: Readonly<Record<string, string>>;
  readonly onProgress: (progress: Progress) => void;
  readonly signal: AbortSignal;
}

/**
 * The end of a download. `interrupted`: it can be run again and continues where it ended. `lacking`: documents are not
 * ready, and no more become ready. `busy`: other downloads occupy all places. `tooMany`: the period has too many
 * documents. `refused`: the person may not read it, or it does not exist. `signedOut`: the session has ended.
 */
export type Outcome =
  | { readonly file: Blob }
  | { readonly problem: 'interrupted' | 'lacking' | 'busy' | 'tooMany' | 'refused' | 'signedOut' | 'stopped' };

/** Downloads a file of a period. The next run keeps the bytes received so far. */
export class Download {
  readonly #address: string;
  #received: Blob[] = [];
  #bytes = 0;
  #etag: string | null = null;
  /** Size of the whole file; null if it is unknown. */
  #size: number | null = null;

  /** @param address the path and the parameters of the file */
  constructor(address: string) {
    this.#address = address;
  }

  /** Downloads the rest. Repeats failed connections and failed requests with growing pauses. Never rejects. */
  async run(options: DownloadOptions): Promise<Outcome> {
    const { signal, onProgress } = options;
    if (this.#bytes === 0) onProgress({ state: 'preparing' });
    let idle = 0;
    let mostReady = -1;
    for (let attempt = 1; !signal.aborted; ) {
      const before = this.#bytes;
      let failure: 'interrupted' | 'busy' = 'interrupted';
      try {
        const response = await this.#ask(options);
        if (response.status === 200 || response.status === 206) {
          await this.#receive(response, onProgress);
          return { file: new Blob(this.#received, { type: response.headers.get('Content-Type') ?? '' }) };
        }
        const problem = problemOf(response.status);
        if (problem) return { problem };
        const all = countOf(response, 'Fatoura-Documents');
        if (all !== null) {
          const done = all - (countOf(response, 'Fatoura-Incomplete-Documents') ?? 0);
          onProgress({ state: 'ready', done, all });
          idle = done > mostReady ? 0 : idle + 1;
          mostReady = Math.max(done, mostReady);
          if (idle === IDLE_ANSWERS) return { problem: 'lacking' };
          attempt = 1;
        } else if (response.status === 429) failure = 'busy';
        if (all !== null || attempt < ATTEMPTS)
          await pause(1000 * Math.min(countOf(response, 'Retry-After') ?? 2, 60), signal);
        if (all !== null) continue;
      } catch {
        if (signal.aborted) break;
      }
      if (this.#bytes > before) attempt = 1;
      else if (attempt === ATTEMPTS) return { problem: failure };
      await waitToRetry(attempt++);
    }
    return { problem: 'stopped' };
  }

  #ask({ headers, signal }: DownloadOptions): Promise<Response> {
    const rest = this.#etag === null ? {} : { Range: `bytes=${this.#bytes}-`, 'If-Range': this.#etag };
    const send = watchedFetch(SILENT_MS);
    return send(this.#address, { headers: { ...headers, ...rest }, signal, cache: 'no-store' });
  }

  /** Receives the bytes of an answer. They follow the earlier bytes if the answer contains only the rest. */
  async #receive(response: Response, onProgress: DownloadOptions['onProgress']): Promise<void> {
    if (response.status === 200) {
      this.#received = [];
      this.#bytes = 0;
      this.#etag = response.headers.get('ETag');
      this.#size = countOf(response, 'Content-Length');
    }
    const all = countOf(response, 'Fatoura-Documents');
    let piece: Uint8Array<ArrayBuffer>[] = [];
    let pieceBytes = 0;
    const keep = () => {
      if (pieceBytes > 0) this.#received.push(new Blob(piece));
      this.#bytes += pieceBytes;
      [piece, pieceBytes] = [[], 0];
    };
    try {
      const reader = response.body?.getReader();
      for (let part = await reader?.read(); part && !part.done; part = await reader?.read()) {
        piece.push(part.value);
        pieceBytes += part.value.length;
        if (all !== null && this.#size !== null) {
          const done = Math.floor((all * (this.#bytes + pieceBytes)) / this.#size);
          onProgress({ state: 'received', done, all });
        }
        if (pieceBytes >= PIECE_BYTES) keep();
      }
    } finally {
      keep();
    }
    if (this.#size !== null && this.#bytes !== this.#size) throw new Error('the file is not whole');
  }
}

/** Returns the outcome that a status means for the whole download; null if the request is to be repeated. */
function problemOf(status: number): 'tooMany' | 'refused' | 'signedOut' | null {
  if (status === 400) return 'tooMany';
  if (status === 401) return 'signedOut';
  return status < 500 && status !== 429 ? 'refused' : null;
}

/** Returns the whole number in a header; null if the header has none. */
function countOf({ headers }: Response, name: string): number | null {
  const text = headers.get(name) ?? '';
  return /^\d+$/.test(text) ? Number(text) : null;
}
