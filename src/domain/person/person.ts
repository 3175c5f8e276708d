import { PROOF_MS } from './limits.ts';

/** The roles of people in a tenant, as pages list them. */
export const ROLES = ['viewer', 'biller', 'developer', 'owner'] as const;
export type Role = (typeof ROLES)[number];

/** The roles that each role includes. Billers and developers have different work: neither includes the other. */
const INCLUDED: Readonly<Record<Role, readonly Role[]>> = {
  viewer: ['viewer'],
  biller: ['viewer', 'biller'],
  developer: ['viewer', 'developer'],
  owner: ROLES,
};

/** A person's membership in a tenant. */
export interface Membership {
  readonly tenantId: string;
  readonly role: Role;
}

/** The rights of a person. */
export interface Grants {
  /**
   * Whether the person is an operator of the service, with access to all tenants' queues and keys, but not their
   * invoices.
   */
  readonly isOperator: boolean;
  /** At most one for each tenant. */
  readonly memberships: readonly Membership[];
}

/** A person with an account. */
export interface Person {
  /** The id, such as `per_…`. */
  readonly id: string;
  /** The address in lower case. */
  readonly email: string;
  readonly name: string;
}

/** A person as a member of a tenant. */
export interface Member {
  readonly person: Person;
  readonly role: Role;
  /** Whether the person has confirmed the address by a mail. */
  readonly isConfirmed: boolean;
}

/** A signed-in person, in one browser. */
export interface SignedIn {
  readonly person: Person;
  /** Whether the person has confirmed the address by a mail. */
  readonly isConfirmed: boolean;
  readonly sessionId: string;
  /** UTC. */
  readonly expiresAt: Date;
  /** Whether the session was begun with a code or a passkey, or a code was set up in it. */
  readonly hasSecondFactor: boolean;
  /** When the password was last entered in this session, UTC; with a passkey, when it began. */
  readonly passwordAt: Date;
}

/**
 * Whether a session is proof enough for a document of legal value. A stolen cookie, or a browser that was left open,
 * must not suffice to create one.
 */
export function isProven({ hasSecondFactor, passwordAt }: SignedIn, now: Date): boolean {
  return hasSecondFactor || now.getTime() - passwordAt.getTime() < PROOF_MS;
}

/** Whether a role includes another one. */
export function includesRole(role: Role, needed: Role): boolean {
  return INCLUDED[role].includes(needed);
}
