/** Where the service of `fairness` can be reached, with a secret key of each tenant. */
export interface FairnessService {
  readonly url: string;
  readonly keys: readonly string[];
}

/** Waits until every invoice that was created at `since` (UNIX milliseconds) or later has its final status. */
export interface FairnessRequest {
  readonly since: number;
}

export interface FairnessAnswer {
  /** Milliseconds from the creation of each of these invoices to its acceptance, by tenant. */
  readonly waits: readonly (readonly number[])[];
}
