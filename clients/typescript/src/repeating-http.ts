import { type ApiError, apiError, ConnectionError, FatouraError, type Refusal } from './errors.ts';
import { type Answer, type Call, DEFAULTS, type Failure, Http } from './http.ts';
import { isRefused, isUndone, pauseBefore, sleep } from './retries.ts';

/** What causes say that the same address says again: the certificate is wrong, or there is no TLS. */
const LASTING = /CERT|UNABLE_TO_VERIFY|HOSTNAME_MISMATCH|INVALID_CA|wrong version number/;

/** Sends requests, repeats those that failed for a reason that passes, and says what is wrong with an address. */
export class RepeatingHttp extends Http {
  override async send(call: Call): Promise<Answer> {
    const until = this.until(call);
    const retries = this.options.maxRetries ?? DEFAULTS.maxRetries;
    let mayBeDone = false;
    try {
      for (let attempt = 1; ; attempt++) {
        const before: boolean = mayBeDone;
        // If it is cancelled meanwhile.
        mayBeDone = true;
        const result = await this.attempt(call, attempt, until);
        if (!(result instanceof Error)) return result;
        // What is refused after an answer was lost may have been done before.
        mayBeDone = before || !isRefused(result);
        const pauseMs = pauseBefore(result, attempt);
        const mayRepeat = attempt <= retries && (call.isRepeatable || isUndone(result));
        if (!mayRepeat || pauseMs === null || performance.now() + pauseMs >= until) throw result;
        await sleep(pauseMs, call.signal);
      }
    } catch (error) {
      throw error instanceof FatouraError ? Object.assign(error, { mayBeDone }) : error;
    }
  }

  override errorOf(refusal: Refusal): ApiError {
    return apiError(refusal);
  }

  protected override failureOf(error: unknown): Failure {
    let [innermost, next] = [error, error];
    for (; next instanceof Error; next = next instanceof AggregateError ? next.errors[0] : next.cause) innermost = next;
    const { code = '', message = '' } = innermost as { readonly code?: unknown; readonly message?: string };
    return { text: message || String(code), isLasting: LASTING.test(`${code} ${message}`) };
  }

  protected override statementOf(response: Response): string {
    const { headers, type } = response;
    // The query may have data of customers. Browsers do not tell where a redirection leads.
    const [leadsTo] = headers.get('location')?.split('?') ?? [type === 'opaqueredirect' ? 'another address' : ''];
    const said = super.statementOf(response);
    return leadsTo ? `${said.slice(0, -1)} and leads to ${leadsTo}: is baseUrl right?` : said;
  }

  protected override checked({ method, path }: Call, answer: Answer): Answer | ConnectionError {
    if (isExpected(`${method} ${path}`, answer.value ?? {})) return answer;
    const message = `${method} ${path}: the answer of ${this.baseUrl} is not from the service: is baseUrl right?`;
    return new ConnectionError(message, { isLasting: true });
  }
}

/** Whether an answer is what the request asks for. REST names the type of each object. */
function isExpected(request: string, value: object): boolean {
  const { object, data, errors } = value as { readonly [name in 'object' | 'data' | 'errors']?: unknown };
  if (request === 'POST /graphql') return Array.isArray(errors) || (typeof data === 'object' && data !== null);
  if (/^GET \/v1\/\w+$/.test(request)) return object === 'list' && Array.isArray(data);
  return object === (request.includes(' /v1/invoices') ? 'invoice' : 'webhook_endpoint');
}
