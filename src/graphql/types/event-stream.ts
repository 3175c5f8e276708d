import { CURSOR_PLACES, OVERLAP_MS } from '../../domain/webhook/event-cursor.ts';
import type { StreamedEvent } from '../../domain/webhook/watch-events.ts';
import { wasSentByHand } from '../../domain/webhook/webhook-event.ts';
import { accessOf } from '../access.ts';
import { builder } from '../builder.ts';
import { WebhookEventType } from './webhook-event.ts';

const StreamedEventType = builder.objectRef<StreamedEvent>('StreamedEvent').implement({
  description: 'An event on the stream. An event that is resent by hand appears again.',
  fields: (t) => ({
    cursor: t.string({ description: 'Resumes after this event.', resolve: (streamed) => streamed.cursor() }),
    event: t.expose('event', { type: WebhookEventType, description: 'The event.' }),
    manual: t.boolean({
      description: 'Whether the event was sent by hand: a test event or a resent one.',
      resolve: ({ event }) => wasSentByHand(event),
    }),
  }),
});

builder.subscriptionFields((t) => ({
  invoiceEvents: t.field({
    type: StreamedEventType,
    authScopes: accessOf('invoiceEvents'),
    description:
      'Every event of the secret key’s tenant and environment live and each once, including test events and resends. Never completes.',
    args: {
      after: t.arg.string({
        description: `Resumes the stream after an event: the cursor of the last received event, or an event id; or begins it at an instant such as 2026-01-31T12:00:00Z. (If more than ${CURSOR_PLACES} events happened within ${OVERLAP_MS / 1000} s, a stream resumed by cursor may repeat the earlier ones.)`,
      }),
    },
    subscribe: (_root, { after }, { principal, useCases }) => useCases.invoiceEvents(principal, after ?? null),
    resolve: (streamed) => streamed,
  }),
}));
