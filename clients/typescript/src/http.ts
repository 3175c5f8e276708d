import { ApiError, CancelledError, ConnectionError, type Refusal } from './errors.ts';
import { retryAfterOf } from './retries.ts';

/** Options of the client. */
export interface ClientOptions {
  /** Address of the service, such as `https://invoices.example.ma`. Default: the environment variable FATOURA_URL. */
  readonly baseUrl?: string | undefined;
  /** For one attempt until its answer is complete, milliseconds. Default 30,000. */
  readonly attemptTimeoutMs?: number | undefined;
  /** For a call with all its attempts and pauses, milliseconds. Default 120,000. */
  readonly timeoutMs?: number | undefined;
  /** How often a call is repeated at most. Default 4. */
  readonly maxRetries?: number | undefined;
  /** Default: `fetch` of the runtime. */
  readonly fetch?: typeof globalThis.fetch | undefined;
  /** @internal How long a stream may be silent, milliseconds: shorter in tests. */
  readonly silenceMs?: number | undefined;
  /** Is told of each attempt. Never gets keys, secrets or bodies. */
  readonly onAttempt?: ((attempt: Attempt) => void) | undefined;
}

/** One attempt of a call, for logs. */
export interface Attempt {
  readonly method: string;
  /** Without the query. */
  readonly path: string;
  /** From 1. */
  readonly attempt: number;
  /** The HTTP status; null if nothing answered. */
  readonly status: number | null;
  readonly requestId: string | null;
  readonly durationMs: number;
}

/** Options of one call. */
export interface CallOptions {
  /** Ends the call with a CancelledError. What was sent may still be done. */
  readonly signal?: AbortSignal | undefined;
  /** Instead of the client's. */
  readonly timeoutMs?: number | undefined;
}

export interface Call extends CallOptions {
  readonly method: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  readonly path: string;
  readonly query?: Readonly<Record<string, string | number | null | undefined>> | undefined;
  readonly body?: object | undefined;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** Whether a repetition does no harm. */
  readonly isRepeatable: boolean;
  /** Reads the refusal that an answer with status 200 may have. */
  readonly refusalIn?: ((answer: Answer) => Refusal | null) | undefined;
}

export interface Answer {
  readonly value: unknown;
  readonly headers: Headers;
}

/** Options that are not stated. */
export const DEFAULTS = { attemptTimeoutMs: 30_000, timeoutMs: 120_000, maxRetries: 4 } as const;

/** What failed in a connection. */
export interface Failure {
  /** What the runtime says of it: `connect ECONNREFUSED 127.0.0.1:3000`. */
  readonly text: string;
  /** Whether it fails again: the certificate is wrong, or what answers does not speak TLS. */
  readonly isLasting: boolean;
}

/**
 * Sends requests, each once, and says no more of a failure than a page may show. It is all that the element for other
 * sites has, which is to be small; back ends have RepeatingHttp.
 */
export class Http {
  readonly #key: string;
  readonly #fetch: typeof globalThis.fetch;
  protected readonly baseUrl: string;
  protected readonly options: Omit<ClientOptions, 'baseUrl'>;

  /** @param baseUrl without a slash at its end */
  constructor(key: string, baseUrl: string, options: Omit<ClientOptions, 'baseUrl'>) {
    this.#key = key;
    this.baseUrl = baseUrl;
    this.options = options;
    // Browsers refuse a fetch that is called as a method of another object.
    const send = options.fetch ?? globalThis.fetch;
    this.#fetch = (...request) => send(...request);
  }

  /** @throws ApiError, ConnectionError, CancelledError */
  async send(call: Call): Promise<Answer> {
    const result = await this.attempt(call, 1, this.until(call));
    if (result instanceof Error) throw result;
    return result;
  }

  /** Opens a stream of events. Its body is read by the caller. @throws ApiError, ConnectionError, CancelledError */
  async open(path: string, headers: Readonly<Record<string, string>>, signal: AbortSignal): Promise<Response> {
    const accepted = { ...this.#headers(false), ...headers, Accept: 'text/event-stream' };
    const request = { headers: accepted, redirect: 'manual', signal } as const;
    const response = await this.#fetch(this.baseUrl + path, request).catch((error: unknown) => {
      throw this.#unanswered(`GET ${path}`, error);
    });
    if (response.ok) return response;
    throw this.#refusalOf(response, await response.text().catch(() => ''));
  }

  protected async attempt(call: Call, attempt: number, until: number): Promise<Answer | ApiError | ConnectionError> {
    const { method, path, query, body, headers, signal } = call;
    const begun = performance.now();
    const limit = Math.min(this.options.attemptTimeoutMs ?? DEFAULTS.attemptTimeoutMs, Math.max(0, until - begun));
    const timeout = AbortSignal.timeout(Math.ceil(limit));
    const told = (status: number | null, requestId: string | null) =>
      this.options.onAttempt?.({ method, path, attempt, status, requestId, durationMs: performance.now() - begun });
    let response: Response;
    let text: string;
    try {
      signal?.throwIfAborted();
      response = await this.#fetch(`${this.baseUrl}${path}${queryOf(query)}`, {
        method,
        headers: { ...this.#headers(body !== undefined), ...headers },
        ...(body !== undefined && { body: JSON.stringify(body) }),
        redirect: 'manual',
        signal: signal ? AbortSignal.any([signal, timeout]) : timeout,
      });
      // An answer that is cut here is none: the call is repeated.
      text = await response.text();
    } catch (error) {
      if (signal?.aborted) throw new CancelledError(`${method} ${path} was cancelled`, { cause: error });
      told(null, null);
      return this.#unanswered(`${method} ${path}`, error, timeout.aborted ? Math.round(limit) : null);
    }
    told(response.status, response.headers.get('request-id'));
    if (!response.ok) return this.#refusalOf(response, text);
    const value = parsed(text);
    if (value === undefined) return new ConnectionError(`${method} ${path}: the answer of ${this.baseUrl} is no JSON`);
    const answer = this.checked(call, { value, headers: response.headers });
    const refusal = answer instanceof Error ? null : call.refusalIn?.(answer);
    return refusal ? this.errorOf(refusal) : answer;
  }

  /** When a call ends, as `performance.now()`. */
  protected until({ timeoutMs }: Call): number {
    return performance.now() + (timeoutMs ?? this.options.timeoutMs ?? DEFAULTS.timeoutMs);
  }

  /** Makes the error of what the service said. */
  errorOf(refusal: Refusal): ApiError {
    return new ApiError(refusal);
  }

  /** Finds out why `fetch` failed: browsers do not tell. */
  protected failureOf(_error: unknown): Failure {
    return { text: '', isLasting: false };
  }

  /** Says what was answered instead of an error of the service. */
  protected statementOf({ status }: Response): string {
    return `The answer has status ${status}.`;
  }

  /** Whether an answer is from the service; the error if it is not. */
  protected checked(_call: Call, answer: Answer): Answer | ConnectionError {
    return answer;
  }

  /** @param limitMs that has passed */
  #unanswered(request: string, cause: unknown, limitMs: number | null = null): ConnectionError {
    const { text, isLasting } = this.failureOf(cause);
    const why = limitMs === null ? text && ` (${text})` : ` within ${limitMs} ms`;
    return new ConnectionError(`${request}: no complete answer from ${this.baseUrl}${why}`, { cause, isLasting });
  }

  /** Reads a refusal. What is not from the service, such as a page of a proxy, has no code. */
  #refusalOf(response: Response, text: string): ApiError {
    const { status, headers } = response;
    const requestId = headers.get('request-id');
    const { code = null, message = this.statementOf(response), param = null } = errorIn(parsed(text));
    return this.errorOf({ code, message, param, status, requestId, retryAfterMs: retryAfterOf(headers) });
  }

  #headers(hasBody: boolean): Record<string, string> {
    return {
      Authorization: `Bearer ${this.#key}`,
      Accept: 'application/json',
      ...(hasBody && { 'Content-Type': 'application/json' }),
    };
  }
}

function queryOf(query: Call['query']): string {
  const stated = Object.entries(query ?? {}).flatMap(([name, value]) =>
    value === null || value === undefined ? [] : [[name, String(value)]],
  );
  return stated.length === 0 ? '' : `?${new URLSearchParams(stated)}`;
}

function errorIn(value: unknown): { code?: string; message?: string; param?: string | null } {
  const { error } = (value ?? {}) as { readonly error?: { code?: string; message?: string; param?: string | null } };
  return typeof error?.message === 'string' ? error : {};
}

/** Reads JSON; undefined if it is none. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
