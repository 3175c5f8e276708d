import { MAX_PASSKEYS } from '../../domain/person/limits.ts';
import {
  type BrowserFacts,
  type CodeTries,
  type Passkey,
  type SecondFactorRefusal,
  SecondFactorRefused,
  type SecondFactors,
} from '../../domain/person/ports.ts';
import { causeOf, codeOf, cookieHeader, headersOf, type Library, sessionOf, statusOf } from './library.ts';
import { basisOf, endOtherSessions, endSession, waitingPerson } from './sign-in-basis.ts';

/** A passkey as the library stores it. */
interface StoredPasskey {
  readonly id: string;
  readonly name?: string | undefined;
  readonly createdAt: Date;
}

/** A response of an authenticator. The library checks it before it trusts it. */
type AuthenticatorAnswer = NonNullable<
  Parameters<Library['auth']['api']['verifyPasskeyAuthentication']>[0]
>['body']['response'];

/** The library's error codes and this service's refusals for them. Any other error is a failure. */
const REFUSALS: readonly (readonly [RegExp, SecondFactorRefusal])[] = [
  [/^INVALID_PASSWORD$/, 'wrong_password'],
  [/^(INVALID_CODE|INVALID_BACKUP_CODE|AUTHENTICATION_FAILED|FAILED_TO_VERIFY_REGISTRATION)$/, 'wrong_code'],
  // Two sign-ins used the same recovery code at the same time, and the other one was faster.
  [/^CONFLICT$/, 'wrong_code'],
  // A removed passkey, or one that never existed: the person only learns that it does not work.
  [/^PASSKEY_NOT_FOUND$/, 'wrong_code'],
  [/^(INVALID_TWO_FACTOR_COOKIE|TOO_MANY_ATTEMPTS_REQUEST_NEW_CODE|CHALLENGE_NOT_FOUND)$/, 'ended'],
  [/^(UNAUTHORIZED|SESSION_.*|YOU_ARE_NOT_ALLOWED_TO_REGISTER_THIS_PASSKEY)$/, 'ended'],
  [/^TOTP_ALREADY_ENABLED$/, 'exists'],
  [/^(TOTP_NOT_ENABLED|BACKUP_CODES_NOT_ENABLED|TWO_FACTOR_NOT_ENABLED)$/, 'none'],
];

/**
 * Implements second factors with the library's plugins (docs/decisions/0062).
 * @param isFirstUse returns whether this person's code is used for the first time, and records the use. The library
 * alone would accept a code twice (RFC 6238, section 5.2)
 * @param tries counts codes before they are compared at sign-in. The library would count them afterwards
 */
export function createSecondFactors(
  { auth, proving }: Library,
  isFirstUse: (personId: string, code: string) => Promise<boolean>,
  tries: CodeTries,
): SecondFactors {
  async function stored() {
    return (await auth.$context).adapter;
  }

  async function passkeysOf(personId: string): Promise<StoredPasskey[]> {
    return (await stored()).findMany<StoredPasskey>({
      model: 'passkey',
      where: [{ field: 'userId', value: personId }],
      sortBy: { field: 'createdAt', direction: 'asc' },
      limit: MAX_PASSKEYS,
    });
  }

  async function checkPassword(password: string, headers: Headers): Promise<void> {
    await auth.api.verifyPassword({ body: { password }, headers });
  }

  return {
    stateOf: refusing(async (person, browser) => {
      const session = await auth.api.getSession({ headers: headersOf(browser) });
      const hasCodes = session?.user.twoFactorEnabled === true;
      const [left, passkeys] = await Promise.all([
        hasCodes ? auth.api.viewBackupCodes({ body: { userId: person.id } }) : null,
        passkeysOf(person.id),
      ]);
      return { hasCodes, recoveryCodesLeft: left?.backupCodes.length ?? 0, passkeys: passkeys.map(shown) };
    }),
    beginCodes: refusing(async (password, browser) => {
      const body = { password, method: 'totp' } as const;
      const made = await auth.api.enableTwoFactor({ body, headers: headersOf(browser) });
      if (made.method !== 'totp') throw new Error('the library made no codes of an authenticator');
      return { uri: made.totpURI, recoveryCodes: made.backupCodes };
    }),
    confirmCodes: refusing(async (code, browser) => {
      const asked = headersOf(browser);
      const session = await auth.api.getSession({ headers: asked });
      if (session === null) throw new SecondFactorRefused('ended');
      // With codes set up already, the library would check any number of guesses.
      if (session.user.twoFactorEnabled) throw new SecondFactorRefused('exists');
      // Before the code is checked, so that of two concurrent requests with the same code only one succeeds.
      if (!(await isFirstUse(session.user.id, code))) throw new SecondFactorRefused('wrong_code');
      const before = await passwordOf(session.user.id);
      const { headers } = await proving.run({ hasSecondFactor: true }, () =>
        auth.api.verifyTOTP({ body: { code }, headers: asked, returnHeaders: true }),
      );
      if ((await passwordOf(session.user.id)) !== before) {
        // The codes belong to the person who was signed in before the new password. It has ended this session, but not
        // the session that the library made to replace it.
        await removeCodesOf(session.user.id);
        return endedMeanwhile(headers, browser);
      }
      await endOthers(cookieHeader(headers), browser);
      return { result: undefined, cookies: headers.getSetCookie() };
    }),
    removeCodes: refusing(async (password, browser) => {
      const asked = headersOf(browser);
      const personId = (await auth.api.getSession({ headers: asked }))?.user.id;
      if (personId === undefined) throw new SecondFactorRefused('ended');
      const before = await passwordOf(personId);
      // The session continues as one that a password began.
      const { headers } = await proving.run({ hasSecondFactor: false }, () =>
        auth.api.disableTwoFactor({ body: { password }, headers: asked, returnHeaders: true }),
      );
      if ((await passwordOf(personId)) !== before) return endedMeanwhile(headers, browser);
      await endOthers(cookieHeader(headers), browser);
      return { result: undefined, cookies: headers.getSetCookie() };
    }),
    newRecoveryCodes: refusing(async (password, browser) => {
      const { backupCodes } = await auth.api.generateBackupCodes({ body: { password }, headers: headersOf(browser) });
      return backupCodes;
    }),
    signInWithCode: refusing(async (code, browser) => {
      // Leaves out a session that the browser may have: the library would check the code of that session's account.
      const headers = headersOf({ ...browser, cookie: withoutSession(browser.cookie) });
      const asked = { body: { code }, headers, returnHeaders: true } as const;
      const waiting = await waitingPerson(auth, browser.cookie);
      const before = await basisOf(auth, waiting);
      if (waiting === null || before === null) throw new SecondFactorRefused('ended');
      if (!(await tries.take(waiting))) throw new SecondFactorRefused('locked');
      const compare = isOfAuthenticator(code) ? auth.api.verifyTOTP : auth.api.verifyBackupCode;
      const { headers: answered } = await proving
        .run({ hasSecondFactor: true }, () => compare(asked))
        .catch(async (error: unknown) => {
          // Any refusal other than `wrong_code` means that nothing was compared. A failure may have come after the
          // comparison.
          const reason = refusalOf(error);
          if (reason !== null && reason !== 'wrong_code') await tries.giveBack(waiting);
          throw error;
        });
      if ((await basisOf(auth, waiting)) !== before) return endedMeanwhile(answered, browser);
      const session = await begun(answered, browser);
      if (await isFirstUse(waiting, code)) {
        await tries.clear(waiting);
        return session;
      }
      await endSession(auth, cookieHeader(answered), browser);
      throw new SecondFactorRefused('wrong_code');
    }),
    beginPasskey: refusing(async (password, browser) => {
      const headers = headersOf(browser);
      await checkPassword(password, headers);
      const session = await auth.api.getSession({ headers });
      if (session === null) throw new SecondFactorRefused('ended');
      if ((await passkeysOf(session.user.id)).length >= MAX_PASSKEYS) throw new SecondFactorRefused('too_many');
      const { headers: answered, response } = await auth.api.generatePasskeyRegistrationOptions({
        headers,
        returnHeaders: true,
      });
      return { result: response, cookies: answered.getSetCookie() };
    }),
    addPasskey: refusing(async (name, response, browser) => {
      const headers = headersOf(browser);
      const passkey = (await auth.api.verifyPasskeyRegistration({
        body: { name, response },
        headers,
      })) as StoredPasskey;
      // A new password set meanwhile has ended the session, and may have removed only the passkeys that existed then.
      if ((await auth.api.getSession({ headers })) === null) {
        await (await stored()).delete({ model: 'passkey', where: [{ field: 'id', value: passkey.id }] });
        throw new SecondFactorRefused('ended');
      }
      return shown(passkey);
    }),
    removePasskey: refusing(async (id, password, browser) => {
      const headers = headersOf(browser);
      await checkPassword(password, headers);
      try {
        await auth.api.deletePasskey({ body: { id }, headers });
      } catch (error) {
        // Another person's passkey is reported as one that does not exist.
        throw codeOf(error) === 'PASSKEY_NOT_FOUND' || statusOf(error) === 401
          ? new SecondFactorRefused('none')
          : error;
      }
      await endOthers(browser.cookie ?? '', browser);
    }),
    beginPasskeySignIn: refusing(async (browser) => {
      const { headers, response } = await auth.api.generatePasskeyAuthenticationOptions({
        headers: headersOf({ ...browser, cookie: undefined }),
        returnHeaders: true,
      });
      // The library only prefers verification of the person. Without it, a passkey proves possession alone.
      return { result: { ...response, userVerification: 'required' }, cookies: headers.getSetCookie() };
    }),
    signInWithPasskey: refusing(async (response, browser) => {
      const { headers } = await proving.run({ hasSecondFactor: true }, () =>
        auth.api.verifyPasskeyAuthentication({
          body: { response: response as AuthenticatorAnswer },
          headers: headersOf({ ...browser, cookie: withoutSession(browser.cookie) }),
          returnHeaders: true,
        }),
      );
      const session = await begun(headers, browser);
      // Checks that this passkey still exists: it may have been removed meanwhile.
      const where = [
        { field: 'userId', value: session.result.person.id },
        { field: 'credentialID', value: (response as AuthenticatorAnswer).id },
      ];
      if ((await (await stored()).count({ model: 'passkey', where })) > 0) return session;
      await endSession(auth, cookieHeader(headers), browser);
      throw new SecondFactorRefused('wrong_code');
    }),
  };

  /** Ends a session that was just begun or replaced, because the password or codes have changed meanwhile. */
  async function endedMeanwhile(answered: Headers, browser: BrowserFacts): Promise<never> {
    await endSession(auth, cookieHeader(answered), browser);
    throw new SecondFactorRefused('ended');
  }

  /**
   * Ends the other sessions of the person who is signed in by these cookies: those sessions may have begun without the
   * current second factors.
   */
  async function endOthers(cookie: string, browser: BrowserFacts): Promise<void> {
    const kept = await sessionOf(auth, cookie, browser);
    if (kept) await endOtherSessions(auth, kept.person.id, kept.sessionId);
  }

  async function removeCodesOf(personId: string): Promise<void> {
    const { adapter, internalAdapter } = await auth.$context;
    await internalAdapter.updateUser(personId, { twoFactorEnabled: false });
    await adapter.deleteMany({ model: 'twoFactor', where: [{ field: 'userId', value: personId }] });
  }

  /** Returns the hash of a person's password. */
  async function passwordOf(personId: string): Promise<string | null | undefined> {
    return (await (await auth.$context).internalAdapter.findCredentialAccount(personId))?.password;
  }

  async function begun(answered: Headers, browser: BrowserFacts) {
    const session = await sessionOf(auth, cookieHeader(answered), browser);
    if (session === null) throw new SecondFactorRefused('ended');
    return { result: session, cookies: answered.getSetCookie() };
  }
}

function shown({ id, name, createdAt }: StoredPasskey): Passkey {
  return { id, name: name ?? '', createdAt: new Date(createdAt) };
}

/** Whether a code is from an authenticator. Recovery codes have a hyphen. */
function isOfAuthenticator(code: string): boolean {
  return /^\d+$/.test(code);
}

/** Returns a browser's cookies without its session cookie. */
function withoutSession(cookie: string | undefined): string | undefined {
  return cookie
    ?.split('; ')
    .filter((each) => !/\.session_(token|data)=/.test(each))
    .join('; ');
}

/** Wraps a method: turns those errors of the library that the client causes into refusals. */
function refusing<Input extends unknown[], Result>(
  method: (...input: Input) => Promise<Result>,
): (...input: Input) => Promise<Result> {
  return async (...input) => {
    try {
      return await method(...input);
    } catch (error) {
      const reason = refusalOf(error);
      if (reason !== null) throw new SecondFactorRefused(reason);
      throw causeOf(error);
    }
  };
}

/** Returns why the library refused; null if the error is a failure. */
function refusalOf(error: unknown): SecondFactorRefusal | null {
  const code = codeOf(error);
  return code === null ? null : (REFUSALS.find(([pattern]) => pattern.test(code))?.[1] ?? null);
}
