import { randomBytes } from 'node:crypto';
import { mkdir, open, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { syncFolder } from '../sync-folder.ts';

/**
 * Writes a mail to a folder as `<name>.eml`, atomically and durably. Writing the same name again replaces the file, so
 * a retried mail is stored once.
 * @returns the file's path
 */
export async function writeToOutbox(folder: string, name: string, message: Uint8Array): Promise<string> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const file = join(folder, `${name}.eml`);
  const draft = join(folder, `.${name}.${randomBytes(6).toString('hex')}.part`);
  try {
    const handle = await open(draft, 'w', 0o600);
    try {
      await handle.writeFile(message);
      await handle.sync();
    } finally {
      await handle.close();
    }
    await rename(draft, file);
  } catch (error) {
    await rm(draft, { force: true });
    throw error;
  }
  await syncFolder(folder);
  return file;
}
