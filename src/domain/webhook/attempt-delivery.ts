import { LRUCache } from 'lru-cache';
import { type Activity, within } from '../activity.ts';
import { later } from '../later.ts';
import type { SecretBox } from '../secret-box.ts';
import { NO_TRACING, type Span, type Tracing, traceIdOf } from '../tracing.ts';
import type { Attempt, ClaimedDelivery } from './delivery.ts';
import { isSuccess } from './delivery.ts';
import type { WebhookEndpoint } from './endpoint.ts';
import type { AttemptRecord, WebhookSender } from './ports.ts';
import { deliveryHeaders, type SigningKey, signingKey } from './signature.ts';
import { documentTokens, withoutTokens } from './webhook-event.ts';

export interface AttemptParts {
  readonly sender: WebhookSender;
  readonly secretBox: Pick<SecretBox, 'open'>;
  /** Delay before each attempt, in milliseconds; one entry for each attempt (docs/api/contract.md, "Retry"). */
  readonly schedule: readonly number[];
  readonly now: () => Date;
  /** Default: nothing is traced. */
  readonly tracing?: Tracing;
}

/**
 * Attempts a delivery once: signs, posts and decides the outcome. Never throws: an internal error is a failed attempt.
 */
export type AttemptDelivery = (
  claim: ClaimedDelivery,
  endpoint: WebhookEndpoint,
  body: string,
) => Promise<AttemptRecord>;

/**
 * Maximum number of opened keys in memory. If each attempt opens its key, 2,100 deliveries a second are recorded
 * instead of 3,100 (bench `webhooks`).
 */
const OPENED = 2000;

export function createAttemptDelivery({
  sender,
  secretBox,
  schedule,
  now,
  tracing = NO_TRACING,
}: AttemptParts): AttemptDelivery {
  /** Keys by the sealed text, which is unique for each secret. */
  const opened = new LRUCache<string, { endpointId: string; key: SigningKey }>({ max: OPENED });

  function open(sealed: string, endpointId: string): SigningKey {
    const known = opened.get(sealed);
    if (known?.endpointId === endpointId) return known.key;
    const key = signingKey(secretBox.open(sealed, endpointId));
    opened.set(sealed, { endpointId, key });
    return key;
  }

  /**
   * Returns the keys of the current secret and of former ones that are still valid after a rotation. A former secret
   * that cannot be opened is left out: its master key is lost.
   * @throws when the current secret cannot be opened
   */
  function keysOf({ id, secrets }: WebhookEndpoint, at: Date): SigningKey[] {
    return secrets.flatMap(({ sealed, expiresAt }) => {
      if (expiresAt === null) return [open(sealed, id)];
      if (expiresAt <= at) return [];
      try {
        return [open(sealed, id)];
      } catch {
        return [];
      }
    });
  }

  return async (claim, endpoint, body) => {
    const at = now();
    const span = spanOf(claim, endpoint);
    const activity: Activity = {
      tenantId: endpoint.tenantId,
      invoiceId: claim.invoiceId,
      ...(claim.traceparent !== undefined && { traceId: traceIdOf(claim.traceparent) }),
    };
    const attempt = await within(activity, () => post(endpoint, claim, body, at, span));
    const { status, failure } = attempt;
    if (status !== null) span?.set({ 'http.response.status_code': status });
    if (!isSuccess(attempt)) span?.fail(failure?.code ?? String(status));
    span?.end();
    if (isSuccess(attempt)) return { claim, attempt, outcome: { state: 'delivered' } };
    const delay = schedule[claim.tries + 1];
    // The delay counts from the end of the attempt, so that a receiver that hangs gets the whole delay.
    const plannedAt = now();
    const outcome =
      delay === undefined
        ? ({ state: 'failed' } as const)
        : ({ state: 'pending', nextAttemptAt: later(plannedAt, delay), plannedAt } as const);
    return { claim, attempt, outcome };
  };

  /** Only deliveries of traced invoices are traced. The address is the tenant's, and may have a secret in it. */
  function spanOf({ id, traceparent, tries }: ClaimedDelivery, { id: endpointId }: WebhookEndpoint): Span | null {
    if (traceparent === undefined) return null;
    const attributes = {
      'http.request.method': 'POST',
      'http.request.resend_count': tries,
      'fatoura.webhook.delivery.id': id,
      'fatoura.webhook.endpoint.id': endpointId,
    };
    return tracing.begin('webhook delivery', { kind: 'client', parent: traceparent, attributes });
  }

  async function post(
    endpoint: WebhookEndpoint,
    claim: ClaimedDelivery,
    body: string,
    at: Date,
    span: Span | null,
  ): Promise<Attempt> {
    const { url, environment } = endpoint;
    const { eventId, manual } = claim;
    let requestHeaders: Record<string, string> = {};
    try {
      requestHeaders = {
        ...deliveryHeaders({ eventId, body, at, environment, manual }, keysOf(endpoint, at)),
        ...(span && { traceparent: span.traceparent }),
      };
      const answer = await sender.send({ url, headers: requestHeaders, body });
      const tokens = documentTokens(body);
      const kept = (text: string) => withoutTokens(text, tokens);
      const headers = answer.headers.map(([name, value]) => [name, kept(value)] as const);
      return { at, url, requestHeaders, ...answer, headers, body: kept(answer.body) };
    } catch (error) {
      const failure = { code: 'internal_error', message: (error as Error).message } as const;
      const nothing = { status: null, headers: [], body: '', truncated: false, latencyMs: 0 };
      return { at, url, requestHeaders, ...nothing, failure };
    }
  }
}
