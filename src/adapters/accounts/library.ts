import { AsyncLocalStorage } from 'node:async_hooks';
import { randomUUID } from 'node:crypto';
import { mongodbAdapter } from '@better-auth/mongo-adapter';
import { passkey } from '@better-auth/passkey';
import { betterAuth } from 'better-auth';
import { APIError } from 'better-auth/api';
import { twoFactor } from 'better-auth/plugins/two-factor';
import type { Db, MongoClient } from 'mongodb';
import { newId } from '../../domain/ids.ts';
import { MIN_PASSWORD, PERSON_TEXTS, RESET_MS, SESSION_MS } from '../../domain/person/limits.ts';
import type { Person, SignedIn } from '../../domain/person/person.ts';
import type { BrowserFacts } from '../../domain/person/ports.ts';
import { passwordChange } from './password-change.ts';

interface Secret {
  readonly version: number;
  readonly value: string;
}

export interface LibraryParts {
  readonly client: MongoClient;
  readonly db: Db;
  /**
   * The first secret signs the cookies, so a new first secret ends all sessions. It also encrypts the codes of
   * authenticators; the other secrets decrypt what they encrypted earlier. A `version` must never be reused for another
   * secret.
   */
  readonly secrets: readonly [Secret, ...Secret[]];
  /** The service's address; its scheme decides whether browsers send the cookies over TLS only. */
  readonly publicUrl: string;
  /** Sends the link to a page where a new password is set. Never throws. */
  readonly sendReset: (person: Person, token: string) => void;
  readonly warn: (message: string) => void;
}

/** The library's collections. Their indexes are created by the service (`storage/collection-rules.ts`). */
const COLLECTIONS = {
  user: 'people',
  session: 'person_sessions',
  account: 'person_passwords',
  verification: 'person_resets',
  twoFactor: 'person_codes',
  passkey: 'person_passkeys',
} as const;

/**
 * A session in use is prolonged at most this often, seconds. The list of sessions shows the last use with the same
 * precision.
 */
const PROLONG_SECONDS = 3600;

/** Configures better-auth for this service (docs/decisions/0057), with its plugins for codes and passkeys (0062). */
export function createLibrary(parts: LibraryParts) {
  const isSecure = parts.publicUrl.startsWith('https:');
  /** Receives the person whose password a call sets, because the library passes the person only to a hook. */
  const resetting = new AsyncLocalStorage<{ person: Person | null }>();
  /**
   * Whether the session that a call begins or replaces has a second factor. Outside of `run`, a session that replaces
   * another keeps that one's value.
   */
  const proving = new AsyncLocalStorage<{ readonly hasSecondFactor: boolean }>();
  /** Whether the address of the account that a call creates is confirmed. */
  const creating = new AsyncLocalStorage<{ readonly isConfirmed: boolean }>();

  /**
   * Ends what was begun with an old password: links to a new password, and sign-ins that wait for a code.
   * @param factorsToo whether to remove codes and passkeys too: another person may have created the account, but the
   * person who set the new password has proved that the address is theirs. Sessions stay, because that person may have
   * begun one
   */
  async function forget(userId: string, { factorsToo }: { readonly factorsToo: boolean }): Promise<void> {
    const { adapter, internalAdapter } = await auth.$context;
    await adapter.deleteMany({ model: 'verification', where: [{ field: 'value', value: userId }] });
    if (!factorsToo) return;
    for (const model of ['twoFactor', 'passkey'])
      await adapter.deleteMany({ model, where: [{ field: 'userId', value: userId }] });
    await internalAdapter.updateUser(userId, { twoFactorEnabled: false, emailVerified: true });
  }
  const auth = betterAuth({
    appName: 'Fatoura',
    baseURL: parts.publicUrl,
    basePath: '/auth',
    secrets: [...parts.secrets],
    database: mongodbAdapter(parts.db, { client: parts.client }),
    telemetry: { enabled: false },
    // The service itself counts attempts, over all processes.
    rateLimit: { enabled: false },
    user: { modelName: COLLECTIONS.user },
    session: {
      modelName: COLLECTIONS.session,
      expiresIn: SESSION_MS / 1000,
      updateAge: PROLONG_SECONDS,
      // No session must be fresh: sensitive changes require the password instead.
      freshAge: 0,
      // `signedIn` explains both.
      additionalFields: {
        hasSecondFactor: { type: 'boolean', required: false, input: false },
        passwordAt: { type: 'date', required: false, input: false },
      },
    },
    account: { modelName: COLLECTIONS.account },
    verification: { modelName: COLLECTIONS.verification, storeIdentifier: 'hashed' },
    emailAndPassword: {
      enabled: true,
      autoSignIn: false,
      minPasswordLength: MIN_PASSWORD,
      maxPasswordLength: PERSON_TEXTS.password,
      resetPasswordTokenExpiresIn: RESET_MS / 1000,
      revokeSessionsOnPasswordReset: true,
      onPasswordReset: async ({ user: { id, email, name, emailVerified } }) => {
        await forget(id, { factorsToo: !emailVerified });
        // The library ends sessions before it sets the password, so a sign-in with the old password may have begun one
        // meanwhile.
        await (await auth.$context).internalAdapter.deleteUserSessions(id);
        const reset = resetting.getStore();
        if (reset) reset.person = { id, email, name };
      },
      sendResetPassword: async ({ user, token }) => {
        // Reads the person again: an address that was changed meanwhile must not get a link to the account.
        const person = await (await auth.$context).internalAdapter.findUserById(user.id);
        if (person?.email === user.email) parts.sendReset(user, token);
      },
    },
    advanced: {
      // With `__Host-`, no other subdomain can set the cookie. The library would only prepend `__Secure-`.
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
    plugins: [
      passwordChange(),
      twoFactor({
        schema: { twoFactor: { modelName: COLLECTIONS.twoFactor } },
        // The library counts after the comparison, so codes sent at the same time all pass. `CodeTries` counts before.
        accountLockout: { enabled: false },
      }),
      passkey({
        origin: new URL(parts.publicUrl).origin,
        schema: { passkey: { modelName: COLLECTIONS.passkey } },
        // A passkey replaces both password and code, so the authenticator must verify who uses it.
        authenticatorSelection: { residentKey: 'required', userVerification: 'required' },
        registration: {
          afterVerification: ({ verification }) =>
            requireVerifiedPerson(verification.registrationInfo?.userVerified, 'FAILED_TO_VERIFY_REGISTRATION'),
        },
        authentication: {
          afterVerification: ({ verification }) =>
            requireVerifiedPerson(verification.authenticationInfo.userVerified, 'AUTHENTICATION_FAILED'),
        },
      }),
    ],
    databaseHooks: {
      session: { create: { before: async (session) => ({ data: { ...session, ...proving.getStore() } }) } },
      user: {
        create: {
          before: async (user) => ({ data: { ...user, emailVerified: creating.getStore()?.isConfirmed === true } }),
        },
      },
    },
  });

  return { auth, resetting, creating, proving, forget };
}

export type Library = ReturnType<typeof createLibrary>;

/** Returns the person who is signed in by these cookies; null if nobody is. */
export async function sessionOf(
  auth: Library['auth'],
  cookie: string,
  browser: BrowserFacts,
): Promise<SignedIn | null> {
  const found = await auth.api.getSession({ headers: headersOf({ ...browser, cookie }) }).catch((error: unknown) => {
    throw causeOf(error);
  });
  return found && signedIn(found);
}

/** Checks that an authenticator verified the person, by a PIN or a fingerprint. @throws {APIError} if it did not */
async function requireVerifiedPerson(isVerified: boolean | undefined, code: string): Promise<void> {
  if (!isVerified) throw new APIError('BAD_REQUEST', { code, message: 'the authenticator did not verify the person' });
}

/**
 * The header by which better-auth gets the client's address. The service sets it, and knows the address better than any
 * header from outside.
 */
const ADDRESS_HEADER = 'x-client-address';

export function headersOf({ cookie, userAgent, address }: BrowserFacts): Headers {
  const headers = new Headers({ [ADDRESS_HEADER]: address });
  if (cookie !== undefined) headers.set('cookie', cookie);
  if (userAgent !== undefined) headers.set('user-agent', userAgent.slice(0, 500));
  return headers;
}

/** Returns the cookies that a response sets, in the form in which the next request sends them. */
export function cookieHeader(answer: Headers): string {
  return answer
    .getSetCookie()
    .map((each) => each.slice(0, each.indexOf(';')))
    .join('; ');
}

export function signedIn({
  user,
  session,
}: {
  readonly user: {
    readonly id: string;
    readonly email: string;
    readonly name: string;
    readonly emailVerified: boolean;
  };
  readonly session: {
    readonly id: string;
    readonly createdAt: Date;
    readonly expiresAt: Date;
    /** True if a code or a passkey began the session, or a code was set up in it. */
    readonly hasSecondFactor?: boolean | null | undefined;
    /** When the password was entered again, if it was. */
    readonly passwordAt?: Date | null | undefined;
  };
}): SignedIn {
  const { id, email, name, emailVerified: isConfirmed } = user;
  const { id: sessionId, createdAt, expiresAt, hasSecondFactor, passwordAt } = session;
  return {
    person: { id, email, name },
    isConfirmed,
    sessionId,
    expiresAt,
    hasSecondFactor: hasSecondFactor === true,
    // Without a passkey, only a password begins or replaces a session.
    passwordAt: new Date(Math.max(createdAt.getTime(), passwordAt?.getTime() ?? 0)),
  };
}

/** Returns the error that the library wrapped: an error of the store shows that the store is unavailable. */
export function causeOf(error: unknown): unknown {
  return error instanceof APIError && error.cause instanceof Error ? error.cause : error;
}

export function statusOf(error: unknown): number | null {
  return error instanceof APIError ? error.statusCode : null;
}

/** Returns the library's code for its refusal; null for any other error. */
export function codeOf(error: unknown): string | null {
  return error instanceof APIError ? String(error.body?.code ?? error.status) : null;
}

export function isRefusal(error: unknown, code: RegExp): boolean {
  const found = codeOf(error);
  return found !== null && code.test(found);
}
