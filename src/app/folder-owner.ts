import { chownSync, lchownSync, lstatSync, type Stats, statSync } from 'node:fs';
import { opendir } from 'node:fs/promises';
import { dirname, join } from 'node:path';

/**
 * Changes the owner of a file that root created to the owner of its folder. Otherwise the service, which runs as that
 * user, could not open the file. Does nothing for other users, and in a folder that root owns.
 */
export function giveToOwner(file: string): void {
  const owner = ownerFor(dirname(file));
  if (owner) chownSync(file, owner.uid, owner.gid);
}

/**
 * Does what {@link giveToOwner} does for everything that root created in a folder. Files of other users stay theirs.
 */
export async function giveAllToOwner(folder: string): Promise<void> {
  const owner = ownerFor(folder);
  if (!owner) return;
  for await (const entry of await opendir(folder, { recursive: true })) {
    const path = join(entry.parentPath, entry.name);
    try {
      if (lstatSync(path).uid === 0) lchownSync(path, owner.uid, owner.gid);
    } catch (error) {
      // Ignored: a draft is renamed or deleted within a moment.
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    }
  }
}

/** Returns the owner of a folder, if this process runs as root and another user owns the folder; null otherwise. */
function ownerFor(folder: string): Stats | null {
  if (process.getuid?.() !== 0) return null;
  const owner = statSync(folder);
  return owner.uid === 0 ? null : owner;
}
