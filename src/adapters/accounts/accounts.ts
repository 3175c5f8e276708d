import { randomBytes } from 'node:crypto';
import type { Person } from '../../domain/person/person.ts';
import { AccountExists, type Accounts } from '../../domain/person/ports.ts';
import { causeOf, cookieHeader, headersOf, isRefusal, type Library, sessionOf, signedIn, statusOf } from './library.ts';
import { basisOf, endSession } from './sign-in-basis.ts';

/** Maximum time for taking over an account, milliseconds. */
const TAKE_OVER_MS = 60_000;

/**
 * Implements accounts with better-auth (docs/decisions/0057). Does not use its HTTP handler: this service's own routes
 * check input, origin and limits, and call its functions. So an account is created only by an invitation, and there are
 * no redirects.
 */
export function createAccounts({ auth, resetting, creating, forget }: Library): Accounts {
  return {
    async find(email) {
      const found = await (await auth.$context).internalAdapter.findUserByEmail(email);
      return found && { isConfirmed: found.user.emailVerified };
    },
    async create(body, isConfirmed) {
      try {
        await creating.run({ isConfirmed }, () => auth.api.signUpEmail({ body }));
      } catch (error) {
        // The second code: another request has just created the account, so the unique index refused this one.
        if (isRefusal(error, /^(USER_ALREADY_EXISTS|FAILED_TO_CREATE_USER)/)) throw new AccountExists();
        throw error;
      }
    },
    async takeOver({ email, name, password }) {
      const { internalAdapter, password: hashes } = await auth.$context;
      const { id } = await personOf(email);
      const hash = (await internalAdapter.findCredentialAccount(id))?.password;
      if (hash && (await hashes.verify({ hash, password }))) return null;
      // Uses a reset link of its own, so that one place decides what a new password removes.
      const token = randomBytes(24).toString('base64url');
      await internalAdapter.createVerificationValue({
        identifier: resetIdentifier(token),
        value: id,
        expiresAt: new Date(Date.now() + TAKE_OVER_MS),
      });
      // Null: a password was set by mail meanwhile. The password given here is then compared at sign-in, as for any
      // account.
      const person = await setPassword(token, password);
      if (person !== null) await internalAdapter.updateUser(id, { name });
      return { id, email, name };
    },
    async signIn(body, browser) {
      const basis = async () => basisOf(auth, await personWith(body.email));
      try {
        const before = await basis();
        const { headers, response } = await auth.api.signInEmail({
          body,
          headers: headersOf({ ...browser, cookie: undefined }),
          returnHeaders: true,
        });
        const cookies = headers.getSetCookie();
        // Also if a second factor was set up meanwhile: the password alone must not begin a session then.
        if ((await basis()) !== before) {
          await endSession(auth, cookieHeader(headers), browser);
          return null;
        }
        // The plugin for codes replaces the response, but its type does not say so.
        if ('twoFactorRedirect' in response)
          return { result: { person: await personOf(body.email), session: null }, cookies };
        const session = await sessionOf(auth, cookieHeader(headers), browser);
        if (session === null) throw new Error(`the session of ${response.user.id} ended at once`);
        return { result: { person: session.person, session }, cookies };
      } catch (error) {
        if (isRefusal(error, /^INVALID_/)) return null;
        throw error;
      }
    },
    async signOut(browser) {
      const { headers } = await auth.api.signOut({ headers: headersOf(browser), returnHeaders: true });
      // The library only logs a failure of the store, so the session is checked.
      if (browser.cookie !== undefined && (await sessionOf(auth, browser.cookie, browser)))
        throw new Error('the session could not be ended');
      return { result: undefined, cookies: headers.getSetCookie() };
    },
    async session(browser) {
      if (browser.cookie === undefined) return null;
      try {
        const { headers, response } = await auth.api.getSession({ headers: headersOf(browser), returnHeaders: true });
        return response === null ? null : { result: signedIn(response), cookies: headers.getSetCookie() };
      } catch (error) {
        // The session was signed out while it was being prolonged.
        if (statusOf(error) === 401) return null;
        throw causeOf(error);
      }
    },
    async changePassword(change, browser) {
      try {
        const { headers, response } = await auth.api.changePasswordOnce({
          body: change,
          headers: headersOf(browser),
          returnHeaders: true,
        });
        await forget(response.personId, { factorsToo: false });
        return { result: true, cookies: headers.getSetCookie() };
      } catch (error) {
        if (isRefusal(error, /^(UNAUTHORIZED|SESSION_)/) || statusOf(error) === 401) return null;
        if (isRefusal(error, /^INVALID_PASSWORD$/)) return false;
        throw error;
      }
    },
    async confirm(password, browser) {
      const headers = headersOf(browser);
      // Before the comparison, so that its time is not counted.
      const passwordAt = new Date();
      const found = await auth.api.getSession({ headers });
      if (found === null) return 'ended';
      try {
        await auth.api.verifyPassword({ body: { password }, headers });
      } catch (error) {
        if (isRefusal(error, /^INVALID_PASSWORD$/)) return 'wrong_password';
        if (statusOf(error) === 401) return 'ended';
        throw causeOf(error);
      }
      const { adapter } = await auth.$context;
      // A new password that was set meanwhile has ended the session, so nothing is found.
      const where = [{ field: 'id', value: found.session.id }];
      const noted = await adapter.updateMany({ model: 'session', where, update: { passwordAt } });
      return noted === 0 ? 'ended' : 'confirmed';
    },
    async requestReset(email) {
      await auth.api.requestPasswordReset({ body: { email } });
    },
    async personOfReset(token) {
      const { internalAdapter } = await auth.$context;
      const found = await internalAdapter.findVerificationValue(resetIdentifier(token));
      if (!found || found.expiresAt < new Date()) return null;
      const person = await internalAdapter.findUserById(found.value);
      return person && { id: person.id, email: person.email, name: person.name };
    },
    resetPassword: setPassword,
  };

  /** Implements `Accounts.resetPassword`. */
  async function setPassword(token: string, newPassword: string): Promise<Person | null> {
    const reset: { person: Person | null } = { person: null };
    try {
      await resetting.run(reset, () => auth.api.resetPassword({ body: { token, newPassword } }));
    } catch (error) {
      if (isRefusal(error, /^(INVALID_TOKEN|USER_NOT_FOUND)$/)) return null;
      throw error;
    }
    if (reset.person === null) throw new Error('the library did not report whose password was set');
    return reset.person;
  }

  /** Returns the id of the person with this address; null if there is none. */
  async function personWith(address: string): Promise<string | null> {
    return (await (await auth.$context).internalAdapter.findUserByEmail(address))?.user.id ?? null;
  }

  async function personOf(address: string): Promise<Person> {
    const found = await (await auth.$context).internalAdapter.findUserByEmail(address);
    if (found === null) throw new Error('an account that was just signed in to is gone');
    const { id, email, name } = found.user;
    return { id, email, name };
  }
}

/** Returns the library's identifier of a link to a new password. */
function resetIdentifier(token: string): string {
  return `reset-password:${token}`;
}
