import { randomBytes } from 'node:crypto';
import { newId } from '../../src/domain/ids.ts';

/** Tenants with endpoints. */
export interface Crowd {
  readonly tenantIds: readonly string[];
  readonly endpoints: readonly CrowdEndpoint[];
}

export interface CrowdEndpoint {
  readonly id: string;
  readonly tenantId: string;
  readonly url: string;
  readonly secret: string;
}

/** What a side of `webhooks` is asked, one thing at a time. */
export type SideRequest =
  | { readonly do: 'meet'; readonly crowd: Crowd }
  /** Bring an invoice of each of these tenants to its first status change, one every `gapMs`. */
  | { readonly do: 'happen'; readonly tenantIds: readonly string[]; readonly gapMs: number }
  /** Bring one of each of these tenants there and tell nobody. */
  | { readonly do: 'prepare'; readonly tenantIds: readonly string[] }
  /** Now tell of all of them at once. */
  | { readonly do: 'deliver' }
  /** Answer when the deliveries of all of them are over, and recorded where they are recorded. */
  | { readonly do: 'finish' };

/** Its answer: the events and when each began, or when all was over, by {@link machineMs}. */
export type SideAnswer = {
  readonly events: readonly (readonly [id: string, beganMs: number])[];
  readonly overMs?: number;
};

/** `count` endpoints, `perTenant` for each tenant; one of `deadEach` never answers (0: none). */
export function crowd(url: string, count: number, perTenant: number, deadEach: number): Crowd {
  const tenantIds = Array.from({ length: Math.ceil(count / perTenant) }, () => newId('ten'));
  const endpoints = Array.from({ length: count }, (_, i) => ({
    id: newId('we'),
    tenantId: tenantIds[Math.floor(i / perTenant)] ?? '',
    url: `${url}/${isDead(i, deadEach) ? 'dead' : 'alive'}/${i}`,
    secret: `whsec_${randomBytes(32).toString('base64')}`,
  }));
  return { tenantIds, endpoints };
}

function isDead(index: number, deadEach: number): boolean {
  return deadEach > 0 && index % deadEach === deadEach - 1;
}

/** Milliseconds of the machine's monotonic clock, the same in all processes. */
export function machineMs(): number {
  return Number(process.hrtime.bigint()) / 1e6;
}
