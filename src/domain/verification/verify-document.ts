import { serviceError } from '../errors.ts';
import { createFairQueue, QueueFull } from '../fair-queue.ts';
import { type Principal, requireSecretKey } from '../principal.ts';
import { givenUp, type Verification } from './verification.ts';

/** Of one tenant, the one that is being checked not counted: as many as one operation may ask for. A check takes a second or two at most. */
const MAX_WAITING = 10;
const MAX_WAITING_OF_ALL = 64;

export type VerifyDocument = ReturnType<typeof createVerifyDocument>;

export function createVerifyDocument(verify: (document: Uint8Array) => Promise<Verification>) {
  const queue = createFairQueue({ perKey: MAX_WAITING, total: MAX_WAITING_OF_ALL });
  /**
   * Checks a signed invoice, whoever issued it. Tenants take turns, so that none waits for what another has sent.
   * @throws {ServiceError} insufficient_scope; rate_limit_exceeded while too many of the tenant's documents wait
   */
  return async (principal: Principal, xml: string): Promise<Verification> => {
    const { tenant } = requireSecretKey(principal);
    try {
      return await queue.run(tenant.id, () => verify(Buffer.from(xml)).catch(givenUp));
    } catch (error) {
      if (!(error instanceof QueueFull)) throw error;
      throw serviceError(
        'rate_limit_exceeded',
        'Too many of your documents wait to be verified: send the next one when an answer has come.',
      );
    }
  };
}
