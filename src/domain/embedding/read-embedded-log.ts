import { serviceError } from '../errors.ts';
import { placeInList } from '../page.ts';
import type { TenantRepository } from '../tenant/ports.ts';
import type { Delivery } from '../webhook/delivery.ts';
import type { DeliveryLedger } from '../webhook/ports.ts';
import type { EmbedTokens } from './embed-token.ts';

const PAGE = 25;
/** The fields of an attempt that are read. */
const SHOWN = ['at', 'status', 'latencyMs', 'failure'] as const;

/** A delivery as shown outside of the tenant: without URL, headers and body. */
export interface EmbeddedDelivery extends Pick<Delivery, 'id' | 'eventType' | 'state' | 'createdAt' | 'nextAttemptAt'> {
  readonly attempts: readonly {
    readonly at: Date;
    /** The HTTP status of the answer; null if there was none. */
    readonly status: number | null;
    readonly latencyMs: number;
    /** Why there was no answer; null if there was one. */
    readonly failure: string | null;
  }[];
}

/**
 * Reads the deliveries to a token's endpoint, newest first.
 * @param after the id of the last delivery of the previous page
 * @throws {ServiceError} invalid_api_key (401) for a token that is not valid or has expired; invalid_request
 */
export type ReadEmbeddedLog = (
  token: string,
  after: string | null,
) => Promise<{ readonly deliveries: readonly EmbeddedDelivery[]; readonly hasMore: boolean }>;

export function createReadEmbeddedLog(
  tokens: Pick<EmbedTokens, 'verify'>,
  ledger: Pick<DeliveryLedger, 'find' | 'pageWithAttempts'>,
  tenants: Pick<TenantRepository, 'find'>,
  now: () => Date,
): ReadEmbeddedLog {
  return async (token, after) => {
    const grant = tokens.verify(token, now());
    // A token ends when its tenant is erased.
    if (grant?.kind !== 'deliveries' || !(await tenants.find(grant.tenantId)))
      throw serviceError('invalid_api_key', 'This page has expired. Open it again where you found it.');
    const { tenantId, environment, subject: endpointId } = grant;
    const span = { limit: PAGE, cursor: after === null ? null : ({ direction: 'after', id: after } as const) };
    const place = await placeInList(span, async (id) => {
      const found = await ledger.find(tenantId, environment, id);
      return found?.endpointId === endpointId ? found : null;
    });
    const everything = { endpointId, state: null, from: null, until: null };
    const { rows, hasMore } = await ledger.pageWithAttempts({ tenantId, environment, ...place, ...everything }, SHOWN);
    return {
      hasMore,
      deliveries: rows.map(({ id, eventType, state, createdAt, nextAttemptAt, attempts }) => ({
        id,
        eventType,
        state,
        createdAt,
        nextAttemptAt,
        attempts: attempts.map(({ at, status, latencyMs, failure }) => ({
          at,
          status,
          latencyMs,
          failure: failure?.code ?? null,
        })),
      })),
    };
  };
}
