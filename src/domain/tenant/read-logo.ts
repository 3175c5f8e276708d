import { serviceError } from '../errors.ts';
import { createFairQueue, QueueFull } from '../kit/fair-queue.ts';
import type { Logo } from './logo.ts';
import { NotALogo } from './not-a-logo.ts';

/** Reads a data URL as `parseLogo` does. @throws {NotALogo} */
export type ReadLogo = (url: string) => Logo | Promise<Logo>;

/**
 * Limits of the queue of logos: read at once, waiting for one tenant, waiting in all, and milliseconds that one may
 * wait.
 */
const LOGOS = { places: 1, perKey: 2, total: 20, patienceMs: 20_000 } as const;

/**
 * Creates the reader of the logos that clients send. Tenants take turns.
 * @param read reads a logo on a thread
 * @param report receives the error of a thread
 * @returns a function that returns a tenant's reader. The reader throws {ServiceError} rate_limit_exceeded while too
 * many of the tenant's logos wait; internal_error (503) if the thread does not answer
 */
export function createReadLogo(
  read: (url: string) => Promise<Logo>,
  report: (error: unknown) => void,
): (tenantId: string) => ReadLogo {
  const queue = createFairQueue(LOGOS);
  return (tenantId) => async (url) => {
    try {
      return await queue.run(tenantId, () => read(url));
    } catch (error) {
      if (error instanceof NotALogo) throw error;
      if (error instanceof QueueFull)
        throw serviceError('rate_limit_exceeded', 'Too many logos are read at the moment. Try again in 5 s.');
      report(error);
      throw serviceError('internal_error', 'No logo can be read at the moment.', null, 503);
    }
  };
}
