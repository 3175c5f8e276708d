import { type ApiError, apiError, ConnectionError, FatouraError, type Refusal } from './errors.ts';
import { type Answer, type Call, DEFAULTS, type Failure, Http } from './http.ts';
import { isRefused, isUndone, pauseBefore, sleep } from './retries.ts';

/** Matches causes that remain for the same address: the certificate is wrong, or there is no TLS. */
const LASTING = /CERT|UNABLE_TO_VERIFY|HOSTNAME_MISMATCH|INVALID_CA|wrong version number/;

/** Sends requests, repeats those whose failure is temporary, and describes wrong addresses. */
export class RepeatingHttp extends Http {
  override async send(call: Call): Promise<Answer> {
    const until = this.until(call);
    const retries = this.options.maxRetries ?? DEFAULTS.maxRetries;
    let mayBeDone = false;
    try {
      for (let attempt = 1; ; attempt++) {
        const before: boolean = mayBeDone;
        // In case the call is cancelled during the attempt.
        mayBeDone = true;
        const result = await this.attempt(call, attempt, until);
        if (!(result instanceof Error)) return result;
        // If an earlier answer was lost, the service may have processed the request although it refuses the repetition.
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
    // The query may contain data of customers. Browsers do not show the target of a redirect.
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

/** Whether an answer has the form that the request expects. REST names the type of each object. */
function isExpected(request: string, value: object): boolean {
  const { object, data, errors } = value as { readonly [name in 'object' | 'data' | 'errors']?: unknown };
  if (request === 'POST /graphql') return Array.isArray(errors) || (typeof data === 'object' && data !== null);
  if (/^GET \/v1\/\w+$/.test(request)) return object === 'list' && Array.isArray(data);
  return object === (request.includes(' /v1/invoices') ? 'invoice' : 'webhook_endpoint');
}
