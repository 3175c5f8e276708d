import { type Audit, entryOfPerson } from '../audit-entry.ts';
import { serviceError } from '../errors.ts';
import type { Origin } from '../principal.ts';
import { invitationId } from './invitation.ts';
import {
  AccountExists,
  type Accounts,
  type BrowserFacts,
  type PasswordAccepted,
  type PeopleRepository,
  type WithCookies,
} from './ports.ts';

export interface NewAccount {
  /** The token of the invitation. */
  readonly token: string;
  /** In lower case. */
  readonly email: string;
  readonly name: string;
  readonly password: string;
}

/**
 * Makes the account of an invited person, gives it the grants and begins a session. Somebody who has an account already
 * sends its password and gets the grants; with a second factor, its code begins the session afterwards.
 *
 * Interrupted anywhere, it can be repeated with the same address: the invitation is removed last, and reserved for the
 * address first, so that two people cannot use it.
 * @throws {ServiceError} resource_not_found for an invitation that is unknown, used, expired or for another address;
 *   invalid_credentials if the account exists and has another password
 */
export type AcceptInvitation = (
  account: NewAccount,
  browser: BrowserFacts,
  origin: Origin,
) => Promise<WithCookies<PasswordAccepted>>;

export function createAcceptInvitation(
  accounts: Pick<Accounts, 'create' | 'signIn'>,
  people: Pick<PeopleRepository, 'reserveInvitation' | 'removeInvitation' | 'grant'>,
  audit: Audit,
  now: () => Date,
): AcceptInvitation {
  return async ({ token, email, name, password }, browser, origin) => {
    const invitation = await people.reserveInvitation(invitationId(token), email, now());
    if (invitation === null) {
      throw serviceError(
        'resource_not_found',
        'This invitation does not exist, was used, has expired or is for another e-mail address. Ask for another one.',
        'token',
      );
    }
    try {
      await accounts.create({ email, name, password });
    } catch (error) {
      if (!(error instanceof AccountExists)) throw error;
    }
    const begun = await accounts.signIn({ email, password }, browser);
    if (begun === null) {
      throw serviceError(
        'invalid_credentials',
        'There is an account with this e-mail address and another password. Send the password of that account.',
        'password',
      );
    }
    const { person } = begun.result;
    await people.grant(person.id, invitation.grants);
    await people.removeInvitation(invitation.id);
    await audit(
      ...invitation.grants.memberships.map(({ tenantId, role }) =>
        entryOfPerson(person, tenantId, origin, 'member.joined', { role }),
      ),
    );
    return begun;
  };
}
