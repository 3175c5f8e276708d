/** How often the parent is looked for, milliseconds. */
const LOOK_MS = 250;

/**
 * Makes a program that npm runs end with npm, as by a SIGTERM; does nothing where npm does not run it. npm hands its SIGTERM to the shell that
 * runs the script, which dies of it and leaves the program running: dash, Debian's shell, runs even a single command as its child. So the
 * program looks whether its parent is still there.
 */
export function endWithNpm(): void {
  if (process.env.npm_lifecycle_event === undefined) return;
  const parent = process.ppid;
  const timer = setInterval(() => {
    if (process.ppid === parent && isAlive(parent)) return;
    clearInterval(timer);
    if (!process.emit('SIGTERM', 'SIGTERM')) process.exit(143);
  }, LOOK_MS);
  timer.unref();
}

/** For Windows, where the parent's id stays when it is gone. */
function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
