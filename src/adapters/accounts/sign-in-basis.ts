import type { BrowserFacts } from '../../domain/person/ports.ts';
import { headersOf, type Library } from './library.ts';

type Auth = Library['auth'];

/**
 * Returns what signing in to an account relies on, as a text: address, password, codes. The library reads these,
 * compares for a tenth of a second, and then begins a session; a change of them ends only the sessions that exist at
 * that time. So callers read the basis before and after a sign-in, and the sign-in fails if it has changed.
 * @returns null if there is no such account
 */
export async function basisOf(auth: Auth, personId: string | null): Promise<string | null> {
  if (personId === null) return null;
  const { adapter, internalAdapter } = await auth.$context;
  const where = [{ field: 'userId', value: personId }];
  const [person, account, codes] = await Promise.all([
    internalAdapter.findUserById(personId),
    internalAdapter.findCredentialAccount(personId),
    adapter.findOne<{ id: string; secret: string }>({ model: 'twoFactor', where }),
  ]);
  if (person === null) return null;
  const { twoFactorEnabled = false } = person as { twoFactorEnabled?: boolean };
  // A secret that no code has confirmed does not count, and may be replaced at any time.
  return JSON.stringify([person.email, account?.password, twoFactorEnabled && [codes?.id, codes?.secret]]);
}

/** Ends the session of these cookies, which has just begun. */
export async function endSession(auth: Auth, cookie: string, browser: BrowserFacts): Promise<void> {
  await auth.api.signOut({ headers: headersOf({ ...browser, cookie }) });
}

/** Ends all sessions of a person but one. */
export async function endOtherSessions(auth: Auth, personId: string, keptId: string): Promise<void> {
  const { adapter } = await auth.$context;
  const where = [
    { field: 'userId', value: personId },
    { field: 'id', value: keptId, operator: 'ne' },
  ] as const;
  await adapter.deleteMany({ model: 'session', where: [...where] });
}

/**
 * Returns the person whose sign-in waits for a code in this browser; null if none does. The library checks the cookie's
 * signature.
 */
export async function waitingPerson(auth: Auth, cookie: string | undefined): Promise<string | null> {
  const { createAuthCookie, internalAdapter } = await auth.$context;
  const start = `${createAuthCookie('two_factor').name}=`;
  const value =
    cookie
      ?.split('; ')
      .find((each) => each.startsWith(start))
      ?.slice(start.length) ?? '';
  // `<id>.<signature>`, percent-encoded; the id has letters, digits and hyphens.
  const id = /^[\w-]+/.exec(value)?.[0];
  if (id === undefined) return null;
  return (await internalAdapter.findVerificationValue(id))?.value ?? null;
}
