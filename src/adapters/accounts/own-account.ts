import { randomBytes } from 'node:crypto';
import { isAccountAddress } from '../../domain/person/account-input.ts';
import { MAX_SESSIONS, NEW_ADDRESS_MS } from '../../domain/person/limits.ts';
import type { BrowserFacts, OwnAccount } from '../../domain/person/ports.ts';
import { headersOf, isRefusal, type Library, sessionOf } from './library.ts';
import { endOtherSessions } from './sign-in-basis.ts';

/** A session as the library stores it. */
interface StoredSession {
  readonly id: string;
  readonly token: string;
  readonly userAgent?: string | null;
  readonly ipAddress?: string | null;
  readonly createdAt: Date;
  readonly updatedAt: Date;
  readonly expiresAt: Date;
}

/** Implements people's changes to their own account, except password and second factors (docs/decisions/0057). */
export function createOwnAccount({ auth, forget }: Library): OwnAccount {
  async function sessionsOf(personId: string): Promise<StoredSession[]> {
    const { adapter } = await auth.$context;
    return adapter.findMany<StoredSession>({
      model: 'session',
      where: [
        { field: 'userId', value: personId },
        { field: 'expiresAt', value: new Date(), operator: 'gt' },
      ],
      sortBy: { field: 'updatedAt', direction: 'desc' },
      limit: MAX_SESSIONS,
    });
  }

  return {
    async sessions(personId) {
      return (await sessionsOf(personId)).map(({ id, userAgent, ipAddress, createdAt, updatedAt }) => ({
        id,
        userAgent: userAgent || null,
        address: ipAddress || null,
        begunAt: new Date(createdAt),
        usedAt: new Date(updatedAt),
      }));
    },
    async endSession(personId, id) {
      const { adapter } = await auth.$context;
      const where = [
        { field: 'userId', value: personId },
        { field: 'id', value: id },
      ];
      return (await adapter.deleteMany({ model: 'session', where })) > 0;
    },
    endOthers: (personId, keptId) => endOtherSessions(auth, personId, keptId),
    async rename(personId, name) {
      await (await auth.$context).internalAdapter.updateUser(personId, { name });
    },
    async beginNewAddress(email, password, browser) {
      const headers = headersOf(browser);
      const session = await auth.api.getSession({ headers });
      if (session === null) return { refusal: 'ended' };
      try {
        await auth.api.verifyPassword({ body: { password }, headers });
      } catch (error) {
        if (isRefusal(error, /^INVALID_PASSWORD$/)) return { refusal: 'wrong_password' };
        throw error;
      }
      // The address is a part of the token. Only the token's hash is stored, so nobody can substitute another address.
      const token = `${randomBytes(24).toString('base64url')}.${Buffer.from(email).toString('base64url')}`;
      const { internalAdapter } = await auth.$context;
      await internalAdapter.createVerificationValue({
        identifier: identifierOf(token),
        // The person's id, as for links to a new password: what deletes those links also deletes this one.
        value: session.user.id,
        expiresAt: new Date(Date.now() + NEW_ADDRESS_MS),
      });
      if (await isOpen(browser)) return { refusal: null, token };
      // A new password that was set meanwhile has ended the session, but only the links that existed then.
      await internalAdapter.deleteVerificationByIdentifier(identifierOf(token));
      return { refusal: 'ended' };
    },
    async confirmNewAddress(token, browser) {
      const { internalAdapter } = await auth.$context;
      const session = await sessionOf(auth, browser.cookie ?? '', browser);
      if (session === null) return { refusal: 'ended' };
      const { person, isConfirmed, sessionId } = session;
      const found = await internalAdapter.findVerificationValue(identifierOf(token));
      const email = addressOf(token);
      if (!found || found.value !== person.id || email === null) return { refusal: 'link' };
      if (await isTaken(email)) return { refusal: 'taken' };
      if ((await internalAdapter.consumeVerificationValue(identifierOf(token))) === null) return { refusal: 'link' };
      try {
        await internalAdapter.updateUser(person.id, { email, emailVerified: true });
      } catch (error) {
        // The unique index refused the address: another account has just got it.
        if (await isTaken(email)) return { refusal: 'taken' };
        throw error;
      }
      // Also ends links to a new password that were mailed to the previous address.
      await forget(person.id, { factorsToo: !isConfirmed });
      await endOtherSessions(auth, person.id, sessionId);
      if (!(await isOpen(browser))) {
        // A new password that was set meanwhile has ended this session; the person who set it keeps the previous
        // address. Checked last, because a link to a new password was usable until the links were removed.
        await internalAdapter.updateUser(person.id, { email: person.email, emailVerified: isConfirmed });
        return { refusal: 'ended' };
      }
      return { refusal: null, person: { ...person, email }, was: person };
    },
  };

  async function isTaken(email: string): Promise<boolean> {
    return (await (await auth.$context).internalAdapter.findUserByEmail(email)) !== null;
  }

  async function isOpen(browser: BrowserFacts): Promise<boolean> {
    return (await sessionOf(auth, browser.cookie ?? '', browser)) !== null;
  }
}

function identifierOf(token: string): string {
  return `new-address:${token}`;
}

/** Returns the address that a token confirms; null if the token is not one of ours. */
function addressOf(token: string): string | null {
  const email = Buffer.from(token.slice(token.indexOf('.') + 1), 'base64url').toString();
  return isAccountAddress(email) ? email : null;
}
