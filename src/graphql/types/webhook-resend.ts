import type { Delivery } from '../../domain/webhook/delivery.ts';
import { RESEND_LIMIT, type ResendOutcome } from '../../domain/webhook/resend-events.ts';
import { accessOf } from '../access.ts';
import { builder } from '../builder.ts';
import { enumOf } from '../enum-of.ts';
import { payloadOf } from '../payload.ts';
import { InvalidInputError, NotFoundError } from './errors.ts';
import { EventTypeEnum } from './event-type.ts';
import './scalars.ts';
import { STATE_MEANING, WebhookDeliveryType } from './webhook-delivery.ts';
import { eventTimes, WebhookEventType } from './webhook-event.ts';

const { pending: _unsettled, ...SETTLED_MEANING } = STATE_MEANING;
const SettledStateType = enumOf('SettledWebhookDeliveryState', 'Final state of a delivery.', SETTLED_MEANING);

const ResendSelectionInput = builder.inputType('WebhookResendSelection', {
  description: 'A selection of the settled deliveries of an endpoint.',
  fields: (t) => ({
    endpointId: t.id({ required: true, description: 'Id of an active endpoint, prefix `we_`.' }),
    state: t.field({
      type: SettledStateType,
      required: true,
      defaultValue: 'failed',
      description: 'Only deliveries with this final state.',
    }),
    type: t.field({ type: EventTypeEnum, description: 'Only events of this type.' }),
    createdAfter: t.field(eventTimes.createdAfter),
    createdBefore: t.field(eventTimes.createdBefore),
  }),
});

function selectionOf(input: typeof ResendSelectionInput.$inferInput) {
  return {
    endpointId: input.endpointId,
    state: input.state ?? 'failed',
    type: input.type ?? null,
    createdAfter: input.createdAfter ?? null,
    createdBefore: input.createdBefore ?? null,
  } as const;
}

const ResendOutcomeType = builder.objectRef<ResendOutcome>('WebhookResendOutcome').implement({
  description: 'The number of deliveries that a selection contains, or that were resent.',
  fields: (t) => ({
    count: t.exposeInt('count', { description: 'Number of deliveries.' }),
    more: t.exposeBoolean('more', {
      description: `Whether the selection exceeds the ${RESEND_LIMIT} newest deliveries that one call processes.`,
    }),
  }),
});

builder.queryFields((t) => ({
  webhookResendCount: t.field({
    type: ResendOutcomeType,
    authScopes: accessOf('webhookResendCount'),
    description: 'The number of deliveries that `resendWebhookDeliveries` would resend.',
    args: { selection: t.arg({ type: ResendSelectionInput, required: true, description: 'The selection.' }) },
    resolve: (_root, { selection }, { principal, useCases }) =>
      useCases.webhookResendCount(principal, selectionOf(selection)),
  }),
}));

const ResendEventPayload = builder.objectRef<{ deliveries: Delivery[] }>('ResendWebhookEventPayload').implement({
  description: 'A resent event.',
  fields: (t) => ({
    deliveries: t.expose('deliveries', {
      type: [WebhookDeliveryType],
      description: 'All deliveries of the event.',
    }),
  }),
});

builder.mutationFields((t) => ({
  resendWebhookEvent: t.field({
    type: ResendEventPayload,
    authScopes: accessOf('resendWebhookEvent'),
    errors: { types: [InvalidInputError, NotFoundError] },
    description: 'Resends an event, with the full retry schedule. Needs a secret key.',
    args: {
      eventId: t.arg.id({ required: true, description: 'Prefix `evt_`.' }),
      endpointId: t.arg.id({ description: 'Only to this endpoint. Default: to all that subscribe to its type.' }),
    },
    resolve: async (_root, { eventId, endpointId }, { principal, useCases }) => ({
      deliveries: await useCases.resendWebhookEvent(principal, eventId, endpointId ?? null),
    }),
  }),
  resendWebhookDeliveries: t.field({
    type: payloadOf('resendWebhookDeliveries', 'outcome', ResendOutcomeType, 'The number of resent deliveries.'),
    authScopes: accessOf('resendWebhookDeliveries'),
    errors: { types: [InvalidInputError, NotFoundError] },
    description: 'Resends a selection of deliveries: all failed ones, or those of a time range. Needs a secret key.',
    args: { selection: t.arg({ type: ResendSelectionInput, required: true, description: 'The selection.' }) },
    resolve: (_root, { selection }, { principal, useCases }) =>
      useCases.resendWebhookDeliveries(principal, selectionOf(selection)),
  }),
  sendTestWebhookEvent: t.field({
    type: payloadOf('sendTestWebhookEvent', 'event', WebhookEventType, 'The event.'),
    authScopes: accessOf('sendTestWebhookEvent'),
    errors: { types: [InvalidInputError, NotFoundError] },
    description:
      'Sends a test event by hand, with the latest invoice or credit note that has reached the status of the event, or a specimen. Test environment only.',
    args: {
      type: t.arg({ type: EventTypeEnum, required: true, description: 'Type of the event.' }),
      endpointId: t.arg.id({ description: 'Only to this endpoint. Default: to all that subscribe to the type.' }),
    },
    resolve: (_root, { type, endpointId }, { principal, useCases }) =>
      useCases.sendTestWebhookEvent(principal, type, endpointId ?? null),
  }),
}));
