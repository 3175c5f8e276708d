import type { StreamedEvent } from '../../domain/webhook/watch-events.ts';
import { wasSentByHand } from '../../domain/webhook/webhook-event.ts';
import { builder } from '../builder.ts';
import { WebhookEventType } from './webhook-event.ts';

const StreamedEventType = builder.objectRef<StreamedEvent>('StreamedEvent').implement({
  description: 'An event on the stream; again when it is sent again by hand.',
  fields: (t) => ({
    cursor: t.string({ description: 'What to resume after.', resolve: (streamed) => streamed.cursor() }),
    event: t.expose('event', { type: WebhookEventType, description: 'The event.' }),
    manual: t.boolean({
      description: 'Whether it comes because somebody sent it by hand: a test event, or an event that is sent again.',
      resolve: ({ event }) => wasSentByHand(event),
    }),
  }),
});

builder.subscriptionFields((t) => ({
  invoiceEvents: t.field({
    type: StreamedEventType,
    description:
      'Every event of the secret key’s tenant and environment as it happens, each once, test events and resends included. Never completes.',
    args: {
      after: t.arg.string({
        description:
          'Resume: the cursor of the last event that arrived, or the id of an event. Begins with what came since. (Of more than 64 events in 5 s the earlier ones may come twice after a resumption by cursor.)',
      }),
    },
    subscribe: (_root, { after }, { principal, useCases }) => useCases.watchEvents(principal, after ?? null),
    resolve: (streamed) => streamed,
  }),
}));
