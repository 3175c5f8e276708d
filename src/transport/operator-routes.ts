import type { Context, Middleware } from 'koa';
import { z } from 'zod';
import { KEY_KINDS } from '../domain/api-key/key-kinds.ts';
import type { Operator } from '../domain/audit-entry.ts';
import { ServiceError, serviceError } from '../domain/errors.ts';
import { exactly, expected, problemsOf } from '../domain/input-problems.ts';
import { NEVER } from '../domain/invoice/attention.ts';
import { OPERATOR_TEXTS } from '../domain/limits.ts';
import type { Survey } from '../domain/operations/survey.ts';
import type { Operate } from '../domain/operator-use-cases.ts';
import type { FindOperator } from '../domain/person/authenticate-session.ts';
import { ROLES } from '../domain/person/person.ts';
import { oneLineText } from '../domain/printable-text.ts';
import { ENVIRONMENTS, missingProfileFields, type SellerProfile } from '../domain/tenant/tenant.ts';
import { tenantName } from '../domain/tenant/tenant-name.ts';
import { ask } from './ask.ts';
import { readJson } from './body.ts';
import { browserOf, originOf } from './browser-facts.ts';
import { answerJson } from './json.ts';
import { isOwnPage } from './own-page.ts';

export interface OperatorRouteParts {
  readonly findOperator: FindOperator;
  readonly operate: Operate;
  readonly survey: () => Promise<Survey>;
}

/** A path under `/ops/`. */
type OperatorRoute = readonly ['GET' | 'POST', string, Middleware];

/** The schema of a set, whose message names the members. */
const oneOf = <const Values extends readonly [string, ...string[]]>(values: Values) =>
  z.enum(values, { error: expected(`${values.slice(0, -1).join(', ')} or ${values.at(-1)}`) });

const noInput = exactly({}, 'an empty JSON object');
const tenantInput = exactly({ name: tenantName }, 'a JSON object with name');
const keyInput = exactly(
  { kind: oneOf(KEY_KINDS), environment: oneOf(ENVIRONMENTS) },
  'a JSON object with kind and environment',
);
const invitationInput = exactly({ role: oneOf(ROLES) }, 'a JSON object with role');
const pauseInput = exactly(
  { reason: oneLineText(OPERATOR_TEXTS.pauseReason, 'the reason') },
  'a JSON object with reason',
);

/**
 * The routes of the pages for operators (docs/decisions/0063). They need the session of an operator, which is read at
 * each request. Changes must also come from a page of this origin.
 */
export function operatorRoutes({ findOperator, operate, survey }: OperatorRouteParts): readonly OperatorRoute[] {
  /** @throws {ServiceError} not_signed_in (401); insufficient_scope (403) */
  const requireOperator = (ctx: Context): Promise<Operator> => ask(ctx, () => findIn(ctx));

  async function findIn(ctx: Context): Promise<Operator> {
    if (!isOwnPage(ctx)) throw serviceError('insufficient_scope', 'Only pages of this service may do this.');
    const { result, cookies } = await findOperator(browserOf(ctx));
    for (const cookie of cookies) ctx.append('Set-Cookie', cookie);
    if (result === null) throw serviceError('not_signed_in', 'This needs the session of an operator: sign in.');
    return { person: result, origin: originOf(ctx) };
  }

  const shows =
    (read: (by: Operator, ctx: Context) => Promise<unknown>): Middleware =>
    async (ctx) => {
      const by = await requireOperator(ctx);
      answerJson(ctx, 200, await read(by, ctx));
    };

  function changes<Schema extends z.ZodType>(
    schema: Schema,
    change: (by: Operator, input: z.output<Schema>, id: string) => Promise<unknown>,
  ): Middleware {
    return async (ctx) => {
      const by = await requireOperator(ctx);
      const input = schema.safeParse(await readJson(ctx));
      if (!input.success) throw new ServiceError(problemsOf(input.error));
      answerJson(ctx, 200, (await change(by, input.data, idOf(ctx))) ?? {});
    };
  }

  return [
    [
      'GET',
      '/ops/api/survey',
      shows(async () => {
        const found = await survey();
        // At NEVER the work is blocked until an operator retries it.
        const next = (at: Date) => (at >= NEVER ? null : at);
        return {
          ...found,
          attention: found.attention.map((each) => ({ ...each, nextAttemptAt: next(each.nextAttemptAt) })),
        };
      }),
    ],
    ['GET', '/ops/api/tenants', shows((by, ctx) => operate.tenants(by, afterOf(ctx)))],
    [
      'GET',
      '/ops/api/tenants/:id',
      shows(async (by, ctx) => {
        const { tenant, missingForLive, keys } = await operate.tenant(by, idOf(ctx));
        const { id, name, createdAt, suspendedAt, profile } = tenant;
        return { id, name, createdAt, suspendedAt, missingForLive, keys, seller: sellerOf(profile) };
      }),
    ],
    [
      'POST',
      '/ops/api/tenants',
      changes(tenantInput, async (by, { name }) => ({ id: (await operate.createTenant(by, name)).id })),
    ],
    [
      'POST',
      '/ops/api/tenants/:id/profile',
      changes(z.unknown(), (by, change, id) => operate.changeProfile(by, id, change)),
    ],
    ['POST', '/ops/api/tenants/:id/suspend', changes(noInput, (by, _input, id) => operate.suspendTenant(by, id))],
    ['POST', '/ops/api/tenants/:id/resume', changes(noInput, (by, _input, id) => operate.resumeTenant(by, id))],
    [
      'POST',
      '/ops/api/tenants/:id/keys',
      changes(keyInput, async (by, { kind, environment }, id) => {
        const { key, token } = await operate.createKey(by, id, kind, environment);
        return { id: key.id, token };
      }),
    ],
    [
      'POST',
      '/ops/api/tenants/:id/invitations',
      changes(invitationInput, async (by, { role }, tenantId) => {
        const grants = { isOperator: false, memberships: [{ tenantId, role }] };
        return { link: await operate.invite(by, null, grants) };
      }),
    ],
    ['POST', '/ops/api/keys/:id/revoke', changes(noInput, (by, _input, id) => operate.revokeKey(by, id))],
    ['POST', '/ops/api/invoices/:id/retry', changes(noInput, (by, _input, id) => operate.retryInvoice(by, id))],
    [
      'POST',
      '/ops/api/authority/pause',
      changes(pauseInput, async (by, { reason }) => {
        await operate.pauseAuthority(by, by.person.name, reason);
      }),
    ],
    [
      'POST',
      '/ops/api/authority/resume',
      changes(noInput, async (by) => {
        if ((await operate.resumeAuthority(by)) === null) throw serviceError('invalid_request', 'There is no pause.');
      }),
    ],
    [
      'GET',
      '/ops/api/entries',
      shows(async (by, ctx) => {
        const { rows, hasMore } = await operate.installationLog(by, afterOf(ctx));
        return { entries: rows.map(({ order: _order, tenantId: _tenantId, ...entry }) => entry), hasMore };
      }),
    ],
  ];
}

/** Converts a profile as GraphQL does, with null for unknown fields. */
function sellerOf(profile: Partial<SellerProfile>) {
  const { legalName, legalForm, capital, ice, taxId, tradeRegister, professionalTax, cnss, email, address } = profile;
  const { paymentMode, paymentMeans, paymentTermDays, bankAccount, exemptionReason, documentLanguage, logo } = profile;
  const known = {
    legalName,
    legalForm,
    capital,
    ice,
    taxId,
    tradeRegister,
    professionalTax,
    cnss,
    email,
    address,
    paymentMode,
    paymentMeans,
    paymentTermDays,
    bankAccount,
    exemptionReason,
    documentLanguage,
  };
  return {
    ...Object.fromEntries(Object.entries(known).map(([name, value]) => [name, value ?? null])),
    operationDateIsIssueDate: profile.operationDateIsIssueDate ?? false,
    logo: logo ? { sha256: logo.sha256 } : null,
    missingFields: missingProfileFields(profile),
  };
}

function idOf(ctx: Context): string {
  return String((ctx.params as { id?: string }).id ?? '').slice(0, 100);
}

/** Returns the cursor in the query. @throws {ServiceError} invalid_request */
function afterOf(ctx: Context): string | null {
  const { after, ...others } = ctx.query;
  const [other] = Object.keys(others);
  if (other !== undefined) throw serviceError('invalid_request', `There is no parameter ${other}.`, other);
  if (after === undefined) return null;
  if (typeof after === 'string' && /^[a-z]{3}_[\w-]{1,80}$/.test(after)) return after;
  throw serviceError('invalid_request', 'after must be the id of the last row of the page before.', 'after');
}
