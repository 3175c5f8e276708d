import { serviceError } from './errors.ts';
import { calledById } from './invoice/kinds.ts';
import { includesRole, type Role } from './person/person.ts';
import { hasScope, rolesWith, type Scope } from './scopes.ts';
import { type Environment, missingProfileFields, type Tenant } from './tenant/tenant.ts';

/** The authenticated caller of a request (docs/api/contract.md, "Authentication"). */
export type Principal = KeyPrincipal | PersonPrincipal | ClientPrincipal;

/** The holder of an API key. */
export interface KeyPrincipal {
  readonly kind: 'secret' | 'publishable';
  readonly keyId: string;
  readonly tenant: Tenant;
  readonly environment: Environment;
  readonly origin?: Origin;
}

/** Somebody who is signed in and has chosen a tenant and an environment. */
export interface PersonPrincipal {
  readonly kind: 'person';
  readonly personId: string;
  readonly name: string;
  readonly sessionId: string;
  readonly role: Role;
  /** Whether the session was proof enough for a live document when the request was authenticated (`isProven`). */
  readonly hasProof: boolean;
  readonly tenant: Tenant;
  readonly environment: Environment;
  readonly origin?: Origin;
}

/** The holder of one invoice's client_secret. */
export interface ClientPrincipal {
  readonly kind: 'client';
  readonly invoiceId: string;
  /** When the token of an embedded page ends, UTC; absent for a client_secret, which has no end. */
  readonly expiresAt?: Date;
}

/** Where a request came from, for the audit log. */
export interface Origin {
  /** The request id of the answer, prefix `req_`. */
  readonly requestId: string;
  /** The client's network address. */
  readonly address: string;
  /** The name that the browser or program gives itself, at most {@link MOST_USER_AGENT} characters. */
  readonly userAgent: string | null;
}
export const MOST_USER_AGENT = 200;

/** A caller that acts for a tenant in an environment: a secret key or a person. */
export type Member = (KeyPrincipal & { readonly kind: 'secret' }) | PersonPrincipal;

/** Whether the caller acts for a tenant: it sees more of an invoice than the invoice's customer. */
export function isMember(principal: Principal): principal is Member {
  return principal.kind === 'secret' || principal.kind === 'person';
}

/** Whether a member has a scope. Other conditions of the scope are not checked. */
export function holdsScope(member: Member, scope: Scope): boolean {
  return member.kind !== 'person' || hasScope(member.role, scope, member.environment);
}

/**
 * Requires a secret key, or a person whose role includes the scope. A suspended tenant may only read.
 * @throws {ServiceError} insufficient_scope (403), also for the scope to issue in the live environment if the seller's
 *   profile is incomplete; confirmation_required (403) for that scope if the person's session is not proof enough;
 *   tenant_suspended (403)
 */
export function requireScope(principal: Principal, scope: Scope): Member {
  if (scope !== 'read') refuseSuspended(principal);
  const member = memberWith(principal, scope);
  if (scope === 'issue' && member.environment === 'live') requireLive(member);
  return member;
}

/** @throws {ServiceError} insufficient_scope (403), confirmation_required (403) */
function requireLive(member: Member): void {
  const missing = missingProfileFields(member.tenant.profile);
  if (missing.length > 0) {
    throw serviceError(
      'insufficient_scope',
      `Live invoices need the seller's complete profile. Missing: ${missing.join(', ')}. Complete it, then send the request again.`,
    );
  }
  if (member.kind === 'person' && !member.hasProof) {
    throw serviceError(
      'confirmation_required',
      'Live documents need a session with a second factor, or the password entered within the last 15 min. Send the password to POST /auth/confirm, then this request again.',
    );
  }
}

function memberWith(principal: Principal, scope: Scope): Member {
  if (principal.kind === 'person') {
    const { role, environment } = principal;
    if (hasScope(role, scope, environment)) return principal;
    const roles = rolesWith(scope, environment);
    throw serviceError(
      'insufficient_scope',
      `This needs the role ${roles.join(' or ')} in the ${environment} environment, and you have the role ${role}. Ask an owner of the tenant.`,
    );
  }
  if (isMember(principal)) return principal;
  throw serviceError(
    'insufficient_scope',
    principal.kind === 'client'
      ? `A client_secret gives access to its own ${calledById(principal.invoiceId)} only. Use a secret key (sk_…) from your back end.`
      : 'A publishable key can only read an invoice, with its client_secret. Use a secret key (sk_…) from your back end.',
  );
}

/** @throws {ServiceError} tenant_suspended (403) */
function refuseSuspended(principal: Principal): void {
  if (!('tenant' in principal) || principal.tenant.suspendedAt === null) return;
  throw serviceError('tenant_suspended', 'The tenant is suspended: it can only read. Ask the operator of the service.');
}

/**
 * Requires a person with this role, or one that includes it, in the tenant.
 * @param use a suspended tenant may only read
 * @throws {ServiceError} insufficient_scope (403), to every key; tenant_suspended (403)
 */
export function requirePerson(principal: Principal, role: Role, use: 'read' | 'change'): PersonPrincipal {
  if (principal.kind !== 'person')
    throw serviceError('insufficient_scope', 'Only people manage people: sign in to the dashboard.');
  if (use === 'change') refuseSuspended(principal);
  if (includesRole(principal.role, role)) return principal;
  throw serviceError('insufficient_scope', `This needs the role ${role}, and you have the role ${principal.role}.`);
}

/** Returns the key, the person, or the invoice of a client_secret: limits count its requests together. */
export function callerOf(principal: Principal): string {
  if (principal.kind === 'client') return principal.invoiceId;
  return principal.kind === 'person' ? principal.personId : principal.keyId;
}

/**
 * Returns the party with which the caller shares the capacity of a process. Publishable keys are visible in pages, so
 * their readers must take nothing from the share of the tenant's secret keys and people. All holders of client_secrets
 * are one party: a tenant has as many of these as invoices, and would get a share for each.
 */
export function sharerOf(principal: Principal): string {
  if (principal.kind === 'client') return 'client_secrets';
  return principal.kind === 'publishable' ? `publishable ${principal.tenant.id}` : principal.tenant.id;
}

/**
 * Returns the credential of a request. The end of one credential ends nothing of another. A person has one for each
 * session, tenant, environment and role.
 */
export function credentialOf(principal: Principal): string {
  if (principal.kind !== 'person') return callerOf(principal);
  const { sessionId, tenant, environment, role } = principal;
  return [sessionId, tenant.id, environment, role].join(' ');
}

/** The author of a change, for the audit log. */
export type Actor =
  | { readonly kind: 'key'; readonly id: string; readonly name: null }
  /** With the name at that time: the person may leave. */
  | { readonly kind: 'person'; readonly id: string; readonly name: string }
  /** An operator: a person, or somebody at a terminal of the installation (null). */
  | { readonly kind: 'operator'; readonly id: string | null; readonly name: string | null };

export function actorOf(member: Member): Actor {
  if (member.kind === 'person') return { kind: 'person', id: member.personId, name: member.name };
  return { kind: 'key', id: member.keyId, name: null };
}
