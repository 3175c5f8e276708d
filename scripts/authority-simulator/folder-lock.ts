import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

/**
 * Takes a folder for this process by a file with its id. A file that a killed process left is taken over.
 * @returns a function that gives the folder back
 * @throws when a running process holds it
 */
export async function lockFolder(folder: string): Promise<() => Promise<void>> {
  const file = join(folder, 'lock');
  const take = () => writeFile(file, String(process.pid), { flag: 'wx' });
  try {
    await take();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    const holder = Number(await readFile(file, 'utf8'));
    // In a container every process has the same id.
    if (holder > 0 && holder !== process.pid && isAlive(holder))
      throw new Error(`${folder} is in use by the process ${holder}.`);
    await rm(file, { force: true });
    await take();
  }
  return () => rm(file, { force: true });
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
