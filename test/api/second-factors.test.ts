import { beforeAll, describe, expect, it } from 'vitest';
import { Authenticator, codeAt, type Deviation, earlierCode } from '../support/authenticator.ts';
import { Browser, invite, signedIn } from '../support/person.ts';
import { firstOf } from '../support/samples.ts';
import { startService, type TestService } from '../support/service.ts';

let service: TestService;
beforeAll(async () => {
  service = await startService({ RATE_LIMIT_ADDRESS: '1000000', TRUST_PROXY: '1', PUBLIC_URL: 'http://localhost' });
  return () => service.close();
});

const codeOf = ({ status, body }: { status: number; body: { error?: { code: string } } }) => [status, body.error?.code];

let addresses = 0;
/** A browser at an address of its own, so that attempts are counted by account. */
function anyBrowser(): Browser {
  const n = ++addresses;
  return new Browser(service.url, {
    Origin: service.url,
    'Sec-Fetch-Site': 'same-origin',
    'X-Forwarded-For': `192.0.${n >> 8}.${n & 255}`,
  });
}

/** A person with codes of an authenticator. */
async function withCodes(grants: Parameters<typeof signedIn>[1] = {}) {
  const person = await signedIn(service, grants, anyBrowser());
  const { browser, password } = person;
  const begun = await browser.post('/auth/codes/begin', { password });
  expect(begun.status).toBe(200);
  const { uri, recoveryCodes } = begun.body as { uri: string; recoveryCodes: string[] };
  const confirmed = await browser.post('/auth/codes/confirm', { code: await earlierCode(uri) });
  expect(confirmed.status).toBe(204);
  return { ...person, uri, recoveryCodes };
}

/** A digit as Arabic keyboards write it. */
const arabic = (digit: string) => String.fromCharCode(0x0660 + Number(digit));

/** A browser that has sent the right password of an account with codes. */
async function halfway({ email, password }: { email: string; password: string }): Promise<Browser> {
  const browser = anyBrowser();
  const answer = await browser.post('/auth/sign-in', { email, password });
  expect([answer.status, answer.body]).toEqual([200, { secondFactorRequired: true }]);
  return browser;
}

describe('codes of an authenticator', () => {
  it('are asked for after the password, from the moment a code was confirmed', async () => {
    const { browser, email, password } = await signedIn(service, {}, anyBrowser());
    const begun = await browser.post('/auth/codes/begin', { password });
    expect(begun.body.uri).toMatch(/^otpauth:\/\/totp\/Fatoura:/);
    expect(begun.body.recoveryCodes).toHaveLength(10);
    // Nobody is locked out by a page that was left: nothing counts before a code was seen.
    expect((await anyBrowser().post('/auth/sign-in', { email, password })).body.person).toMatchObject({ email });
    expect(codeOf(await browser.post('/auth/codes/confirm', { code: '000000' }))).toEqual([401, 'invalid_credentials']);
    await browser.post('/auth/codes/confirm', { code: await earlierCode(begun.body.uri) });
    const other = await halfway({ email, password });
    expect(codeOf(await other.session())).toEqual([401, 'not_signed_in']);
    const answer = await other.post('/auth/sign-in/code', { code: codeAt(begun.body.uri) });
    expect([answer.status, answer.body.person.email]).toEqual([200, email]);
    expect((await other.session()).status).toBe(200);
    expect((await other.request('GET', '/auth/second-factors')).body).toEqual({
      hasCodes: true,
      recoveryCodesLeft: 10,
      passkeys: [],
    });
  });

  it('are stored so that neither the secret nor a recovery code can be read', async () => {
    const { uri, recoveryCodes, id } = await withCodes();
    const stored = JSON.stringify(await service.app.store.db.collection('person_codes').find({ userId: id }).toArray());
    const secret = new URL(uri).searchParams.get('secret') ?? '';
    expect(stored).not.toBe('[]');
    for (const hidden of [secret, ...recoveryCodes]) expect(stored).not.toContain(hidden);
  });

  it('are replaced once each by recovery codes', async () => {
    const person = await withCodes();
    const [code = ''] = person.recoveryCodes;
    expect((await (await halfway(person)).post('/auth/sign-in/code', { code })).status).toBe(200);
    expect(codeOf(await (await halfway(person)).post('/auth/sign-in/code', { code }))).toEqual([
      401,
      'invalid_credentials',
    ]);
    expect((await person.browser.request('GET', '/auth/second-factors')).body.recoveryCodesLeft).toBe(9);
    // Also of those that are sent at once.
    const [, , same = ''] = person.recoveryCodes;
    const browsers = await Promise.all([1, 2, 3].map(() => halfway(person)));
    const answers = await Promise.all(browsers.map((each) => each.post('/auth/sign-in/code', { code: same })));
    expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 401, 401]);
    const replaced = await person.browser.post('/auth/codes/recovery', { password: person.password });
    const [fresh = ''] = replaced.body.recoveryCodes;
    const [, old = ''] = person.recoveryCodes;
    const browser = await halfway(person);
    expect((await browser.post('/auth/sign-in/code', { code: old })).status).toBe(401);
    expect((await browser.post('/auth/sign-in/code', { code: fresh })).status).toBe(200);
  });

  it('cannot be guessed: the step ends after 5, the account after 10 in a row, over all browsers', async () => {
    const person = await withCodes();
    const guess = (browser: Browser, code: string) => browser.post('/auth/sign-in/code', { code });
    const wrong = codeAt(person.uri, 0);
    const first = await halfway(person);
    for (let n = 0; n < 5; n++) expect(codeOf(await guess(first, wrong))).toEqual([401, 'invalid_credentials']);
    expect(codeOf(await guess(first, codeAt(person.uri)))).toEqual([401, 'not_signed_in']);
    const second = await halfway(person);
    for (let n = 0; n < 5; n++) expect(codeOf(await guess(second, wrong))).toEqual([401, 'invalid_credentials']);
    const third = await halfway(person);
    const locked = await guess(third, codeAt(person.uri));
    expect(codeOf(locked)).toEqual([429, 'rate_limit_exceeded']);
    expect(Number(locked.headers.get('retry-after'))).toBeGreaterThan(60);
    expect((await guess(third, person.recoveryCodes[0] ?? '')).status).toBe(429);
    // Sessions that there are go on.
    expect((await person.browser.session()).status).toBe(200);
  });

  it('cannot be guessed by sending them at once either: ten are compared; the rest is locked', async () => {
    const person = await withCodes();
    const browsers: Browser[] = [];
    for (let n = 0; n < 4; n++) browsers.push(await halfway(person));
    const right = Number(codeAt(person.uri));
    let nth = 0;
    const wrong = () => String((right + 1000 + 7919 * ++nth) % 1_000_000).padStart(6, '0');
    const answers = await Promise.all(
      browsers.flatMap((each) => [1, 2, 3, 4, 5].map(() => each.post('/auth/sign-in/code', { code: wrong() }))),
    );
    const isWrong = ({ body }: (typeof answers)[number]) => body.error?.code === 'invalid_credentials';
    let compared = answers.filter(isWrong).length;
    expect(compared).toBeLessThanOrEqual(10);
    // Those of a step that had ended compared nothing, and used nothing up.
    for (const each of browsers.flatMap((browser) => [browser, browser]))
      if (compared < 10 && isWrong(await each.post('/auth/sign-in/code', { code: wrong() }))) compared++;
    expect(compared).toBe(10);
    const last = await halfway(person);
    expect((await last.post('/auth/sign-in/code', { code: codeAt(person.uri) })).status).toBe(429);
    // Once the lock has ended, a right code signs in, and leaves ten tries.
    const codes = service.app.store.db.collection('person_codes');
    await codes.updateOne({ userId: person.id }, { $set: { lockedUntil: new Date(Date.now() - 1) } });
    expect((await last.post('/auth/sign-in/code', { code: codeAt(person.uri) })).status).toBe(200);
    expect(await codes.findOne({ userId: person.id })).toMatchObject({ failedVerificationCount: 0, lockedUntil: null });
  });

  it('cannot be guessed behind the challenge of another account in the same header: only one is read', async () => {
    const [person, attacker] = [await withCodes(), await withCodes()];
    const challengeOf = async (of: typeof person) => {
      const [name, value] = [...(await halfway(of)).cookies].find(([each]) => each.endsWith('two_factor')) ?? [];
      return `${name}=${value}`;
    };
    const other = await challengeOf(attacker);
    // Its codes are gone, so its tries are not counted.
    await attacker.browser.post('/auth/codes/remove', { password: attacker.password });
    const codes = service.app.store.db.collection('person_codes');
    const right = Number(codeAt(person.uri));
    const answers = await Promise.all(
      [
        (own: string) => `x=1;${own}; ${other}`,
        (own: string) => `x=1; ${own};${other}`,
        (own: string) => `${other.replace('=', ' =')}; ${own}`,
        (own: string) => `${other.replace('=', '="')}"; ${own}`,
      ].map(async (both, n) => {
        const Cookie = both(await challengeOf(person));
        const code = String((right + 1000 + 7919 * n) % 1_000_000).padStart(6, '0');
        return anyBrowser().post('/auth/sign-in/code', { code }, { Cookie });
      }),
    );
    expect(answers.map(codeOf)).toEqual(Array(4).fill([401, 'invalid_credentials']));
    expect(await codes.findOne({ userId: person.id })).toMatchObject({ failedVerificationCount: 4 });
    // The other way round, the attacker's right code leaves the count of the account as it is.
    const again = await withCodes();
    const Cookie = `x=1;${await challengeOf(again)}; ${await challengeOf(person)}`;
    await anyBrowser().post('/auth/sign-in/code', { code: codeAt(again.uri) }, { Cookie });
    expect(await codes.findOne({ userId: person.id })).toMatchObject({ failedVerificationCount: 4 });
  });

  it('are taken once each, also where the code is still valid', async () => {
    const person = await withCodes();
    const code = codeAt(person.uri);
    const [one, two] = [await halfway(person), await halfway(person)];
    expect((await one.post('/auth/sign-in/code', { code })).status).toBe(200);
    expect(codeOf(await two.post('/auth/sign-in/code', { code }))).toEqual([401, 'invalid_credentials']);
    expect((await two.session()).status).toBe(401);
    // One is of the account's own browser, one of the first sign-in.
    expect(await service.app.store.db.collection('person_sessions').countDocuments({ userId: person.id })).toBe(2);
  });

  it('that set the second factor up do not sign in; a code sets up once, of two who send it at once', async () => {
    const { browser, email, password } = await signedIn(service, {}, anyBrowser());
    const { uri } = (await browser.post('/auth/codes/begin', { password })).body;
    const code = await earlierCode(uri);
    const both = await Promise.all([1, 2].map(() => browser.post('/auth/codes/confirm', { code })));
    expect(both.map(({ status }) => status).toSorted()).toEqual([204, 401]);
    const other = await halfway({ email, password });
    expect(codeOf(await other.post('/auth/sign-in/code', { code }))).toEqual([401, 'invalid_credentials']);
    expect((await other.session()).status).toBe(401);
    const next = await halfway({ email, password });
    expect((await next.post('/auth/sign-in/code', { code: codeAt(uri) })).status).toBe(200);
    // Where codes are set up, this path tells of none whether it is right.
    for (const each of [codeAt(uri, Date.now() + 30_000), '000000'])
      expect(codeOf(await browser.post('/auth/codes/confirm', { code: each }))).toEqual([400, 'invalid_request']);
  });

  it('are taken once by those who send one at once, however each writes it', async () => {
    const person = await withCodes();
    const code = codeAt(person.uri);
    const written = [code, `${code.slice(0, 3)} ${code.slice(3)}`, code.replace(/\d/g, arabic)];
    const browsers = await Promise.all(written.map(() => halfway(person)));
    const answers = await Promise.all(browsers.map((each, i) => each.post('/auth/sign-in/code', { code: written[i] })));
    expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 401, 401]);
  });

  it('are remembered in the store, so that a restart does not forget a use', async () => {
    const used = () =>
      service.app.store.db.collection('rate_windows').countDocuments({ _id: /^attempt-code:/ as never });
    const before = await used();
    await withCodes();
    expect(await used()).toBe(before + 1);
  });

  const TYPED: readonly [string, (code: string) => string][] = [
    ['a narrow space and a mark of direction', (code) => `\u200f${code.slice(0, 3)}\u202f${code.slice(3)}\n`],
    ['Arabic-Indic digits', (code) => code.replace(/\d/g, arabic)],
    ['a space', (code) => `${code.slice(0, 3)} ${code.slice(3)}`],
    ['hyphens', (code) => code.match(/..?/g)?.join('\u2011') ?? ''],
    ['digits of Persian', (code) => code.replace(/\d/g, (digit) => String.fromCharCode(0x06f0 + Number(digit)))],
  ];
  it.each(firstOf(TYPED, 2))(
    'may be typed with %s, to set up and to sign in; recovery codes too',
    async (_name, typed) => {
      const { browser, email, password } = await signedIn(service, {}, anyBrowser());
      const { uri, recoveryCodes } = (await browser.post('/auth/codes/begin', { password })).body;
      const confirmed = await browser.post('/auth/codes/confirm', { code: typed(await earlierCode(uri)) });
      expect(confirmed.status).toBe(204);
      for (const code of [codeAt(uri), recoveryCodes[0].replace('-', ' '), recoveryCodes[1].replace('-', '')]) {
        const signed = await (await halfway({ email, password })).post('/auth/sign-in/code', { code: typed(code) });
        expect([signed.status, signed.body.person?.email]).toEqual([200, email]);
      }
    },
  );

  it('are of the account whose password was sent, whoever else is signed in', async () => {
    const [person, attacker] = [await withCodes(), await withCodes()];
    const browser = await halfway(person);
    for (const [name, value] of attacker.browser.cookies) browser.cookies.set(name, value);
    const answer = await browser.post('/auth/sign-in/code', { code: codeAt(attacker.uri) });
    expect(codeOf(answer)).toEqual([401, 'invalid_credentials']);
    const nobody = await anyBrowser().post('/auth/sign-in/code', { code: codeAt(person.uri) });
    expect(codeOf(nobody)).toEqual([401, 'not_signed_in']);
  });

  it('are asked for after an invitation was accepted, too, and after a new password', async () => {
    const tenant = await service.tenant();
    const person = await withCodes();
    const token = await invite(service, { memberships: [{ tenantId: tenant.id, role: 'viewer' }] });
    const browser = anyBrowser();
    const { email, password } = person;
    const accepted = await browser.post('/auth/accept-invitation', { token, email, name: 'X', password });
    expect(accepted.body).toEqual({ secondFactorRequired: true });
    expect((await browser.session()).status).toBe(401);
    const answer = await browser.post('/auth/sign-in/code', { code: codeAt(person.uri) });
    expect(answer.body.memberships).toMatchObject([{ tenantId: tenant.id, role: 'viewer' }]);
    const changed = { currentPassword: password, newPassword: `${password} again` };
    expect((await browser.post('/auth/change-password', changed)).status).toBe(204);
    await halfway({ email, password: changed.newPassword });
  });

  it('sign out all other browsers when they are turned on and off', async () => {
    const { browser, email, password } = await signedIn(service, {}, anyBrowser());
    const before = anyBrowser();
    expect((await before.post('/auth/sign-in', { email, password })).status).toBe(200);
    const { uri } = (await browser.post('/auth/codes/begin', { password })).body;
    expect((await before.session()).status).toBe(200);
    expect((await browser.post('/auth/codes/confirm', { code: await earlierCode(uri) })).status).toBe(204);
    expect([(await before.session()).status, (await browser.session()).status]).toEqual([401, 200]);
    const withCode = await halfway({ email, password });
    expect((await withCode.post('/auth/sign-in/code', { code: codeAt(uri) })).status).toBe(200);
    expect((await browser.post('/auth/codes/remove', { password })).status).toBe(204);
    expect([(await withCode.session()).status, (await browser.session()).status]).toEqual([401, 200]);
  });

  it('are changed with the password only, and removed with it', async () => {
    const { browser, email, password } = await withCodes();
    for (const path of ['codes/begin', 'codes/remove', 'codes/recovery', 'passkeys/begin'])
      expect(codeOf(await browser.post(`/auth/${path}`, { password: 'another password' })), path).toEqual([
        401,
        'invalid_credentials',
      ]);
    expect(codeOf(await browser.post('/auth/codes/begin', { password }))).toEqual([400, 'invalid_request']);
    expect((await browser.post('/auth/codes/remove', { password })).status).toBe(204);
    expect((await browser.session()).status).toBe(200);
    expect((await anyBrowser().post('/auth/sign-in', { email, password })).body.person).toMatchObject({ email });
    expect(codeOf(await browser.post('/auth/codes/recovery', { password }))).toEqual([404, 'resource_not_found']);
  });
});

describe('a passkey', () => {
  const ORIGIN = 'http://localhost';

  /** A person with a passkey. */
  async function withPasskey(name = 'Telephone') {
    const person = await signedIn(service, {}, anyBrowser());
    const { browser, password } = person;
    const begun = await browser.post('/auth/passkeys/begin', { password });
    expect(begun.status).toBe(200);
    const authenticator = new Authenticator(ORIGIN);
    const response = authenticator.register(begun.body.options);
    const added = await browser.post('/auth/passkeys/add', { name, response });
    expect([added.status, added.body]).toMatchObject([201, { name }]);
    return { ...person, authenticator, passkey: added.body as { id: string } };
  }

  async function attempt(authenticator: Authenticator, deviation: Deviation = {}) {
    const browser = anyBrowser();
    const { body } = await browser.post('/auth/sign-in/passkey/begin', {});
    expect(body.options).toMatchObject({ rpId: 'localhost', userVerification: 'required' });
    const response = authenticator.signIn(body.options, deviation);
    const answer = await browser.post('/auth/sign-in/passkey', { response });
    return { browser, response, answer };
  }

  it('signs in without a password, once for each challenge', async () => {
    const { authenticator, email } = await withPasskey();
    const { browser, response, answer } = await attempt(authenticator);
    expect([answer.status, answer.body.person?.email]).toEqual([200, email]);
    expect((await browser.session()).status).toBe(200);
    expect(codeOf(await browser.post('/auth/sign-in/passkey', { response }))).toEqual([401, 'not_signed_in']);
  });

  it.each<[string, Deviation]>([
    ['another site’s page', { origin: 'https://evil.example' }],
    ['another challenge', { challenge: Buffer.alloc(32).toString('base64url') }],
    ['another service’s passkey', { rpId: 'evil.example' }],
    ['an authenticator that did not verify the person', { verified: false }],
  ])('is refused from %s, to sign in and to be added', async (_name, deviation) => {
    const { authenticator, browser, password } = await withPasskey();
    expect(codeOf((await attempt(authenticator, deviation)).answer)).toEqual([401, 'invalid_credentials']);
    const { body } = await browser.post('/auth/passkeys/begin', { password });
    const response = new Authenticator(ORIGIN).register(body.options, deviation);
    const added = await browser.post('/auth/passkeys/add', { name: 'X', response });
    expect(codeOf(added)).toEqual([401, 'invalid_credentials']);
    expect((await browser.request('GET', '/auth/second-factors')).body.passkeys).toHaveLength(1);
  });

  it('that is forged or unknown is refused', async () => {
    const { authenticator } = await withPasskey();
    const stranger = new Authenticator(ORIGIN);
    expect(codeOf((await attempt(stranger)).answer)).toEqual([401, 'invalid_credentials']);
    Object.defineProperty(stranger, 'id', { value: authenticator.id });
    expect(codeOf((await attempt(stranger)).answer)).toEqual([401, 'invalid_credentials']);
  });

  it.each([
    null,
    'x',
    {},
    { id: {} },
    { id: { $ne: null } },
    { id: 'x', response: { authenticatorData: 'AA', clientDataJSON: 'e30', signature: '' } },
    { id: 'x', rawId: 'y', type: 'public-key', response: {} },
  ])('%j is no answer of an authenticator', async (response) => {
    const browser = anyBrowser();
    await browser.post('/auth/sign-in/passkey/begin', {});
    const { status } = await browser.post('/auth/sign-in/passkey', { response });
    expect([400, 401]).toContain(status);
    expect((await browser.session()).status).toBe(401);
  });

  it('that is removed has begun no session that goes on', async () => {
    const { authenticator, browser, passkey, password } = await withPasskey();
    const { browser: lost } = await attempt(authenticator);
    expect((await lost.session()).status).toBe(200);
    expect((await browser.post('/auth/passkeys/remove', { id: passkey.id, password })).status).toBe(204);
    expect([(await lost.session()).status, (await browser.session()).status]).toEqual([401, 200]);
  });

  it('is removed by its owner with the password; another person’s does not exist', async () => {
    const [mine, others] = [await withPasskey(), await withPasskey()];
    const remove = (id: string, password = mine.password) =>
      mine.browser.post('/auth/passkeys/remove', { id, password });
    expect(codeOf(await remove(mine.passkey.id, 'another password'))).toEqual([401, 'invalid_credentials']);
    for (const id of [others.passkey.id, 'x']) expect(codeOf(await remove(id))).toEqual([404, 'resource_not_found']);
    expect((await remove(mine.passkey.id)).status).toBe(204);
    expect(codeOf((await attempt(mine.authenticator)).answer)).toEqual([401, 'invalid_credentials']);
    expect((await attempt(others.authenticator)).answer.status).toBe(200);
  });

  it('cannot be added with the challenge of signing in, nor by somebody else', async () => {
    const { browser } = await signedIn(service, {}, anyBrowser());
    const { body } = await browser.post('/auth/sign-in/passkey/begin', {});
    const options = { challenge: body.options.challenge, rp: { id: 'localhost' } };
    const response = new Authenticator(ORIGIN).register(options);
    expect(codeOf(await browser.post('/auth/passkeys/add', { name: 'X', response }))).toEqual([401, 'not_signed_in']);
    expect(codeOf(await anyBrowser().post('/auth/passkeys/add', { name: 'X', response }))).toEqual([
      401,
      'not_signed_in',
    ]);
  });
});

describe('second factors', () => {
  it('are recorded in the audit log of each tenant of the person', async () => {
    const tenant = await service.tenant();
    const person = await withCodes({ memberships: [{ tenantId: tenant.id, role: 'owner' }] });
    for (const code of [codeAt(person.uri), person.recoveryCodes[0]])
      await (await halfway(person)).post('/auth/sign-in/code', { code });
    await person.browser.post('/auth/codes/remove', { password: person.password });
    const entries = await service.app.store.db
      .collection('audit_log')
      .find({ tenantId: tenant.id })
      .sort({ order: 1 })
      .project<{ action: string; details: object }>({ action: 1, details: 1 })
      .toArray();
    expect(entries.map(({ action, details }) => [action, details])).toEqual([
      ['member.joined', { role: 'owner' }],
      ['member.codes_added', {}],
      ['member.signed_in', { by: 'password and code' }],
      ['member.signed_in', { by: 'password and recovery code' }],
      ['member.codes_removed', {}],
    ]);
  });

  it('of pages of other sites change nothing', async () => {
    const { browser, password } = await signedIn(service, {}, anyBrowser());
    const foreign = new Browser(service.url, { Origin: 'https://evil.example', 'Sec-Fetch-Site': 'cross-site' });
    for (const [name, value] of browser.cookies) foreign.cookies.set(name, value);
    for (const path of ['codes/begin', 'codes/confirm', 'codes/remove', 'codes/recovery', 'passkeys/begin'])
      expect(codeOf(await foreign.post(`/auth/${path}`, { password }))).toEqual([403, 'insufficient_scope']);
    expect((await browser.request('GET', '/auth/second-factors')).body.hasCodes).toBe(false);
  });

  it('are told to nobody who is not signed in', async () => {
    expect(codeOf(await anyBrowser().request('GET', '/auth/second-factors'))).toEqual([401, 'not_signed_in']);
    const { password } = await signedIn(service, {}, anyBrowser());
    for (const path of ['codes/begin', 'codes/remove', 'codes/recovery', 'passkeys/begin'])
      expect(codeOf(await anyBrowser().post(`/auth/${path}`, { password }))).toEqual([401, 'not_signed_in']);
  });
});
