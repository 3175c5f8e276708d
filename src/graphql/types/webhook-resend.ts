import { type Delivery, MOST_DELIVERIES } from '../../domain/webhook/delivery.ts';
import { RESEND_LIMIT, type ResendOutcome } from '../../domain/webhook/resend-events.ts';
import { builder } from '../builder.ts';
import { enumOf } from '../enum-of.ts';
import { payloadOf } from '../payload.ts';
import { InvalidInputError, NotFoundError } from './errors.ts';
import { EventTypeEnum } from './event-type.ts';
import './scalars.ts';
import { STATE_MEANING, WebhookDeliveryType } from './webhook-delivery.ts';
import { eventTimes, WebhookEventType } from './webhook-event.ts';

const { pending: _unsettled, ...SETTLED_MEANING } = STATE_MEANING;
const SettledStateType = enumOf('SettledWebhookDeliveryState', 'How a delivery ended.', SETTLED_MEANING);

const ResendSelectionInput = builder.inputType('WebhookResendSelection', {
  description: 'Which settled deliveries of an endpoint are meant.',
  fields: (t) => ({
    endpointId: t.id({ required: true, description: 'Prefix `we_`; it must be active.' }),
    state: t.field({
      type: SettledStateType,
      required: true,
      defaultValue: 'failed',
      description: 'Those that ended so.',
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
  description: 'How many deliveries a selection holds, or were made due again.',
  fields: (t) => ({
    count: t.exposeInt('count', { description: 'So many.' }),
    more: t.exposeBoolean('more', {
      description: `Whether there are more than the ${RESEND_LIMIT} that one call looks at, newest first.`,
    }),
  }),
});

builder.queryFields((t) => ({
  webhookResendCount: t.field({
    type: ResendOutcomeType,
    authScopes: { secretKey: true },
    description: 'How many deliveries `resendWebhookDeliveries` would send again.',
    args: { selection: t.arg({ type: ResendSelectionInput, required: true, description: 'Which.' }) },
    resolve: (_root, { selection }, { principal, useCases }) =>
      useCases.resendEvents.count(principal, selectionOf(selection)),
  }),
}));

const ResendEventPayload = builder.objectRef<{ deliveries: Delivery[] }>('ResendWebhookEventPayload').implement({
  description: 'An event that is sent again.',
  fields: (t) => ({
    deliveries: t.expose('deliveries', {
      type: [WebhookDeliveryType],
      extensions: { most: MOST_DELIVERIES },
      description: 'All its deliveries.',
    }),
  }),
});

builder.mutationFields((t) => ({
  resendWebhookEvent: t.field({
    type: ResendEventPayload,
    authScopes: { secretKey: true },
    errors: { types: [InvalidInputError, NotFoundError] },
    description: 'Sends an event again, with the whole schedule. Needs a secret key.',
    args: {
      eventId: t.arg.id({ required: true, description: 'Prefix `evt_`.' }),
      endpointId: t.arg.id({ description: 'Only to this endpoint; to all that subscribe to its type unless given.' }),
    },
    resolve: async (_root, { eventId, endpointId }, { principal, useCases }) => ({
      deliveries: await useCases.resendEvents.one(principal, eventId, endpointId ?? null),
    }),
  }),
  resendWebhookDeliveries: t.field({
    type: payloadOf('resendWebhookDeliveries', 'outcome', ResendOutcomeType, 'How many are sent again.'),
    authScopes: { secretKey: true },
    errors: { types: [InvalidInputError, NotFoundError] },
    description: 'Sends a selection of deliveries again: all failed ones, those of a time range. Needs a secret key.',
    args: { selection: t.arg({ type: ResendSelectionInput, required: true, description: 'Which.' }) },
    resolve: (_root, { selection }, { principal, useCases }) =>
      useCases.resendEvents.many(principal, selectionOf(selection)),
  }),
  sendTestWebhookEvent: t.field({
    type: payloadOf('sendTestWebhookEvent', 'event', WebhookEventType, 'The event.'),
    authScopes: { secretKey: true },
    errors: { types: [InvalidInputError, NotFoundError] },
    description:
      'Sends an event by hand, with the latest invoice that has come so far, or a specimen. In the test environment only.',
    args: {
      type: t.arg({ type: EventTypeEnum, required: true, description: 'What the event tells of.' }),
      endpointId: t.arg.id({ description: 'Only to this endpoint; to all that subscribe to the type unless given.' }),
    },
    resolve: (_root, { type, endpointId }, { principal, useCases }) =>
      useCases.sendTestEvent(principal, type, endpointId ?? null),
  }),
}));
