import { createHash } from 'node:crypto';
import type { Context, Middleware } from 'koa';
import type { z } from 'zod';
import type { RecordOfPerson } from '../../domain/audit/record-entries.ts';
import { ServiceError, serviceError } from '../../domain/errors.ts';
import { createFairQueue, QueueFull } from '../../domain/fair-queue.ts';
import { problemsOf } from '../../domain/input-problems.ts';
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
  /** Mails what concerns a change of address. Never rejects. */
  readonly mailAddressChange: MailAddressChange;
  readonly acceptInvitation: AcceptInvitation;
  readonly readInvitation: ReadInvitation;
  readonly people: Pick<PeopleRepository, 'grantsOf'>;
  readonly tenants: Pick<TenantRepository, 'namesOf'>;
  readonly attempts: AttemptLimiter;
  readonly passwords: PasswordJudge;
  /** Records an action of a person on their account. */
  readonly record: RecordOfPerson;
  /** Receives the failure of what nobody waits for. */
  readonly report: (error: unknown) => void;
}

/** Hashes at the same time, and requests that wait for theirs: of an address, and of all. */
const HASHING = { places: 2, perKey: 10, total: 200 } as const;

/** Maximum size of a body in bytes. Anybody may send one; an authenticator's answer, the largest, has a few KiB. */
const MAX_BODY_BYTES = 64 * 1024;

export type AccountSteps = ReturnType<typeof createAccountSteps>;

/** The steps that the paths of accounts have in common. */
export function createAccountSteps(parts: AccountRouteParts) {
  const hashing = createFairQueue(HASHING);

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

  /** Answers who is signed in, with the person's roles. */
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

/** A change by a page of this service, with checked input. */
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

/** Browsers add cookies to requests of other sites' pages, too. @throws {ServiceError} insufficient_scope */
export function requireOwnPage(ctx: Context): void {
  if (!isOwnPage(ctx)) throw serviceError('insufficient_scope', 'Only pages of this service may do this.');
}

export function notSignedIn(): ServiceError {
  return serviceError('not_signed_in', 'Nobody is signed in.');
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
