import { describe, expect, it } from 'vitest';
import { includesRole, ROLES } from '../../../src/domain/person/person.ts';
import { type Principal, requireScope } from '../../../src/domain/principal.ts';
import { hasScope, SCOPE_NAMES } from '../../../src/domain/scopes.ts';
import { SPECIMEN_SELLER } from '../../../src/domain/tenant/tenant.ts';

/** Who has what: for each scope the roles in the test environment, and those in the live one. */
const TABLE = {
  read: ['viewer biller developer owner', 'viewer biller developer owner'],
  operate: ['developer owner', 'developer owner'],
  mail: ['biller developer owner', 'biller developer owner'],
  issue: ['biller developer owner', ''],
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
            ...({ kind: 'person', personId: 'per_1', name: 'Amina', sessionId: 's' } as const),
            ...{ role, tenant, environment },
          };
          const call = () => requireScope(person, scope);
          if (hasScope(role, scope, environment)) expect(call()).toBe(person);
          else expect(call).toThrow(expect.objectContaining({ code: 'insufficient_scope' }));
        }
      }
    }
    const viewer = { kind: 'person', personId: 'per_1', name: 'A', sessionId: 's', role: 'viewer', tenant } as const;
    expect(() => requireScope({ ...viewer, environment: 'test' }, 'issue')).toThrow(
      'This needs the role biller or developer in the test environment, and you have the role viewer.',
    );
  });
});
