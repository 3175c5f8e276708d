import { describe, expect, it } from 'vitest';
import { includesRole, isProven, ROLES } from '../../../src/domain/person/person.ts';
import { type Principal, requireScope } from '../../../src/domain/principal.ts';
import { hasScope, SCOPE_NAMES } from '../../../src/domain/scopes.ts';
import { SPECIMEN_SELLER } from '../../../src/domain/tenant/tenant.ts';

/** Who has what: for each scope the roles in the test environment, and those in the live one. */
const TABLE = {
  read: ['viewer biller developer owner', 'viewer biller developer owner'],
  operate: ['developer owner', 'developer owner'],
  mail: ['biller developer owner', 'biller developer owner'],
  draft: ['biller developer owner', 'biller owner'],
  issue: ['biller developer owner', 'biller owner'],
  keys: ['developer owner', 'owner'],
  profile: ['owner', 'owner'],
};
const tenant = { id: 'ten_1', name: 'T', profile: SPECIMEN_SELLER, createdAt: new Date(), suspendedAt: null };

describe('roles', () => {
  it('include themselves and the viewer; billers and developers do not include each other', () => {
    const included = ROLES.map((role) => [role, ROLES.filter((needed) => includesRole(role, needed))]);
    expect(Object.fromEntries(included)).toEqual({
      viewer: ['viewer'],
      biller: ['viewer', 'biller'],
      developer: ['viewer', 'developer'],
      owner: ['viewer', 'biller', 'developer', 'owner'],
    });
  });

  it('have the scopes of the table, and no others', () => {
    const rolesWith = (scope: (typeof SCOPE_NAMES)[number], environment: 'test' | 'live') =>
      ROLES.filter((role) => hasScope(role, scope, environment)).join(' ');
    const found = SCOPE_NAMES.map((scope) => [scope, [rolesWith(scope, 'test'), rolesWith(scope, 'live')]]);
    expect(Object.fromEntries(found)).toEqual(TABLE);
  });

  it('are what requireScope goes by, which names the roles to a person without one', () => {
    for (const scope of SCOPE_NAMES) {
      for (const environment of ['test', 'live'] as const) {
        expect(requireScope({ kind: 'secret', keyId: 'key_1', tenant, environment }, scope)).toBeTruthy();
        for (const role of ROLES) {
          const person: Principal = {
            kind: 'person',
            personId: 'per_1',
            name: 'Amina',
            sessionId: 's',
            role,
            tenant,
            environment,
            hasProof: true,
          };
          const call = () => requireScope(person, scope);
          if (hasScope(role, scope, environment)) expect(call()).toBe(person);
          else expect(call).toThrow(expect.objectContaining({ code: 'insufficient_scope' }));
        }
      }
    }
    const by = { kind: 'person', personId: 'per_1', name: 'A', sessionId: 's', hasProof: true, tenant } as const;
    expect(() => requireScope({ ...by, role: 'viewer', environment: 'test' }, 'issue')).toThrow(
      'This needs the role biller or developer in the test environment, and you have the role viewer.',
    );
  });

  it('suffice for live documents only in a session that is proof enough, unless the profile is the obstacle', () => {
    const by = { kind: 'person', personId: 'per_1', name: 'A', sessionId: 's', role: 'biller', tenant } as const;
    const without = { ...by, hasProof: false };
    const refused = (principal: Principal, code: string) =>
      expect(() => requireScope(principal, 'issue')).toThrow(expect.objectContaining({ code }));
    refused({ ...without, environment: 'live' }, 'confirmation_required');
    refused({ ...without, environment: 'live', tenant: { ...tenant, profile: {} } }, 'insufficient_scope');
    refused({ ...without, environment: 'live', role: 'developer' }, 'insufficient_scope');
    for (const scope of ['read', 'mail', 'draft'] as const)
      expect(requireScope({ ...without, environment: 'live' }, scope)).toBeTruthy();
    expect(requireScope({ ...without, environment: 'test' }, 'issue')).toBeTruthy();
    expect(requireScope({ ...by, hasProof: true, environment: 'live' }, 'issue')).toBeTruthy();
  });

  it('need a second factor, or the password within 15 minutes', () => {
    const at = (minutes: number) => new Date(minutes * 60_000);
    const person = { id: 'per_1', email: 'a@example.com', name: 'A' };
    const session = { person, isConfirmed: true, sessionId: 's', expiresAt: at(9999), passwordAt: at(10) };
    const proven = (hasSecondFactor: boolean, now: Date) => isProven({ ...session, hasSecondFactor }, now);
    expect(proven(false, new Date(at(25).getTime() - 1))).toBe(true);
    expect(proven(false, at(25))).toBe(false);
    expect(proven(true, at(9000))).toBe(true);
  });
});
