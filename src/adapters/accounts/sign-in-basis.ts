import type { BrowserFacts } from '../../domain/person/ports.ts';
import { headersOf, type Library } from './library.ts';

type Auth = Library['auth'];

/**
 * What signing in to an account relies on, as a text: address, password, codes. The library reads it, compares for a tenth of a
 * second, and begins a session; whoever changes it ends the sessions that there are then. So it is asked before and
 * afterwards, and a sign-in that finds another one has not succeeded.
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
  // A secret that no code has confirmed counts for nothing, and may be made anew at any time.
  return JSON.stringify([person.email, account?.password, twoFactorEnabled && [codes?.id, codes?.secret]]);
}

/** Ends the session of these cookies, which was begun a moment ago. */
export async function endSession(auth: Auth, cookie: string, browser: BrowserFacts): Promise<void> {
  await auth.api.signOut({ headers: headersOf({ ...browser, cookie }) });
}

/** Whose sign-in waits for a code in this browser; null if none does. The library checks the cookie's signature. */
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
