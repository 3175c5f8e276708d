/**
 * Runs what an interruption such as Ctrl-C ends by a signal, so that the command can still say what may have been done.
 * A second one ends the program at once.
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
