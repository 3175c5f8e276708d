import type { Context } from 'koa';
import { serviceError } from '../domain/errors.ts';
import { takeRoom, takeTurn } from '../domain/event-loop-turns.ts';
import { createFairQueue } from '../domain/kit/fair-queue.ts';
import { sharerOf } from '../domain/principal.ts';
import { askOnceMore } from './ask.ts';
import type { RequestState } from './state.ts';
import { isGone } from './when-gone.ts';

/**
 * Maximum number of requests of a kind between the check of the caller and their work. A request waits at most for the
 * work of this many others, so that the result of its check is recent.
 */
const AT_A_TIME = 4;

/**
 * The waiting requests. Requests that wait with a document are already parsed. They have their own queue, so that
 * requests that wait with a body do not keep them, and few parsed bodies are in memory.
 */
const queues = { body: createFairQueue({ places: AT_A_TIME }), document: createFairQueue({ places: AT_A_TIME }) };

/**
 * Waits until the event loop has room for the work of a request, with all other counted work (`takeTurn`) taken into
 * account. Sharers take turns. Without this, many concurrent requests would be processed in a single turn of the event
 * loop. Does not wait if there is room.
 * @param kind what the work depends on: the bytes of a body, or the GraphQL document that it contains
 * @param units the work, in units of `takeTurn`
 * @throws {ServiceError} invalid_request if the client has disconnected meanwhile; the refusal of a caller whose
 *   permission has ended meanwhile
 */
export async function waitForTurn(ctx: Context, kind: keyof typeof queues, units: number): Promise<void> {
  const queue = queues[kind];
  const { identity } = ctx.state as RequestState;
  const sharer = identity && 'principal' in identity ? sharerOf(identity.principal) : '';
  const waits = !queue.hasPlace(sharer);
  if (!waits && takeRoom(units)) return;
  const leave = await queue.enter(sharer);
  try {
    if (waits) {
      requireClient(ctx);
      await askOnceMore(ctx);
    }
    const turn = takeTurn(units, () => isGone(ctx.res));
    if (!turn) return;
    await turn;
    requireClient(ctx);
  } finally {
    leave();
  }
}

/** Ends the request if its client has disconnected. @throws {ServiceError} that is not logged as a failure */
function requireClient(ctx: Context): void {
  if (isGone(ctx.res)) throw serviceError('invalid_request', 'The client has disconnected.');
}
