import { tenantNumber } from '../domain/invoice/lanes.ts';

/** A client counts as active for this long after its request, milliseconds. */
const RECENT_MS = 250;

/** Reports whether this process is serving clients, so that its background work leaves them resources. */
export interface ClientActivity {
  /** Records a request when it is answered. @param route the pattern of its route; only routes of the API count */
  note(request: { readonly route: string; readonly status: number; readonly tenantId: string | null }): void;
  /**
   * Whether a client has sent a request within {@link RECENT_MS}.
   * @param beside a tenant whose requests do not count, as {@link tenantNumber}. Requests that were refused without a
   *   valid credential do not count either, so that nobody else can make the tenant's work rest
   */
  isRecent(beside?: number): boolean;
}

interface Last {
  /** Null for a client_secret, which gives access to a single invoice. */
  readonly tenant: number | null;
  readonly at: number;
}

export function createClientActivity(): ClientActivity {
  const never: Last = { tenant: null, at: Number.NEGATIVE_INFINITY };
  let answeredAt = Number.NEGATIVE_INFINITY;
  /** The last request that counts for `isRecent`, and the last one before it of another tenant. */
  let [last, other] = [never, never];
  const isNow = (at: number) => performance.now() - at < RECENT_MS;
  return {
    note({ route, status, tenantId }) {
      if (!route.startsWith('/v1/') && route !== '/graphql') return;
      answeredAt = performance.now();
      if (tenantId === null && status >= 400) return;
      const tenant = tenantId === null ? null : tenantNumber(tenantId);
      if (tenant !== last.tenant) other = last;
      last = { tenant, at: answeredAt };
    },
    isRecent(beside) {
      if (beside === undefined) return isNow(answeredAt);
      return isNow((last.tenant === beside ? other : last).at);
    },
  };
}
