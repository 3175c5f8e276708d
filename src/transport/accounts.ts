import { createHash } from 'node:crypto';
import type { Context, Middleware } from 'koa';
import type { z } from 'zod';
import type { RecordOfPerson } from '../domain/audit/record-entries.ts';
import { ServiceError, serviceError } from '../domain/errors.ts';
import { createFairQueue, QueueFull } from '../domain/fair-queue.ts';
import { problemsOf } from '../domain/input-problems.ts';
import type { AcceptInvitation } from '../domain/person/accept-invitation.ts';
import {
  acceptInvitationInput,
  changePasswordInput,
  requestResetInput,
  resetPasswordInput,
  signInInput,
} from '../domain/person/account-input.ts';
import type { SignedIn } from '../domain/person/person.ts';
import type { Accounts, AttemptLimiter, PeopleRepository, WithCookies } from '../domain/person/ports.ts';
import type { TenantRepository } from '../domain/tenant/ports.ts';
import { timestampOf } from '../domain/timestamp.ts';
import { readJson } from './body.ts';
import { browserOf, originOf } from './browser-facts.ts';
import { limitedAddress } from './client-address.ts';
import { answerJson } from './json.ts';
import { isOwnPage } from './own-page.ts';

export interface AccountRouteParts {
  readonly accounts: Accounts;
  readonly acceptInvitation: AcceptInvitation;
  readonly people: Pick<PeopleRepository, 'grantsOf'>;
  readonly tenants: Pick<TenantRepository, 'namesOf'>;
  readonly attempts: AttemptLimiter;
  /** Records what somebody did at the own account. */
  readonly record: RecordOfPerson;
  /** Receives the failure of what nobody waits for. */
  readonly report: (error: unknown) => void;
}

/** Hashes at the same time, and requests that wait for theirs: of an address, and of all. */
const HASHING = { places: 2, perKey: 10, total: 200 } as const;

/** The paths of accounts, with their methods. */
export function accountRoutes(parts: AccountRouteParts): readonly (readonly ['GET' | 'POST', string, Middleware])[] {
  const { accounts } = parts;
  const hashing = createFairQueue(HASHING);
  const resets = createFairQueue(HASHING);

  /** @throws {ServiceError} rate_limit_exceeded (429), with `Retry-After` */
  async function countAttempt(ctx: Context, account: string | null): Promise<void> {
    const address = await parts.attempts.attempt('address', limitedAddress(ctx.ip));
    // An address that is refused must not go on to lock accounts. Hashed, because the store need not know who signs in.
    const locked = address > 0 || account === null ? 0 : await parts.attempts.attempt('account', sha256(account));
    const wait = Math.ceil(Math.max(address, locked) / 1000);
    if (wait === 0) return;
    ctx.set('Retry-After', String(wait));
    throw serviceError(
      'rate_limit_exceeded',
      `There were too many attempts. Try again in ${Math.ceil(wait / 60)} min.`,
    );
  }

  /**
   * Runs what computes the hash of a password, which takes 32 MiB. Addresses take turns.
   * @throws {ServiceError} rate_limit_exceeded (429) if too many wait
   */
  async function withHash<Result>(ctx: Context, work: () => Promise<Result>): Promise<Result> {
    try {
      return await hashing.run(limitedAddress(ctx.ip), work);
    } catch (error) {
      if (!(error instanceof QueueFull)) throw error;
      ctx.set('Retry-After', '5');
      throw serviceError('rate_limit_exceeded', 'Too many people sign in at the moment. Try again in 5 s.');
    }
  }

  async function answer(ctx: Context, { result, cookies }: WithCookies<SignedIn>): Promise<void> {
    for (const cookie of cookies) ctx.append('Set-Cookie', cookie);
    const { isOperator, memberships: all } = await parts.people.grantsOf(result.person.id);
    const names = all.length === 0 ? new Map() : await parts.tenants.namesOf(all.map(({ tenantId }) => tenantId));
    const memberships = all.map((each) => ({ ...each, name: names.get(each.tenantId) ?? each.tenantId }));
    answerJson(ctx, 200, {
      ...{ person: result.person, isOperator, memberships },
      sessionEndsAt: timestampOf(result.expiresAt),
    });
  }

  return [
    [
      'GET',
      '/auth/session',
      async (ctx) => {
        const found = await accounts.session(browserOf(ctx));
        if (found === null) throw notSignedIn();
        await answer(ctx, found);
      },
    ],
    [
      'POST',
      '/auth/sign-in',
      change(signInInput, async (ctx, credentials) => {
        await countAttempt(ctx, credentials.email);
        const begun = await withHash(ctx, () => accounts.signIn(credentials, browserOf(ctx)));
        if (begun === null) throw serviceError('invalid_credentials', 'The e-mail address or the password is wrong.');
        await parts.record(begun.result.person, originOf(ctx), 'member.signed_in');
        await answer(ctx, begun);
      }),
    ],
    [
      'POST',
      '/auth/sign-out',
      async (ctx) => {
        requireOwnPage(ctx);
        const { cookies } = await accounts.signOut(browserOf(ctx));
        for (const cookie of cookies) ctx.append('Set-Cookie', cookie);
        ctx.status = 204;
      },
    ],
    [
      'POST',
      '/auth/accept-invitation',
      change(acceptInvitationInput, async (ctx, account) => {
        await countAttempt(ctx, account.email);
        await answer(ctx, await withHash(ctx, () => parts.acceptInvitation(account, browserOf(ctx), originOf(ctx))));
      }),
    ],
    [
      'POST',
      '/auth/change-password',
      change(changePasswordInput, async (ctx, passwords) => {
        const before = await accounts.session(browserOf(ctx));
        if (before === null) throw notSignedIn();
        await countAttempt(ctx, before.result.person.email);
        const changed = await withHash(ctx, () => accounts.changePassword(passwords, browserOf(ctx)));
        if (changed === null) throw notSignedIn();
        if (changed === false)
          throw serviceError('invalid_credentials', 'The current password is wrong.', 'currentPassword');
        for (const cookie of changed.cookies) ctx.append('Set-Cookie', cookie);
        await parts.record(before.result.person, originOf(ctx), 'member.password_changed');
        ctx.status = 204;
      }),
    ],
    [
      'POST',
      '/auth/request-password-reset',
      change(requestResetInput, async (ctx, { email }) => {
        await countAttempt(ctx, email);
        // Not awaited: what is answered, and when, tells nobody who has an account.
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
        const person = await withHash(ctx, () => accounts.resetPassword(token, newPassword));
        if (person === null)
          throw serviceError('resource_not_found', 'This link was used or has expired. Ask for another one.', 'token');
        await parts.record(person, originOf(ctx), 'member.password_reset');
        ctx.status = 204;
      }),
    ],
  ];
}

/** A change by a page of this service, with checked input. */
function change<Schema extends z.ZodType>(
  schema: Schema,
  run: (ctx: Context, input: z.output<Schema>) => Promise<void>,
): Middleware {
  return async (ctx) => {
    requireOwnPage(ctx);
    const input = schema.safeParse(await readJson(ctx));
    if (!input.success) throw new ServiceError(problemsOf(input.error));
    await run(ctx, input.data);
  };
}

/** Browsers add cookies to requests of other sites' pages, too. @throws {ServiceError} insufficient_scope */
function requireOwnPage(ctx: Context): void {
  if (!isOwnPage(ctx)) throw serviceError('insufficient_scope', 'Only pages of this service may do this.');
}

function notSignedIn(): ServiceError {
  return serviceError('not_signed_in', 'Nobody is signed in.');
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
