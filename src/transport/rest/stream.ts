import type { Context } from 'koa';
import type { GraphQLContext } from '../../graphql/context.ts';
import { prepare } from '../../graphql/execute.ts';
import { EVENT_STREAM_HEADERS, type EventStreams } from '../event-stream.ts';
import { singleHeader } from '../headers.ts';
import { type Message, messageOf } from '../open-stream.ts';
import { whenGone } from '../when-gone.ts';
import { inRestNames } from './names.ts';

interface StatusMessage {
  readonly eventId: string;
  readonly id: string;
  readonly status: string;
  readonly dgi_id: string | null;
  readonly rejection_reason: string | null;
  readonly updated_at: string;
}

const watch = prepare<{ invoiceStatus: StatusMessage }>(`
  subscription ($id: ID!, $clientSecret: String, $afterEventId: ID) {
    invoiceStatus(id: $id, clientSecret: $clientSecret, afterEventId: $afterEventId) {
      eventId id: invoiceId status dgi_id: dgiId rejection_reason: rejectionReason updated_at: updatedAt
    }
  }`);

/**
 * GET /v1/invoices/:id/stream (docs/decisions/0023): the subscription `invoiceStatus` as Server-Sent Events.
 * `Last-Event-ID` resumes the stream, or the parameter `lastEventId`, which polyfills of EventSource send instead. If
 * the client already has the final event, the answer is 204, which makes a browser's EventSource stop reconnecting.
 * @throws {ServiceError} before anything is sent
 */
export async function streamStatus(
  ctx: Context,
  graphql: GraphQLContext,
  { lastEventId, ...invoice }: { id: string; clientSecret: string | null; lastEventId: string | null },
  streams: EventStreams,
): Promise<void> {
  const afterEventId = singleHeader(ctx, 'Last-Event-ID') || lastEventId || null;
  const changes = await inRestNames(watch.subscribe(graphql, { ...invoice, afterEventId }));
  whenGone(ctx.res, () => void changes.return?.());
  if (ctx.method === 'HEAD') {
    await changes.return?.();
    ctx.status = 200;
    ctx.set(EVENT_STREAM_HEADERS);
    return;
  }
  const first = changes.next();
  if (afterEventId !== null && (await endedAlready(first))) {
    ctx.status = 204;
    return;
  }
  streams.open(ctx, graphql.principal, { values: beginningWith(first, changes), print });
}

function print({ invoiceStatus: { eventId, id, ...fields } }: { invoiceStatus: StatusMessage }): Message | null {
  return messageOf(`id: ${eventId}\ndata: ${JSON.stringify({ id, object: 'invoice', ...fields })}\n\n`);
}

/** Returns an iteration that starts with a step that has already been requested. */
function beginningWith<Value>(first: Promise<IteratorResult<Value>>, rest: AsyncIterator<Value>): AsyncIterator<Value> {
  let begun = false;
  return {
    next() {
      if (begun) return rest.next();
      begun = true;
      return first;
    },
    return: async () => rest.return?.() ?? { done: true, value: undefined },
  };
}

/** Whether an iteration ends within this turn of the event loop. */
async function endedAlready(first: Promise<IteratorResult<unknown>>): Promise<boolean> {
  const pending = new Promise<null>((resolve) => setImmediate(() => resolve(null)));
  const settled = await Promise.race([first, pending]);
  return settled?.done === true;
}
