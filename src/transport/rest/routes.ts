import type { Context } from 'koa';
import type { GraphQLContext } from '../../graphql/context.ts';
import { type InvoiceRoutesParts, invoiceRoutes } from './invoices.ts';
import { webhookEndpointRoutes } from './webhook-endpoints.ts';

/** One operation of the REST interface: how a request becomes a prepared GraphQL operation's variables, and its data an answer. */
export interface Route {
  readonly method: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  /** As @koa/router reads it. */
  readonly path: string;
  /** Whether only a secret key may call it; checked before the body is read. */
  readonly secretKeyOnly: boolean;
  /** Answers the request. @throws {ServiceError} */
  readonly handle: (ctx: Context, graphql: GraphQLContext) => Promise<void>;
}

/** The specification's endpoints ("Endpoints"), in its order. */
export function restRoutes(parts: InvoiceRoutesParts): readonly Route[] {
  return [...invoiceRoutes(parts), ...webhookEndpointRoutes()];
}
