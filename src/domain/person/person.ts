/** The roles of people in a tenant, from the least rights on. Each role includes the roles before it. */
export const ROLES = ['viewer', 'developer', 'owner'] as const;
export type Role = (typeof ROLES)[number];

/** A person's place in a tenant. */
export interface Membership {
  readonly tenantId: string;
  readonly role: Role;
}

/** The rights of a person. */
export interface Grants {
  /** Whether the person operates the service: all tenants' queues and keys, but not their invoices. */
  readonly isOperator: boolean;
  /** One at most for each tenant. */
  readonly memberships: readonly Membership[];
}

/** A person with an account. */
export interface Person {
  /** `per_…` */
  readonly id: string;
  /** In lower case. */
  readonly email: string;
  readonly name: string;
}

/** A person in a tenant. */
export interface Member {
  readonly person: Person;
  readonly role: Role;
  /** Whether a mail has shown that the address is the person's. */
  readonly isConfirmed: boolean;
}

/** Somebody who is signed in, in one browser. */
export interface SignedIn {
  readonly person: Person;
  /** Whether a mail has shown that the address is the person's. */
  readonly isConfirmed: boolean;
  readonly sessionId: string;
  /** UTC. */
  readonly expiresAt: Date;
}

/** Whether a role includes another one. */
export function includesRole(role: Role, needed: Role): boolean {
  return ROLES.indexOf(role) >= ROLES.indexOf(needed);
}
