import { useEffect, useState } from 'preact/hooks';
import { useLocation } from 'preact-iso';
import type { KEY_KINDS } from '../../domain/api-key/key-kinds.ts';
import type { BREAKER_PHASES } from '../../domain/authority/breaker.ts';
import type { ATTENTION_REASONS } from '../../domain/invoice/attention.ts';
import type { LANE_NAMES } from '../../domain/invoice/lanes.ts';
import type { LIVE_CONDITION_NAMES } from '../../domain/tenant/ports.ts';
import type { ENVIRONMENTS } from '../../domain/tenant/tenant.ts';
import type { ShownCondition } from '../interface/condition-list.tsx';
import { useEvery } from '../interface/use-every.ts';
import type { Seller } from '../settings/documents.ts';
import type { Reason } from '../text/errors.ts';
import { signInAddress } from '../workspace/session.ts';

/** The backlog of a queue; `waiting` is counted up to `MOST_WAITING`. */
export interface Backlog {
  readonly waiting: number;
  readonly oldest: string | null;
}

export type Lane = (typeof LANE_NAMES)[number];
export type AttentionReason = (typeof ATTENTION_REASONS)[number];
export type BreakerPhase = (typeof BREAKER_PHASES)[number];
type Environment = (typeof ENVIRONMENTS)[number];

/** The state of the whole service (`/ops/api/survey`). */
export interface Survey {
  readonly at: string;
  readonly workers: number;
  readonly queues: readonly (Backlog & { readonly lane: Lane })[];
  readonly webhooks: Backlog;
  readonly transmissions: readonly { readonly tenantId: string; readonly name: string; readonly waiting: number }[];
  readonly attention: readonly {
    readonly invoiceId: string;
    readonly tenantId: string;
    readonly tenantName: string;
    readonly environment: Environment;
    readonly reason: AttentionReason;
    readonly stage: string;
    readonly since: string;
    /** When the next attempt is due; null if nothing happens until an operator retries it. */
    readonly nextAttemptAt: string | null;
  }[];
  readonly endpoints: readonly {
    readonly endpointId: string;
    readonly tenantId: string;
    readonly tenantName: string;
    readonly environment: Environment;
    readonly host: string;
    readonly since: string;
  }[];
  readonly conditions: readonly ShownCondition[];
  readonly hasAuthority: boolean;
  readonly authority: {
    readonly breaker: BreakerPhase;
    readonly since: string | null;
    readonly outages: number;
    readonly nextProbe: string | null;
    readonly notBefore: string | null;
    readonly pause: { readonly by: string; readonly reason: string | null; readonly since: string } | null;
    readonly workers: number;
    readonly inFlight: number;
  };
  readonly certificates: readonly {
    readonly signer: string;
    readonly subject: string;
    readonly validTo: string;
    readonly testOnly: boolean;
    readonly findings: readonly string[];
  }[];
  readonly storage: { readonly dataBytes: number; readonly freeBytes: number; readonly diskBytes: number };
}

export interface ListedTenant {
  readonly id: string;
  readonly name: string;
  readonly createdAt: string;
  readonly suspendedAt: string | null;
  readonly environments: readonly Environment[];
}

export interface TenantDetails extends Omit<ListedTenant, 'environments'> {
  readonly seller: Seller;
  readonly missingForLive: readonly { readonly condition: (typeof LIVE_CONDITION_NAMES)[number] }[];
  readonly keys: readonly {
    readonly id: string;
    readonly kind: (typeof KEY_KINDS)[number];
    readonly environment: Environment;
    readonly lastFour: string;
    readonly createdAt: string;
    readonly revokedAt: string | null;
  }[];
}

export interface Entry {
  readonly id: string;
  readonly at: string;
  readonly action: string;
  readonly actor: { readonly id: string | null; readonly name: string | null };
  readonly details: Readonly<Record<string, string>>;
  readonly origin: { readonly address: string } | null;
}

/** The result of a call. `refusal` is `not_signed_in` without a session. */
type Answer<Body> = { readonly body: Body; readonly refusal: null } | { readonly refusal: Reason | 'not_signed_in' };

/** Calls a path under `/ops/api/`. Never throws. @param input the body of a POST; without it the call is a GET */
async function callOperators<Body>(path: string, input?: object, signal?: AbortSignal): Promise<Answer<Body>> {
  try {
    const answer = await fetch(`/ops/api/${path}`, {
      ...(input && { method: 'POST', body: JSON.stringify(input), headers: { 'Content-Type': 'application/json' } }),
      ...(signal && { signal }),
    });
    const body = await answer.json();
    if (answer.ok) return { body, refusal: null };
    return { refusal: answer.status === 401 ? 'not_signed_in' : body.error };
  } catch {
    return { refusal: 'unreachable' };
  }
}

/**
 * Reads a path. Without the session of an operator the page redirects to the sign-in form, which returns afterwards.
 * @param everyMs interval of reading, milliseconds, while the page is visible; null: only on request
 */
export function useOperatorRead<Body>(path: string, everyMs: number | null = null) {
  const { route } = useLocation();
  const [data, setData] = useState<{ readonly path: string; readonly body: Body } | null>(null);
  const [refusal, setRefusal] = useState<Reason | null>(null);
  const [turn, setTurn] = useState(0);
  useEffect(() => {
    const ended = new AbortController();
    callOperators<Body>(path, undefined, ended.signal).then((answer) => {
      if (ended.signal.aborted) return;
      if (answer.refusal === 'not_signed_in') return route(signInAddress(), true);
      setRefusal(answer.refusal);
      if (answer.refusal === null) setData({ path, body: answer.body });
    });
    return () => ended.abort();
  }, [path, turn, route]);
  const reload = () => setTurn((last) => last + 1);
  useEvery(everyMs, reload);
  return { data: data?.path === path ? data.body : null, refusal, reload };
}

/** Returns a function that runs changes, one at a time. */
export function useOperatorChange() {
  const { route } = useLocation();
  const [busy, setBusy] = useState(false);
  const [refusal, setRefusal] = useState<Reason | null>(null);
  return {
    busy,
    refusal,
    /** @returns the answer; null if the change was refused or its outcome is unknown */
    async run<Body>(path: string, input: object = {}): Promise<Body | null> {
      if (busy) return null;
      setBusy(true);
      const answer = await callOperators<Body>(path, input);
      setBusy(false);
      if (answer.refusal === 'not_signed_in') {
        route(signInAddress(), true);
        return null;
      }
      setRefusal(answer.refusal);
      return answer.refusal === null ? answer.body : null;
    },
  };
}
