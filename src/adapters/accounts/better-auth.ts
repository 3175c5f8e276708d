import { AsyncLocalStorage } from 'node:async_hooks';
import { randomUUID } from 'node:crypto';
import { mongodbAdapter } from '@better-auth/mongo-adapter';
import { betterAuth } from 'better-auth';
import { APIError } from 'better-auth/api';
import type { Db, MongoClient } from 'mongodb';
import { newId } from '../../domain/ids.ts';
import { MAX_PASSWORD, MIN_PASSWORD, RESET_MS, SESSION_MS } from '../../domain/person/limits.ts';
import type { Person, SignedIn } from '../../domain/person/person.ts';
import { AccountExists, type Accounts, type BrowserFacts } from '../../domain/person/ports.ts';

export interface AccountParts {
  readonly client: MongoClient;
  readonly db: Db;
  /** Signs the cookies. Another secret ends all sessions. */
  readonly secret: string;
  /** The service's address; its scheme decides whether browsers send the cookies over TLS only. */
  readonly publicUrl: string;
  /** Sends the link to a page where a new password is set. Never throws. */
  readonly sendReset: (person: Person, token: string) => void;
  readonly warn: (message: string) => void;
}

/** Collections, whose indexes are those of the service (`storage/indexes.ts`). */
const COLLECTIONS = {
  user: 'people',
  session: 'person_sessions',
  account: 'person_passwords',
  verification: 'person_resets',
} as const;

/** A session is prolonged when it is used this long after the last time, seconds. */
const PROLONG_SECONDS = 86_400;

/**
 * Accounts by better-auth (docs/decisions/0057). Its HTTP handler is not used: this service's own paths check input,
 * origin and limits, and call its functions. So only an invitation makes an account, and there are no redirects.
 */
export function createAccounts(parts: AccountParts): Accounts {
  const isSecure = parts.publicUrl.startsWith('https:');
  /** Whose password a call sets: the library tells it in a hook alone. */
  const resetting = new AsyncLocalStorage<{ person: Person | null }>();
  const auth = betterAuth({
    appName: 'Fatoura',
    baseURL: parts.publicUrl,
    basePath: '/auth',
    secret: parts.secret,
    database: mongodbAdapter(parts.db, { client: parts.client }),
    telemetry: { enabled: false },
    // Attempts are counted by the service, over all processes.
    rateLimit: { enabled: false },
    user: { modelName: COLLECTIONS.user },
    session: {
      modelName: COLLECTIONS.session,
      expiresIn: SESSION_MS / 1000,
      updateAge: PROLONG_SECONDS,
    },
    account: { modelName: COLLECTIONS.account },
    verification: { modelName: COLLECTIONS.verification, storeIdentifier: 'hashed' },
    emailAndPassword: {
      enabled: true,
      autoSignIn: false,
      minPasswordLength: MIN_PASSWORD,
      maxPasswordLength: MAX_PASSWORD,
      resetPasswordTokenExpiresIn: RESET_MS / 1000,
      revokeSessionsOnPasswordReset: true,
      onPasswordReset: async ({ user: { id, email, name } }) => {
        const reset = resetting.getStore();
        if (reset) reset.person = { id, email, name };
      },
      sendResetPassword: async ({ user, token }) => parts.sendReset(user, token),
    },
    advanced: {
      // `__Host-`: no neighbouring subdomain can set it. The library would only prepend `__Secure-`.
      cookiePrefix: isSecure ? '__Host-fatoura' : 'fatoura',
      useSecureCookies: false,
      defaultCookieAttributes: { httpOnly: true, sameSite: 'strict', path: '/', secure: isSecure },
      database: { generateId: ({ model }) => (model === 'user' ? newId('per') : randomUUID()) },
      ipAddress: { ipAddressHeaders: [ADDRESS_HEADER] },
    },
    logger: {
      level: 'error',
      log: (_level, message) => parts.warn(message),
    },
    databaseHooks: {
      // Only an invitation, which was sent to the address or shown to an operator, makes an account.
      user: { create: { before: async (user) => ({ data: { ...user, emailVerified: true } }) } },
    },
  });

  return {
    async create(body) {
      try {
        await auth.api.signUpEmail({ body });
      } catch (error) {
        // The second code: another request has just made it, and the index refused this one.
        if (isRefusal(error, /^(USER_ALREADY_EXISTS|FAILED_TO_CREATE_USER)/)) throw new AccountExists();
        throw error;
      }
    },
    async signIn(body, browser) {
      try {
        const { headers, response } = await auth.api.signInEmail({
          body,
          headers: headersOf({ ...browser, cookie: undefined }),
          returnHeaders: true,
        });
        const session = await sessionOf(cookieHeader(headers), browser);
        if (session === null) throw new Error(`the session of ${response.user.id} ended at once`);
        return { result: session, cookies: headers.getSetCookie() };
      } catch (error) {
        if (isRefusal(error, /^INVALID_/)) return null;
        throw error;
      }
    },
    async signOut(browser) {
      const { headers } = await auth.api.signOut({ headers: headersOf(browser), returnHeaders: true });
      // The library only logs that the store failed.
      if (browser.cookie !== undefined && (await sessionOf(browser.cookie, browser)))
        throw new Error('the session could not be ended');
      return { result: undefined, cookies: headers.getSetCookie() };
    },
    async session(browser) {
      if (browser.cookie === undefined) return null;
      try {
        const { headers, response } = await auth.api.getSession({ headers: headersOf(browser), returnHeaders: true });
        return response === null ? null : { result: signedIn(response), cookies: headers.getSetCookie() };
      } catch (error) {
        // It was signed out while it was prolonged.
        if (statusOf(error) === 401) return null;
        throw causeOf(error);
      }
    },
    async changePassword(change, browser) {
      try {
        const { headers } = await auth.api.changePassword({
          body: { ...change, revokeOtherSessions: true },
          headers: headersOf(browser),
          returnHeaders: true,
        });
        return { result: true, cookies: headers.getSetCookie() };
      } catch (error) {
        if (isRefusal(error, /^(UNAUTHORIZED|SESSION_)/) || statusOf(error) === 401) return null;
        if (isRefusal(error, /^INVALID_PASSWORD$/)) return false;
        throw error;
      }
    },
    async requestReset(email) {
      await auth.api.requestPasswordReset({ body: { email } });
    },
    async resetPassword(token, newPassword) {
      const reset: { person: Person | null } = { person: null };
      try {
        await resetting.run(reset, () => auth.api.resetPassword({ body: { token, newPassword } }));
      } catch (error) {
        if (isRefusal(error, /^(INVALID_TOKEN|USER_NOT_FOUND)$/)) return null;
        throw error;
      }
      if (reset.person === null) throw new Error('the library did not tell whose password was set');
      return reset.person;
    },
  };

  async function sessionOf(cookie: string, browser: BrowserFacts): Promise<SignedIn | null> {
    const found = await auth.api.getSession({ headers: headersOf({ ...browser, cookie }) }).catch((error: unknown) => {
      throw causeOf(error);
    });
    return found && signedIn(found);
  }
}

/** How the client's address, which the service knows better than any header, reaches better-auth. */
const ADDRESS_HEADER = 'x-client-address';

function headersOf({ cookie, userAgent, address }: BrowserFacts): Headers {
  const headers = new Headers({ [ADDRESS_HEADER]: address });
  if (cookie !== undefined) headers.set('cookie', cookie);
  if (userAgent !== undefined) headers.set('user-agent', userAgent.slice(0, 500));
  return headers;
}

/** The cookies of an answer as the next request sends them. */
function cookieHeader(answer: Headers): string {
  return answer
    .getSetCookie()
    .map((each) => each.slice(0, each.indexOf(';')))
    .join('; ');
}

function signedIn({
  user,
  session,
}: {
  readonly user: { readonly id: string; readonly email: string; readonly name: string };
  readonly session: { readonly id: string; readonly expiresAt: Date };
}): SignedIn {
  const { id, email, name } = user;
  return { person: { id, email, name }, sessionId: session.id, expiresAt: session.expiresAt };
}

/** What the library wrapped: the store's error, which tells that the store is away. */
function causeOf(error: unknown): unknown {
  return error instanceof APIError && error.cause instanceof Error ? error.cause : error;
}

function statusOf(error: unknown): number | null {
  return error instanceof APIError ? error.statusCode : null;
}

function isRefusal(error: unknown, code: RegExp): boolean {
  return error instanceof APIError && code.test(String(error.body?.code ?? error.status));
}
