import { ApiError, CancelledError, ConnectionError, type Refusal } from './errors.ts';
import { retryAfterOf } from './retries.ts';

/** Options of the client. */
export interface ClientOptions {
  /** Address of the service, such as `https://invoices.example.ma`. Default: the environment variable FATOURA_URL. */
  readonly baseUrl?: string | undefined;
  /** Time limit of one attempt, up to its complete answer, milliseconds. Default 30,000. */
  readonly attemptTimeoutMs?: number | undefined;
  /** Time limit of a call with all its attempts and pauses, milliseconds. Default 120,000. */
  readonly timeoutMs?: number | undefined;
  /** Maximum number of repetitions of a call. Default 4. */
  readonly maxRetries?: number | undefined;
  /** Default: `fetch` of the runtime. */
  readonly fetch?: typeof globalThis.fetch | undefined;
  /** @internal Time without a byte after which a stream is considered broken, milliseconds; shorter in tests. */
  readonly silenceMs?: number | undefined;
  /** Called after each attempt. Never receives keys, secrets or bodies. */
  readonly onAttempt?: ((attempt: Attempt) => void) | undefined;
}

/** One attempt of a call, for logs. */
export interface Attempt {
  readonly method: string;
  /** The path without the query. */
  readonly path: string;
  /** From 1. */
  readonly attempt: number;
  /** The HTTP status; null without an answer. */
  readonly status: number | null;
  readonly requestId: string | null;
  readonly durationMs: number;
}

/** Options of one call. */
export interface CallOptions {
  /** Ends the call with a CancelledError. The service may still process a request that was sent. */
  readonly signal?: AbortSignal | undefined;
  /** Overrides the client's option. */
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
  /** Reads the refusal in an answer with status 200, if there is one. */
  readonly refusalIn?: ((answer: Answer) => Refusal | null) | undefined;
}

export interface Answer {
  readonly value: unknown;
  readonly headers: Headers;
}

/** Default values of options. */
export const DEFAULTS = { attemptTimeoutMs: 30_000, timeoutMs: 120_000, maxRetries: 4 } as const;

/** The failure of a connection. */
export interface Failure {
  /** The runtime's description: `connect ECONNREFUSED 127.0.0.1:3000`. */
  readonly text: string;
  /** Whether it would fail again: the certificate is wrong, or the other side does not speak TLS. */
  readonly isLasting: boolean;
}

/**
 * Sends each request once, and describes a failure only as far as a page may show it. The element for other sites
 * contains only this class, because it must be small; back ends use RepeatingHttp.
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

  /** Opens a stream of events, whose body the caller reads. @throws ApiError, ConnectionError, CancelledError */
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
      // An incomplete answer counts as none, and the call is repeated.
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

  /** Returns when a call's time limit ends, on the clock of `performance.now()`. */
  protected until({ timeoutMs }: Call): number {
    return performance.now() + (timeoutMs ?? this.options.timeoutMs ?? DEFAULTS.timeoutMs);
  }

  /** Makes the error of a refusal. */
  errorOf(refusal: Refusal): ApiError {
    return new ApiError(refusal);
  }

  /** Describes why `fetch` failed. Here without a text, because browsers do not state the reason. */
  protected failureOf(_error: unknown): Failure {
    return { text: '', isLasting: false };
  }

  /** Describes an answer that is no error of the service. */
  protected statementOf({ status }: Response): string {
    return `The answer has status ${status}.`;
  }

  /** Returns the answer if it is the service's, else an error. */
  protected checked(_call: Call, answer: Answer): Answer | ConnectionError {
    return answer;
  }

  /** @param limitMs the time limit that has passed */
  #unanswered(request: string, cause: unknown, limitMs: number | null = null): ConnectionError {
    const { text, isLasting } = this.failureOf(cause);
    const why = limitMs === null ? text && ` (${text})` : ` within ${limitMs} ms`;
    return new ConnectionError(`${request}: no complete answer from ${this.baseUrl}${why}`, { cause, isLasting });
  }

  /** Reads a refusal. An answer that is not the service's, such as a page of a proxy, has no code. */
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

/** Parses JSON; returns undefined if the text is no JSON. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
