import { randomBytes } from 'node:crypto';
import { mkdir, mkdtemp, readdir, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';

/**
 * Name prefix of staging folders. A folder older than `STAGING_LIMIT` (milliseconds) belongs to a process that died.
 */
const STAGING = 'unpacking-';
const STAGING_LIMIT = 600_000;

/**
 * Returns the folder `<parent>/<name>-<version>` and fills it with `fill` if it does not exist. The folder is created
 * atomically, even when processes crash or several do this at the same time. Its content may be executed, so it has
 * mode 0700, and a folder that belongs to another user or is writable by others is refused. Other versions are removed;
 * running programs keep their files open.
 * @returns the folder's path
 * @throws {Error} what `fill` throws, or that the folder is not private
 */
export async function privateFolder(
  parent: string,
  name: string,
  version: string,
  fill: (folder: string) => Promise<void>,
): Promise<string> {
  const folder = join(parent, `${name}-${version}`);
  if (await isOurs(folder)) return folder;
  await mkdir(parent, { recursive: true, mode: 0o700 });
  // mkdtemp creates the folder with mode 0700; the rename keeps the mode.
  const staging = await mkdtemp(join(parent, STAGING));
  try {
    await fill(staging);
    await rename(staging, folder);
  } catch (error) {
    await rm(staging, { recursive: true, force: true });
    // Another process may have created the folder first; that one is then used.
    if (!(await isOurs(folder))) throw error;
  }
  await sweep(parent, name, folder);
  return folder;
}

async function isOurs(folder: string): Promise<boolean> {
  const found = await stat(folder).catch(() => null);
  if (found === null) return false;
  const foreign = process.getuid !== undefined && found.uid !== process.getuid();
  if (foreign || (process.platform !== 'win32' && (found.mode & 0o022) !== 0)) {
    throw new Error(`${folder} belongs to another user or is writable by others: remove the folder`);
  }
  return true;
}

async function sweep(parent: string, name: string, current: string): Promise<void> {
  for (const entry of await readdir(parent)) {
    const path = join(parent, entry);
    const replaced = entry.startsWith(`${name}-`) && path !== current;
    if (replaced || (entry.startsWith(STAGING) && (await ageOf(path)) > STAGING_LIMIT)) await remove(path, parent);
  }
}

async function ageOf(path: string): Promise<number> {
  const found = await stat(path).catch(() => null);
  return found === null ? 0 : Date.now() - found.mtimeMs;
}

/** Renames the folder before removing it, so that no process uses a partly removed folder. */
async function remove(path: string, parent: string): Promise<void> {
  const doomed = join(parent, `${STAGING}removed-${randomBytes(6).toString('hex')}`);
  await rename(path, doomed)
    .then(() => rm(doomed, { recursive: true, force: true }))
    .catch(() => {});
}
