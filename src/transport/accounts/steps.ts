import { createHash } from 'node:crypto';
import type { Context, Middleware } from 'koa';
import type { z } from 'zod';
import type { RecordOfPerson } from '../../domain/audit/record-entries.ts';
import { ServiceError, serviceError } from '../../domain/errors.ts';
import { problemsOf } from '../../domain/input-problems.ts';
import { createFairQueue, QueueFull } from '../../domain/kit/fair-queue.ts';
import type { AcceptInvitation } from '../../domain/person/accept-invitation.ts';
import type { MailAddressChange } from '../../domain/person/mail-address-change.ts';
import type { Person, SignedIn } from '../../domain/person/person.ts';
import type {
  Accounts,
  AttemptLimiter,
  OwnAccount,
  PasswordJudge,
  PeopleRepository,
  SecondFactors,
} from '../../domain/person/ports.ts';
import type { ReadInvitation } from '../../domain/person/read-invitation.ts';
import type { TenantRepository } from '../../domain/tenant/ports.ts';
import { timestampOf } from '../../domain/timestamp.ts';
import { readJson } from '../body.ts';
import { browserOf } from '../browser-facts.ts';
import { limitedAddress } from '../client-address.ts';
import { answerJson } from '../json.ts';
import { isOwnPage } from '../own-page.ts';

/** A path under `/auth/`. */
export type AccountRoute = readonly ['GET' | 'POST', string, Middleware];

export interface AccountRouteParts {
  readonly accounts: Accounts;
  readonly secondFactors: SecondFactors;
  readonly ownAccount: OwnAccount;
  /** Sends the mails about a change of address. Never rejects. */
  readonly mailAddressChange: MailAddressChange;
  readonly acceptInvitation: AcceptInvitation;
  readonly readInvitation: ReadInvitation;
  readonly people: Pick<PeopleRepository, 'grantsOf'>;
  readonly tenants: Pick<TenantRepository, 'namesOf'>;
  readonly attempts: AttemptLimiter;
  readonly passwords: PasswordJudge;
  /** Records an action of a person on their account. */
  readonly record: RecordOfPerson;
  /** Receives the error of work that is not awaited. */
  readonly report: (error: unknown) => void;
}

/** Password hashes: `places` are computed at a time, `perKey` wait for one network address, `total` wait in all. */
const HASHING = { places: 2, perKey: 10, total: 200 } as const;

/**
 * Maximum size of a body in bytes. Callers without credentials may send one. The largest, an authenticator's answer,
 * has a few KiB.
 */
const MAX_BODY_BYTES = 64 * 1024;

export type AccountSteps = ReturnType<typeof createAccountSteps>;

/** Creates the steps that the routes of accounts share. */
export function createAccountSteps(parts: AccountRouteParts) {
  const hashing = createFairQueue(HASHING);

  /**
   * Counts an attempt for the address of the client and for the account.
   * @throws {ServiceError} rate_limit_exceeded (429), with `Retry-After`
   */
  async function countAttempt(ctx: Context, account: string | null): Promise<void> {
    const address = await parts.attempts.attempt('address', limitedAddress(ctx.ip));
    // A refused address must not lock accounts as well. The account is hashed, because the store need not know who
    // signs in.
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
   * Runs work that computes the hash of a password, which takes 32 MiB. Client addresses take turns.
   * @throws {ServiceError} rate_limit_exceeded (429) if too many requests wait
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

  /** Answers with the signed-in person and the person's roles. */
  async function answerSession(ctx: Context, { person, isConfirmed, expiresAt }: SignedIn): Promise<void> {
    const { isOperator, memberships: all } = await parts.people.grantsOf(person.id);
    const names = all.length === 0 ? new Map() : await parts.tenants.namesOf(all.map(({ tenantId }) => tenantId));
    const memberships = all.map((each) => ({ ...each, name: names.get(each.tenantId) ?? each.tenantId }));
    answerJson(ctx, 200, {
      person,
      addressConfirmed: isConfirmed,
      isOperator,
      memberships,
      sessionEndsAt: timestampOf(expiresAt),
    });
  }

  /** @throws {ServiceError} not_signed_in */
  async function requireSession(ctx: Context): Promise<SignedIn> {
    const found = await parts.accounts.session(browserOf(ctx));
    if (found === null) throw notSignedIn();
    return found.result;
  }

  /** @throws {ServiceError} not_signed_in */
  async function requirePerson(ctx: Context): Promise<Person> {
    return (await requireSession(ctx)).person;
  }

  return { countAttempt, withHash, answerSession, requireSession, requirePerson };
}

export function setCookies(ctx: Context, cookies: readonly string[]): void {
  for (const cookie of cookies) ctx.append('Set-Cookie', cookie);
}

/** Handles a change sent by a page of this service: checks the origin, validates the body and runs `run`. */
export function change<Schema extends z.ZodType>(
  schema: Schema,
  run: (ctx: Context, input: z.output<Schema>) => Promise<void>,
): Middleware {
  return async (ctx) => {
    requireOwnPage(ctx);
    const input = schema.safeParse(await readJson(ctx, MAX_BODY_BYTES));
    if (!input.success) throw new ServiceError(problemsOf(input.error));
    await run(ctx, input.data);
  };
}

/**
 * Refuses requests of other sites' pages, because browsers add cookies to those, too.
 * @throws {ServiceError} insufficient_scope
 */
export function requireOwnPage(ctx: Context): void {
  if (!isOwnPage(ctx)) throw serviceError('insufficient_scope', 'Only pages of this service may do this.');
}

export function notSignedIn(): ServiceError {
  return serviceError('not_signed_in', 'Nobody is signed in.');
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
