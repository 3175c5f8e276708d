import type { Context } from 'koa';
import type { z } from 'zod';
import type { ErrorCode } from '../../domain/error-codes.ts';
import { ServiceError } from '../../domain/errors.ts';
import { exactly, problemsOf } from '../../domain/input-problems.ts';
import type { Principal } from '../../domain/principal.ts';
import type { GraphQLContext } from '../../graphql/context.ts';
import type { EventStreams } from '../event-stream.ts';

/**
 * One operation of the REST interface: its contract, which the OpenAPI document and the checks of a request are made from, and how a
 * request becomes a prepared GraphQL operation's variables, and its data an answer.
 */
export interface Route extends RouteContract {
  /** Its query parameters; any other is refused. */
  readonly query: z.ZodObject;
  /** Answers the request. @throws {ServiceError} */
  readonly handle: (ctx: Context, graphql: GraphQLContext, parts: RestParts) => Promise<void>;
}

/** What routes need besides the GraphQL schema. */
export interface RestParts {
  /** Throws idempotency_conflict when the caller has used the key before: asked when a body is not valid. */
  readonly refuseReusedKey: (principal: Principal, idempotencyKey: string) => Promise<void>;
  readonly streams: EventStreams;
  /** Throws insufficient_scope when the caller may not create invoices: asked before the body is read. */
  readonly requireIssuer: (principal: Principal) => unknown;
}

export interface RouteContract {
  readonly method: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  /** As @koa/router reads it. */
  readonly path: string;
  /** Unique; names the operation in the OpenAPI document. */
  readonly operation: string;
  /** Its tag in the OpenAPI document. */
  readonly group: 'Invoices' | 'Webhook endpoints';
  readonly summary: string;
  /** In Markdown. */
  readonly description: string;
  /** Whether only a secret key may call it; checked before the query and the body are read. */
  readonly secretKeyOnly: boolean;
  /** The shape of `:id` in the path. */
  readonly id?: z.ZodType;
  /** The JSON body. */
  readonly body?: z.ZodType;
  /** Request headers that it understands besides `Authorization`. */
  readonly headers?: readonly ('Idempotency-Key' | 'Last-Event-ID' | 'If-None-Match')[];
  /** The answers of success, by status. Those of failure follow from the rest of the row. */
  readonly answers: Readonly<Record<number, RouteAnswer>>;
  /** Codes of its business rules (422). */
  readonly rules?: readonly ErrorCode[];
  /** Answered as the headers `Deprecation`, `Sunset` and `Link` (docs/api/contract.md, "Versioning"). */
  readonly deprecation?: Deprecation;
}

export interface RouteAnswer {
  readonly description: string;
  /** Of the body, or of each message's data in a stream; none: no body. */
  readonly schema?: z.ZodType;
  /** `application/json` unless given. */
  readonly type?: 'text/event-stream';
  readonly headers?: readonly ('ETag' | 'Idempotent-Replayed' | 'Fatoura-Warnings')[];
}

/** Of an operation that will end. */
export interface Deprecation {
  /** Since when it should not be used any more. */
  readonly since: Date;
  /** When it stops working, 12 months later at the earliest. */
  readonly sunset: Date;
  /** Where the successor is described. */
  readonly link: string;
}

const NO_QUERY = exactly({}, 'no query parameters');

/** A row of the table whose query parameters are checked before it runs: `handle` gets them parsed. */
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
      if (row.deprecation) announceEnd(ctx, row.deprecation);
      const parsed = query.safeParse({ ...ctx.query });
      if (!parsed.success) throw new ServiceError(problemsOf(parsed.error));
      await row.handle(ctx, graphql, parsed.data as z.output<Query>, parts);
    },
  };
}

/** RFC 9745 and RFC 8594: of what will end, since when it should not be used, when it stops, and what comes instead. */
function announceEnd(ctx: Context, { since, sunset, link }: Deprecation): void {
  ctx.set('Deprecation', `@${Math.floor(since.getTime() / 1000)}`);
  ctx.set('Sunset', sunset.toUTCString());
  ctx.set('Link', `<${link}>; rel="deprecation"`);
}
