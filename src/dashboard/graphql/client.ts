import { Client, type CombinedError, fetchExchange, subscriptionExchange } from '@urql/core';
import { createClient } from 'graphql-sse';
import { waitToRetry } from './retry.ts';
import { watchedFetch } from './watched-fetch.ts';

/** Three of the server's heartbeats of 15 s, and some time for the network. */
const SILENCE_MS = 50_000;

/** Told of the connection of subscriptions. */
export interface ConnectionListener {
  connected(): void;
  /** The connection is lost, or cannot be made; another attempt follows. */
  lost(): void;
}

/**
 * A GraphQL client that sends its credential in the header `Authorization` only: queries by POST, subscriptions over
 * graphql-sse, which reconnect without end. A subscription's `variables` are read again at each connection, so the
 * caller can move `afterEventId` on.
 * @param credential a client_secret (docs/api/contract.md, "Authentication")
 */
export function createGraphqlClient(credential: string, connection: ConnectionListener): Client {
  const headers = { Authorization: `Bearer ${credential}` };
  const streams = createClient({
    url: '/graphql/stream',
    headers,
    fetchFn: watchedFetch(SILENCE_MS),
    retryAttempts: Number.POSITIVE_INFINITY,
    async retry(attempts) {
      connection.lost();
      await waitToRetry(attempts);
    },
    on: { connected: () => connection.connected() },
  });
  return new Client({
    url: '/graphql',
    fetchOptions: { headers, cache: 'no-store' },
    preferGetMethod: false,
    exchanges: [
      fetchExchange,
      subscriptionExchange({
        forwardSubscription: ({ query = '', variables }) => ({
          subscribe: (sink) => ({
            unsubscribe: streams.subscribe({ query, variables: variables as Record<string, unknown> }, sink),
          }),
        }),
      }),
    ],
  });
}

/** Whether the service refused the credential or does not know the object, so that another attempt is useless. */
export function isRefusal(error: CombinedError): boolean {
  const status: unknown = error.response?.status;
  const statuses = [status, ...error.graphQLErrors.map(({ extensions }) => extensions.status)];
  return statuses.some((each) => each === 401 || each === 403 || each === 404);
}
