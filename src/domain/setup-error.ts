/**
 * Stops a start, and only a person can mend it: the next start would fail alike, or do harm, as a wrong PIN does. The
 * process ends with exit code 2, as with wrong settings, so that a supervisor that can tell does not try again.
 * `message` says what to do.
 */
export class SetupError extends Error {
  override readonly name = 'SetupError';
}
