/** Ends a repetition: no run begins any more. Resolves when the run under way has ended; never rejects. */
export type StopRepeating = () => Promise<void>;

/**
 * Repeats asynchronous work in the background, one run at a time: the pause begins when a run has ended, so that a slow
 * store is not asked again before it has answered. A run that fails is reported, and the next one takes place
 * regardless. The repetition does not keep the process alive. For synchronous work `setInterval` is enough.
 * @param pauseMs time between the end of a run and the next one, milliseconds; a function is called for each pause
 * @param report receives the error of a failed run. Never throws
 * @param firstMs time until the first run, milliseconds; default: `pauseMs`
 */
export function every(
  pauseMs: number | (() => number),
  work: () => Promise<unknown>,
  report: (error: unknown) => unknown,
  { firstMs }: { readonly firstMs?: number } = {},
): StopRepeating {
  const pause = typeof pauseMs === 'number' ? () => pauseMs : pauseMs;
  let underWay: Promise<void> = Promise.resolve();
  let isStopped = false;
  let timer = schedule(firstMs ?? pause());

  function schedule(ms: number): NodeJS.Timeout {
    return setTimeout(() => {
      underWay = run();
    }, ms).unref();
  }

  async function run(): Promise<void> {
    try {
      await work();
    } catch (error) {
      report(error);
    }
    if (!isStopped) timer = schedule(pause());
  }

  return () => {
    isStopped = true;
    clearTimeout(timer);
    return underWay;
  };
}
