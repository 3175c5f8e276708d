import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { Browser, mailedToken, signedIn } from '../support/person.ts';
import { startService, type TestService } from '../support/service.ts';

let service: TestService;
beforeAll(async () => {
  service = await startService({ RATE_LIMIT_ADDRESS: '1000000' });
  return () => service.close();
});

const codeOf = ({ status, body }: { status: number; body: { error?: { code: string; param: string | null } } }) => [
  status,
  body.error?.code,
  body.error?.param,
];

/** Another browser of this person. */
async function another({ email, password }: { email: string; password: string }, userAgent = 'Firefox') {
  const browser = new Browser(service.url);
  const { status } = await browser.post('/auth/sign-in', { email, password }, { 'User-Agent': userAgent });
  expect(status).toBe(200);
  return browser;
}

/** Mails of the outbox to this address. */
async function mailsTo(address: string): Promise<string[]> {
  const folder = join(service.dataDir, 'outbox');
  const files = await readdir(folder).catch(() => []);
  const mails = await Promise.all(files.map((file) => readFile(join(folder, file), 'utf8')));
  return mails.filter((mail) => mail.includes(`To: ${address}`));
}

/** The token of the link that was mailed to a new address. */
async function linkTo(address: string): Promise<string> {
  let token: string | undefined;
  await expect
    .poll(async () => {
      const [mail = ''] = (await mailsTo(address)).filter((each) => each.includes('/new-address#'));
      // Quoted-printable: `=` at the end of a line goes on in the next one.
      token = /new-address#(\S+)/.exec(mail.replace(/=\r?\n/g, ''))?.[1];
      return token;
    })
    .toBeDefined();
  return token ?? '';
}

describe('the sessions of a person', () => {
  it('are listed with program, address and last use, and nothing that opens one', async () => {
    const person = await signedIn(service);
    await another(person, 'Mozilla/5.0 (Windows NT 10.0) Firefox/150.0');
    const stranger = await signedIn(service);
    const { status, body } = await person.browser.request('GET', '/auth/sessions');
    expect(status).toBe(200);
    expect(body.sessions).toHaveLength(2);
    expect(body.sessions.filter(({ current }: { current: boolean }) => current)).toHaveLength(1);
    const [other] = body.sessions.filter(({ current }: { current: boolean }) => !current);
    expect(other).toEqual({
      id: expect.any(String),
      userAgent: 'Mozilla/5.0 (Windows NT 10.0) Firefox/150.0',
      address: '127.0.0.1',
      current: false,
      begunAt: expect.stringMatching(/^20.*Z$/),
      usedAt: expect.stringMatching(/^20.*Z$/),
    });
    const tokens = await service.app.store.db.collection('person_sessions').distinct('token');
    for (const token of tokens) expect(JSON.stringify(body)).not.toContain(token);
    expect((await stranger.browser.request('GET', '/auth/sessions')).body.sessions).toHaveLength(1);
    expect((await new Browser(service.url).request('GET', '/auth/sessions')).status).toBe(401);
  });

  it('end one by one, at once, and those of others do not', async () => {
    const person = await signedIn(service);
    const [other, kept] = [await another(person), await another(person)];
    const stranger = await signedIn(service);
    const list = async (browser: Browser) => (await browser.request('GET', '/auth/sessions')).body.sessions;
    const [own] = (await list(other)).filter(({ current }: { current: boolean }) => current);
    const end = (browser: Browser, id: string) => browser.post('/auth/sessions/end', { id });
    expect(codeOf(await end(stranger.browser, own.id))).toEqual([404, 'resource_not_found', 'id']);
    expect((await other.session()).status).toBe(200);
    expect((await end(person.browser, own.id)).status).toBe(204);
    expect((await other.session()).status).toBe(401);
    expect((await kept.session()).status).toBe(200);
    expect(codeOf(await end(person.browser, own.id))).toEqual([404, 'resource_not_found', 'id']);
    expect((await stranger.browser.session()).status).toBe(200);
  });

  it('all end but this one', async () => {
    const person = await signedIn(service);
    const others = [await another(person), await another(person)];
    const stranger = await signedIn(service);
    expect((await person.browser.post('/auth/sessions/end-others', {})).status).toBe(204);
    for (const each of others) expect((await each.session()).status).toBe(401);
    expect((await person.browser.session()).status).toBe(200);
    expect((await stranger.browser.session()).status).toBe(200);
  });
});

it('a name is changed, also where it is shown, and recorded', async () => {
  const tenant = await service.tenant();
  const { browser, id } = await signedIn(service, { memberships: [{ tenantId: tenant.id, role: 'owner' }] });
  expect((await browser.post('/auth/change-name', { name: 'Amina Idrissi' })).status).toBe(204);
  expect((await browser.session()).body.person).toMatchObject({ id, name: 'Amina Idrissi' });
  const recorded = await service.app.store.db.collection('audit_log').findOne({ action: 'member.renamed' });
  expect(recorded).toMatchObject({ tenantId: tenant.id, details: { name: 'Amina Idrissi', was: 'Amina' } });
  expect(codeOf(await browser.post('/auth/change-name', { name: 'a\nb' }))).toEqual([400, 'invalid_request', 'name']);
  expect((await new Browser(service.url).post('/auth/change-name', { name: 'X' })).status).toBe(401);
});

it.each<[string, string]>([
  ['a control character', 'Amina\u0000'],
  ['a new line of a mail’s head', 'Amina\r\nBcc: x@example.com'],
  ['a line separator', 'Amina\u2028'],
  ['half a character', 'Amina\ud800'],
  ['nothing that can be seen', '\u202e\u200b'],
  ['more than 100 characters', 'x'.repeat(101)],
])('a name of %s is refused', async (_what, name) => {
  const { browser } = await signedIn(service);
  expect(codeOf(await browser.post('/auth/change-name', { name }))).toEqual([400, 'invalid_request', 'name']);
  expect((await browser.session()).body.person.name).toBe('Amina');
});

it('a name is a text: markup and marks of direction come back as they were sent; a megabyte is not read', async () => {
  const { browser } = await signedIn(service);
  const name = '<img src=x onerror=alert(1)>\u202eأمينة';
  expect((await browser.post('/auth/change-name', { name })).status).toBe(204);
  const { headers, body } = await browser.session();
  expect([headers.get('content-type'), body.person.name]).toEqual(['application/json; charset=utf-8', name]);
  expect((await browser.post('/auth/change-name', { name: 'x'.repeat(1024 * 1024) })).status).toBe(413);
});

describe('another address', () => {
  let people = 0;
  /** Somebody who has asked for another address, and the end of the link that was mailed there. */
  async function asked() {
    const person = await signedIn(service);
    const wanted = `new${++people}@example.com`;
    const { browser, password } = person;
    expect((await browser.post('/auth/new-address', { email: wanted, password })).status).toBe(202);
    return { ...person, wanted, token: await linkTo(wanted) };
  }
  const confirm = (browser: Browser, token: string) => browser.post('/auth/new-address/confirm', { token });

  it('is the account’s once the link that was mailed there is opened, and the old one is told twice', async () => {
    const { browser, email, password, wanted, token } = await asked();
    await expect.poll(() => mailsTo(email)).toHaveLength(1);
    expect((await browser.session()).body.person.email).toBe(email);
    const other = await another({ email, password });
    expect((await confirm(browser, token)).status).toBe(204);
    expect((await browser.session()).body).toMatchObject({ person: { email: wanted }, addressConfirmed: true });
    expect((await other.session()).status).toBe(401);
    await expect.poll(() => mailsTo(email)).toHaveLength(2);
    for (const mail of await mailsTo(email)) expect(mail).toContain(wanted);
    const old = await new Browser(service.url).post('/auth/sign-in', { email, password });
    expect(codeOf(old)).toEqual([401, 'invalid_credentials', null]);
    await another({ email: wanted, password });
    expect(codeOf(await confirm(browser, token))).toEqual([404, 'resource_not_found', 'token']);
  });

  it('answers the same whether or not another account has it, and is limited like signing in', async () => {
    const { browser, password } = await signedIn(service);
    const taken = await signedIn(service);
    const ask = (email: string, secret = password) => browser.post('/auth/new-address', { email, password: secret });
    const [free, used] = [await ask('free@example.com'), await ask(taken.email)];
    expect([used.status, used.body]).toEqual([free.status, free.body]);
    expect(free.status).toBe(202);
    // Whose account it is gets the link, which opens nothing of theirs, and no other mail.
    await expect.poll(() => mailsTo(taken.email)).toHaveLength(1);
    expect((await taken.browser.session()).body.person.email).toBe(taken.email);
    let last = free;
    for (let n = 0; n < 20 && last.status !== 429; n++) last = await ask('free@example.com', 'a wrong one');
    expect(codeOf(last)).toEqual([429, 'rate_limit_exceeded', null]);
    // Also with the right password.
    expect((await ask('free@example.com')).status).toBe(429);
  });

  it('takes the password', async () => {
    const { browser } = await signedIn(service);
    const refused = await browser.post('/auth/new-address', { email: 'no@example.com', password: 'not the password' });
    expect(codeOf(refused)).toEqual([401, 'invalid_credentials', 'password']);
    expect(await mailsTo('no@example.com')).toEqual([]);
  });

  it('is not confirmed by whoever reads the mail, without the account', async () => {
    const { browser, email, token } = await asked();
    const stranger = await signedIn(service);
    expect(codeOf(await confirm(stranger.browser, token))).toEqual([404, 'resource_not_found', 'token']);
    expect((await confirm(new Browser(service.url), token)).status).toBe(401);
    expect((await browser.session()).body.person.email).toBe(email);
    // Nor by the account without the mail.
    const [proof = ''] = token.split('.');
    const forged = `${proof}.${Buffer.from('forged@example.com').toString('base64url')}`;
    expect(codeOf(await confirm(browser, forged))).toEqual([404, 'resource_not_found', 'token']);
    expect((await confirm(browser, token)).status).toBe(204);
  });

  it('is refused if another account has it, which only the reader of its mail learns', async () => {
    const { browser, password, email } = await signedIn(service);
    const taken = await signedIn(service);
    expect((await browser.post('/auth/new-address', { email: taken.email, password })).status).toBe(202);
    const answer = await confirm(browser, await linkTo(taken.email));
    expect(codeOf(answer)).toEqual([400, 'invalid_request', 'address']);
    expect((await browser.session()).body.person.email).toBe(email);
  });

  it('is not to be had any more after a new password, and ends the links to one', async () => {
    const first = await asked();
    const change = { currentPassword: first.password, newPassword: 'violet anchor seven drums' };
    expect((await first.browser.post('/auth/change-password', change)).status).toBe(204);
    expect(codeOf(await confirm(first.browser, first.token))).toEqual([404, 'resource_not_found', 'token']);
    const second = await asked();
    await second.browser.post('/auth/request-password-reset', { email: second.email });
    await expect.poll(() => mailedToken(service, second.email)).not.toBeNull();
    const reset = await mailedToken(service, second.email);
    expect((await confirm(second.browser, second.token)).status).toBe(204);
    const late = await new Browser(service.url).post('/auth/reset-password', {
      token: reset,
      newPassword: 'violet anchor seven drums',
    });
    expect(codeOf(late)).toEqual([404, 'resource_not_found', 'token']);
  });

  it('is one account’s of two that confirm it at once', async () => {
    const [one, two] = [await signedIn(service), await signedIn(service)];
    const wanted = 'both@example.com';
    const tokens: string[] = [];
    for (const { browser, password } of [one, two]) {
      await browser.post('/auth/new-address', { email: wanted, password });
      await expect
        .poll(async () => {
          const mails = (await mailsTo(wanted)).map((mail) => mail.replace(/=\r?\n/g, ''));
          return mails
            .flatMap((mail) => /new-address#(\S+)/.exec(mail)?.[1] ?? [])
            .find((token) => !tokens.includes(token));
        })
        .toBeDefined();
      const mails = (await mailsTo(wanted)).map((mail) => mail.replace(/=\r?\n/g, ''));
      tokens.push(
        ...mails.flatMap((mail) => /new-address#(\S+)/.exec(mail)?.[1] ?? []).filter((t) => !tokens.includes(t)),
      );
    }
    const [first = '', second = ''] = tokens;
    const both = await Promise.all([confirm(one.browser, first), confirm(two.browser, second)]);
    expect(both.map(({ status }) => status).sort()).toEqual([204, 400]);
  });

  it('is somebody’s who was invited by a link that confirms nothing, with nothing that was made before', async () => {
    const { browser, password, id } = await signedIn(service);
    expect((await browser.session()).body.addressConfirmed).toBe(false);
    const begun = await browser.post('/auth/codes/begin', { password });
    expect(begun.status).toBe(200);
    expect(await service.app.store.db.collection('person_codes').countDocuments({ userId: id })).toBe(1);
    const wanted = 'confirmed@example.com';
    await browser.post('/auth/new-address', { email: wanted, password });
    expect((await confirm(browser, await linkTo(wanted))).status).toBe(204);
    expect((await browser.session()).body.addressConfirmed).toBe(true);
    expect(await service.app.store.db.collection('person_codes').countDocuments({ userId: id })).toBe(0);
  });
});
