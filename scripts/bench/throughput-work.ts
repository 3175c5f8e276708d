/** A side of `throughput`: the service; stock Agenda behind the service's API; only the necessary work. */
export type ThroughputKind = 'ours' | 'stock' | 'limit';

/** Options for starting the process of a side. */
export interface ThroughputOptions {
  readonly kind: ThroughputKind;
  /** Whether PDFs are drawn by Chromium. Otherwise a renderer that costs nothing is used. */
  readonly pdfs: boolean;
  /** Whether store commands are counted. The driver then decodes each answer twice, so nothing else is measured. */
  readonly countCommands: boolean;
}

/** The address of a side's process. */
export interface ThroughputService {
  readonly url: string;
  readonly secretKey: string;
}

/** Answers are {@link ThroughputAnswer}; those that nothing needs are empty. */
export type ThroughputRequest =
  /**
   * Waits until no invoice is unfinished, or until none has finished for 20 s; then until every receipt is stored.
   * Answers `atMs`, the end of the last invoice, and the number of those `left`.
   * @throws when an invoice was rejected
   */
  | { readonly do: 'drain' }
  /** Removes all waiting work, and invoices that were not accepted, so that they do not disturb what follows. */
  | { readonly do: 'rest' }
  /** Stores `count` pending invoices of `lines` lines, whose processing is due. */
  | { readonly do: 'store'; readonly count: number; readonly lines: number }
  /** Answers the number of `pending` invoices. */
  | { readonly do: 'count pending' }
  /** Answers the `commands` since the last request for them. */
  | { readonly do: 'count commands' }
  /** Starts CPU profiles of all threads. */
  | { readonly do: 'profile' }
  /** Ends the profiles and writes them. */
  | { readonly do: 'write profiles'; readonly folder: string };

export interface ThroughputAnswer {
  /** Milliseconds of the machine's clock (`machineMs`). */
  readonly atMs?: number;
  /** Number of invoices that are not accepted and have no more work. */
  readonly left?: number;
  readonly pending?: number;
  /** Number of commands to the store, by `name collection`. Waiting for changes (`getMore`) is not counted. */
  readonly commands?: Readonly<Record<string, number>>;
}

/** A task for the process of the clients. */
export interface ClientsRequest {
  readonly service: ThroughputService;
  readonly body: string;
  readonly count: number;
  /** Creations per second at fixed times; null: each client sends its next request after an answer. */
  readonly rate: number | null;
  /** The PDF of each n-th invoice is downloaded, beginning with the first; 0: none. */
  readonly pdfEvery: number;
}

export interface ClientsAnswer {
  /** When the first request was sent and the last answer came, in milliseconds of the machine's clock (`machineMs`). */
  readonly startedAtMs: number;
  readonly createdAtMs: number;
  /** When the last PDF had arrived; `createdAtMs` if no PDF was requested. */
  readonly downloadedAtMs: number;
  /** Time from when each creation was sent, or with a `rate` should have been sent, until its answer, milliseconds. */
  readonly latencies: readonly number[];
}
