import type { ThroughputService } from './throughput-work.ts';

/** Options for starting a process of `processes`. */
export interface ProcessOptions {
  readonly role: 'api' | 'worker';
  readonly mongodbUrl: string;
  /** Shared by the processes of a side. */
  readonly dataDir: string;
}

/** The message that a process sends when it is ready. */
export interface StartedProcess {
  /** null for a worker. */
  readonly url: string | null;
}

/** Answers are {@link ProcessAnswer}. */
export type ProcessRequest =
  /** Makes a tenant and answers its `service`; for an api process. */
  | { readonly do: 'make tenant' }
  /**
   * Opens a stream of an invoice whose status never changes, and one of the events of its tenant, which has none: the
   * process follows every change of both collections from then on. For an api process.
   */
  | { readonly do: 'follow' }
  /** See `drained`: answers `atMs` and `left`. */
  | { readonly do: 'drain'; readonly tenantId: string }
  /** Answers `claims` since the start; zeros without a worker. */
  | { readonly do: 'count claims' };

export interface ProcessAnswer {
  readonly service?: ThroughputService & { readonly tenantId: string };
  readonly atMs?: number;
  readonly left?: number;
  readonly claims?: { readonly found: number; readonly claimed: number };
}
