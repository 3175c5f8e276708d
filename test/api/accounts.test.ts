import { setTimeout as sleep } from 'node:timers/promises';
import { beforeAll, describe, expect, it } from 'vitest';
import { newId } from '../../src/domain/ids.ts';
import { newInvitation } from '../../src/domain/person/invitation.ts';
import { createPeopleRepository } from '../../src/storage/people.ts';
import { codeAt, earlierCode } from '../support/authenticator.ts';
import { Client } from '../support/client.ts';
import { HARD_WORDS } from '../support/hard-words.ts';
import { Browser, invite, mailedToken, passwordOf, signedIn } from '../support/person.ts';
import { firstOf, someOf } from '../support/samples.ts';
import { startService, type TestService } from '../support/service.ts';

let service: TestService;
/** Behind a proxy with TLS. */
let secure: TestService;
beforeAll(async () => {
  [service, secure] = await Promise.all([
    startService({ RATE_LIMIT_ADDRESS: '1000000' }),
    startService({ PUBLIC_URL: 'https://fatoura.example', TRUST_PROXY: '1' }),
  ]);
  return () => Promise.all([service.close(), secure.close()]);
});

const PASSWORD = `${HARD_WORDS} in a row`;
const codeOf = ({ status, body }: { status: number; body: { error?: { code: string } } }) => [status, body.error?.code];

describe('an invitation', () => {
  it('makes an account with its grants, signs in, and is used once', async () => {
    const tenant = await service.tenant();
    const memberships = [{ tenantId: tenant.id, role: 'developer' }] as const;
    const token = await invite(service, { memberships });
    const browser = new Browser(service.url);
    const account = { token, email: 'Amina@Example.com', name: 'Amina', password: PASSWORD };
    const accepted = await browser.post('/auth/accept-invitation', account);
    expect(accepted.status).toBe(200);
    expect(accepted.body).toMatchObject({
      person: { id: expect.stringMatching(/^per_/), email: 'amina@example.com', name: 'Amina' },
      isOperator: false,
      memberships,
    });
    expect((await browser.session()).body).toEqual(accepted.body);
    const again = await new Browser(service.url).post('/auth/accept-invitation', {
      ...account,
      email: 'b@example.com',
    });
    expect(codeOf(again)).toEqual([404, 'resource_not_found']);
  });

  it('adds its grants to the account of somebody who has one, with its password only', async () => {
    const { email, password, browser } = await signedIn(service, { isOperator: true });
    const tenant = await service.tenant();
    const token = await invite(service, { memberships: [{ tenantId: tenant.id, role: 'viewer' }] });
    const other = new Browser(service.url);
    for (const [wrong, answer] of [
      ['violet anchor seven drums', [401, 'invalid_credentials']],
      // As for an address without an account: the answer tells of none whether it has one.
      ['another password', [400, 'invalid_request']],
    ] as const)
      expect(codeOf(await other.post('/auth/accept-invitation', { token, email, name: 'X', password: wrong }))).toEqual(
        answer,
      );
    expect((await browser.session()).body.memberships).toEqual([]);
    const right = await other.post('/auth/accept-invitation', { token, email, name: 'X', password });
    expect(right.body).toMatchObject({
      person: { name: 'Amina' },
      isOperator: true,
      memberships: [{ tenantId: tenant.id, role: 'viewer' }],
    });
    // A later role replaces the earlier one.
    const owner = await invite(service, { memberships: [{ tenantId: tenant.id, role: 'owner' }] });
    const raised = await other.post('/auth/accept-invitation', { token: owner, email, name: 'X', password });
    expect(raised.body.memberships).toMatchObject([{ tenantId: tenant.id, role: 'owner' }]);
  });

  it('is for its address only, expires, and is nobody else’s once somebody has begun to use it', async () => {
    const refused = async (token: string, email: string) =>
      codeOf(
        await new Browser(service.url).post('/auth/accept-invitation', { token, email, name: 'X', password: PASSWORD }),
      );
    expect(await refused(await invite(service, {}, 'for@example.com'), 'other@example.com')).toEqual([
      404,
      'resource_not_found',
    ]);
    const people = createPeopleRepository(service.app.store.db);
    const grants = { isOperator: true, memberships: [] };
    const old = newInvitation({ email: null, grants, invitedBy: null }, new Date(Date.now() - 8 * 86_400_000));
    await people.insertInvitation(old.invitation);
    expect(await refused(old.token, 'late@example.com')).toEqual([404, 'resource_not_found']);
    // Of two who use a link at once, one gets an account.
    const token = await invite(service, grants);
    const both = await Promise.all(
      ['one@example.com', 'two@example.com'].map((email) => {
        const browser = new Browser(service.url);
        return browser.post('/auth/accept-invitation', { token, email, name: 'X', password: PASSWORD });
      }),
    );
    expect(both.map(({ status }) => status).sort()).toEqual([200, 404]);
    const made = await service.app.store.db
      .collection('people')
      .countDocuments({ email: { $in: ['one@example.com', 'two@example.com'] } });
    expect(made).toBe(1);
  });

  it('is used once by somebody who sends the form twice at once', async () => {
    const tenant = await service.tenant();
    const memberships = [{ tenantId: tenant.id, role: 'owner' }] as const;
    const account = { token: await invite(service, { memberships }), email: 'twice@example.com', name: 'X' };
    const browser = new Browser(service.url);
    const both = await Promise.all(
      [1, 2].map(() => browser.post('/auth/accept-invitation', { ...account, password: PASSWORD })),
    );
    expect(both.map(({ status }) => status).filter((status) => status !== 200 && status !== 404)).toEqual([]);
    expect((await browser.session()).body.memberships).toMatchObject(memberships);
    expect(await service.app.store.db.collection('people').countDocuments({ email: account.email })).toBe(1);
  });

  it('can be used again by the same person after a crash', async () => {
    const token = await invite(service, { isOperator: true });
    const people = createPeopleRepository(service.app.store.db);
    const { invitationId } = await import('../../src/domain/person/invitation.ts');
    expect(await people.reserveInvitation(invitationId(token), 'crash@example.com', new Date())).not.toBeNull();
    const account = { token, email: 'crash@example.com', name: 'X', password: PASSWORD };
    const { status, body } = await new Browser(service.url).post('/auth/accept-invitation', account);
    expect([status, body.isOperator]).toEqual([200, true]);
  });

  it.each([
    [{ password: 'too short' }, 'password'],
    [{ password: 'x'.repeat(129) }, 'password'],
    [{ email: 'nobody' }, 'email'],
    [{ email: 'a!b@example.com' }, 'email'],
    [{ email: 'é@example.com' }, 'email'],
    [{ email: 'amina@xn--mgbh0fb.xn--mgbc0a9azcg' }, 'email'],
    [{ name: 'two\nlines' }, 'name'],
    [{ name: 'a\u0000b' }, 'name'],
    [{ name: '' }, 'name'],
    [{ isOperator: true }, 'isOperator'],
  ])('refuses %j', async (wrong, param) => {
    const account = { token: 'x', email: 'a@example.com', name: 'X', password: PASSWORD, ...wrong };
    const { status, body } = await new Browser(service.url).post('/auth/accept-invitation', account);
    expect([status, body.error]).toMatchObject([400, { code: 'invalid_request', param }]);
  });
});

describe('a password that is easy to guess', () => {
  const refusal = (param: string) => [400, { code: 'invalid_request', param }];

  const GUESSABLE = [
    'aaaaaaaaaaaa',
    'azertyuiop123',
    'password1234',
    'motdepasse123',
    'Casablanca2026',
    'nadiabennani',
    'nadia.bennani@example.com',
    'ضصثقفغعهخحجد',
    'السلام عليكم 1',
  ];
  it.each([...someOf(GUESSABLE)])('%s is nobody’s, who makes an account', async (password) => {
    const account = { email: `nadia.bennani@example.com`, name: 'Nadia Bennani', password };
    const token = await invite(service, { isOperator: true });
    const browser = new Browser(service.url);
    const { status, body } = await browser.post('/auth/accept-invitation', { ...account, token });
    expect([status, body.error]).toMatchObject(refusal('password'));
    expect((await browser.session()).status).toBe(401);
    expect(await service.app.store.db.collection('people').countDocuments({ email: account.email })).toBe(0);
  });

  it('is not set instead of another one, and the link of the mail serves again', async () => {
    const { browser, email, password } = await signedIn(service);
    const changed = await browser.post('/auth/change-password', {
      currentPassword: password,
      newPassword: `${email.slice(0, 8)} 2026`,
    });
    expect([changed.status, changed.body.error]).toMatchObject(refusal('newPassword'));
    await browser.post('/auth/request-password-reset', { email });
    await expect.poll(() => mailedToken(service, email)).not.toBeNull();
    const token = await mailedToken(service, email);
    const reset = (newPassword: string) =>
      new Browser(service.url).post('/auth/reset-password', { token, newPassword });
    const weak = await reset('123456789012');
    expect([weak.status, weak.body.error]).toMatchObject(refusal('newPassword'));
    expect((await reset('violet anchor seven drums')).status).toBe(204);
  });

  it('is one of the name of the tenant, for those who belong to it and those who are invited', async () => {
    const tenantId = newId('ten');
    const name = 'Zellige & Tadelakt';
    await service.app.tenants.insert({ id: tenantId, name, profile: {}, createdAt: new Date() });
    const grants = { memberships: [{ tenantId, role: 'viewer' }] } as const;
    const guessable = 'zellige-tadelakt';
    const account = { token: await invite(service, grants), email: 'zt@example.com', name: 'X', password: guessable };
    const invited = await new Browser(service.url).post('/auth/accept-invitation', account);
    expect([invited.status, invited.body.error]).toMatchObject(refusal('password'));
    const { browser, password } = await signedIn(service, grants);
    const change = { currentPassword: password, newPassword: guessable };
    const changed = await browser.post('/auth/change-password', change);
    expect([changed.status, changed.body.error]).toMatchObject(refusal('newPassword'));
    // Of others it is a password.
    const other = await signedIn(service);
    const own = await other.browser.post('/auth/change-password', { ...change, currentPassword: other.password });
    expect(own.status).toBe(204);
  });

  it('still signs in who chose it before, also to accept an invitation', async () => {
    const { email } = await signedIn(service);
    const { hashPassword } = await import('better-auth/crypto');
    const { db } = service.app.store;
    const person = await db.collection('people').findOne({ email });
    await db
      .collection('person_passwords')
      .updateOne({ userId: person?._id }, { $set: { password: await hashPassword('aaaaaaaaaaaa') } });
    const tenant = await service.tenant();
    const token = await invite(service, { memberships: [{ tenantId: tenant.id, role: 'viewer' }] });
    const account = { token, email, name: 'X', password: 'aaaaaaaaaaaa' };
    expect((await new Browser(service.url).post('/auth/accept-invitation', account)).status).toBe(200);
  });
});

describe('a session', () => {
  it('is in a cookie that no script can read and no other site’s page sends', async () => {
    const { email, password } = await signedIn(service);
    const { headers } = await new Browser(service.url).post('/auth/sign-in', { email, password });
    const [cookie] = headers.getSetCookie();
    expect(cookie).toMatch(/^fatoura\.session_token=/);
    expect(cookie).toMatch(/; HttpOnly/);
    expect(cookie).toMatch(/; SameSite=Strict/i);
    expect(cookie).not.toMatch(/; Secure/);
    expect(headers.get('cache-control')).toBe('no-store');
  });

  it('has Secure cookies where the service is behind TLS', async () => {
    const { email, password } = await signedIn(secure);
    const { headers } = await new Browser(secure.url).post('/auth/sign-in', { email, password });
    expect(headers.getSetCookie()[0]).toMatch(/^__Host-fatoura\.session_token=.*; Secure/);
  });

  it('ends with signing out, also for a copy of the cookie', async () => {
    const { browser } = await signedIn(service);
    const copy = new Browser(service.url);
    for (const [name, value] of browser.cookies) copy.cookies.set(name, value);
    expect((await copy.session()).status).toBe(200);
    expect((await browser.post('/auth/sign-out')).status).toBe(204);
    expect(browser.cookies.size).toBe(0);
    expect(codeOf(await copy.session())).toEqual([401, 'not_signed_in']);
  });

  it.each([
    '',
    'fatoura.session_token=abc',
    'fatoura.session_token=abc.def',
    `fatoura.session_token=${'%00'.repeat(99)}`,
  ])('is not made up: %j', async (cookie) => {
    const browser = new Browser(service.url);
    const { status } = await browser.request('GET', '/auth/session', undefined, cookie ? { Cookie: cookie } : {});
    expect(status).toBe(401);
  });

  it('of a cookie whose signature is another one is refused', async () => {
    const { browser } = await signedIn(service);
    const forged = new Browser(service.url);
    for (const [name, value] of browser.cookies) {
      const at = value.indexOf('.') + 3;
      forged.cookies.set(name, value.slice(0, at) + (value[at] === 'A' ? 'B' : 'A') + value.slice(at + 1));
    }
    expect((await forged.session()).status).toBe(401);
  });
});

describe('a password', () => {
  it('that is changed ends every session but the one that changed it', async () => {
    const { browser, email, password } = await signedIn(service);
    const elsewhere = new Browser(service.url);
    await elsewhere.post('/auth/sign-in', { email, password });
    const wrong = await browser.post('/auth/change-password', { currentPassword: 'nonsense', newPassword: PASSWORD });
    expect(codeOf(wrong)).toEqual([401, 'invalid_credentials']);
    expect((await elsewhere.session()).status).toBe(200);
    const before = new Map(browser.cookies);
    const right = await browser.post('/auth/change-password', { currentPassword: password, newPassword: PASSWORD });
    expect(right.status).toBe(204);
    expect((await elsewhere.session()).status).toBe(401);
    expect((await browser.session()).status).toBe(200);
    const copy = new Browser(service.url);
    for (const [name, value] of before) copy.cookies.set(name, value);
    expect((await copy.session()).status).toBe(401);
    const old = await new Browser(service.url).post('/auth/sign-in', { email, password });
    expect(codeOf(old)).toEqual([401, 'invalid_credentials']);
  });

  it('is not changed by somebody who is not signed in', async () => {
    const passwords = { currentPassword: PASSWORD, newPassword: `${PASSWORD}!` };
    expect(codeOf(await new Browser(service.url).post('/auth/change-password', passwords))).toEqual([
      401,
      'not_signed_in',
    ]);
  });

  it('is set anew with a mailed link, which works once and ends every session', async () => {
    const { browser, email } = await signedIn(service);
    const stranger = new Browser(service.url);
    expect((await stranger.post('/auth/request-password-reset', { email: email.toUpperCase() })).status).toBe(202);
    let token = '';
    await expect.poll(async () => (token = (await mailedToken(service, email)) ?? '')).not.toBe('');
    // The token is in the mail only.
    const stored = await service.app.store.db.collection('person_resets').find().toArray();
    expect(stored.length).toBeGreaterThan(0);
    expect(JSON.stringify(stored)).not.toContain(token);
    const reset = { token, newPassword: `${PASSWORD} again` };
    expect((await stranger.post('/auth/reset-password', reset)).status).toBe(204);
    expect((await browser.session()).status).toBe(401);
    expect(codeOf(await stranger.post('/auth/reset-password', reset))).toEqual([404, 'resource_not_found']);
    expect((await stranger.post('/auth/sign-in', { email, password: reset.newPassword })).status).toBe(200);
  });
});

describe('who has an account', () => {
  it('is told neither by signing in nor by asking for a new password', async () => {
    const { email } = await signedIn(service);
    const browser = new Browser(service.url);
    const answers = async (path: string, body: object) => {
      const known = await browser.post(path, { email, ...body });
      const unknown = await browser.post(path, { email: 'nobody@example.com', ...body });
      const told = ({ status, body: answer }: typeof known) =>
        JSON.stringify([status, answer.error?.message ?? answer]);
      expect(told(unknown)).toBe(told(known));
      return known.status;
    };
    expect(await answers('/auth/sign-in', { password: 'not the password' })).toBe(401);
    expect(await answers('/auth/request-password-reset', {})).toBe(202);
  });
});

describe('pages of other sites', () => {
  it.each([
    { Origin: 'https://evil.example' },
    { Origin: 'null' },
    { 'Sec-Fetch-Site': 'cross-site' },
    { 'Sec-Fetch-Site': 'same-site' },
  ])('%j change nothing', async (headers) => {
    const { browser, email, password } = await signedIn(service);
    const foreign = new Browser(service.url, headers as unknown as Record<string, string>);
    for (const [name, value] of browser.cookies) foreign.cookies.set(name, value);
    const changes: [string, unknown][] = [
      ['/auth/sign-out', undefined],
      ['/auth/sign-in', { email, password }],
      ['/auth/change-password', { currentPassword: password, newPassword: PASSWORD }],
    ];
    for (const [path, body] of changes)
      expect(codeOf(await foreign.post(path, body))).toEqual([403, 'insufficient_scope']);
    expect((await browser.session()).status).toBe(200);
  });

  it('cannot send a form: only JSON is taken', async () => {
    const { email, password } = await signedIn(service);
    const response = await fetch(`${service.url}/auth/sign-in`, {
      method: 'POST',
      body: new URLSearchParams({ email, password }),
    });
    expect(response.status).toBe(415);
    expect(response.headers.getSetCookie()).toEqual([]);
  });

  it('cannot read an answer, nor use better-auth’s own paths', async () => {
    const { headers } = await new Browser(service.url, { Origin: 'https://evil.example' }).session();
    expect(headers.get('access-control-allow-origin')).toBeNull();
    for (const path of [
      '/auth/sign-up/email',
      '/auth/get-session',
      '/auth/reset-password/x?callbackURL=https://evil.example',
    ])
      for (const method of ['GET', 'POST'])
        expect((await new Browser(service.url).request(method, path)).status).toBe(404);
  });
});

describe('guessing', () => {
  it('is limited for an account, whichever address guesses, and for an address, whichever account', async () => {
    const { email, password } = await signedIn(secure);
    const guess = (account: string, address: string, secret = 'a wrong password') => {
      const browser = new Browser(secure.url);
      const from = { 'X-Forwarded-For': address };
      return browser.post('/auth/sign-in', { email: account, password: secret }, from);
    };
    // One attempt made the account.
    const early = await Promise.all(Array.from({ length: 19 }, (_, n) => guess(email, `192.0.2.${n + 1}`)));
    expect(early.map(({ status }) => status)).toEqual(Array(19).fill(401));
    const limited = await guess(email, '192.0.2.99', password);
    expect(codeOf(limited)).toEqual([429, 'rate_limit_exceeded']);
    expect(Number(limited.headers.get('retry-after'))).toBeGreaterThan(60);
    const statuses: number[] = [];
    const others = Array.from({ length: 100 }, (_, n) => `guess${n}@example.com`);
    // As many at once as may wait for their turn.
    while (others.length > 0)
      for (const { status } of await Promise.all(others.splice(0, 10).map((each) => guess(each, '198.51.100.7'))))
        statuses.push(status);
    expect(statuses).toEqual(Array(100).fill(401));
    expect((await guess('one-more@example.com', '198.51.100.7')).status).toBe(429);
  });
});

it('a body of more than 64 KiB is refused, because anybody may send one', async () => {
  const sent = (bytes: number) =>
    new Browser(service.url).post('/auth/sign-in/passkey', { response: { id: 'x', padding: 'x'.repeat(bytes) } });
  const tooLong = await sent(64 * 1024);
  expect(codeOf(tooLong)).toEqual([413, 'invalid_request']);
  expect(tooLong.body.error.message).toContain('64 KiB');
  expect((await sent(60 * 1024)).status).not.toBe(413);
});

describe('a session as the credential of GraphQL', () => {
  const ME = '{ tenant { id } }';

  it('acts for the chosen tenant only, with the role of that moment', async () => {
    const [tenant, other] = [await service.tenant(), await service.tenant()];
    const { browser, id } = await signedIn(service, { memberships: [{ tenantId: tenant.id, role: 'viewer' }] });
    const ask = (query: string, headers: Record<string, string>) => new Client(service.url, headers).graphql(query);
    const made = 'mutation { createApiKey(kind: secret) { __typename } }';
    expect((await ask(ME, browser.credential(tenant.id))).body.data).toEqual({ tenant: { id: tenant.id } });
    expect((await ask(made, browser.credential(tenant.id))).body.errors[0].extensions).toMatchObject({
      code: 'insufficient_scope',
      status: 403,
    });
    for (const foreign of [other.id, 'ten_00000000-0000-4000-8000-000000000000', 'x'.repeat(5000)])
      expect(codeOf(await ask(ME, browser.credential(foreign)))).toEqual([404, 'resource_not_found']);
    const people = createPeopleRepository(service.app.store.db);
    await people.grant(id, { isOperator: false, memberships: [{ tenantId: tenant.id, role: 'developer' }] });
    expect((await ask(made, browser.credential(tenant.id))).body.data.createApiKey.__typename).toBe(
      'CreateApiKeyPayload',
    );
    const credential = browser.credential(tenant.id);
    await browser.post('/auth/sign-out');
    expect(codeOf(await ask(ME, credential))).toEqual([401, 'not_signed_in']);
  });

  it.each<[string, Record<string, string>, number, string]>([
    [
      'another site’s page',
      { Origin: 'https://evil.example', 'Sec-Fetch-Site': 'cross-site' },
      403,
      'insufficient_scope',
    ],
    ['a neighbouring subdomain', { 'Sec-Fetch-Site': 'same-site' }, 403, 'insufficient_scope'],
    ['no environment', { 'Fatoura-Environment': '' }, 400, 'invalid_request'],
    ['an unknown environment', { 'Fatoura-Environment': 'LIVE' }, 400, 'invalid_request'],
    ['a key beside it, which counts', { Authorization: 'Bearer sk_test_x' }, 401, 'invalid_api_key'],
    ['no tenant, so without a credential', { 'Fatoura-Tenant': '' }, 401, 'invalid_api_key'],
  ])('is refused to %s', async (_name, changes, status, code) => {
    const tenant = await service.tenant();
    const { browser } = await signedIn(service, { memberships: [{ tenantId: tenant.id, role: 'owner' }] });
    for (const path of ['/graphql', '/graphql/stream']) {
      const client = new Client(service.url, { ...browser.credential(tenant.id), ...changes });
      expect(codeOf(await client.post(path, { query: ME }))).toEqual([status, code]);
    }
  });

  it('is no credential of REST', async () => {
    const tenant = await service.tenant();
    const { browser } = await signedIn(service, { memberships: [{ tenantId: tenant.id, role: 'owner' }] });
    const answer = await new Client(service.url, browser.credential(tenant.id)).get('/v1/invoices');
    expect(codeOf(answer)).toEqual([401, 'invalid_api_key']);
  });

  // Each waits 5 s.
  it.concurrent.each<[string, (browser: Browser, person: string, tenantId: string) => Promise<unknown>]>([
    ['the session', (browser) => browser.post('/auth/sign-out')],
    [
      'the role',
      (_browser, person, tenantId) =>
        createPeopleRepository(service.app.store.db).grant(person, {
          isOperator: false,
          memberships: [{ tenantId, role: 'viewer' }],
        }),
    ],
    [
      'the end of the session by another browser',
      async (browser: Browser) => {
        const { email } = (await browser.session()).body.person;
        const other = new Browser(service.url);
        await other.post('/auth/sign-in', { email, password: passwordOf(email) });
        const { sessions } = (await browser.request('GET', '/auth/sessions')).body;
        const { id } = sessions.find(({ current }: { current: boolean }) => current);
        expect((await other.post('/auth/sessions/end', { id })).status).toBe(204);
      },
    ],
  ])('ends its streams with %s', async (_name, end) => {
    const tenant = await service.tenant();
    const { browser, id } = await signedIn(service, { memberships: [{ tenantId: tenant.id, role: 'owner' }] });
    const response = await fetch(`${service.url}/graphql`, {
      method: 'POST',
      headers: {
        ...browser.credential(tenant.id),
        'Content-Type': 'application/json',
        Accept: 'text/event-stream',
      },
      body: JSON.stringify({ query: 'subscription { invoiceEvents { cursor } }' }),
    });
    expect(response.status).toBe(200);
    const reader = response.body?.getReader();
    // It is open: an event comes.
    await new Client(service.url, tenant.secretKey).graphql(
      'mutation { sendTestWebhookEvent(type: invoice_accepted) { __typename } }',
    );
    let text = '';
    while (!text.includes('"cursor"')) text += new TextDecoder().decode((await reader?.read())?.value);
    const ended = (async () => {
      while (!(await reader?.read())?.done);
    })();
    await end(browser, id, tenant.id);
    // Checked every 5 s.
    await ended;
  });

  it('is counted for the person, in all browsers', async () => {
    const limited = await startService({ RATE_LIMIT_PUBLISHABLE: '3' });
    try {
      const tenant = await limited.tenant();
      const { browser, email, password } = await signedIn(limited, {
        memberships: [{ tenantId: tenant.id, role: 'viewer' }],
      });
      const second = new Browser(limited.url);
      await second.post('/auth/sign-in', { email, password });
      const statuses: number[] = [];
      for (const each of [browser, second, browser, second])
        statuses.push((await new Client(limited.url, each.credential(tenant.id)).graphql(ME)).status);
      expect(statuses).toEqual([200, 200, 200, 429]);
    } finally {
      await limited.close();
    }
  });
});

it('in single connection mode a stream takes operations of the same credential only', async () => {
  const [first, second] = [await service.tenant(), await service.tenant()];
  const memberships = [first, second].map(({ id }) => ({ tenantId: id, role: 'owner' as const }));
  const { browser } = await signedIn(service, { memberships });
  const request = (method: string, tenant: string, environment: 'test' | 'live', token: string, body?: object) =>
    new Client(service.url, browser.credential(tenant, environment), false).request(method, '/graphql/stream', body, {
      ...(token && { 'X-GraphQL-Event-Stream-Token': token }),
    });
  const { status, body: token } = await request('PUT', first.id, 'test', '');
  expect(status).toBe(201);
  const subscribe = (tenant: string, environment: 'test' | 'live') =>
    request('POST', tenant, environment, token, {
      query: 'subscription { invoiceEvents { cursor } }',
      extensions: { operationId: `${tenant} ${environment}` },
    });
  expect((await subscribe(first.id, 'test')).status).toBe(202);
  for (const [tenant, environment] of [
    [second.id, 'test'],
    [first.id, 'live'],
  ] as const)
    expect((await subscribe(tenant, environment)).status).toBeGreaterThanOrEqual(400);
  await request('DELETE', first.id, 'test', token);
});

describe('an account of an address that nobody has confirmed', () => {
  it('loses codes and passkeys with the first password that is set by mail; a confirmed one keeps them', async () => {
    for (const isConfirmed of [false, true]) {
      const email = `whose.${isConfirmed}@example.com`;
      const browser = new Browser(service.url);
      const token = await invite(service, {}, isConfirmed ? email : null);
      const { body } = await browser.post('/auth/accept-invitation', { token, email, name: 'X', password: PASSWORD });
      const { db } = service.app.store;
      const userId = body.person.id as string;
      // As if whoever made the account had added both.
      await db.collection('person_passkeys').insertOne({ userId, credentialID: email, name: 'theirs' });
      const codes = await browser.post('/auth/codes/begin', { password: PASSWORD });
      expect(codes.status).toBe(200);
      await browser.post('/auth/request-password-reset', { email });
      let link = '';
      await expect.poll(async () => (link = (await mailedToken(service, email)) ?? '')).not.toBe('');
      const reset = { token: link, newPassword: `${PASSWORD} of mine` };
      expect((await browser.post('/auth/reset-password', reset)).status).toBe(204);
      for (const name of ['person_passkeys', 'person_codes'])
        expect(await db.collection(name).countDocuments({ userId }), name).toBe(isConfirmed ? 1 : 0);
      const person = await db.collection<{ _id: string; emailVerified: boolean }>('people').findOne({ _id: userId });
      expect(person?.emailVerified).toBe(true);
    }
  });
});

describe('a new password', () => {
  // Of its own: attempts are counted.
  let own: TestService;
  beforeAll(async () => {
    own = await startService({ RATE_LIMIT_ADDRESS: '1000000', TRUST_PROXY: '1' });
    return () => own.close();
  });

  it('may be asked for by anybody without closing the sign-in, and while the sign-in is closed', async () => {
    let addresses = 0;
    const stranger = () => new Browser(own.url, { Origin: own.url, 'X-Forwarded-For': `192.0.2.${++addresses}` });
    const ask = async (email: string) => (await stranger().post('/auth/request-password-reset', { email })).status;
    const enter = async (email: string, password: string) =>
      (await stranger().post('/auth/sign-in', { email, password })).status;
    const { email, password } = await signedIn(own);
    const asked: number[] = [];
    for (let nth = 0; nth < 25; nth++) asked.push(await ask(email));
    expect(asked.slice(-1)).toEqual([429]);
    expect(await enter(email, password)).toBe(200);
    const other = await signedIn(own);
    for (let nth = 0; nth < 25; nth++) await enter(other.email, 'wrong');
    expect(await enter(other.email, other.password)).toBe(429);
    expect(await ask(other.email)).toBe(202);
  });

  it('leaves no session of the old one, also of a sign-in that was under way', async () => {
    const left: number[] = [];
    const rounds = firstOf([0, 1, 2, 3, 4, 5, 6, 7], 2);
    for (const round of rounds) {
      const { email, password, id, browser } = await signedIn(own);
      await browser.post('/auth/request-password-reset', { email });
      let token = '';
      await expect.poll(async () => (token = (await mailedToken(own, email)) ?? '')).not.toBe('');
      const old = Array.from({ length: 3 }, () => new Browser(own.url));
      const [reset] = await Promise.all([
        new Browser(own.url).post('/auth/reset-password', { token, newPassword: `${PASSWORD} ${round}` }),
        ...old.map((each) => each.post('/auth/sign-in', { email, password })),
      ]);
      expect(reset?.status).toBe(204);
      left.push(await own.app.store.db.collection('person_sessions').countDocuments({ userId: id }));
    }
    expect(left).toEqual(rounds.map(() => 0));
  });

  it('by mail wins over a change that is under way: one password is valid, and no session is left', async () => {
    const seen: unknown[] = [];
    const expected: unknown[] = [];
    // In some rounds the change is ahead of the reset, in some behind.
    for (const round of firstOf([0, 4, 2, 1, 3], 2)) {
      const { email, password, id, browser } = await signedIn(own);
      await browser.post('/auth/request-password-reset', { email });
      let token = '';
      await expect.poll(async () => (token = (await mailedToken(own, email)) ?? '')).not.toBe('');
      const [mailed, changed] = [`${PASSWORD} by mail ${round}`, `${PASSWORD} changed ${round}`];
      const change = browser.post('/auth/change-password', { currentPassword: password, newPassword: changed });
      await sleep(round * 30);
      const reset = await new Browser(own.url).post('/auth/reset-password', { token, newPassword: mailed });
      const { status } = await change;
      const left = await own.app.store.db.collection('person_sessions').countDocuments({ userId: id });
      const valid: string[] = [];
      for (const each of [password, mailed, changed])
        if ((await new Browser(own.url).post('/auth/sign-in', { email, password: each })).status === 200)
          valid.push(each);
      seen.push({ reset: reset.status, left, valid });
      // A change that was done before has ended the link.
      const isLate = reset.status === 404 && status === 204;
      expected.push(isLate ? { reset: 404, left: 1, valid: [changed] } : { reset: 204, left: 0, valid: [mailed] });
    }
    expect(seen).toEqual(expected);
  });

  it('is one of two that change it at once', async () => {
    const { email, password, id, browser } = await signedIn(own);
    const other = new Browser(own.url);
    await other.post('/auth/sign-in', { email, password });
    const wanted = [`${PASSWORD} of one`, `${PASSWORD} of another`];
    const answers = await Promise.all(
      [browser, other].map((each, i) =>
        each.post('/auth/change-password', { currentPassword: password, newPassword: wanted[i] }),
      ),
    );
    expect(answers.map(({ status }) => status).toSorted()).toEqual([204, 401]);
    const won = answers.findIndex(({ status }) => status === 204);
    expect(await own.app.store.db.collection('person_sessions').countDocuments({ userId: id })).toBe(1);
    expect((await ([browser, other][won] as Browser).session()).status).toBe(200);
    const signIn = (each: string | undefined) => new Browser(own.url).post('/auth/sign-in', { email, password: each });
    expect((await signIn(wanted[won])).status).toBe(200);
    expect((await signIn(wanted[1 - won])).status).toBe(401);
  });

  it('ends the links to others, and sign-ins that wait for a code', async () => {
    const { browser, email, password } = await signedIn(service);
    const mails = async () => (await service.app.store.db.collection('person_resets').find().toArray()).length;
    const before = await mails();
    await browser.post('/auth/request-password-reset', { email });
    await expect.poll(mails).toBe(before + 1);
    let link = '';
    await expect.poll(async () => (link = (await mailedToken(service, email)) ?? '')).not.toBe('');
    const { body } = await browser.post('/auth/codes/begin', { password });
    expect((await browser.post('/auth/codes/confirm', { code: await earlierCode(body.uri) })).status).toBe(204);
    const waiting = new Browser(service.url);
    expect((await waiting.post('/auth/sign-in', { email, password })).body).toEqual({ secondFactorRequired: true });
    const change = { currentPassword: password, newPassword: PASSWORD };
    expect((await browser.post('/auth/change-password', change)).status).toBe(204);
    const late = await waiting.post('/auth/sign-in/code', { code: codeAt(body.uri) });
    expect(codeOf(late)).toEqual([401, 'not_signed_in']);
    const reset = await waiting.post('/auth/reset-password', { token: link, newPassword: `${PASSWORD}!` });
    expect(codeOf(reset)).toEqual([404, 'resource_not_found']);
  });
});
