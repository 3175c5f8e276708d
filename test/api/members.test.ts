import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { MAX_MEMBERS } from '../../src/domain/limits.ts';
import { CLAIM_MS, newInvitation } from '../../src/domain/person/invitation.ts';
import type { Role } from '../../src/domain/person/person.ts';
import { createPeopleRepository } from '../../src/storage/people.ts';
import { createTenantRepository } from '../../src/storage/tenants.ts';
import { codeAt, earlierCode } from '../support/authenticator.ts';
import { Client } from '../support/client.ts';
import { CREATION, ENDPOINT } from '../support/graphql-access.ts';
import { Browser, invite, mailedToken, signedIn } from '../support/person.ts';
import { firstOf } from '../support/samples.ts';
import { startService, type TestService, type TestTenant } from '../support/service.ts';

// The people of a tenant (docs/decisions/0057).

let service: TestService;
beforeAll(async () => {
  service = await startService({ RATE_LIMIT_ADDRESS: '1000000' });
  return () => service.close();
});

const LIST = '{ members { id name email role current } }';
const INVITE =
  'mutation ($role: MemberRole!, $email: String) { result: inviteMember(role: $role, email: $email) { __typename ... on InviteMemberPayload { link expiresAt } ... on Error { code param } } }';
const SET_ROLE =
  'mutation ($id: ID!, $role: MemberRole!) { result: setMemberRole(id: $id, role: $role) { __typename ... on SetMemberRolePayload { member { id role } } ... on Error { code param } } }';
const REMOVE =
  'mutation ($id: ID!) { result: removeMember(id: $id) { __typename ... on RemoveMemberPayload { id } ... on Error { code param } } }';

/** A mail with its lines whole again: quoted-printable breaks long ones. */
const unfolded = (mail: string) => mail.replace(/=\r?\n/g, '');

/**
 * The token of the mail of an invitation in the outbox; null if there is none to this address.
 * @param other a token that is not wanted
 */
async function mailedInvitation(to: string, other: string | null = null): Promise<string | null> {
  const folder = join(service.dataDir, 'outbox');
  const files = await readdir(folder).catch(() => []);
  const mails = files.filter((name) => name.startsWith('invitation-'));
  for (const mail of await Promise.all(mails.map((name) => readFile(join(folder, name), 'utf8')))) {
    const token = /\/join#(\S+)/.exec(unfolded(mail))?.[1] ?? null;
    if (mail.includes(`To: ${to}`) && token !== other) return token;
  }
  return null;
}

/** Somebody with a role in a tenant. */
async function member(tenant: TestTenant, role: Role) {
  const person = await signedIn(service, { memberships: [{ tenantId: tenant.id, role }] });
  const client = new Client(service.url, person.browser.credential(tenant.id));
  return {
    ...person,
    client,
    run: async (query: string, variables = {}) => (await client.graphql(query, variables)).body,
  };
}

describe('the people of a tenant', () => {
  it('see one another, and nobody else does', async () => {
    const [tenant, other] = [await service.tenant(), await service.tenant()];
    const [owner, viewer] = [await member(tenant, 'owner'), await member(tenant, 'viewer')];
    await member(other, 'owner');
    const { members } = (await viewer.run(LIST)).data;
    const named = (id: string) => members.find((each: { id: string }) => each.id === id);
    expect(members).toHaveLength(2);
    expect(named(owner.id)).toMatchObject({ email: owner.email, role: 'owner', current: false });
    expect(named(viewer.id)).toMatchObject({ name: 'Amina', role: 'viewer', current: true });
    const byKey = (await new Client(service.url, tenant.secretKey).graphql(LIST)).body;
    expect(byKey.errors[0].extensions.code).toBe('insufficient_scope');
  });

  it('are invited by owners, with a mail for one address or a link for anybody', async () => {
    const tenant = await service.tenant();
    const owner = await member(tenant, 'owner');
    const { result } = (await owner.run(INVITE, { role: 'developer', email: 'New@Example.com' })).data;
    expect(Date.parse(result.expiresAt) - Date.now()).toBeGreaterThan(6.9 * 86_400_000);
    // The copied link confirms nothing: the mail has another one.
    const token = result.link.split('/join#')[1];
    const account = { token, name: 'Neu', password: 'correct horse battery' };
    const stranger = await new Browser(service.url).post('/auth/accept-invitation', {
      ...account,
      email: 'x@example.com',
    });
    expect(stranger.status).toBe(404);
    const joined = await new Browser(service.url).post('/auth/accept-invitation', {
      ...account,
      email: 'new@example.com',
    });
    expect(joined.body).toMatchObject({
      addressConfirmed: false,
      isOperator: false,
      memberships: [{ tenantId: tenant.id, role: 'developer' }],
    });
    const mailed = async () => {
      const folder = join(service.dataDir, 'outbox');
      const files = (await readdir(folder)).filter((name) => name.startsWith('invitation-'));
      return Promise.all(files.map((name) => readFile(join(folder, name), 'utf8')));
    };
    await expect
      .poll(async () => (await mailed()).filter((mail) => /^To: new@example\.com/im.test(mail)))
      .toHaveLength(1);
    expect((await mailed()).filter((mail) => unfolded(mail).includes(`/join#${token}.`))).toHaveLength(1);
    const before = (await mailed()).length;
    const open = (await owner.run(INVITE, { role: 'viewer' })).data.result;
    const any = await new Browser(service.url).post('/auth/accept-invitation', {
      ...account,
      token: open.link.split('#')[1],
      email: 'anybody@example.com',
    });
    expect(any.status).toBe(200);
    expect((await mailed()).length).toBe(before);
    expect((await owner.run(INVITE, { role: 'viewer', email: 'nobody' })).data.result).toEqual({
      __typename: 'InvalidInputError',
      code: 'invalid_request',
      param: 'email',
    });
  });

  it('create invoices as billers, who have neither keys nor endpoints nor the log of requests', async () => {
    const tenant = await service.tenant();
    const [owner, viewer] = [await member(tenant, 'owner'), await member(tenant, 'viewer')];
    const { id } = viewer;
    expect((await owner.run(SET_ROLE, { id, role: 'biller' })).data.result.member.role).toBe('biller');
    const created = (await viewer.run(`mutation { createInvoice(input: ${CREATION}) { __typename } }`)).data;
    expect(created.createInvoice.__typename).toBe('CreateInvoicePayload');
    for (const query of [
      'mutation { createApiKey(kind: publishable) { __typename } }',
      `mutation { createWebhookEndpoint(input: ${ENDPOINT}) { __typename } }`,
      'mutation { updateSellerProfile(input: { cnss: "1234567" }) { __typename } }',
      '{ apiRequests { nodes { id } } }',
      '{ auditLog { nodes { id } } }',
    ])
      expect((await viewer.run(query)).errors[0].extensions.code).toBe('insufficient_scope');
  });

  it('are changed and removed by owners only, at once, and may leave', async () => {
    const tenant = await service.tenant();
    const [owner, developer, viewer] = [
      await member(tenant, 'owner'),
      await member(tenant, 'developer'),
      await member(tenant, 'viewer'),
    ];
    for (const [query, variables] of [
      [INVITE, { role: 'owner' }],
      [SET_ROLE, { id: developer.id, role: 'owner' }],
      [REMOVE, { id: viewer.id }],
    ] as const)
      expect((await developer.run(query, variables)).errors[0].extensions.code).toBe('insufficient_scope');
    expect((await owner.run(SET_ROLE, { id: viewer.id, role: 'developer' })).data.result.member.role).toBe('developer');
    const key = 'mutation { createApiKey(kind: publishable) { __typename } }';
    expect((await viewer.run(key)).data.createApiKey.__typename).toBe('CreateApiKeyPayload');
    expect((await owner.run(REMOVE, { id: viewer.id })).data.result).toEqual({
      __typename: 'RemoveMemberPayload',
      id: viewer.id,
    });
    expect((await viewer.client.graphql(LIST)).status).toBe(404);
    expect((await developer.run(REMOVE, { id: developer.id })).data.result.id).toBe(developer.id);
    expect((await owner.run(LIST)).data.members).toHaveLength(1);
    const stranger = await member(await service.tenant(), 'viewer');
    for (const id of [stranger.id, viewer.id, 'per_x'])
      expect((await owner.run(SET_ROLE, { id, role: 'viewer' })).data.result).toMatchObject({
        __typename: 'NotFoundError',
        param: 'id',
      });
  });

  it('keep an owner, also when two remove one another at once', async () => {
    const tenant = await service.tenant();
    const owner = await member(tenant, 'owner');
    for (const [query, variables] of [
      [SET_ROLE, { id: owner.id, role: 'viewer' }],
      [REMOVE, { id: owner.id }],
    ] as const)
      expect((await owner.run(query, variables)).data.result).toMatchObject({ code: 'last_owner', param: 'id' });
    expect((await owner.run(LIST)).data.members).toMatchObject([{ id: owner.id, role: 'owner' }]);
    for (const _round of firstOf([1, 2, 3, 4, 5], 2)) {
      const second = await member(tenant, 'owner');
      await Promise.all([owner.run(REMOVE, { id: second.id }), second.run(SET_ROLE, { id: owner.id, role: 'viewer' })]);
      const people = createPeopleRepository(service.app.store.db);
      const owners = (await people.membersOf(tenant.id)).filter(({ role }) => role === 'owner');
      expect(owners.length).toBeGreaterThan(0);
      await people.grant(owner.id, { isOperator: false, memberships: [{ tenantId: tenant.id, role: 'owner' }] });
    }
  });

  it('are limited in number, and so are invitations in a time', async () => {
    const tenant = await service.tenant();
    const owner = await member(tenant, 'owner');
    const codes: (string | undefined)[] = [];
    for (let n = 0; n < 21; n++) codes.push((await owner.run(INVITE, { role: 'viewer' })).errors?.[0].extensions.code);
    expect([...new Set(codes.slice(0, 20)), codes[20]]).toEqual([undefined, 'rate_limit_exceeded']);
    const full = await service.tenant();
    const first = await member(full, 'owner');
    const { db } = service.app.store;
    const ids = Array.from({ length: 199 }, (_, i) => `per_full_${i}`);
    await db
      .collection('people')
      .insertMany(ids.map((_id) => ({ _id: _id as never, name: 'P', email: `${_id}@x.example` })));
    await db.collection('person_grants').insertMany(
      ids.map((_id) => ({
        _id: _id as never,
        isOperator: false,
        memberships: [{ tenantId: full.id, role: 'viewer' }],
      })),
    );
    expect((await first.run(INVITE, { role: 'viewer' })).data.result).toMatchObject({ code: 'member_limit_reached' });
    expect((await first.run(LIST)).data.members).toHaveLength(200);
  });
});

describe('an invitation of an owner', () => {
  const linkOf = async (owner: Awaited<ReturnType<typeof member>>, role: Role) =>
    ((await owner.run(INVITE, { role })).data.result.link as string).split('#')[1] ?? '';
  const accept = (
    browser: Browser,
    token: string,
    { email, password, name = 'X' }: { email: string; password: string; name?: string },
  ) => browser.post('/auth/accept-invitation', { token, email, name, password });

  it('confirms an address by the mailed link alone; the copied one makes nobody’s account their own', async () => {
    const tenant = await service.tenant();
    const owner = await member(tenant, 'owner');
    const password = 'correct horse battery';
    const invited = async (email: string) => {
      const { link } = (await owner.run(INVITE, { role: 'viewer', email })).data.result;
      let mailed: string | null = null;
      await expect.poll(async () => (mailed = await mailedInvitation(email))).not.toBeNull();
      return { copied: link.split('#')[1] as string, mailed: mailed ?? '' };
    };
    const confirmed = async () =>
      Object.fromEntries(
        (await owner.run('{ members { email addressConfirmed } }')).data.members.map(
          (each: { email: string; addressConfirmed: boolean }) => [each.email, each.addressConfirmed],
        ),
      );
    const honest = await invited('honest@example.com');
    expect(honest.mailed).not.toBe(honest.copied);
    expect(honest.mailed.startsWith(honest.copied)).toBe(true);
    for (const forged of [`${honest.copied}.`, `${honest.copied}.${'A'.repeat(32)}`, `${honest.mailed}A`])
      expect((await accept(new Browser(service.url), forged, { email: 'honest@example.com', password })).status).toBe(
        404,
      );
    expect(
      (await accept(new Browser(service.url), honest.mailed, { email: 'honest@example.com', password })).status,
    ).toBe(200);
    // The owner keeps the link, and makes the account of somebody else.
    const { copied, mailed } = await invited('victim@example.com');
    const thief = new Browser(service.url);
    expect((await accept(thief, copied, { email: 'victim@example.com', password })).body.addressConfirmed).toBe(false);
    expect(await confirmed()).toEqual({
      [owner.email]: false,
      'honest@example.com': true,
      'victim@example.com': false,
    });
    const { db } = service.app.store;
    const found = await db.collection<{ _id: string }>('people').findOne({ email: 'victim@example.com' });
    const userId = found?._id ?? '';
    await db.collection('person_passkeys').insertOne({ userId, credentialID: 'thief', name: 'theirs' });
    expect((await thief.post('/auth/codes/begin', { password })).status).toBe(200);
    const victim = new Browser(service.url);
    expect((await victim.post('/auth/invitation', { token: mailed })).body).toEqual({ state: 'used' });
    await victim.post('/auth/request-password-reset', { email: 'victim@example.com' });
    let token = '';
    await expect.poll(async () => (token = (await mailedToken(service, 'victim@example.com')) ?? '')).not.toBe('');
    const reset = { token, newPassword: 'a password of my own' };
    expect((await victim.post('/auth/reset-password', reset)).status).toBe(204);
    expect((await thief.session()).status).toBe(401);
    for (const name of ['person_passkeys', 'person_codes', 'person_sessions'])
      expect(await db.collection(name).countDocuments({ userId }), name).toBe(0);
    expect((await confirmed())['victim@example.com']).toBe(true);
  });

  it('by mail gives an account that nobody has confirmed to its reader, with nothing of whoever made it', async () => {
    const { db } = service.app.store;
    const mine = 'violet anchor seven drums';
    const [first, second] = [await service.tenant(), await service.tenant()];
    const [thief, owner] = [await member(first, 'owner'), await member(second, 'owner')];
    for (const isTold of firstOf([true, false])) {
      const email = `taken.over.${isTold}@example.com`;
      // An owner keeps the link for somebody else's address, makes the account and adds all that opens one.
      const { link } = (await thief.run(INVITE, { role: 'viewer', email })).data.result;
      const theirs = new Browser(service.url);
      const password = 'correct horse battery';
      const made = await accept(theirs, link.split('#')[1], { email, password });
      expect(made.body.addressConfirmed).toBe(false);
      const userId = made.body.person.id as string;
      await db.collection('person_passkeys').insertOne({ userId, credentialID: email, name: 'theirs' });
      const { uri } = (await theirs.post('/auth/codes/begin', { password })).body;
      expect((await theirs.post('/auth/codes/confirm', { code: await earlierCode(uri) })).status).toBe(204);
      const waiting = new Browser(service.url);
      expect((await waiting.post('/auth/sign-in', { email, password })).body).toEqual({ secondFactorRequired: true });
      await expect.poll(() => mailedInvitation(email)).not.toBeNull();
      const forThief = await mailedInvitation(email);

      const copied = (await owner.run(INVITE, { role: 'developer', email })).data.result.link.split('#')[1];
      let mailed: string | null = null;
      await expect.poll(async () => (mailed = await mailedInvitation(email, forThief))).not.toBeNull();
      const reader = new Browser(service.url);
      const refused = async (token: unknown, secret: string) => {
        const { status, body } = await accept(reader, String(token), { email, password: secret });
        return [status, body.error?.code, body.error?.param];
      };
      // Whoever has only the copied link learns and changes nothing, as before.
      expect(await refused(copied, mine)).toEqual([401, 'invalid_credentials', 'password']);
      expect((await theirs.session()).status).toBe(200);
      // Also a person who was told the password does not end with one that others know.
      if (isTold) expect(await refused(mailed, password)).toEqual([401, 'invalid_credentials', 'newPassword']);
      expect((await theirs.session()).body.memberships).toHaveLength(1);
      expect(await refused(mailed, 'aaaaaaaaaaaa')).toEqual([400, 'invalid_request', 'password']);

      const [accepted] = await Promise.all([
        accept(reader, String(mailed), { email, password: mine, name: 'Whose it is' }),
        ...[1, 2].map(() => new Browser(service.url).post('/auth/sign-in', { email, password })),
      ]);
      expect(accepted).toMatchObject({
        status: 200,
        body: { person: { id: userId, name: 'Whose it is' }, addressConfirmed: true },
      });
      expect(accepted.body.memberships).toHaveLength(2);
      expect((await theirs.session()).status).toBe(401);
      expect((await waiting.post('/auth/sign-in/code', { code: codeAt(uri) })).status).toBe(401);
      expect((await new Browser(service.url).post('/auth/sign-in', { email, password })).status).toBe(401);
      for (const name of ['person_passkeys', 'person_codes'])
        expect(await db.collection(name).countDocuments({ userId }), name).toBe(0);
      expect(await db.collection('person_sessions').countDocuments({ userId })).toBe(1);
      expect((await new Browser(service.url).post('/auth/sign-in', { email, password: mine })).status).toBe(200);
      // The tenant where the account was a member already sees it.
      const recorded = await db
        .collection('audit_log')
        .findOne({ tenantId: first.id, action: 'member.password_reset' });
      expect(recorded).not.toBeNull();
    }
  });

  it('by mail compares the password of a confirmed account, and leaves its second factor', async () => {
    const { db } = service.app.store;
    const owner = await member(await service.tenant(), 'owner');
    const [email, password] = ['confirmed.before@example.com', 'correct horse battery'];
    const token = await invite(service, {}, email);
    const browser = new Browser(service.url);
    const userId = (await accept(browser, token, { email, password })).body.person.id;
    await db.collection('person_passkeys').insertOne({ userId, credentialID: email, name: 'own' });
    await owner.run(INVITE, { role: 'viewer', email });
    let mailed: string | null = null;
    await expect.poll(async () => (mailed = await mailedInvitation(email))).not.toBeNull();
    const wrong = await accept(new Browser(service.url), String(mailed), {
      email,
      password: 'violet anchor seven drums',
    });
    expect([wrong.status, wrong.body.error.param]).toEqual([401, 'password']);
    const right = await accept(new Browser(service.url), String(mailed), { email, password });
    expect(right).toMatchObject({ status: 200, body: { person: { id: userId, name: 'X' } } });
    expect((await browser.session()).status).toBe(200);
    expect(await db.collection('person_passkeys').countDocuments({ userId })).toBe(1);
  });

  it('tells whoever has a link what became of it, and nothing else', async () => {
    const tenant = await service.tenant();
    const owner = await member(tenant, 'owner');
    const stateOf = async (token: string) => {
      const { status, body } = await new Browser(service.url).post('/auth/invitation', { token });
      return [status, body];
    };
    const state = (of: string) => [200, { state: of }];
    const used = await linkOf(owner, 'viewer');
    expect(await stateOf(used)).toEqual(state('open'));
    const guest = await signedIn(service);
    await accept(guest.browser, used, guest);
    expect(await stateOf(used)).toEqual(state('used'));
    const revoked = await linkOf(owner, 'viewer');
    const [{ id }] = (await owner.run('{ invitations { id } }')).data.invitations;
    await owner.run('mutation ($id: ID!) { revokeInvitation(id: $id) { __typename } }', { id });
    expect(await stateOf(revoked)).toEqual(state('revoked'));
    expect((await accept(guest.browser, revoked, guest)).status).toBe(404);
    const rogue = await member(tenant, 'owner');
    const ended = await linkOf(rogue, 'owner');
    await owner.run(REMOVE, { id: rogue.id });
    expect(await stateOf(ended)).toEqual(state('revoked'));
    const people = createPeopleRepository(service.app.store.db);
    const grants = { isOperator: true, memberships: [] };
    const old = newInvitation({ email: null, grants, invitedBy: null }, new Date(Date.now() - 8 * 86_400_000));
    await people.insertInvitation(old.invitation);
    for (const token of [old.token, '', '.', 'x', id, `${revoked.slice(1)}.x`, '\u0000'])
      expect(await stateOf(token), token).toEqual(state('unknown'));
    const open = await linkOf(owner, 'viewer');
    expect(await stateOf(`${open}.x`)).toEqual(state('unknown'));
    const refused = await new Browser(service.url).post('/auth/invitation', { token: 'x'.repeat(201) });
    expect([refused.status, refused.body.error.param]).toEqual([400, 'token']);
    const foreign = new Browser(service.url, { Origin: 'https://evil.example', 'Sec-Fetch-Site': 'cross-site' });
    expect((await foreign.post('/auth/invitation', { token: open })).status).toBe(403);
  });

  it('takes nothing away: the last owner who opens a link for viewers stays an owner', async () => {
    const tenant = await service.tenant();
    const owner = await member(tenant, 'owner');
    expect((await accept(owner.browser, await linkOf(owner, 'viewer'), owner)).body.memberships).toMatchObject([
      { tenantId: tenant.id, role: 'owner' },
    ]);
    const viewer = await member(tenant, 'viewer');
    await accept(viewer.browser, await linkOf(owner, 'developer'), viewer);
    expect((await owner.run(LIST)).data.members.map(({ role }: { role: string }) => role).toSorted()).toEqual([
      'developer',
      'owner',
    ]);
    const entry = await service.app.store.db
      .collection('audit_log')
      .findOne({ tenantId: tenant.id, 'details.was': 'viewer' });
    expect(entry).toMatchObject({ action: 'member.joined', details: { role: 'developer', was: 'viewer' } });
    // Neither of these roles includes the other.
    await accept(viewer.browser, await linkOf(owner, 'biller'), viewer);
    expect((await viewer.browser.session()).body.memberships).toMatchObject([{ role: 'developer' }]);
  });

  it('is listed for owners until it is accepted or withdrawn; its link works no longer then', async () => {
    const tenant = await service.tenant();
    const [owner, other] = [await member(tenant, 'owner'), await member(await service.tenant(), 'owner')];
    await owner.run(INVITE, { role: 'viewer', email: 'guest@example.com' });
    const token = await linkOf(owner, 'developer');
    const list = async () => (await owner.run('{ invitations { id email role } }')).data.invitations;
    const found = (await list()) as { id: string; role: string }[];
    expect(found).toMatchObject([
      { email: 'guest@example.com', role: 'viewer' },
      { email: null, role: 'developer' },
    ]);
    expect(JSON.stringify(found)).not.toContain(token);
    const revoke = 'mutation ($id: ID!) { result: revokeInvitation(id: $id) { __typename } }';
    const id = found[1]?.id;
    for (const wrong of ['x', 'f'.repeat(64)])
      expect((await owner.run(revoke, { id: wrong })).data.result.__typename).toBe('NotFoundError');
    expect((await other.run(revoke, { id })).data.result.__typename).toBe('NotFoundError');
    expect((await owner.run(revoke, { id })).data.result.__typename).toBe('RevokeInvitationPayload');
    const late = await signedIn(service);
    expect((await accept(late.browser, token, late)).status).toBe(404);
    expect(await list()).toHaveLength(1);
  });

  it('that is withdrawn while it is accepted grants nothing, or was not withdrawn', async () => {
    const revoke = 'mutation ($id: ID!) { result: revokeInvitation(id: $id) { __typename } }';
    const outcomes = new Set<string>();
    for (const _round of firstOf([1, 2, 3, 4, 5, 6], 2)) {
      const tenant = await service.tenant();
      const owner = await member(tenant, 'owner');
      const [late, token] = [await signedIn(service), await linkOf(owner, 'developer')];
      const [{ id }] = (await owner.run('{ invitations { id } }')).data.invitations;
      const accepting = accept(late.browser, token, late);
      // Reserved, or over already: a reservation lasts for some milliseconds.
      const begun = { _id: id, $or: [{ reservedFor: late.email }, { ended: 'used' }] };
      await expect
        .poll(() => service.app.store.db.collection('invitations').countDocuments(begun), { interval: 2 })
        .toBe(1);
      const revoked = (await owner.run(revoke, { id })).data.result.__typename;
      const { status } = await accepting;
      const { members } = (await owner.run(LIST)).data;
      outcomes.add(`${revoked} ${status} ${members.length}`);
    }
    const clean = ['RevokeInvitationPayload 404 1', 'NotFoundError 200 2'];
    expect([...outcomes].filter((each) => !clean.includes(each))).toEqual([]);
  });

  it('cannot be withdrawn once its role is being granted, unless the process that grants it has died', async () => {
    const tenant = await service.tenant();
    const people = createPeopleRepository(service.app.store.db);
    const grants = { isOperator: false, memberships: [{ tenantId: tenant.id, role: 'viewer' as const }] };
    const { invitation } = newInvitation({ email: null, grants, invitedBy: null }, new Date());
    await people.insertInvitation(invitation);
    const [email, now] = ['claims@example.com', new Date()];
    const later = new Date(now.getTime() + CLAIM_MS + 1);
    expect(await people.claimInvitation(invitation.id, email, now)).toBe(false);
    await people.reserveInvitation(invitation.id, email, now);
    expect(await people.claimInvitation(invitation.id, 'another@example.com', now)).toBe(false);
    expect(await people.claimInvitation(invitation.id, email, now)).toBe(true);
    expect(await people.invitationsOf(tenant.id, 10, now)).toEqual([]);
    expect(await people.revokeInvitation(tenant.id, invitation.id, now)).toBe(false);
    expect(await people.invitationsOf(tenant.id, 10, later)).toHaveLength(1);
    expect(await people.revokeInvitation(tenant.id, invitation.id, later)).toBe(true);
    expect(await people.claimInvitation(invitation.id, email, now)).toBe(false);
    // Nothing of a person or a tenant is left.
    const left = await service.app.store.db.collection<{ _id: string }>('invitations').findOne({ _id: invitation.id });
    expect(JSON.stringify(left)).not.toMatch(/example|ten_/);
  });

  it('ends with the role of who made it', async () => {
    const tenant = await service.tenant();
    const [owner, rogue] = [await member(tenant, 'owner'), await member(tenant, 'owner')];
    const token = await linkOf(rogue, 'owner');
    await owner.run(REMOVE, { id: rogue.id });
    const back = await accept(rogue.browser, token, rogue);
    expect([back.status, back.body.error.code]).toEqual([404, 'resource_not_found']);
    expect((await owner.run(LIST)).data.members).toHaveLength(1);
  });

  it('is refused when the tenant is full meanwhile; everybody in it can be removed', async () => {
    const tenant = await service.tenant();
    const owner = await member(tenant, 'owner');
    const token = await linkOf(owner, 'owner');
    const memberships = [{ tenantId: tenant.id, role: 'viewer' }];
    const ids = Array.from({ length: MAX_MEMBERS }, (_, n) => `per_${String(n).padStart(3, '0')}_${tenant.id}`);
    const { db } = service.app.store;
    await db
      .collection<{ _id: string }>('person_grants')
      .insertMany(ids.map((_id) => ({ _id, isOperator: false, memberships })));
    await db
      .collection<{ _id: string }>('people')
      .insertMany(ids.map((_id) => ({ _id, email: `${_id}@example.com`, name: _id })));
    const late = await signedIn(service);
    const answer = await accept(late.browser, token, late);
    expect([answer.status, answer.body.error.code]).toEqual([422, 'member_limit_reached']);
    for (const id of [ids[0], ids.at(-1)])
      expect((await owner.run(REMOVE, { id })).data.result).toEqual({
        __typename: 'RemoveMemberPayload',
        id,
      });
  });

  it('cannot be made, and nobody’s role changed, while the tenant is suspended', async () => {
    const tenant = await service.tenant();
    const [owner, viewer] = [await member(tenant, 'owner'), await member(tenant, 'viewer')];
    await createTenantRepository(service.app.store.db).setSuspended(tenant.id, new Date());
    for (const [query, variables] of [
      [INVITE, { role: 'owner' }],
      [SET_ROLE, { id: viewer.id, role: 'owner' }],
      [REMOVE, { id: viewer.id }],
    ] as const)
      expect((await owner.run(query, variables)).errors[0].extensions.code).toBe('tenant_suspended');
    expect((await owner.run(LIST)).data.members).toHaveLength(2);
  });
});
