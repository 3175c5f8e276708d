import { setTimeout as sleep } from 'node:timers/promises';
import type { RecordOfPerson } from '../audit/record-entries.ts';
import { type Audit, entryOfPerson, INSTALLATION } from '../audit-entry.ts';
import { type ServiceError, serviceError } from '../errors.ts';
import { MAX_MEMBERS } from '../limits.ts';
import type { Origin } from '../principal.ts';
import type { TenantRepository } from '../tenant/ports.ts';
import { familiarWords, guessablePassword } from './guessable-password.ts';
import { type Invitation, invitationId, isMailedToken } from './invitation.ts';
import { obstacleOf } from './invitation-obstacle.ts';
import { includesRole } from './person.ts';
import {
  AccountExists,
  type Accounts,
  type BrowserFacts,
  type PasswordAccepted,
  type PasswordJudge,
  type PeopleRepository,
  type WithCookies,
} from './ports.ts';

/** How often and at what intervals, in milliseconds, an acceptance looks for an account that is being created. */
const MOST_LOOKS = 40;
const LOOK_MS = 50;

export interface NewAccount {
  /** The token of the invitation. */
  readonly token: string;
  /** The address in lower case. */
  readonly email: string;
  readonly name: string;
  readonly password: string;
}

/**
 * Creates the account of an invited person, adds the grants and starts a session. A person who already has an account
 * sends its password and gets the grants. With a second factor, its code starts the session afterwards.
 *
 * A mailed invitation proves the address, as a link to a new password does. An unconfirmed account of this address may
 * belong to a person who had a copied link. So the mailed link also does what a password link does: it sets the
 * password and removes everything that was created before.
 *
 * If interrupted at any point, it can be repeated with the same address: the invitation is reserved for the address
 * first and ended last, so two people cannot use it. The invitation is claimed in one step before the grants are added.
 * Of this acceptance, a withdrawal and a second acceptance at the same time, only one makes that step.
 * @throws {ServiceError} resource_not_found for an invitation that is unknown, used, withdrawn, expired or for another
 * address; invalid_request if the password is easy to guess and not that of the account; invalid_credentials if the
 * account exists and has another password, or if a new password is required and this is the old one;
 * member_limit_reached; tenant_suspended: the invitation is left as it is
 */
export type AcceptInvitation = (
  account: NewAccount,
  browser: BrowserFacts,
  origin: Origin,
) => Promise<WithCookies<PasswordAccepted>>;

export function createAcceptInvitation(
  accounts: Pick<Accounts, 'find' | 'create' | 'takeOver' | 'signIn'>,
  people: Pick<
    PeopleRepository,
    'reserveInvitation' | 'claimInvitation' | 'endInvitation' | 'grant' | 'grantsOf' | 'membersOf'
  >,
  tenants: Pick<TenantRepository, 'find' | 'namesOf'>,
  passwords: PasswordJudge,
  audit: Audit,
  record: RecordOfPerson,
  now: () => Date,
): AcceptInvitation {
  /**
   * Refuses an invitation that grants nothing at present.
   * @throws {ServiceError} resource_not_found; tenant_suspended
   */
  async function requireUnobstructed(invitation: Invitation): Promise<void> {
    const obstacle = await obstacleOf(invitation, people, tenants);
    if (obstacle === 'revoked') throw unusable();
    if (obstacle === 'suspended')
      throw serviceError(
        'tenant_suspended',
        'The tenant of this invitation is suspended. The link works again once it is active: ask whoever invited you.',
        'token',
      );
  }

  /** Creates the account, or waits for a concurrent request that creates it: nobody can sign in until that commits. */
  async function ensureAccount(body: Omit<NewAccount, 'token'>, isConfirmed: boolean): Promise<void> {
    try {
      await accounts.create(body, isConfirmed);
    } catch (error) {
      if (!(error instanceof AccountExists)) throw error;
      for (let looks = 0; looks < MOST_LOOKS && (await accounts.find(body.email)) === null; looks++)
        await sleep(LOOK_MS);
    }
  }

  return async ({ token, email, name, password }, browser, origin) => {
    const invitation = await people.reserveInvitation(invitationId(token), email, now());
    if (invitation === null) throw unusable();
    await requireUnobstructed(invitation);
    // Only the mailed link confirms the address, because the inviter knows the other link.
    const isConfirmed = isMailedToken(token, invitation);
    if (isConfirmed === null) throw unusable();
    const account = await accounts.find(email);
    const isTakenOver = isConfirmed && account?.isConfirmed === false;
    const tenantNames = await tenants.namesOf(invitation.grants.memberships.map(({ tenantId }) => tenantId));
    // Checked for every address, and the answer is sent only after a comparison, so neither it nor its time reveals
    // accounts.
    const isGuessable = await passwords.isGuessable(password, familiarWords({ email, name }, tenantNames.values()));
    if (isTakenOver && isGuessable) throw guessablePassword('password');
    if (account === null && !isGuessable) {
      await ensureAccount({ email, name, password }, isConfirmed);
    } else if (isTakenOver) {
      const person = await accounts.takeOver({ email, name, password });
      if (person === null) {
        throw serviceError(
          'invalid_credentials',
          'The account was made before anybody had confirmed its address, so others may know this password. Send another one.',
          'newPassword',
        );
      }
      await record(person, origin, 'member.password_reset');
    }
    const begun = await accounts.signIn({ email, password }, browser);
    if (begun === null) {
      if (isGuessable) throw guessablePassword('password');
      throw serviceError(
        'invalid_credentials',
        'There is an account with this e-mail address and another password. Send the password of that account.',
        'password',
      );
    }
    const { person } = begun.result;
    const { isOperator } = invitation.grants;
    // An invitation never lowers a role, so the last owner of a tenant stays an owner.
    const { memberships: present } = await people.grantsOf(person.id);
    const roleIn = (tenantId: string) => present.find((each) => each.tenantId === tenantId)?.role;
    const raised = invitation.grants.memberships.filter(({ tenantId, role }) => {
      const own = roleIn(tenantId);
      return own === undefined || (own !== role && includesRole(role, own));
    });
    for (const { tenantId } of raised) {
      if (roleIn(tenantId) === undefined && (await people.membersOf(tenantId)).length >= MAX_MEMBERS) {
        throw serviceError(
          'member_limit_reached',
          `There are already ${MAX_MEMBERS} people in this tenant, which is the maximum.`,
        );
      }
    }
    // The decision is made here: a concurrent withdrawal either succeeds, and nothing is granted, or learns that it was
    // used.
    await requireUnobstructed(invitation);
    if (!(await people.claimInvitation(invitation.id, email, now()))) throw unusable();
    await people.grant(person.id, { isOperator, memberships: raised });
    const entries = raised.map(({ tenantId, role }) => {
      const was = roleIn(tenantId);
      return entryOfPerson(person, tenantId, origin, 'member.joined', { role, ...(was && { was }) });
    });
    if (isOperator) entries.push(entryOfPerson(person, INSTALLATION, origin, 'member.joined', { role: 'operator' }));
    await audit(...entries);
    await people.endInvitation(invitation.id);
    return begun;
  };
}

function unusable(): ServiceError {
  return serviceError(
    'resource_not_found',
    'This invitation does not exist, was used, was withdrawn, has expired or is for another e-mail address. Ask for another one.',
    'token',
  );
}
