/** Where the service of `fairness` and `burst` can be reached, with a secret key of each tenant. */
export interface FairnessService {
  readonly url: string;
  readonly keys: readonly string[];
}

/** Waits until every invoice that was created at `since` (UNIX milliseconds) or later has its final status. */
export interface FairnessRequest {
  readonly since: number;
}

export interface FairnessAnswer {
  /** When each of these invoices was created and accepted, UNIX milliseconds, by tenant. */
  readonly invoices: readonly (readonly { readonly created: number; readonly accepted: number }[])[];
}
