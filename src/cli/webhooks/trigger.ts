import { EVENT_TYPES, enumNameOf, eventTypesOf } from '../../domain/event.ts';
import { KIND_NAMES } from '../../domain/invoice/kinds.ts';
import { type Command, UsageError } from '../command.ts';
import { accessOf, operate, SERVICE_OPTIONS } from './service.ts';

/** The operation of `trigger`. */
export const SEND = `mutation ($type: WebhookEventType!, $endpointId: ID) {
  sendTestWebhookEvent(type: $type, endpointId: $endpointId) {
    ... on SendTestWebhookEventPayload { event { id deliveries { endpointId } } }
    ... on Error { refused: message }
  }
}`;

export const trigger: Command = {
  name: 'trigger',
  summary: 'Sends a test event (test environment only)',
  positionals: ['EVENT_TYPE'],
  options: {
    ...SERVICE_OPTIONS,
    json: { description: 'Print an object' },
    endpoint: {
      value: 'ENDPOINT_ID',
      description: 'Send only to this endpoint; default: all endpoints that subscribe to the type',
    },
  },
  details: `EVENT_TYPE is one of
${KIND_NAMES.map((kind) => `  ${eventTypesOf(kind).join(', ')}`).join('\n')}
The event describes the latest invoice or credit note that had such an event, or a specimen. It is signed, retried and
logged like any other event.`,
  async run(input, context) {
    const type = EVENT_TYPES.find((each) => each === input.get('EVENT_TYPE'));
    if (!type) throw new UsageError(`EVENT_TYPE must be one of ${EVENT_TYPES.join(', ')}`);
    const variables = { type: enumNameOf(type), endpointId: input.find('endpoint') };
    const { sendTestWebhookEvent } = await operate<{
      sendTestWebhookEvent: { event: { id: string; deliveries: { endpointId: string }[] } };
    }>(await accessOf(input, context), SEND, variables);
    const { id, deliveries } = sendTestWebhookEvent.event;
    const receivers = deliveries.map(({ endpointId }) => endpointId);
    if (input.has('json')) {
      context.terminal.print(JSON.stringify({ type, id, endpoints: receivers }));
      return 0;
    }
    const whereTo =
      receivers.length > 0
        ? receivers.join(', ')
        : 'no webhook endpoint, because none subscribes to it; a running listen command receives it';
    context.terminal.print(`${type} ${id} is sent to ${whereTo}.`);
    return 0;
  },
};
