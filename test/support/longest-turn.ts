/**
 * Returns the longest time that work blocks the event loop, in milliseconds of this thread's CPU time between two turns
 * of the loop. Other load on the machine does not count. A service in this process runs in the same thread, so its
 * share and the client's are counted together.
 */
export async function longestTurn(work: () => Promise<unknown>): Promise<number> {
  let longest = 0;
  let last = spent();
  let isRunning = true;
  const look = (): void => {
    const now = spent();
    longest = Math.max(longest, now - last);
    last = now;
    if (isRunning) setImmediate(look);
  };
  setImmediate(look);
  try {
    await work();
  } finally {
    isRunning = false;
    look();
  }
  return longest;
}

function spent(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
}
