/** What goes to a receiver. */
export interface OutgoingRequest {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** JSON. */
  readonly body: string;
}

/** Why no complete answer came. */
export type SendFailure =
  /** The address may not be called: not public, or a port or scheme that is not allowed. Nothing was sent. */
  | 'refused_address'
  /** The name has no address. */
  | 'unknown_host'
  /** No connection within 5 s, or it was refused. */
  | 'connection_failed'
  /** The certificate is not valid for this name, or TLS failed otherwise. */
  | 'tls_failed'
  /** No answer within 15 s. */
  | 'timeout'
  /** The receiver broke the connection or answered no HTTP. */
  | 'connection_broken'
  /** A defect of ours: nothing was sent. */
  | 'internal_error';

/** What came of one attempt. */
export interface SendResult {
  /** null when no answer came. */
  readonly status: number | null;
  /** Names in lower case; what exceeds 16 KiB is left out. */
  readonly headers: readonly (readonly [name: string, value: string])[];
  /** The first 16 KiB, as text; whether it was longer shows in `truncated`. */
  readonly body: string;
  readonly truncated: boolean;
  readonly latencyMs: number;
  /** null when a status came. */
  readonly failure: { readonly code: SendFailure; readonly message: string } | null;
}

/** Calls receivers. One and the same for events, test events and resends. */
export interface WebhookSender {
  /** Posts once, 15 s at most. Never throws: what went wrong is in the result. */
  send(request: OutgoingRequest): Promise<SendResult>;
}

/** Whether an answer settles a delivery (specification, "Retry"): 2xx alone does. */
export function isSuccess({ status }: Pick<SendResult, 'status'>): boolean {
  return status !== null && status >= 200 && status < 300;
}
