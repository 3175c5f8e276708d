import { serviceError } from '../errors.ts';
import { createFairQueue, QueueFull } from '../kit/fair-queue.ts';
import { type Principal, requireScope } from '../principal.ts';
import { givenUp, type Verification } from './verification.ts';

/**
 * Maximum number of waiting documents of one tenant, not counting the one under way. One operation may request as many.
 * A check takes at most a second or two.
 */
const MAX_WAITING = 10;
const MAX_WAITING_OF_ALL = 64;

export type VerifyDocument = ReturnType<typeof createVerifyDocument>;

export function createVerifyDocument(verify: (document: Uint8Array) => Promise<Verification>) {
  const queue = createFairQueue({ perKey: MAX_WAITING, total: MAX_WAITING_OF_ALL });
  /**
   * Verifies a signed invoice of any issuer. Tenants take turns, so that none waits for another's backlog.
   * @throws {ServiceError} insufficient_scope; rate_limit_exceeded if too many of the tenant's documents wait
   */
  return async (principal: Principal, xml: string): Promise<Verification> => {
    const { tenant } = requireScope(principal, 'read');
    try {
      return await queue.run(tenant.id, () => verify(Buffer.from(xml)).catch(givenUp));
    } catch (error) {
      if (!(error instanceof QueueFull)) throw error;
      throw serviceError(
        'rate_limit_exceeded',
        'Too many of your documents wait to be verified: send the next one after you have received an answer.',
      );
    }
  };
}
