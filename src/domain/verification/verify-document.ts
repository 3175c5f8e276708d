import { serviceError } from '../errors.ts';
import { type createFairQueue, QueueFull } from '../kit/fair-queue.ts';
import type { Call, UseCase } from '../use-case.ts';
import { givenUp, type Verification } from './verification.ts';

/**
 * Limits of the queue of verifications: documents that wait for one tenant, not counting the one under way, and in all.
 * One operation may request as many as wait for one tenant. A check takes at most a second or two.
 */
export const VERIFICATIONS = { perKey: 10, total: 64 } as const;

interface VerificationNeeds {
  readonly clientsVerifier: { verify(document: Uint8Array): Promise<Verification> };
  /** The queue of documents, by tenant, with the limits {@link VERIFICATIONS}. */
  readonly verifications: ReturnType<typeof createFairQueue>;
}

/**
 * Verifies a signed invoice of any issuer. Tenants take turns, so that none waits for another's backlog.
 * @throws {ServiceError} rate_limit_exceeded if too many of the tenant's documents wait
 */
export const verifyDocument = {
  scope: 'read',
  async run(
    { clientsVerifier, verifications }: VerificationNeeds,
    { by: { tenant } }: Call,
    xml: string,
  ): Promise<Verification> {
    try {
      return await verifications.run(tenant.id, () => clientsVerifier.verify(Buffer.from(xml)).catch(givenUp));
    } catch (error) {
      if (!(error instanceof QueueFull)) throw error;
      throw serviceError(
        'rate_limit_exceeded',
        'Too many of your documents wait to be verified: send the next one after you have received an answer.',
      );
    }
  },
} as const satisfies UseCase;
