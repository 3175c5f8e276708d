import { tenantNumber } from '../domain/invoice/lanes.ts';

/** A client counts as active for this long after its request, milliseconds. */
const RECENT_MS = 250;

/** Reports whether this process is serving clients, so that its background work leaves them resources. */
export interface ClientActivity {
  /** Records a request. @param route the pattern of its route; only routes of the API count */
  note(request: { readonly route: string; readonly tenantId: string | null }): void;
  /** @param beside those of this tenant do not count; as {@link tenantNumber} */
  isRecent(beside?: number): boolean;
}

interface Last {
  /** Null: no tenant's. */
  readonly tenant: number | null;
  readonly at: number;
}

export function createClientActivity(): ClientActivity {
  const never: Last = { tenant: null, at: Number.NEGATIVE_INFINITY };
  /** The last request, and the last one of anybody else. */
  let [last, other] = [never, never];
  const isNow = ({ at }: Last) => performance.now() - at < RECENT_MS;
  return {
    note({ route, tenantId }) {
      if (!route.startsWith('/v1/') && route !== '/graphql') return;
      const tenant = tenantId === null ? null : tenantNumber(tenantId);
      if (tenant !== last.tenant) other = last;
      last = { tenant, at: performance.now() };
    },
    isRecent: (beside) => isNow(last.tenant === beside ? other : last),
  };
}
