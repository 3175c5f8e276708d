import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createYoga } from 'graphql-yoga';
import type { Authenticate } from '../../src/domain/api-key/authenticate.ts';
import type { GraphQLContext, UseCases } from '../../src/graphql/context.ts';
import { schema } from '../../src/graphql/schema.ts';

/**
 * The peer of `graphql`: Yoga as in its documentation, on Node's own server, with its caches. Schema, resolvers, use
 * cases and authentication are the service's. It has none of our limits, request ids, rate limiter, log or CORS.
 */
export async function startStockYoga(
  authenticate: Authenticate,
  useCases: UseCases,
): Promise<{ url: string; close(): Promise<void> }> {
  const yoga = createYoga<object, GraphQLContext>({
    schema,
    logging: false,
    context: async ({ request }) => ({
      principal: await authenticate(request.headers.get('authorization') ?? undefined, {
        encrypted: false,
        forwarded: false,
        address: '127.0.0.1',
        host: '127.0.0.1',
      }),
      requestId: 'req_bench',
      useCases,
    }),
  });
  const server = createServer(yoga).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: () => new Promise((resolve) => server.close(() => resolve())),
  };
}
