/** Milliseconds between two checks of the parent process. */
const CHECK_MS = 250;

/**
 * Ends a program that was started by an npm script when npm ends, as if by SIGTERM. Does nothing outside npm. Signals
 * are not enough. If npm is killed, it sends none. Otherwise it sends SIGTERM to the shell that runs the script: unless
 * the script uses `exec`, the shell dies and the program continues, because dash, Debian's shell, runs even a single
 * command as a child process. So the program checks whether its parent still exists.
 * @returns a function that stops the checks, for a program that is already ending
 */
export function endWithNpm(): () => void {
  if (process.env.npm_lifecycle_event === undefined) return () => undefined;
  const parent = process.ppid;
  const timer = setInterval(() => {
    if (process.ppid === parent && isAlive(parent)) return;
    clearInterval(timer);
    if (!process.emit('SIGTERM', 'SIGTERM')) process.exit(143);
  }, CHECK_MS);
  timer.unref();
  return () => clearInterval(timer);
}

/** Whether the process exists. Needed on Windows, where `process.ppid` does not change when the parent ends. */
function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
