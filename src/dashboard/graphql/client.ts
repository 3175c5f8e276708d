import { Client, type CombinedError, createRequest, fetchExchange, subscriptionExchange } from '@urql/core';
import { createClient } from 'graphql-sse';
import { SILENCE_MS } from '../../domain/limits.ts';
import type { ErrorCode, Reason } from '../text/errors.ts';
import { waitToRetry } from './retry.ts';
import { watchedFetch } from './watched-fetch.ts';

/** Receives the state of the subscriptions' connections. */
export interface ConnectionListener {
  connected(): void;
  /** Called when the connection is lost or cannot be made; another attempt follows. */
  lost(): void;
}

/** The listeners that a subscription's context can hold. */
export interface SubscriptionContext {
  /**
   * Called each time the service starts to send the events of this subscription.
   * @param at the time of its answer, by its clock
   */
  readonly connected?: (at: Date) => void;
  /** Called when the connection of this subscription is lost. The client then reconnects. */
  readonly lost?: () => void;
}

/**
 * Creates a GraphQL client. It sends queries by POST, each as a request of its own, so that no answer is older than its
 * query. It sends subscriptions over graphql-sse, which reconnect endlessly. A subscription's `variables` are read
 * again at each connection, so the caller can update `afterEventId`.
 * @param headers the credential: a client_secret as `Authorization` (docs/api/contract.md, "Authentication"), or the
 * tenant and the environment of the browser's session
 */
export function createGraphqlClient(
  headers: Readonly<Record<string, string>>,
  connection?: ConnectionListener,
): Client {
  const send = watchedFetch(SILENCE_MS);
  let answeredAt = new Date();
  const streams = createClient({
    url: '/graphql/stream',
    headers,
    async fetchFn(...request: Parameters<typeof fetch>) {
      const response = await send(...request);
      answeredAt = new Date(response.headers.get('Date') ?? Date.now());
      return response;
    },
    retryAttempts: Number.POSITIVE_INFINITY,
    async retry(attempts) {
      connection?.lost();
      await waitToRetry(attempts);
    },
    on: { connected: () => connection?.connected() },
  });
  const client = new Client({
    url: '/graphql',
    fetchOptions: { headers, cache: 'no-store' },
    preferGetMethod: false,
    exchanges: [
      fetchExchange,
      subscriptionExchange({
        forwardSubscription({ query = '', variables }, { context }) {
          const { connected, lost } = context as SubscriptionContext;
          return {
            subscribe: (sink) => ({
              unsubscribe: streams.subscribe({ query, variables: variables as Record<string, unknown> }, sink, {
                connected: () => connected?.(answeredAt),
                connecting: (isAgain) => isAgain && lost?.(),
              }),
            }),
          };
        },
      }),
    ],
  });
  // A query that equals one under way would get that one's answer, from before the change that caused the new query.
  // urql joins queries by their keys. Its own keys are not negative.
  let lastKey = 0;
  client.query = (document, variables, context) =>
    client.executeQuery({ ...createRequest(document, variables), key: --lastKey }, context);
  return client;
}

/** Whether the service refused the credential or does not know the object, so that another attempt is useless. */
export function isRefusal(error: CombinedError): boolean {
  return statusesOf(error).some((each) => each === 401 || each === 403 || each === 404);
}

/** Whether the error means that the session has ended. */
export function isSessionEnd(error: CombinedError): boolean {
  return statusesOf(error).includes(401);
}

/** Whether the service requires the person's password before it carries out the request. */
export function isUnconfirmed(error: CombinedError | undefined): boolean {
  return error?.graphQLErrors.some(({ extensions }) => extensions.code === 'confirmation_required') ?? false;
}

/** Returns why there is no result. */
export function reasonOf(error: CombinedError | undefined): Reason {
  const [first] = error?.graphQLErrors ?? [];
  return first ? { code: first.extensions.code as ErrorCode, message: first.message } : 'unreachable';
}

function statusesOf({ response, graphQLErrors }: CombinedError): unknown[] {
  return [response?.status, ...graphQLErrors.map(({ extensions }) => extensions.status)];
}
