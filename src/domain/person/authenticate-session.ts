import { type Arrival, isExposed } from '../arrival.ts';
import { serviceError } from '../errors.ts';
import { isId } from '../ids.ts';
import type { PersonPrincipal } from '../principal.ts';
import type { TenantRepository } from '../tenant/ports.ts';
import type { Environment } from '../tenant/tenant.ts';
import { isProven, type Person } from './person.ts';
import type { Accounts, BrowserFacts, PeopleRepository, WithCookies } from './ports.ts';

/** The tenant and the environment that a page names in its requests. */
export interface Chosen {
  readonly tenantId: string;
  readonly environment: Environment;
}

/**
 * Authenticates a signed-in person as a member of the chosen tenant. Session, role and tenant are read each time, so
 * that their end takes effect at once.
 * @throws {ServiceError} not_signed_in (401); resource_not_found (404) for a tenant that the person does not belong to,
 * whether or not it exists; insufficient_scope (403) for the live environment over plain HTTP from another machine
 */
export type AuthenticateSession = (
  browser: BrowserFacts,
  chosen: Chosen,
  arrival: Arrival,
) => Promise<WithCookies<PersonPrincipal>>;

export function createAuthenticateSession(
  accounts: Pick<Accounts, 'session'>,
  people: Pick<PeopleRepository, 'grantsOf'>,
  tenants: Pick<TenantRepository, 'find'>,
  now: () => Date,
): AuthenticateSession {
  return async (browser, { tenantId, environment }, arrival) => {
    if (environment === 'live' && isExposed(arrival))
      throw serviceError('insufficient_scope', 'The live environment is shown over HTTPS only.');
    const found = await accounts.session(browser);
    if (found === null) throw serviceError('not_signed_in', 'Nobody is signed in.');
    const { person, sessionId } = found.result;
    const { memberships } = await people.grantsOf(person.id);
    const role = memberships.find((each) => each.tenantId === tenantId)?.role;
    const tenant = role && isId('ten', tenantId) ? await tenants.find(tenantId) : null;
    if (!role || !tenant)
      throw serviceError('resource_not_found', 'You belong to no tenant with this id.', 'Fatoura-Tenant');
    const { id: personId, name } = person;
    const hasProof = isProven(found.result, now());
    const principal = { kind: 'person', personId, name, sessionId, role, hasProof, tenant, environment } as const;
    return { result: principal, cookies: found.cookies };
  };
}

/** Finds the signed-in operator; null if there is none. Session and grant are read each time. */
export type FindOperator = (browser: BrowserFacts) => Promise<WithCookies<Person | null>>;

export function createFindOperator(
  accounts: Pick<Accounts, 'session'>,
  people: Pick<PeopleRepository, 'grantsOf'>,
): FindOperator {
  return async (browser) => {
    const found = await accounts.session(browser);
    if (found === null) return { result: null, cookies: [] };
    const { person } = found.result;
    const { isOperator } = await people.grantsOf(person.id);
    return { result: isOperator ? person : null, cookies: found.cookies };
  };
}
