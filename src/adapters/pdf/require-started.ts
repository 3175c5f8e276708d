import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';

/**
 * To be called right after `spawn`. Node tells by an event that the system started no program; such a child may have no
 * streams, where the system had no files left for them.
 * @throws the system's error, such as EMFILE or ENOENT
 */
export async function requireStarted(child: ChildProcess): Promise<void> {
  if (child.pid !== undefined) return;
  const [error] = await once(child, 'error');
  throw error;
}
