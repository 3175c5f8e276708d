import { beforeAll, describe, expect, it } from 'vitest';
import { PROOF_MS } from '../../src/domain/person/limits.ts';
import type { Role } from '../../src/domain/person/person.ts';
import { SPECIMEN_SELLER } from '../../src/domain/tenant/tenant.ts';
import { Authenticator, codeAt, earlierCode } from '../support/authenticator.ts';
import { Client } from '../support/client.ts';
import { CREATION } from '../support/graphql-access.ts';
import { Browser, passwordOf, signedIn } from '../support/person.ts';
import { startTakingLive, type TestService, type TestTenant } from '../support/service.ts';

// People who create live documents (docs/decisions/0079).

const ORIGIN = 'http://localhost';
let service: TestService;
let tenant: TestTenant;
beforeAll(async () => {
  service = await startTakingLive({ RATE_LIMIT_ADDRESS: '1000000', PUBLIC_URL: ORIGIN });
  tenant = await service.tenant(SPECIMEN_SELLER);
  return () => service.close();
});

const member = (role: Role) => signedIn(service, { memberships: [{ tenantId: tenant.id, role }] });
const sessions = () => service.app.store.db.collection('person_sessions');

/** Lets a person's sessions have begun so long ago that their password no longer suffices. */
async function grownOld(personId: string): Promise<void> {
  const createdAt = new Date(Date.now() - PROOF_MS - 1000);
  await sessions().updateMany({ userId: personId }, [
    { $set: { createdAt, passwordAt: { $cond: ['$passwordAt', createdAt, null] } } },
  ]);
}

/** What creating an invoice leads to: the type of the answer, or the status and the code of a refusal. */
async function created(browser: Browser, environment: 'test' | 'live' = 'live', key?: string): Promise<unknown> {
  const client = new Client(service.url, browser.credential(tenant.id, environment));
  const args = `input: ${CREATION}${key ? `, idempotencyKey: "${key}"` : ''}`;
  const { body } = await client.graphql(`mutation { createInvoice(${args}) { __typename } }`);
  const refusal = body.errors?.[0].extensions;
  return refusal ? `${refusal.status} ${refusal.code}` : body.data.createInvoice.__typename;
}

const DONE = 'CreateInvoicePayload';
const UNPROVEN = '403 confirmation_required';

describe('live documents', () => {
  it('are created by billers and owners; developers create those of the test environment', async () => {
    const roles = ['viewer', 'biller', 'developer', 'owner'] as const;
    const found = await Promise.all(
      roles.map(async (role) => {
        const { browser } = await member(role);
        return [role, await created(browser, 'test'), await created(browser, 'live')];
      }),
    );
    const refused = '403 insufficient_scope';
    expect(found).toEqual([
      ['viewer', refused, refused],
      ['biller', DONE, DONE],
      ['developer', DONE, refused],
      ['owner', DONE, DONE],
    ]);
  });

  it('need the password again after 15 minutes, which then suffices for as long', async () => {
    const { browser, id, password } = await member('biller');
    await grownOld(id);
    expect(await created(browser, 'live', 'step-up')).toBe(UNPROVEN);
    expect(await created(browser, 'test')).toBe(DONE);
    const credit = 'mutation { creditInvoice(invoiceId: "inv_x", input: { reason: error }) { __typename } }';
    const client = new Client(service.url, browser.credential(tenant.id, 'live'));
    expect((await client.graphql(credit)).body.errors[0].extensions.code).toBe('confirmation_required');
    expect((await browser.post('/auth/confirm', { password })).status).toBe(204);
    expect(await created(browser, 'live', 'step-up')).toBe(DONE);
    expect((await client.graphql(credit)).body.data.creditInvoice.__typename).toBe('NotFoundError');
    await grownOld(id);
    expect(await created(browser)).toBe(UNPROVEN);
  });

  it('are not created by a refused request', async () => {
    const { browser, id } = await member('owner');
    await grownOld(id);
    const invoices = service.app.store.db.collection('invoices');
    const before = await invoices.countDocuments({ tenantId: tenant.id });
    expect(await created(browser)).toBe(UNPROVEN);
    expect(await invoices.countDocuments({ tenantId: tenant.id })).toBe(before);
  });

  it('need nothing more in a session that was begun with a code, or in which codes were set up', async () => {
    const { browser, id, email, password } = await member('biller');
    const { uri, recoveryCodes } = (await browser.post('/auth/codes/begin', { password })).body;
    expect((await browser.post('/auth/codes/confirm', { code: await earlierCode(uri) })).status).toBe(204);
    await grownOld(id);
    expect(await created(browser)).toBe(DONE);
    for (const code of [codeAt(uri), recoveryCodes[0]]) {
      const other = new Browser(service.url);
      await other.post('/auth/sign-in', { email, password });
      expect((await other.post('/auth/sign-in/code', { code })).status).toBe(200);
      await grownOld(id);
      expect(await created(other)).toBe(DONE);
    }
    // Without the codes, the session is one like those that a password begins.
    expect((await browser.post('/auth/codes/remove', { password })).status).toBe(204);
    expect(await created(browser)).toBe(DONE);
    await grownOld(id);
    expect(await created(browser)).toBe(UNPROVEN);
  });

  it('need nothing more in a session that was begun with a passkey', async () => {
    const { browser, id, password } = await member('biller');
    const begun = await browser.post('/auth/passkeys/begin', { password });
    const authenticator = new Authenticator(ORIGIN);
    const response = authenticator.register(begun.body.options);
    expect((await browser.post('/auth/passkeys/add', { name: 'Telephone', response })).status).toBe(201);
    const other = new Browser(service.url);
    const { options } = (await other.post('/auth/sign-in/passkey/begin', {})).body;
    const answer = await other.post('/auth/sign-in/passkey', { response: authenticator.signIn(options) });
    expect(answer.status).toBe(200);
    await grownOld(id);
    expect(await created(other)).toBe(DONE);
    expect(await created(browser)).toBe(UNPROVEN);
  });
});

describe('the password of a signed-in person', () => {
  it('confirms the session in which it is entered, and no other one', async () => {
    const [person, colleague] = [await member('biller'), await member('biller')];
    const { email, password } = person;
    const other = new Browser(service.url);
    await other.post('/auth/sign-in', { email, password });
    await Promise.all([person, colleague].map(({ id }) => grownOld(id)));
    expect((await person.browser.post('/auth/confirm', { password })).status).toBe(204);
    expect(await created(person.browser)).toBe(DONE);
    expect(await created(other)).toBe(UNPROVEN);
    expect(await created(colleague.browser)).toBe(UNPROVEN);
  });

  it('is refused if it is wrong, another person’s, malformed, from another site, or nobody is signed in', async () => {
    const [{ browser, id }, stranger] = [await member('biller'), await member('biller')];
    await grownOld(id);
    const confirm = async (body: unknown, by = browser) => {
      const answer = await by.post('/auth/confirm', body);
      return [answer.status, answer.body.error?.code];
    };
    for (const password of ['wrong', stranger.password])
      expect(await confirm({ password })).toEqual([401, 'invalid_credentials']);
    for (const body of [{}, { password: 'x'.repeat(129) }, { password: 1 }, { password: 'x', more: 1 }, []])
      expect(await confirm(body)).toEqual([400, 'invalid_request']);
    expect(await confirm({ password: 'x' }, new Browser(service.url))).toEqual([401, 'not_signed_in']);
    const foreign = new Browser(service.url, { Origin: 'https://evil.example', 'Sec-Fetch-Site': 'cross-site' });
    for (const [name, value] of browser.cookies) foreign.cookies.set(name, value);
    const { email } = (await browser.session()).body.person;
    expect(await confirm({ password: passwordOf(email) }, foreign)).toEqual([403, 'insufficient_scope']);
    expect(await created(browser)).toBe(UNPROVEN);
  });

  it('is guessed as often as at signing in, and both count together', async () => {
    const { browser, email, password, id } = await member('biller');
    await grownOld(id);
    const statuses: number[] = [];
    // The invitation was an attempt.
    for (let n = 0; n < 19; n++) statuses.push((await browser.post('/auth/confirm', { password: `${n}` })).status);
    expect(new Set(statuses)).toEqual(new Set([401]));
    const locked = await browser.post('/auth/confirm', { password });
    expect([locked.status, Number(locked.headers.get('retry-after')) > 0]).toEqual([429, true]);
    expect((await new Browser(service.url).post('/auth/sign-in', { email, password })).status).toBe(429);
    expect(await created(browser)).toBe(UNPROVEN);
  });

  it('confirms nothing in a session that has ended', async () => {
    const { browser, id, password } = await member('biller');
    await sessions().deleteMany({ userId: id });
    expect((await browser.post('/auth/confirm', { password })).status).toBe(401);
    expect(await sessions().countDocuments({ userId: id })).toBe(0);
  });
});
