import { createHash, type Hash } from 'node:crypto';
import { type FileHandle, mkdir, open, opendir, rename } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import type { ExportManifest, ExportTarget, WrittenFile } from '../../domain/tenant-data/ports.ts';
import { syncFolder, syncFolders } from '../sync-folder.ts';

export const MANIFEST = 'manifest.json';
/** The list of all other files, in the format of `sha256sum -c`. */
export const SUMS = 'SHA256SUMS';

/** Matches a path of an export: no part of it begins with a dot. */
export const PATH = /^[A-Za-z0-9_-][A-Za-z0-9._-]*(\/[A-Za-z0-9_-][A-Za-z0-9._-]*)*$/;

/**
 * Creates a folder for an export, with access for its owner only. `manifest.json` is written last, when everything else
 * is flushed to the disk. So a folder without it is of an interrupted export, while one with it is complete, and the
 * tenant may be erased.
 * @throws when the folder is not empty, or cannot be created
 */
export async function createExportFolder(folder: string): Promise<ExportTarget & { close(): Promise<void> }> {
  const top = await mkdir(folder, { recursive: true, mode: 0o700 });
  await refuseFull(folder);
  const sums = await open(join(folder, SUMS), 'wx', 0o600);
  const list = createHash('sha256');
  let made = '';
  const total = { files: 0, bytes: 0 };

  async function write(path: string, content: AsyncIterable<Uint8Array> | Iterable<Uint8Array>): Promise<WrittenFile> {
    if (!PATH.test(path)) throw new Error(`An export cannot have a file with this name: ${JSON.stringify(path)}.`);
    const parent = dirname(path);
    if (parent !== made) await mkdir(join(folder, parent), { recursive: true, mode: 0o700 });
    made = parent;
    const file = await open(join(folder, path), 'wx', 0o600);
    const written = await writeAll(file, content).finally(() => file.close());
    await addTo(sums, list, `${written.sha256}  ${path}\n`);
    total.files++;
    total.bytes += written.bytes;
    return written;
  }

  return {
    write,
    async finish({ tenantId, startedAt }, records) {
      await sums.sync();
      await syncMade(folder, top);
      const manifest: ExportManifest = {
        format: 1,
        tenant: tenantId,
        started_at: startedAt.toISOString(),
        finished_at: new Date().toISOString(),
        records: Object.fromEntries(records),
        ...total,
        sums: list.digest('hex'),
      };
      const draft = join(folder, `.${MANIFEST}`);
      const file = await open(draft, 'wx', 0o600);
      try {
        await file.writeFile(`${JSON.stringify(manifest, null, 2)}\n`);
        await file.sync();
      } finally {
        await file.close();
      }
      await rename(draft, join(folder, MANIFEST));
      await syncFolder(folder);
      return manifest;
    },
    close: () => sums.close(),
  };
}

async function refuseFull(folder: string): Promise<void> {
  for await (const { name } of await opendir(folder))
    throw new Error(
      `${folder} is not empty: it has '${name}'. An export is written to a new folder; delete one that was interrupted.`,
    );
}

/**
 * Flushes the entries of the export's folders.
 * @param top the uppermost folder that was created for the export: its own entry is in the folder above it
 */
async function syncMade(folder: string, top: string | undefined): Promise<void> {
  await syncFolders(folder);
  if (top === undefined) return;
  const above = dirname(resolve(top));
  for (let each = resolve(folder); each !== above; each = dirname(each)) await syncFolder(dirname(each));
}

/** Writes a file and flushes it to the disk. */
async function writeAll(
  file: FileHandle,
  content: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
): Promise<WrittenFile> {
  const hash = createHash('sha256');
  let bytes = 0;
  for await (const part of content) {
    hash.update(part);
    await file.writeFile(part);
    bytes += part.byteLength;
  }
  await file.sync();
  return { bytes, sha256: hash.digest('hex') };
}

async function addTo(file: FileHandle, hash: Hash, text: string): Promise<void> {
  hash.update(text);
  await file.writeFile(text);
}
