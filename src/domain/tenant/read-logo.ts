import { serviceError } from '../errors.ts';
import { createFairQueue, QueueFull } from '../fair-queue.ts';
import type { Logo } from './logo.ts';
import { NotALogo } from './not-a-logo.ts';

/** Reads a data URL as `parseLogo` does. @throws {NotALogo} */
export type ReadLogo = (url: string) => Logo | Promise<Logo>;

/** Logos at the same time; how many wait, of a tenant and of all; milliseconds that one waits. */
const LOGOS = { places: 1, perKey: 2, total: 20, patienceMs: 20_000 } as const;

/**
 * Reads the logos that clients send. Tenants take turns.
 * @param read on a thread
 * @param report called with the error of a thread
 * @returns what reads the logos of a tenant. It throws {ServiceError} rate_limit_exceeded while others of the tenant wait;
 *   internal_error (503) where the thread does not answer
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
