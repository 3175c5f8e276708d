import type { Context } from 'koa';
import type { z } from 'zod';
import type { ErrorCode } from '../../domain/error-codes.ts';
import { ServiceError } from '../../domain/errors.ts';
import { exactly, problemsOf } from '../../domain/input-problems.ts';
import type { Principal } from '../../domain/principal.ts';
import type { ScopedUseCase } from '../../graphql/access.ts';
import type { GraphQLContext } from '../../graphql/context.ts';
import type { EventStreams } from '../event-stream.ts';

/**
 * One operation of the REST interface. Its contract defines the OpenAPI document and the checks of requests. Its
 * `handle` converts a request to variables of a prepared GraphQL operation, and the resulting data to an answer.
 */
export interface Route extends RouteContract {
  /** The allowed query parameters; others are refused. */
  readonly query: z.ZodObject;
  /** Answers the request. @throws {ServiceError} */
  readonly handle: (ctx: Context, graphql: GraphQLContext, parts: RestParts) => Promise<void>;
}

/** The parts that routes need besides the GraphQL schema. */
export interface RestParts {
  /** Called when a body is not valid. Throws idempotency_conflict when the caller has used the key before. */
  readonly refuseReusedKey: (principal: Principal, idempotencyKey: string) => Promise<void>;
  readonly streams: EventStreams;
}

export interface RouteContract {
  readonly method: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  /** In the syntax of @koa/router. */
  readonly path: string;
  /** Unique; names the operation in the OpenAPI document. */
  readonly operation: string;
  /** Its tag in the OpenAPI document. */
  readonly group: 'Invoices' | 'Webhook endpoints';
  readonly summary: string;
  /** In Markdown. */
  readonly description: string;
  /** The use case whose access is checked before the query and the body are read; null: it is for every credential. */
  readonly useCase: ScopedUseCase | null;
  /** The shape of `:id` in the path. */
  readonly id?: z.ZodType;
  /** The JSON body. */
  readonly body?: z.ZodType;
  /** The supported request headers besides `Authorization`. */
  readonly headers?: readonly ('Idempotency-Key' | 'Last-Event-ID' | 'If-None-Match')[];
  /** The successful answers, by status. Error answers follow from the other properties. */
  readonly answers: Readonly<Record<number, RouteAnswer>>;
  /** Error codes of the business rules that the operation may return (422). */
  readonly rules?: readonly ErrorCode[];
  /** If present, sent as the headers `Deprecation`, `Sunset` and `Link` (docs/api/contract.md, "Versioning"). */
  readonly deprecation?: Deprecation;
}

export interface RouteAnswer {
  readonly description: string;
  /** The schema of the body, or of the data of each message of a stream. Undefined if there is no body. */
  readonly schema?: z.ZodType;
  /** Default: `application/json`. */
  readonly type?: 'text/event-stream';
  readonly headers?: readonly ('ETag' | 'Idempotent-Replayed' | 'Fatoura-Warnings')[];
}

/** The deprecation of an operation that will end. */
export interface Deprecation {
  /** When the operation was deprecated. */
  readonly since: Date;
  /** When it stops working: at least 12 months later. */
  readonly sunset: Date;
  /** URL of the description of its successor. */
  readonly link: string;
}

const NO_QUERY = exactly({}, 'no query parameters');

/** Marks a query parameter that the OpenAPI document mentions only in the description of its operation. */
export const HIDDEN = 'x-internal';

/** Makes a route whose `handle` gets the parsed query parameters. Invalid ones are refused before it is called. */
export function route<Query extends z.ZodObject = typeof NO_QUERY>(
  row: RouteContract & {
    readonly query?: Query;
    readonly handle: (
      ctx: Context,
      graphql: GraphQLContext,
      query: z.output<Query>,
      parts: RestParts,
    ) => Promise<void> | void;
  },
): Route {
  const query = row.query ?? NO_QUERY;
  return {
    ...row,
    query,
    async handle(ctx, graphql, parts) {
      if (row.deprecation) setDeprecationHeaders(ctx, row.deprecation);
      const parsed = query.safeParse({ ...ctx.query });
      if (!parsed.success) throw new ServiceError(problemsOf(parsed.error));
      await row.handle(ctx, graphql, parsed.data as z.output<Query>, parts);
    },
  };
}

/** Sets the headers of a deprecated operation (RFC 9745, RFC 8594). */
function setDeprecationHeaders(ctx: Context, { since, sunset, link }: Deprecation): void {
  ctx.set('Deprecation', `@${Math.floor(since.getTime() / 1000)}`);
  ctx.set('Sunset', sunset.toUTCString());
  ctx.set('Link', `<${link}>; rel="deprecation"`);
}
