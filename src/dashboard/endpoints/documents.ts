import type { ResultOf, VariablesOf } from 'gql.tada';
import { graphql } from '../graphql/graphql.ts';

export const ENDPOINTS = graphql(`
  query Endpoints {
    webhookEndpoints {
      id url description events active failing failingSince
      statistics { first { delivered failed } retries { delivered failed } medianMs p95Ms }
    }
  }
`);

/** The attempts of the last 48 hours. */
export const HOURS = graphql(`
  query EndpointHours($id: ID!) {
    webhookEndpoint(id: $id) {
      statistics(hours: 48) { hours { at first { delivered failed } retries { delivered failed } } }
    }
  }
`);

export type Endpoint = ResultOf<typeof ENDPOINTS>['webhookEndpoints'][number];
export type EventType = Endpoint['events'][number];

export const CREATE_ENDPOINT = graphql(`
  mutation CreateEndpoint($input: CreateWebhookEndpointInput!) {
    result: createWebhookEndpoint(input: $input) {
      ... on CreateWebhookEndpointPayload { secret endpoint { id } }
      ... on Error { code message }
    }
  }
`);

export const UPDATE_ENDPOINT = graphql(`
  mutation UpdateEndpoint($id: ID!, $input: UpdateWebhookEndpointInput!) {
    result: updateWebhookEndpoint(id: $id, input: $input) {
      ... on UpdateWebhookEndpointPayload { endpoint { id } }
      ... on Error { code message }
    }
  }
`);

export const ROTATE_SECRET = graphql(`
  mutation RotateSecret($id: ID!) {
    result: rotateWebhookSecret(endpointId: $id) {
      ... on RotateWebhookSecretPayload { secret endpoint { id } }
      ... on Error { code message }
    }
  }
`);

export const DELETE_ENDPOINT = graphql(`
  mutation DeleteEndpoint($id: ID!) {
    result: deleteWebhookEndpoint(id: $id) {
      ... on DeleteWebhookEndpointPayload { id }
      ... on Error { code message }
    }
  }
`);

export const SEND_TEST_EVENT = graphql(`
  mutation SendTestEvent($id: ID!, $type: WebhookEventType!) {
    result: sendTestWebhookEvent(endpointId: $id, type: $type) {
      ... on SendTestWebhookEventPayload { event { id } }
      ... on Error { code message }
    }
  }
`);

/**
 * A page of deliveries, without the requests and answers of their attempts, which would make the page shorter
 * (docs/decisions/0031).
 */
export const DELIVERIES = graphql(`
  query Deliveries($state: WebhookDeliveryState, $first: Int, $after: String, $last: Int, $before: String) {
    webhookDeliveries(state: $state, first: $first, after: $after, last: $last, before: $before) {
      nodes {
        id
        eventType
        invoiceId
        state
        createdAt
        nextAttemptAt
        invoice { number }
        endpoint { url description }
        attempts { status errorMessage }
      }
      pageInfo { hasNextPage hasPreviousPage startCursor endCursor }
    }
  }
`);

export type ListedDelivery = ResultOf<typeof DELIVERIES>['webhookDeliveries']['nodes'][number];

/** One delivery, with each of its attempts. */
export const DELIVERY = graphql(`
  query Delivery($id: ID!) {
    webhookDelivery(id: $id) {
      id
      eventId
      eventType
      invoiceId
      state
      createdAt
      nextAttemptAt
      endpointId
      invoice { number }
      endpoint { url description }
      attempts {
        at
        url
        status
        errorMessage
        latencyMs
        requestHeaders { name value }
        responseHeaders { name value }
        responseBody
        responseTruncated
      }
    }
  }
`);

export type Delivery = ResultOf<typeof DELIVERY>['webhookDelivery'];

export const RESEND_EVENT = graphql(`
  mutation ResendEvent($eventId: ID!, $endpointId: ID!) {
    result: resendWebhookEvent(eventId: $eventId, endpointId: $endpointId) {
      ... on ResendWebhookEventPayload { deliveries { id } }
      ... on Error { code message }
    }
  }
`);

export const RESEND_COUNT = graphql(`
  query ResendCount($selection: WebhookResendSelection!) {
    webhookResendCount(selection: $selection) { count more }
  }
`);

export const RESEND_DELIVERIES = graphql(`
  mutation ResendDeliveries($selection: WebhookResendSelection!) {
    result: resendWebhookDeliveries(selection: $selection) {
      ... on ResendWebhookDeliveriesPayload { outcome { count more } }
      ... on Error { code message }
    }
  }
`);

export type ResendSelection = VariablesOf<typeof RESEND_COUNT>['selection'];
