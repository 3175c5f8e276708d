import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createAccounts } from '../../src/adapters/accounts/accounts.ts';
import { createLibrary, type Library } from '../../src/adapters/accounts/library.ts';
import { createOwnAccount } from '../../src/adapters/accounts/own-account.ts';
import { createSecondFactors } from '../../src/adapters/accounts/second-factors.ts';
import type { Accounts, BrowserFacts, OwnAccount, SecondFactors } from '../../src/domain/person/ports.ts';
import { createCodeTries } from '../../src/storage/code-tries.ts';
import type { Store } from '../../src/storage/connect.ts';
import { Authenticator, codeAt, earlierCode } from '../support/authenticator.ts';
import { openTestStore } from '../support/store.ts';

/**
 * What an account relies on is changed while the library is about to begin a session: it has compared everything by then.
 * Whoever changed it has ended the sessions that there were, and this one must not be left.
 */

const ORIGIN = 'http://localhost';
const PASSWORD = 'correct horse battery';
const NOBODY: BrowserFacts = { cookie: undefined, userAgent: undefined, address: '192.0.2.1' };

let store: Store;
let library: Library;
let accounts: Accounts;
let ownAccount: OwnAccount;
let factors: SecondFactors;
/** What happens when the next session is about to begin. */
let meanwhile: (() => Promise<unknown>) | null = null;

beforeAll(async () => {
  store = await openTestStore('sign-in-under-way');
  library = createLibrary({
    client: store.client,
    db: store.db,
    publicUrl: ORIGIN,
    secrets: [{ version: 1, value: 'a secret of this test, which is long enough' }],
    sendReset: () => undefined,
    warn: () => undefined,
  });
  accounts = createAccounts(library);
  ownAccount = createOwnAccount(library);
  factors = createSecondFactors(library, async () => true, createCodeTries(store.db));
  const { internalAdapter } = await library.auth.$context;
  const begin = internalAdapter.createSession;
  internalAdapter.createSession = async (...input) => {
    const happens = meanwhile;
    meanwhile = null;
    await happens?.();
    return begin(...input);
  };
  return () => store.close();
});
beforeEach(() => {
  meanwhile = null;
});

let people = 0;
/** Somebody with an account, who is signed in. */
async function person() {
  const email = `person${++people}@example.com`;
  await accounts.create({ email, name: 'Amina', password: PASSWORD }, true);
  const browser = await signIn(email);
  const { person: made } = await sessionOf(browser);
  return { ...made, browser };
}

/** The browser of an answer. */
const after = (answer: { cookies: readonly string[] }, before: BrowserFacts = NOBODY): BrowserFacts => {
  const cookies = new Map(before.cookie?.split('; ').map((each) => each.split(/=(.*)/s) as [string, string]));
  for (const each of answer.cookies) {
    const [name = '', value = ''] = each.slice(0, each.indexOf(';')).split(/=(.*)/s);
    cookies.set(name, value);
  }
  return { ...NOBODY, cookie: [...cookies].map(([name, value]) => `${name}=${value}`).join('; ') };
};

async function signIn(email: string, password = PASSWORD): Promise<BrowserFacts> {
  const begun = await accounts.signIn({ email, password }, NOBODY);
  if (begun === null) throw new Error('the password is wrong');
  return after(begun);
}

async function sessionOf(browser: BrowserFacts) {
  const found = await accounts.session(browser);
  if (found === null) throw new Error('nobody is signed in');
  return found.result;
}

/** @returns the browser, whose session was replaced, and where the codes come from */
async function addCodes(browser: BrowserFacts) {
  const { uri } = await factors.beginCodes(PASSWORD, browser);
  return { uri, browser: after(await factors.confirmCodes(await earlierCode(uri), browser), browser) };
}

async function addPasskey(browser: BrowserFacts) {
  const begun = await factors.beginPasskey(PASSWORD, browser);
  const authenticator = new Authenticator(ORIGIN);
  const response = authenticator.register(begun.result as Parameters<Authenticator['register']>[0]);
  const { id } = await factors.addPasskey('A key', response, after(begun, browser));
  return { id, authenticator };
}

async function signInWith(authenticator: Authenticator) {
  const begun = await factors.beginPasskeySignIn(NOBODY);
  const response = authenticator.signIn(begun.result as Parameters<Authenticator['signIn']>[0]);
  return factors.signInWithPasskey(response, after(begun));
}

/** A new password by mail. */
async function reset(personId: string) {
  const { internalAdapter } = await library.auth.$context;
  const expiresAt = new Date(Date.now() + 60_000);
  await internalAdapter.createVerificationValue({ identifier: 'reset-password:mailed', value: personId, expiresAt });
  await accounts.resetPassword('mailed', 'violet anchor seven drums');
}

async function changeAddress(email: string, browser: BrowserFacts) {
  const begun = await ownAccount.beginNewAddress(email, PASSWORD, browser);
  if (begun.refusal !== null) throw new Error(begun.refusal);
  expect((await ownAccount.confirmNewAddress(begun.token, browser)).refusal).toBeNull();
}

const sessions = (personId: string) => store.db.collection('person_sessions').countDocuments({ userId: personId });
const refused = (reason: string) => expect.objectContaining({ reason });

describe('a passkey', () => {
  it('that is removed while it signs in begins no session, also if there are others', async () => {
    const { id, browser } = await person();
    const [used, other] = [await addPasskey(browser), await addPasskey(browser)];
    const before = await sessions(id);
    meanwhile = () => factors.removePasskey(used.id, PASSWORD, browser);
    await expect(signInWith(used.authenticator)).rejects.toEqual(refused('wrong_code'));
    expect(await sessions(id)).toBe(before);
    // The other one, while a third is removed.
    const third = await addPasskey(browser);
    meanwhile = () => factors.removePasskey(third.id, PASSWORD, browser);
    expect((await signInWith(other.authenticator)).result.person.id).toBe(id);
  });
});

describe('a code', () => {
  it.each<[string, (each: { id: string; browser: BrowserFacts }) => Promise<unknown>]>([
    ['codes are turned off', ({ browser }) => factors.removeCodes(PASSWORD, browser)],
    [
      'codes are made anew',
      async ({ browser }) => addCodes(after(await factors.removeCodes(PASSWORD, browser), browser)),
    ],
    ['the address changes', ({ browser }) => changeAddress(`changed${++people}@example.com`, browser)],
    ['a password is set by mail', ({ id }) => reset(id)],
  ])('begins no session if %s while it is compared', async (_name, change) => {
    const { id, email, browser } = await person();
    const own = await addCodes(browser);
    const waiting = await signIn(email);
    const left = new Set<number>();
    meanwhile = async () => {
      await change({ id, browser: own.browser });
      left.add(await sessions(id));
    };
    await expect(factors.signInWithCode(codeAt(own.uri), waiting)).rejects.toEqual(refused('ended'));
    expect(left).toEqual(new Set([await sessions(id)]));
  });

  it('that waits begins a session otherwise, whoever made recovery codes anew', async () => {
    const { id, email, browser } = await person();
    const own = await addCodes(browser);
    const waiting = await signIn(email);
    meanwhile = () => factors.newRecoveryCodes(PASSWORD, own.browser);
    expect((await factors.signInWithCode(codeAt(own.uri), waiting)).result.person.id).toBe(id);
  });

  it.each([undefined, '', 'fatoura.two_factor=', 'fatoura.two_factor=%', 'fatoura.two_factor=2fa-x.y; a=b'])(
    'of nobody who waits (%s) is refused',
    async (cookie) => {
      await expect(factors.signInWithCode('123456', { ...NOBODY, cookie })).rejects.toEqual(refused('ended'));
    },
  );
});

describe('a password alone', () => {
  it.each<[string, (each: { id: string; browser: BrowserFacts }) => Promise<unknown>]>([
    ['codes are set up', ({ browser }) => addCodes(browser)],
    ['the address changes', ({ browser }) => changeAddress(`changed${++people}@example.com`, browser)],
    ['a password is set by mail', ({ id }) => reset(id)],
  ])('begins no session if %s while it is compared', async (_name, change) => {
    const { id, email, browser } = await person();
    const left = new Set<number>();
    meanwhile = async () => {
      await change({ id, browser });
      left.add(await sessions(id));
    };
    expect(await accounts.signIn({ email, password: PASSWORD }, NOBODY)).toBeNull();
    expect(left).toEqual(new Set([await sessions(id)]));
  });
});

describe('a password that is set by mail', () => {
  it('leaves no session and no codes to whoever sets them up meanwhile', async () => {
    const { id, email, browser } = await person();
    const { uri } = await factors.beginCodes(PASSWORD, browser);
    meanwhile = () => reset(id);
    await expect(factors.confirmCodes(codeAt(uri), browser)).rejects.toEqual(refused('ended'));
    expect(await sessions(id)).toBe(0);
    const begun = await accounts.signIn({ email, password: 'violet anchor seven drums' }, NOBODY);
    expect(begun?.result.session).not.toBeNull();
  });

  it('leaves no session to whoever turns codes off meanwhile', async () => {
    const { id, browser } = await person();
    const own = await addCodes(browser);
    meanwhile = () => reset(id);
    await expect(factors.removeCodes(PASSWORD, own.browser)).rejects.toEqual(refused('ended'));
    expect(await sessions(id)).toBe(0);
  });

  it('leaves no link to another address to whoever asks for one meanwhile', async () => {
    const { id, browser } = await person();
    const { internalAdapter } = await library.auth.$context;
    const create = internalAdapter.createVerificationValue;
    internalAdapter.createVerificationValue = async (...input) => {
      internalAdapter.createVerificationValue = create;
      await reset(id);
      return create(...input);
    };
    expect(await ownAccount.beginNewAddress('else@example.com', PASSWORD, browser)).toEqual({ refusal: 'ended' });
    expect(await store.db.collection('person_resets').countDocuments({ value: id })).toBe(0);
  });

  it('keeps the address from whoever confirms another one meanwhile', async () => {
    const { id, email, browser } = await person();
    const begun = await ownAccount.beginNewAddress(`thief${++people}@example.com`, PASSWORD, browser);
    if (begun.refusal !== null) throw new Error(begun.refusal);
    const { adapter } = await library.auth.$context;
    const remove = adapter.deleteMany;
    // The links to a new password are removed, one of which has just been used.
    adapter.deleteMany = async (query) => {
      adapter.deleteMany = remove;
      await reset(id);
      return remove(query);
    };
    expect(await ownAccount.confirmNewAddress(begun.token, browser)).toEqual({ refusal: 'ended' });
    const found = await store.db.collection<{ _id: string; email: string }>('people').findOne({ _id: id });
    expect(found?.email).toBe(email);
  });
});
