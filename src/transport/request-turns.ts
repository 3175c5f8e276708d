import type { Context } from 'koa';
import { serviceError } from '../domain/errors.ts';
import { takeRoom, takeTurn } from '../domain/event-loop-turns.ts';
import { createFairQueue } from '../domain/kit/fair-queue.ts';
import { sharerOf } from '../domain/principal.ts';
import { askOnceMore } from './ask.ts';
import type { RequestState } from './state.ts';
import { isGone } from './when-gone.ts';

/**
 * How many requests of a kind may be between the check of the caller and their work. Each of them waits for the others'
 * work at most, so that the result of the check is not old.
 */
const AT_A_TIME = 4;

/**
 * The requests that wait. Those with a document have been parsed, and are not kept by those whose body waits, so that
 * few parsed bodies are in memory.
 */
const queues = { body: createFairQueue({ places: AT_A_TIME }), document: createFairQueue({ places: AT_A_TIME }) };

/**
 * Waits until the event loop has room for work of a request: sharers in turn, and together with all other work that is
 * counted (`takeTurn`). Many requests at once are otherwise worked on in a single turn of the event loop. Does not wait
 * if there is room.
 * @param kind what the work depends on: the bytes of a body, or the GraphQL document that it contains
 * @param units the work, in units of `takeTurn`
 * @throws {ServiceError} invalid_request if the client has disconnected meanwhile; the refusal of a caller whose
 * permission has ended meanwhile
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
