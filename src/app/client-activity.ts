import { tenantNumber } from '../domain/invoice/lanes.ts';

/** A client counts as active for this long after its request, milliseconds. */
const RECENT_MS = 250;

/** Reports whether this process is serving clients, so that its background work leaves them resources. */
export interface ClientActivity {
  /** Records a request when it is answered. @param route the pattern of its route; only routes of the API count */
  note(request: { readonly route: string; readonly status: number; readonly tenantId: string | null }): void;
  /**
   * @param beside those of this tenant do not count, nor what was refused without a valid credential: nobody else can make
   * a tenant's work rest. As {@link tenantNumber}
   */
  isRecent(beside?: number): boolean;
}

interface Last {
  /** Null: whoever reads one invoice by its client_secret. */
  readonly tenant: number | null;
  readonly at: number;
}

export function createClientActivity(): ClientActivity {
  const never: Last = { tenant: null, at: Number.NEGATIVE_INFINITY };
  let answeredAt = Number.NEGATIVE_INFINITY;
  /** The last request with a credential, and the last one of anybody else. */
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
