import type { InvalidSignature } from '../../domain/verification/verification.ts';

/** Thrown inside the verifier when a check fails, and returned to its caller as an {@link InvalidSignature}. */
export class Refused extends Error {
  readonly failed: InvalidSignature['failed'];

  constructor(failed: InvalidSignature['failed'], reason: string, options?: ErrorOptions) {
    super(reason, options);
    this.failed = failed;
  }
}
