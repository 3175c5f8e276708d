import { chownSync, lchownSync, lstatSync, type Stats, statSync } from 'node:fs';
import { opendir } from 'node:fs/promises';
import { dirname, join } from 'node:path';

/**
 * Gives a file that root made to the owner of its folder: the service, which runs as that user, could not open it. As any
 * other user, and in a folder of root's, it changes nothing.
 */
export function giveToOwner(file: string): void {
  const owner = ownerFor(dirname(file));
  if (owner) chownSync(file, owner.uid, owner.gid);
}

/** As {@link giveToOwner}, for all that root made in a folder. What belongs to others stays theirs. */
export async function giveAllToOwner(folder: string): Promise<void> {
  const owner = ownerFor(folder);
  if (!owner) return;
  for await (const entry of await opendir(folder, { recursive: true })) {
    const path = join(entry.parentPath, entry.name);
    try {
      if (lstatSync(path).uid === 0) lchownSync(path, owner.uid, owner.gid);
    } catch (error) {
      // A draft is renamed or gone in a moment.
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    }
  }
}

/** The owner of a folder, if this process is root's and the folder is not. */
function ownerFor(folder: string): Stats | null {
  if (process.getuid?.() !== 0) return null;
  const owner = statSync(folder);
  return owner.uid === 0 ? null : owner;
}
