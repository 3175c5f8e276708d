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

/** A request to a side of `webhooks`; one at a time. */
export type SideRequest =
  | { readonly do: 'meet'; readonly crowd: Crowd }
  /** Bring an invoice of each of these tenants to its first status change, one every `gapMs` milliseconds. */
  | { readonly do: 'happen'; readonly tenantIds: readonly string[]; readonly gapMs: number }
  /** Bring an invoice of each of these tenants to its first status change without delivering the event. */
  | { readonly do: 'prepare'; readonly tenantIds: readonly string[] }
  /** Deliver all prepared events at once. */
  | { readonly do: 'deliver' }
  /** Answer when all of these deliveries have ended, and are recorded if the side records them. */
  | { readonly do: 'finish' };

/** The answer: the events with their start times, or the time at which all had ended, both by {@link machineMs}. */
export type SideAnswer = {
  readonly events: readonly (readonly [id: string, beganMs: number])[];
  readonly overMs?: number;
};

/** Makes `count` endpoints, `perTenant` for each tenant. One in `deadEach` never answers (0: none). */
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

/** Returns the milliseconds of the machine's monotonic clock, which is the same in all processes. */
export function machineMs(): number {
  return Number(process.hrtime.bigint()) / 1e6;
}
