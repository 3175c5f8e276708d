import { type ApiError, apiError, CancelledError, ConnectionError } from './errors.ts';

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
}

export interface Answer {
  readonly value: unknown;
  readonly headers: Headers;
}

const DEFAULTS = { attemptTimeoutMs: 30_000, timeoutMs: 120_000, maxRetries: 4 } as const;
/** The pause before the first repetition, and the longest one, milliseconds. Each is up to twice the one before. */
const [FIRST_PAUSE_MS, LONGEST_PAUSE_MS] = [250, 8000];
/** A longer `Retry-After` is not waited for. */
const LONGEST_RETRY_AFTER_MS = 60_000;
/** Answers that say that a later attempt may succeed. */
const PASSING = new Set([408, 429, 500, 502, 503, 504]);

/** Sends requests, and repeats those that failed for a reason that passes. */
export class Http {
  readonly #key: string;
  readonly #baseUrl: string;
  readonly #options: ClientOptions;
  readonly #fetch: typeof globalThis.fetch;

  constructor(key: string, options: ClientOptions) {
    const baseUrl = options.baseUrl ?? globalThis.process?.env?.FATOURA_URL;
    if (!baseUrl) throw new TypeError('baseUrl is missing: the address of the service, or the variable FATOURA_URL.');
    this.#key = key;
    this.#baseUrl = baseUrl.replace(/\/+$/, '');
    this.#options = options;
    // Browsers refuse a fetch that is called as a method of another object.
    const send = options.fetch ?? globalThis.fetch;
    this.#fetch = (...request) => send(...request);
  }

  /** @throws ApiError, ConnectionError, CancelledError */
  async send(call: Call): Promise<Answer> {
    const until = performance.now() + (call.timeoutMs ?? this.#options.timeoutMs ?? DEFAULTS.timeoutMs);
    const retries = call.isRepeatable ? (this.#options.maxRetries ?? DEFAULTS.maxRetries) : 0;
    for (let attempt = 1; ; attempt++) {
      const result = await this.#attempt(call, attempt, until);
      if (!(result instanceof Error)) return result;
      const pauseMs = pauseBefore(result, attempt);
      if (attempt > retries || pauseMs === null || performance.now() + pauseMs >= until) throw result;
      await sleep(pauseMs, call.signal);
    }
  }

  /** Opens a stream of events. Its body is read by the caller. @throws ApiError, ConnectionError, CancelledError */
  async open(path: string, headers: Readonly<Record<string, string>>, signal: AbortSignal): Promise<Response> {
    const accepted = { ...this.#headers(false), ...headers, Accept: 'text/event-stream' };
    const response = await this.#fetch(this.#baseUrl + path, { headers: accepted, signal }).catch((error: unknown) => {
      throw new ConnectionError(`${path}: nothing answered`, { cause: error });
    });
    if (response.ok) return response;
    throw refusalOf(response, await response.text().catch(() => ''));
  }

  async #attempt(call: Call, attempt: number, until: number): Promise<Answer | ApiError | ConnectionError> {
    const { method, path, query, body, headers, signal } = call;
    const begun = performance.now();
    const limit = Math.min(this.#options.attemptTimeoutMs ?? DEFAULTS.attemptTimeoutMs, Math.max(0, until - begun));
    const timeout = AbortSignal.timeout(Math.ceil(limit));
    const told = (status: number | null, requestId: string | null) =>
      this.#options.onAttempt?.({ method, path, attempt, status, requestId, durationMs: performance.now() - begun });
    try {
      signal?.throwIfAborted();
      const response = await this.#fetch(`${this.#baseUrl}${path}${queryOf(query)}`, {
        method,
        headers: { ...this.#headers(body !== undefined), ...headers },
        ...(body !== undefined && { body: JSON.stringify(body) }),
        redirect: 'error',
        signal: signal ? AbortSignal.any([signal, timeout]) : timeout,
      });
      // An answer that is cut here is none: the call is repeated.
      const text = await response.text();
      told(response.status, response.headers.get('request-id'));
      if (!response.ok) return refusalOf(response, text);
      return { value: JSON.parse(text), headers: response.headers };
    } catch (error) {
      if (signal?.aborted) throw new CancelledError(`${method} ${path} was cancelled`, { cause: error });
      told(null, null);
      const what = timeout.aborted ? `no complete answer within ${Math.round(limit)} ms` : 'no complete answer';
      return new ConnectionError(`${method} ${path}: ${what}`, { cause: error });
    }
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

/** Reads a refusal. What is not from the service, such as a page of a proxy, has no code. */
function refusalOf(response: Response, text: string): ApiError {
  const { status, headers } = response;
  const requestId = headers.get('request-id');
  const retryAfterMs = retryAfterOf(headers);
  const { code = null, message = `The answer has status ${status}.`, param = null } = errorIn(text);
  return apiError({ code, message, param, status, requestId, retryAfterMs });
}

function errorIn(text: string): { code?: string; message?: string; param?: string | null } {
  try {
    const { error } = JSON.parse(text) as { error?: { code?: string; message?: string; param?: string | null } };
    return typeof error?.message === 'string' ? error : {};
  } catch {
    return {};
  }
}

/** `Retry-After` is a number of seconds or a date (RFC 9110, section 10.2.3). */
function retryAfterOf(headers: Headers): number | null {
  const text = headers.get('retry-after');
  if (text === null) return null;
  const ms = /^\d+$/.test(text) ? Number(text) * 1000 : Date.parse(text) - Date.now();
  return Number.isNaN(ms) ? null : Math.max(0, ms);
}

/** How long a call pauses before its next attempt, milliseconds; null if a repetition would not help. */
function pauseBefore(error: ApiError | ConnectionError, attempt: number): number | null {
  const most = Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** attempt);
  const pauseMs = most / 2 + (Math.random() * most) / 2;
  if (error instanceof ConnectionError) return pauseMs;
  if (!PASSING.has(error.status)) return null;
  if (error.retryAfterMs === null) return pauseMs;
  return error.retryAfterMs > LONGEST_RETRY_AFTER_MS ? null : Math.max(error.retryAfterMs, FIRST_PAUSE_MS);
}

/** Waits. @throws CancelledError */
export function sleep(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const cancelled = () => {
      clearTimeout(timer);
      reject(new CancelledError('the call was cancelled', { cause: signal?.reason }));
    };
    if (signal?.aborted) return reject(new CancelledError('the call was cancelled', { cause: signal.reason }));
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', cancelled);
      resolve();
    }, ms);
    signal?.addEventListener('abort', cancelled, { once: true });
  });
}
