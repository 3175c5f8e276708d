import type { InvalidSignature } from '../../domain/verification/verification.ts';

/** Thrown inside the verifier; becomes an {@link InvalidSignature}. */
export class Refused extends Error {
  readonly failed: InvalidSignature['failed'];

  constructor(failed: InvalidSignature['failed'], reason: string, options?: ErrorOptions) {
    super(reason, options);
    this.failed = failed;
  }
}
