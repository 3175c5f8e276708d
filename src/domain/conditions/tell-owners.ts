import { DAY_MS, MINUTE_MS } from '../durations.ts';
import type { Owner, Tenant } from '../tenant/tenant.ts';
import type { Condition } from './condition.ts';
import { CONDITIONS, type ConditionCode } from './condition-table.ts';

/** Delay between two looks at a tenant, milliseconds. */
const LOOK_EVERY_MS = 60 * MINUTE_MS;
/** Maximum number of tenants in a sweep. */
const SWEEP_LIMIT = 100;

/** The mail to an owner about what is wrong in the live environment. */
export interface ConditionsNotice {
  readonly to: string;
  readonly tenantId: string;
  readonly tenantName: string;
  /** All that is wrong, the new ones included. */
  readonly conditions: readonly Condition[];
  readonly at: Date;
}

/** Sends such mails. */
export interface ConditionsNotifier {
  /**
   * Resolves when a mail server has accepted the mail, or it is in the outbox on disk. @throws when neither succeeded
   */
  conditionsFound(notice: ConditionsNotice): Promise<void>;
}

/** The state of the mails to the owners of a tenant. */
export interface Told {
  /** When the last mail was sent; null: never. */
  readonly at: Date | null;
  /** The conditions that they know, and that have not ended since. */
  readonly codes: readonly ConditionCode[];
}

/** A tenant that is due to be looked at. */
export interface DueTenant {
  readonly tenantId: string;
  readonly told: Told;
}

/** Stores what owners were told. Each method is atomic for a tenant. */
export interface ConditionTellings {
  /**
   * Takes up to `limit` tenants with valid live keys that are due, so that no other process takes them before `again`.
   * Due tenants without such keys are only postponed.
   */
  take(now: Date, again: Date, limit: number): Promise<DueTenant[]>;
  keep(tenantId: string, told: Told): Promise<void>;
}

export interface TellOwnersParts {
  readonly tellings: ConditionTellings;
  readonly conditions: (owner: Owner) => Promise<readonly Condition[]>;
  readonly tenants: { find(tenantId: string): Promise<Tenant | null> };
  /** The mail addresses of the tenant's owners. */
  readonly ownersOf: (tenantId: string) => Promise<readonly string[]>;
  readonly notifier: ConditionsNotifier;
  readonly now: () => Date;
  readonly report: (message: string, error: unknown) => void;
}

/**
 * Makes the sweep that tells the owners of live tenants what is wrong: at most one mail a day, only about something
 * new, and never about notices. A condition that ended and began again is new. Several processes together send each
 * mail once; after the death of a process a mail may be sent again.
 */
export function createTellOwners(parts: TellOwnersParts): () => Promise<void> {
  const { tellings, now, report } = parts;

  async function look({ tenantId, told }: DueTenant): Promise<void> {
    const tenant = await parts.tenants.find(tenantId);
    if (tenant === null || tenant.suspendedAt !== null) return;
    const found = await parts.conditions({ tenantId, environment: 'live' });
    const conditions = found.filter(({ code }) => CONDITIONS[code].severity !== 'notice');
    const codes = conditions.map(({ code }) => code);
    const known = told.codes.filter((code) => codes.includes(code));
    const at = now();
    const mayTell = told.at === null || at.getTime() - told.at.getTime() >= DAY_MS;
    if (mayTell && codes.length > known.length) {
      if (await tell(tenant, conditions, at)) return tellings.keep(tenantId, { at, codes });
    }
    if (known.length < told.codes.length) await tellings.keep(tenantId, { at: told.at, codes: known });
  }

  /** @returns whether there was anybody to tell @throws if nobody could be told */
  async function tell({ id: tenantId, name }: Tenant, conditions: readonly Condition[], at: Date): Promise<boolean> {
    const owners = await parts.ownersOf(tenantId);
    const notice = { tenantId, tenantName: name, conditions, at };
    const sent = await Promise.allSettled(owners.map((to) => parts.notifier.conditionsFound({ ...notice, to })));
    const failures = sent.filter((each) => each.status === 'rejected');
    if (failures.length > 0 && failures.length === sent.length) throw failures[0]?.reason;
    for (const { reason } of failures) report(`an owner of ${tenantId} could not be told what is wrong`, reason);
    return owners.length > 0;
  }

  return async () => {
    const again = new Date(now().getTime() + LOOK_EVERY_MS);
    for (const due of await tellings.take(now(), again, SWEEP_LIMIT))
      await look(due).catch((error) => report(`the owners of ${due.tenantId} could not be told what is wrong`, error));
  };
}
