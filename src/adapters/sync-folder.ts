import { open, opendir } from 'node:fs/promises';
import { join } from 'node:path';

/** Waits until the entries of a folder are flushed to the disk. */
export async function syncFolder(folder: string): Promise<void> {
  // Windows cannot open folders; NTFS makes renames durable without this.
  if (process.platform === 'win32') return;
  const handle = await open(folder, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** Waits until the entries of a folder, and of all folders in it, are flushed to the disk. */
export async function syncFolders(folder: string): Promise<void> {
  for await (const entry of await opendir(folder, { recursive: true }))
    if (entry.isDirectory()) await syncFolder(join(entry.parentPath, entry.name));
  await syncFolder(folder);
}
