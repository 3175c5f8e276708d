import type { Context } from 'koa';
import { serviceError } from '../../domain/errors.ts';
import { createFairQueue } from '../../domain/kit/fair-queue.ts';
import {
  acceptInvitationInput,
  changePasswordInput,
  passwordInput,
  readInvitationInput,
  requestResetInput,
  resetPasswordInput,
  signInInput,
} from '../../domain/person/account-input.ts';
import { familiarWords, guessablePassword } from '../../domain/person/guessable-password.ts';
import type { Person } from '../../domain/person/person.ts';
import type { PasswordAccepted, WithCookies } from '../../domain/person/ports.ts';
import { browserOf, originOf } from '../browser-facts.ts';
import { limitedAddress } from '../client-address.ts';
import { answerJson } from '../json.ts';
import {
  type AccountRoute,
  type AccountRouteParts,
  type AccountSteps,
  change,
  notSignedIn,
  requireOwnPage,
  setCookies,
} from './steps.ts';

/** Limits of the queue of reset mails: sent at the same time, waiting for one address, waiting in all. */
const RESETS = { places: 2, perKey: 10, total: 200 } as const;

/** The routes for signing in and out, passwords, and invitations. */
export function passwordRoutes(
  parts: AccountRouteParts,
  { countAttempt, withHash, answerSession, requireSession }: AccountSteps,
): readonly AccountRoute[] {
  const { accounts } = parts;
  const resets = createFairQueue(RESETS);

  /** Answers with the session, or states that a second factor is required. */
  async function answerAccepted(ctx: Context, { result, cookies }: WithCookies<PasswordAccepted>): Promise<void> {
    setCookies(ctx, cookies);
    if (result.session === null) answerJson(ctx, 200, { secondFactorRequired: true });
    else await answerSession(ctx, result.session);
  }

  /** @throws {ServiceError} invalid_request */
  async function requireUnguessable(newPassword: string, person: Person): Promise<void> {
    const { memberships } = await parts.people.grantsOf(person.id);
    const names = await parts.tenants.namesOf(memberships.map(({ tenantId }) => tenantId));
    if (await parts.passwords.isGuessable(newPassword, familiarWords(person, names.values())))
      throw guessablePassword('newPassword');
  }

  return [
    [
      'GET',
      '/auth/session',
      async (ctx) => {
        const found = await accounts.session(browserOf(ctx));
        if (found === null) throw notSignedIn();
        setCookies(ctx, found.cookies);
        await answerSession(ctx, found.result);
      },
    ],
    [
      'POST',
      '/auth/sign-in',
      change(signInInput, async (ctx, credentials) => {
        await countAttempt(ctx, credentials.email);
        const begun = await withHash(ctx, () => accounts.signIn(credentials, browserOf(ctx)));
        if (begun === null) throw serviceError('invalid_credentials', 'The e-mail address or the password is wrong.');
        if (begun.result.session !== null)
          await parts.record(begun.result.person, originOf(ctx), 'member.signed_in', { by: 'password' });
        await answerAccepted(ctx, begun);
      }),
    ],
    [
      'POST',
      '/auth/sign-out',
      async (ctx) => {
        requireOwnPage(ctx);
        const { cookies } = await accounts.signOut(browserOf(ctx));
        setCookies(ctx, cookies);
        ctx.status = 204;
      },
    ],
    [
      'POST',
      // Not a GET: the token must not be in an address, which logs keep.
      '/auth/invitation',
      change(readInvitationInput, async (ctx, { token }) => {
        answerJson(ctx, 200, { state: await parts.readInvitation(token) });
      }),
    ],
    [
      'POST',
      '/auth/accept-invitation',
      change(acceptInvitationInput, async (ctx, account) => {
        await countAttempt(ctx, account.email);
        const begun = await withHash(ctx, () => parts.acceptInvitation(account, browserOf(ctx), originOf(ctx)));
        await answerAccepted(ctx, begun);
      }),
    ],
    [
      'POST',
      '/auth/change-password',
      change(changePasswordInput, async (ctx, passwords) => {
        const before = await accounts.session(browserOf(ctx));
        if (before === null) throw notSignedIn();
        await countAttempt(ctx, before.result.person.email);
        const changed = await withHash(ctx, async () => {
          await requireUnguessable(passwords.newPassword, before.result.person);
          return accounts.changePassword(passwords, browserOf(ctx));
        });
        if (changed === null) throw notSignedIn();
        if (changed === false)
          throw serviceError('invalid_credentials', 'The current password is wrong.', 'currentPassword');
        setCookies(ctx, changed.cookies);
        await parts.record(before.result.person, originOf(ctx), 'member.password_changed');
        ctx.status = 204;
      }),
    ],
    [
      'POST',
      '/auth/confirm',
      change(passwordInput, async (ctx, { password }) => {
        const { person } = await requireSession(ctx);
        await countAttempt(ctx, person.email);
        const answer = await withHash(ctx, () => accounts.confirm(password, browserOf(ctx)));
        if (answer === 'ended') throw notSignedIn();
        if (answer === 'wrong_password')
          throw serviceError('invalid_credentials', 'The password is wrong.', 'password');
        ctx.status = 204;
      }),
    ],
    [
      'POST',
      '/auth/request-password-reset',
      change(requestResetInput, async (ctx, { email }) => {
        // Counted separately from sign-ins: requests for mails must not block the sign-in, and guessed passwords must
        // not block the request for a new password.
        await countAttempt(ctx, `resets of ${email}`);
        // Not awaited, because the answer and its time must not reveal whether the address has an account.
        void resets.run(limitedAddress(ctx.ip), () => accounts.requestReset(email)).catch(parts.report);
        ctx.status = 202;
        answerJson(ctx, 202, {
          message: 'If there is an account with this address, a mail with a link is on its way.',
        });
      }),
    ],
    [
      'POST',
      '/auth/reset-password',
      change(resetPasswordInput, async (ctx, { token, newPassword }) => {
        await countAttempt(ctx, null);
        const person = await withHash(ctx, async () => {
          // Reads the person before using up the token: if the new password is refused, the link still works for
          // another one.
          const whose = await accounts.personOfReset(token);
          if (whose !== null) await requireUnguessable(newPassword, whose);
          return accounts.resetPassword(token, newPassword);
        });
        if (person === null)
          throw serviceError('resource_not_found', 'This link was used or has expired. Ask for another one.', 'token');
        await parts.record(person, originOf(ctx), 'member.password_reset');
        ctx.status = 204;
      }),
    ],
  ];
}
