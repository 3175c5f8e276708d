/**
 * Stops a start for a fault that only a person can correct: the next start would fail in the same way, or do harm, as a
 * wrong PIN does. The process ends with exit code 2, as with wrong settings, so that a supervisor that can tell does
 * not try again. `message` says what to do.
 */
export class SetupError extends Error {
  override readonly name = 'SetupError';
}
