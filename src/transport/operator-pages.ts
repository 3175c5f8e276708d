import { createHash, timingSafeEqual } from 'node:crypto';
import type { Agenda } from 'agenda';
import type { Context, Middleware } from 'koa';
import compose from 'koa-compose';
import mount from 'koa-mount';
import { type Audit, entryByOperator, INSTALLATION, type Operator } from '../domain/audit-entry.ts';
import { serviceError } from '../domain/errors.ts';
import type { FindOperator } from '../domain/person/authenticate-session.ts';
import { ask } from './ask.ts';
import { readJson } from './body.ts';
import { browserOf, originOf } from './browser-facts.ts';
import { checkSearch, jobIdsIn } from './jobs-dashboard-input.ts';
import { isOwnPage } from './own-page.ts';

const USER = 'operator';

/**
 * Returns the SHA-256 of the operator's password, in lower-case hex. Read at each request, so that a reset applies at
 * once in every process, except during an outage of the store.
 */
export type OperatorHash = () => Promise<string | null>;

/** The admitted caller: a signed-in operator, or null for a caller with the operator's password. */
interface Passed {
  readonly operator: Operator | null;
}

export interface OperatorParts {
  /** Records changes of jobs in the audit log. */
  readonly audit: Audit;
  readonly agenda: Agenda;
  readonly exposition: () => Promise<{ contentType: string; text: string }>;
  readonly operatorHash: OperatorHash;
  /** Finds the signed-in operator. Called at each request, like `operatorHash`. */
  readonly findOperator: FindOperator;
}

/**
 * Serves the pages for operators. They need HTTP Basic authentication (user `operator`, the operator's credential as
 * password) or the session of an operator.
 */
export function operatorPages(parts: OperatorParts): Middleware {
  return compose([metricsPage(parts), jobsDashboard(parts)]);
}

/** `/metrics`, for Prometheus with `basic_auth`. */
function metricsPage(parts: OperatorParts): Middleware {
  const show: Middleware = async (ctx) => {
    if ((await passed(ctx, parts)) === null) return challenge(ctx, 'The metrics need');
    const { contentType, text } = await parts.exposition();
    ctx.set('Cache-Control', 'no-store');
    ctx.body = text;
    ctx.set('Content-Type', contentType);
  };
  return (ctx, next) => (ctx.path === '/metrics' && ['GET', 'HEAD'].includes(ctx.method) ? show(ctx, next) : next());
}

/**
 * Agenda's dashboard at `/ops/jobs`. The operator's first request loads it, because its libraries would delay each
 * start.
 */
function jobsDashboard(parts: OperatorParts): Middleware {
  let loading: Promise<Middleware> | null = null;
  const load = async (): Promise<Middleware> => {
    const { createKoaMiddlewareAsync } = await import('agendash');
    return mount('/ops/jobs', compose(await createKoaMiddlewareAsync(parts.agenda)));
  };
  const show: Middleware = async (ctx) => {
    let known = false;
    const by = await ask(ctx, async () => {
      const found = await passed(ctx, parts);
      if (known && found === null) throw serviceError('not_signed_in', 'The authority of this operator has ended.');
      known = found !== null;
      return found;
    });
    if (by === null) return challenge(ctx, 'The job dashboard needs');
    const isChange = !['GET', 'HEAD'].includes(ctx.method);
    if (isChange) {
      refuseForbiddenChange(ctx);
      // The dashboard does not parse a body that is already parsed.
      (ctx.request as { body?: unknown }).body = jobIdsIn(await readJson(ctx));
    } else {
      checkSearch(ctx.query);
    }
    if (ctx.path === '/ops/jobs') return ctx.redirect('/ops/jobs/');
    try {
      loading ??= load().catch((error) => {
        loading = null;
        throw error;
      });
      const dashboard = await loading;
      await dashboard(ctx, async () => undefined);
      if (isChange && ctx.status < 400) {
        const details = { change: ctx.path.slice(ctx.path.lastIndexOf('/') + 1) };
        await parts.audit(entryByOperator(INSTALLATION, null, 'jobs.changed', { subject: null, details }, by.operator));
      }
      const policy = ctx.response.get('Content-Security-Policy');
      if (policy) ctx.set('Content-Security-Policy', `${policy}; frame-ancestors 'none'`);
    } catch (error) {
      // Client errors of the dashboard (an invalid body, a path outside the assets) are no failures of this service.
      const { status = 500 } = error as { status?: number };
      if (status < 400 || status >= 500) throw error;
      throw serviceError('invalid_request', 'The job dashboard does not accept this request.', null, status);
    }
  };
  return (ctx, next) => (/^\/ops\/jobs(\/|$)/.test(ctx.path) ? show(ctx, next) : next());
}

/** The allowed changes, all of existing jobs. */
const CHANGE = /^\/ops\/jobs\/api\/jobs\/(requeue|retry|delete|pause|resume)$/;

/**
 * Refuses cross-site changes, because browsers add the credential to them automatically. Also refuses new jobs, which
 * no worker would run or which would have unexpected data.
 * @throws {ServiceError} insufficient_scope
 */
function refuseForbiddenChange(ctx: Context): void {
  if (!isOwnPage(ctx))
    throw serviceError('insufficient_scope', 'The job dashboard accepts changes from its own pages only.');
  if (CHANGE.test(ctx.path)) return;
  throw serviceError(
    'insufficient_scope',
    'The job dashboard cannot create jobs. To retry an invoice now: npm run -s cli -- invoices retry INVOICE_ID',
  );
}

/** Returns the operator who sent the request; null if the caller is not an operator. */
async function passed(ctx: Context, parts: OperatorParts): Promise<Passed | null> {
  const authorization = ctx.get('Authorization');
  if (authorization && isOperator(authorization, (await parts.operatorHash()) ?? '')) return { operator: null };
  // Without a cookie there is no session, so the library of the accounts need not be loaded.
  if (!authorization && ctx.get('Cookie') && isOwnPage(ctx)) {
    const { result, cookies } = await parts.findOperator(browserOf(ctx));
    for (const cookie of cookies) ctx.append('Set-Cookie', cookie);
    if (result !== null) return { operator: { person: result, origin: originOf(ctx) } };
  }
  return null;
}

/**
 * Whether a person follows a link on another site. Browsers then send no session (its cookie is SameSite=Strict), and
 * that site must not be able to make them ask for a password.
 */
function isForeignLink(ctx: Context): boolean {
  const from = ctx.get('Sec-Fetch-Site');
  return (
    ctx.method === 'GET' && ctx.get('Sec-Fetch-Mode') === 'navigate' && (from === 'cross-site' || from === 'same-site')
  );
}

/** Answers 401, or redirects to the operators' sign-in page. @param what the page, with the verb `need` */
function challenge(ctx: Context, what: string): void {
  if (isForeignLink(ctx)) {
    ctx.set('Cache-Control', 'no-store');
    ctx.redirect('/ops');
    return;
  }
  ctx.status = 401;
  ctx.set('WWW-Authenticate', 'Basic realm="fatoura operators", charset="UTF-8"');
  ctx.body = `${what} the operator credential that the first start printed, or the session of an operator: sign in at /sign-in.\nLost it? npm run -s cli -- operator reset\n`;
}

/** Whether the header is the operator's HTTP Basic authentication. @param passwordHash see {@link OperatorParts} */
export function isOperator(authorization: string, passwordHash: string): boolean {
  const encoded = /^basic +(\S+)$/i.exec(authorization)?.[1];
  if (!encoded) return false;
  const [user, ...password] = Buffer.from(encoded, 'base64').toString('utf8').split(':');
  const given = createHash('sha256').update(password.join(':')).digest();
  const expected = Buffer.from(passwordHash, 'hex');
  return given.length === expected.length && timingSafeEqual(given, expected) && user === USER;
}
