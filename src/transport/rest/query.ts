import type { Context } from 'koa';
import type { ZodType } from 'zod';
import { ServiceError, serviceError } from '../../domain/errors.ts';
import { problemsOf } from '../../domain/input-problems.ts';

/** The query parameters as a schema of strings reads them. @throws {ServiceError} invalid_request, with the parameter as `param` */
export function parseQuery<T>(ctx: Context, schema: ZodType<T>): T {
  const parsed = schema.safeParse({ ...ctx.query });
  if (!parsed.success) throw new ServiceError(problemsOf(parsed.error));
  return parsed.data;
}

/** Refuses query parameters that the operation does not know. @throws {ServiceError} invalid_request */
export function refuseQuery(ctx: Context, allowed: readonly string[] = []): void {
  const unknown = Object.keys(ctx.query).find((name) => !allowed.includes(name));
  if (unknown !== undefined)
    throw serviceError('invalid_request', `${unknown} is not a known query parameter.`, unknown);
}

/** What a publishable key reads an invoice with. @throws {ServiceError} invalid_request when it is given more than once */
export function clientSecretOf(ctx: Context): string | null {
  const given = ctx.query.client_secret;
  if (Array.isArray(given)) throw serviceError('invalid_request', 'client_secret must be given once.', 'client_secret');
  return given ?? null;
}
