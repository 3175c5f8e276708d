/**
 * Waits for work, for at most `ms` milliseconds. Use it where work under way may be given up, as when a process ends. The
 * work goes on. The wait does not keep the process alive.
 * @throws the error of the work, if it fails in time
 */
export async function within(ms: number, work: Promise<unknown>): Promise<void> {
  const over = Promise.withResolvers<void>();
  const timer = setTimeout(over.resolve, ms).unref();
  try {
    await Promise.race([work, over.promise]);
  } finally {
    clearTimeout(timer);
  }
}
