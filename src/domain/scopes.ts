import { includesRole, type Role } from './person/person.ts';
import type { Environment } from './tenant/tenant.ts';

/**
 * The rights of members, with the roles that give each of them in each environment, besides roles that include one of
 * these. A secret key has all rights.
 */
const SCOPES = {
  /** See everything of the tenant; nothing is changed. */
  read: { test: ['viewer'], live: ['viewer'] },
  /** Change endpoints, send events again, read the log of requests, create embedded pages. */
  operate: { test: ['developer'], live: ['developer'] },
  /** Mail invoices and credit notes again; revoke the URLs of their documents. */
  mail: { test: ['biller', 'developer'], live: ['biller', 'developer'] },
  /** Write drafts, which are not documents yet. */
  draft: { test: ['biller', 'developer'], live: ['biller'] },
  /**
   * Create invoices and credit notes. Live ones have legal value: they need the seller's complete profile, and a person
   * has to be proven (`isProven` in `person/person.ts`).
   */
  issue: { test: ['biller', 'developer'], live: ['biller'] },
  keys: { test: ['developer'], live: ['owner'] },
  /** Change the seller's profile, which live invoices print. */
  profile: { test: ['owner'], live: ['owner'] },
} as const satisfies Record<string, Record<Environment, readonly Role[]>>;
export type Scope = keyof typeof SCOPES;
export const SCOPE_NAMES = Object.keys(SCOPES) as readonly Scope[];

/** Returns the roles that give a scope, without those that include one of them. */
export function rolesWith(scope: Scope, environment: Environment): readonly Role[] {
  return SCOPES[scope][environment];
}

/** Whether people with this role have a scope in an environment. */
export function hasScope(role: Role, scope: Scope, environment: Environment): boolean {
  return rolesWith(scope, environment).some((each) => includesRole(role, each));
}
