import { createHash, timingSafeEqual } from 'node:crypto';
import type { Agenda } from 'agenda';
import { createKoaMiddlewareAsync } from 'agendash';
import type { Middleware } from 'koa';
import compose from 'koa-compose';
import mount from 'koa-mount';
import { serviceError } from '../domain/errors.ts';

const USER = 'operator';

/**
 * Agenda's dashboard at `/ops/jobs`, behind HTTP Basic: user `operator`, password the operator's credential.
 * @param operatorHash SHA-256 of the password, lower-case hex; asked for at each request, so that a reset holds at once in every process
 */
export async function jobsDashboard(agenda: Agenda, operatorHash: () => Promise<string | null>): Promise<Middleware> {
  const dashboard = compose(await createKoaMiddlewareAsync(agenda));
  const mounted = mount('/ops/jobs', dashboard);
  return async (ctx, next) => {
    if (ctx.path !== '/ops/jobs' && !ctx.path.startsWith('/ops/jobs/')) return next();
    const authorization = ctx.get('Authorization');
    if (!authorization || !isOperator(authorization, (await operatorHash()) ?? '')) {
      ctx.status = 401;
      ctx.set('WWW-Authenticate', 'Basic realm="fatoura operators", charset="UTF-8"');
      ctx.body =
        'The job dashboard needs the operator credential that the first start printed.\nLost it? npm run -s cli -- operator reset\n';
      return;
    }
    // A browser sends the credential by itself, also for a page of somebody else's.
    if (ctx.method !== 'GET' && !['', 'same-origin', 'none'].includes(ctx.get('Sec-Fetch-Site')))
      throw serviceError('insufficient_scope', 'The job dashboard takes changes from its own pages only.');
    if (ctx.path === '/ops/jobs') return ctx.redirect('/ops/jobs/');
    try {
      await mounted(ctx, async () => undefined);
    } catch (error) {
      // What its parts refuse (an unreadable body, a path outside of the assets) is no failure of this service.
      const { status = 500 } = error as { status?: number };
      if (status < 400 || status >= 500) throw error;
      throw serviceError('invalid_request', 'The job dashboard does not take this request.', null, status);
    }
  };
}

function isOperator(authorization: string, passwordHash: string): boolean {
  const encoded = /^basic +(\S+)$/i.exec(authorization)?.[1];
  if (!encoded) return false;
  const [user, ...password] = Buffer.from(encoded, 'base64').toString('utf8').split(':');
  const given = createHash('sha256').update(password.join(':')).digest();
  const expected = Buffer.from(passwordHash, 'hex');
  return given.length === expected.length && timingSafeEqual(given, expected) && user === USER;
}
