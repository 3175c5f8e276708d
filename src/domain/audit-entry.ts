import type { Page, PageQuery } from './page.ts';
import type { Person } from './person/person.ts';
import { type Actor, actorOf, type Member, type Origin } from './principal.ts';
import type { Environment } from './tenant/tenant.ts';

/** How long entries are kept: a review once a year sees the whole year. */
export const AUDIT_DAYS = 400;

/** The name of a change in the audit log. */
export interface AuditedChange {
  /** `noun.past_participle` */
  readonly action: `${string}.${string}`;
  readonly description: string;
  /** Whether it concerns both environments of the tenant. */
  readonly both?: true;
}

/**
 * The recorded changes that operators make, or people on their own accounts. Those that only members make by a use case
 * are in the row of the use case; `src/domain/audit-actions.ts` has all.
 */
export const SHARED_ACTIONS = {
  'tenant.created': { description: 'An operator created the tenant.', both: true },
  'tenant.suspended': { description: 'An operator suspended the tenant: it can only read.', both: true },
  'tenant.resumed': { description: 'An operator ended the suspension of the tenant.', both: true },
  'tenant.exported': { description: 'An operator had everything of the tenant written to files.', both: true },
  'tenant.erased': { description: 'An operator had a tenant erased: its legal documents alone stay.', both: true },
  'tenant.limited': { description: 'An operator changed how many requests the tenant may send.', both: true },
  'seller_profile.updated': { description: 'The seller’s profile was changed.', both: true },
  'member.invited': { description: 'Somebody was invited.', both: true },
  'member.joined': { description: 'A person accepted an invitation.', both: true },
  'member.removed': { description: 'A person was removed, or left.', both: true },
  'member.signed_in': { description: 'A person signed in.', both: true },
  'member.renamed': { description: 'A person changed their name.', both: true },
  'member.address_changed': { description: 'A person’s account got another e-mail address.', both: true },
  'member.sessions_ended': { description: 'A person signed other browsers out.', both: true },
  'member.password_changed': { description: 'A person changed their password.', both: true },
  'member.password_reset': { description: 'A person set a new password with a link from a mail.', both: true },
  'member.codes_added': {
    description: 'A person’s password needs a code of an authenticator from then on.',
    both: true,
  },
  'member.codes_removed': { description: 'A person’s password suffices again.', both: true },
  'member.recovery_codes_replaced': { description: 'A person got new recovery codes.', both: true },
  'member.passkey_added': { description: 'A person added a passkey.', both: true },
  'member.passkey_removed': { description: 'A person removed a passkey.', both: true },
  'member.second_factors_removed': { description: 'An operator removed a person’s codes and passkeys.', both: true },
  'api_key.created': { description: 'An API key was created.' },
  'api_key.rotated': { description: 'An API key was created that is to replace another.' },
  'api_key.renamed': { description: 'An API key got another name.' },
  'api_key.revoked': { description: 'An API key was revoked.' },
  'invoice.retried': { description: 'An operator had an invoice processed again.' },
  'invoice.abandoned': {
    description: 'An operator ended an invoice, because the authority holds another document under its id.',
  },
  'numbers.continued': {
    description: 'An operator let the legal numbers go on after those of invoices that were lost with newer data.',
  },
  'jobs.changed': { description: 'An operator changed jobs on the job dashboard.', both: true },
  'authority.paused': { description: 'An operator stopped every call to the tax authority.', both: true },
  'authority.resumed': { description: 'An operator ended a pause of the calls to the tax authority.', both: true },
  'authority.difference_acknowledged': {
    description: 'An operator acknowledged a difference with the ledger of the authority, so that it counts no longer.',
  },
  'master_key.rotated': { description: 'An operator replaced the master key.', both: true },
  'data_keys.changed': { description: 'An operator replaced a key of the data, or set its end.', both: true },
} as const satisfies Readonly<Record<string, Omit<AuditedChange, 'action'>>>;
export type SharedAction = keyof typeof SHARED_ACTIONS;

/** Replaces the tenant's id in entries about the whole service. Only operators read these entries. */
export const INSTALLATION = 'installation';

/**
 * A change in a tenant's account, or of the whole service. Contains no secret; of people only their names, and the
 * origin of the change.
 */
export interface AuditEntry {
  /** One of `AUDIT_ACTIONS`. */
  readonly action: string;
  /** {@link INSTALLATION} for the whole service. */
  readonly tenantId: string;
  /** Null: it concerns both. */
  readonly environment: Environment | null;
  readonly actor: Actor;
  /** Null: not from a request to the service. */
  readonly origin: Origin | null;
  /** The id of what was changed; null if there is none yet, as for an invitation. */
  readonly subject: string | null;
  /** Further facts of the change: for example `role`, and `fields` with the names of the changed fields. */
  readonly details: Readonly<Record<string, string>>;
}

export interface RecordedEntry extends AuditEntry {
  /** `aud_…` */
  readonly id: string;
  /** UTC. */
  readonly at: Date;
  /** Order key: entries are listed by it. */
  readonly order: string;
}

/**
 * Records changes after they were made. Never rejects: a change stands, whether or not it could be recorded. An entry
 * is lost if the process ends between the change and its entry.
 */
export type Audit = (...entries: readonly AuditEntry[]) => Promise<void>;

export interface AuditQuery extends Omit<PageQuery, 'environment'> {
  /** Only the changes of this key or person. Not with `subject`. */
  readonly actorId: string | null;
  /** Only the changes of this object. */
  readonly subject: string | null;
}

/** The store of entries. */
export interface AuditLog {
  insert(entries: readonly RecordedEntry[]): Promise<void>;
  /** @returns null for an entry that is unknown or another tenant's */
  find(tenantId: string, id: string): Promise<RecordedEntry | null>;
  page(query: AuditQuery): Promise<Page<RecordedEntry>>;
}

/** The facts that an entry states of a change, beside the action. */
export type AuditFacts = Pick<AuditEntry, 'subject'> & Partial<Pick<AuditEntry, 'details'>>;

/** Whose log an entry belongs to: a tenant's, or that of the {@link INSTALLATION}. No environment: it concerns both. */
export type AuditPlace = Pick<AuditEntry, 'tenantId'> & Partial<Pick<AuditEntry, 'environment'>>;

/**
 * Makes the entry of a change that a member made by a use case.
 * @param change the change as the use case's row describes it
 */
export function entryBy(
  member: Member,
  change: SharedAction | AuditedChange,
  { subject, details = {} }: AuditFacts,
): AuditEntry {
  const { tenant, environment, origin = null } = member;
  const { action, both } =
    typeof change === 'string' ? { both: undefined, ...SHARED_ACTIONS[change], action: change } : change;
  return {
    action,
    tenantId: tenant.id,
    actor: actorOf(member),
    origin,
    subject,
    details,
    environment: both ? null : environment,
  };
}

/** Makes the entry of an action of a person on their account, for one of the person's tenants. */
export function entryOfPerson(
  { id, name }: Pick<Person, 'id' | 'name'>,
  tenantId: string,
  origin: Origin,
  action: SharedAction,
  details: AuditEntry['details'] = {},
): AuditEntry {
  return { action, tenantId, environment: null, actor: { kind: 'person', id, name }, origin, subject: id, details };
}

/** An operator who is signed in. */
export interface Operator {
  readonly person: Pick<Person, 'id' | 'name'>;
  readonly origin: Origin;
}

/**
 * Makes the entry of a change that an operator made.
 * @param environment null: both
 * @param by null: at a terminal
 */
export function entryByOperator(
  tenantId: string,
  environment: Environment | null,
  action: SharedAction,
  { subject, details = {} }: AuditFacts,
  by: Operator | null = null,
): AuditEntry {
  return {
    action,
    tenantId,
    environment,
    actor: { kind: 'operator', id: by?.person.id ?? null, name: by?.person.name ?? null },
    // Tenants do not learn where the operators are.
    origin: tenantId === INSTALLATION ? (by?.origin ?? null) : null,
    subject,
    details,
  };
}
