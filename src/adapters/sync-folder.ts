import { open } from 'node:fs/promises';

/** Waits until the entries of a folder are on the disk. */
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
