import type { Readable } from 'node:stream';
import type { Context } from 'koa';
import { serviceError } from '../domain/errors.ts';
import { type createFairQueue, QueueFull } from '../domain/kit/fair-queue.ts';
import type { Principal } from '../domain/principal.ts';
import type { EventStreams } from './event-stream.ts';

/** The media types of tables, by their format. */
export const TABLE_MEDIA_TYPES = {
  xlsx: 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
  csv: 'text/csv; charset=utf-8',
} as const;

/** Seconds after which a refused file may be requested or sent again. */
export const WHEN_FREE = '10';

/**
 * Takes a place for a file of a tenant.
 * @param message the reason of a refusal
 * @returns a function that frees the place
 * @throws {ServiceError} rate_limit_exceeded, with `Retry-After`
 */
export async function takeFilePlace(
  ctx: Context,
  queue: Pick<ReturnType<typeof createFairQueue>, 'enter'>,
  tenantId: string,
  message: string,
): Promise<() => void> {
  try {
    return await queue.enter(tenantId);
  } catch (error) {
    if (!(error instanceof QueueFull)) throw error;
    ctx.set('Retry-After', WHEN_FREE);
    throw serviceError('rate_limit_exceeded', message);
  }
}

/** Stops sending a file when the caller's credential is revoked, and frees its place at the end. */
export function followFile(
  body: Readable,
  principal: Principal,
  streams: Pick<EventStreams, 'whenRevoked'>,
  leave: () => void,
): void {
  const unfollow = streams.whenRevoked(principal, () => body.destroy());
  // Koa destroys the body when the answer has ended, or the client is gone.
  body.once('close', () => {
    unfollow();
    leave();
  });
}
