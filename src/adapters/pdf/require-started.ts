import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';

/**
 * Checks that a child process was started; to be called right after `spawn`. Node only emits an event when the system
 * could not start the program. Such a child may have no streams, if the system had no files left for them.
 * @throws the system's error, such as EMFILE or ENOENT
 */
export async function requireStarted(child: ChildProcess): Promise<void> {
  if (child.pid !== undefined) return;
  const [error] = await once(child, 'error');
  throw error;
}
