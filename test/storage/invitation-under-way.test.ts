import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createRecordOfPerson } from '../../src/domain/audit/record-entries.ts';
import { newId } from '../../src/domain/ids.ts';
import { createAcceptInvitation } from '../../src/domain/person/accept-invitation.ts';
import { CLAIM_MS, type Invitee, newInvitation } from '../../src/domain/person/invitation.ts';
import { AccountExists, type PeopleRepository } from '../../src/domain/person/ports.ts';
import { createReadInvitation } from '../../src/domain/person/read-invitation.ts';
import type { TenantRepository } from '../../src/domain/tenant/ports.ts';
import type { Store } from '../../src/storage/connect.ts';
import { createPeopleRepository } from '../../src/storage/people.ts';
import { createTenantRepository } from '../../src/storage/tenants.ts';
import { openTestStore } from '../support/store.ts';

/** What happens while an invitation is being accepted: between its steps, of which the comparison of the password is the longest. */

const NOBODY = { cookie: undefined, userAgent: undefined, address: '192.0.2.1' };
const ORIGIN = { requestId: 'req_1', address: '192.0.2.1', userAgent: null };
const PASSWORD = 'violet anchor seven drums';
const EASY = 'aaaaaaaaaaaa';

let store: Store;
let people: PeopleRepository;
let tenants: TenantRepository;
let tenantId: string;
let clock = new Date();
/** What happens while the next account is created, the next password is compared, and when the next grant was added. */
let meanwhile: Partial<Record<'creating' | 'comparing' | 'granted', () => Promise<unknown>>> = {};
/** The accounts: addresses with passwords. */
const accounts = new Map<string, string>();
/** The addresses whose passwords were compared, which costs a hash. */
let compared: string[] = [];

function taken(name: keyof typeof meanwhile) {
  const happens = meanwhile[name];
  meanwhile = { ...meanwhile, [name]: undefined };
  return happens?.();
}

beforeAll(async () => {
  store = await openTestStore('invitation-under-way');
  people = createPeopleRepository(store.db);
  tenants = createTenantRepository(store.db);
  return () => store.close();
});
beforeEach(async () => {
  [meanwhile, compared, clock] = [{}, [], new Date()];
  tenantId = newId('ten');
  await tenants.insert({ id: tenantId, name: 'Atlas', profile: {}, createdAt: new Date() });
});

const personOf = (email: string) => ({ id: `per_${email}`, email, name: 'Amina' });

function accept(token: string, email: string, password = PASSWORD) {
  const audit = async () => {
    await taken('granted');
  };
  const run = createAcceptInvitation(
    {
      find: async (address) => (accounts.has(address) ? { isConfirmed: true } : null),
      async create(account) {
        await taken('creating');
        accounts.set(account.email, account.password);
      },
      takeOver: async () => null,
      async signIn(credentials) {
        compared.push(credentials.email);
        await taken('comparing');
        if (accounts.get(credentials.email) !== credentials.password) return null;
        return { result: { person: personOf(credentials.email), session: null }, cookies: [] };
      },
    },
    people,
    tenants,
    { isGuessable: async (text) => text === EASY },
    audit,
    createRecordOfPerson(people, audit, () => undefined),
    () => clock,
  );
  return run({ token, email, name: 'Amina', password }, NOBODY, ORIGIN);
}

async function invited(invitedBy: Invitee['invitedBy'] = null): Promise<string> {
  const grants = { isOperator: false, memberships: [{ tenantId, role: 'owner' as const }] };
  const { invitation, token } = newInvitation({ email: null, grants, invitedBy }, clock);
  await people.insertInvitation(invitation);
  return token;
}

const refusal = (code: string) => expect.objectContaining({ problems: [expect.objectContaining({ code })] });
const rolesOf = async (email: string) => (await people.grantsOf(personOf(email).id)).memberships;
const stateOf = (token: string) => createReadInvitation(people, tenants, () => clock)(token);

let visitors = 0;
const visitor = () => `visitor${++visitors}@example.com`;

it('waits for the account that another request with the same form is creating', async () => {
  const [token, email] = [await invited(), visitor()];
  meanwhile.creating = async () => {
    // The other request commits a moment later.
    setTimeout(() => accounts.set(email, PASSWORD), 120);
    throw new AccountExists();
  };
  await accept(token, email);
  expect(await rolesOf(email)).toEqual([{ tenantId, role: 'owner' }]);
});

describe('an invitation', () => {
  const inviters = {
    async owner() {
      const id = newId('per');
      await people.grant(id, { isOperator: false, memberships: [{ tenantId, role: 'owner' }] });
      await people.grant(newId('per'), { isOperator: false, memberships: [{ tenantId, role: 'owner' }] });
      return { id, end: () => people.changeRole(id, tenantId, 'developer') };
    },
    /** Also an owner of the tenant, which they were not when they invited. */
    async operator() {
      const { id, email, name } = personOf(visitor());
      await store.db.collection<{ _id: string }>('people').insertOne({ _id: id, email, name } as never);
      await people.grant(id, { isOperator: true, memberships: [{ tenantId, role: 'owner' }] });
      return { id, end: () => people.removeOperator(email) };
    },
  };

  it.each(['owner', 'operator'] as const)('of an %s ends with what let them make it', async (as) => {
    const { id, end } = await inviters[as]();
    const [token, unused] = [await invited({ personId: id, as }), await invited({ personId: id, as })];
    const [email, late] = [visitor(), visitor()];
    await accept(token, email);
    expect(await rolesOf(email)).toEqual([{ tenantId, role: 'owner' }]);
    expect(await stateOf(unused)).toBe('open');
    expect(await end()).toBeTruthy();
    expect(await stateOf(unused)).toBe('revoked');
    await expect(accept(unused, late)).rejects.toEqual(refusal('resource_not_found'));
    expect(await rolesOf(late)).toEqual([]);
  });

  it.each(['owner', 'operator'] as const)('of an %s ends so while it is being accepted, too', async (as) => {
    const { id, end } = await inviters[as]();
    const [token, email] = [await invited({ personId: id, as }), visitor()];
    meanwhile = { comparing: end };
    await expect(accept(token, email)).rejects.toEqual(refusal('resource_not_found'));
    expect(compared).toEqual([email]);
    expect(await rolesOf(email)).toEqual([]);
  });

  it('grants its role once: who was removed meanwhile is not back', async () => {
    const [token, email] = [await invited(), visitor()];
    let second: Promise<unknown> | null = null;
    meanwhile = {
      granted: async () => {
        await people.grant(newId('per'), { isOperator: false, memberships: [{ tenantId, role: 'owner' }] });
        expect(await people.changeRole(personOf(email).id, tenantId, null)).toBe(true);
        second = accept(token, email).catch((error: unknown) => error);
        await second;
      },
    };
    await accept(token, email);
    expect(await second).toEqual(refusal('resource_not_found'));
    expect(await rolesOf(email)).toEqual([]);
  });

  it('can be accepted again by the same person where the process that was granting the role has died', async () => {
    const [token, email] = [await invited(), visitor()];
    meanwhile = {
      granted: async () => {
        throw new Error('the process died');
      },
    };
    await expect(accept(token, email)).rejects.toThrow('the process died');
    await expect(accept(token, email)).rejects.toEqual(refusal('resource_not_found'));
    clock = new Date(clock.getTime() + CLAIM_MS + 1);
    await accept(token, email);
    expect(await stateOf(token)).toBe('used');
  });
});

describe('an answer to a wrong password that is easy to guess', () => {
  it('is the same, after the same work, whether the address has an account or not', async () => {
    const [known, unknown] = [visitor(), visitor()];
    accounts.set(known, PASSWORD);
    const answers: unknown[] = [];
    for (const email of [known, unknown])
      answers.push(await accept(await invited(), email, EASY).catch((error: unknown) => error));
    expect(answers[0]).toEqual(refusal('invalid_request'));
    expect(answers[1]).toEqual(answers[0]);
    expect(compared).toEqual([known, unknown]);
    expect(accounts.has(unknown)).toBe(false);
  });

  it('is none where it is the password of the account', async () => {
    const email = visitor();
    accounts.set(email, EASY);
    await accept(await invited(), email, EASY);
    expect(await rolesOf(email)).toEqual([{ tenantId, role: 'owner' }]);
  });
});

describe('an invitation into a suspended tenant', () => {
  it.each(['before', 'while it is being accepted'])(
    'grants nothing, suspended %s, until the tenant is active again',
    async (when) => {
      const [token, email] = [await invited(), visitor()];
      const suspend = () => tenants.setSuspended(tenantId, new Date());
      if (when === 'before') await suspend();
      else meanwhile = { comparing: suspend };
      await expect(accept(token, email)).rejects.toEqual(refusal('tenant_suspended'));
      expect(await rolesOf(email)).toEqual([]);
      expect(await stateOf(token)).toBe('suspended');
      await tenants.setSuspended(tenantId, null);
      expect(await stateOf(token)).toBe('open');
      await accept(token, email);
      expect(await rolesOf(email)).toEqual([{ tenantId, role: 'owner' }]);
    },
  );
});
