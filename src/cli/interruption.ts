/**
 * Runs work that a signal such as Ctrl-C ends in an orderly way. A second signal ends the program at once. Backups have a
 * rule of their own (`backup.ts`): there a second signal must not interrupt the cleanup.
 * @param run gets the signal that is aborted by the first interruption
 */
export async function interruptible<Result>(run: (signal: AbortSignal) => Promise<Result>): Promise<Result> {
  const end = new AbortController();
  const interrupt = () => end.abort();
  process.once('SIGINT', interrupt).once('SIGTERM', interrupt);
  try {
    return await run(end.signal);
  } finally {
    process.off('SIGINT', interrupt).off('SIGTERM', interrupt);
  }
}
