import { createHash } from 'node:crypto';
import { open, readFile, rename } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { syncFolder } from '../../adapters/sync-folder.ts';

const FILE = 'manifest.json';

const count = z.int().nonnegative();
const sha256 = z.string().regex(/^[0-9a-f]{64}$/);

const MANIFEST = z.strictObject({
  format: z.literal(1),
  /** `complete`: made once and never changed. `following`: `backup --follow` writes to it. */
  kind: z.enum(['complete', 'following']),
  /** The folder with the files, relative to the manifest. */
  folder: z.string().regex(/^(\.|copy-[0-9TZ]+)$/),
  startedAt: z.iso.datetime(),
  /** The copy contains all writes that were acknowledged before this time. */
  takenAt: z.iso.datetime(),
  /** Version of the engine's data file. */
  fileVersion: count,
  masterKey: z.boolean(),
  /** The state of the data: the copy contains at least this. */
  history: z.strictObject({
    id: z.string().regex(/^[0-9a-f]{12}$/),
    seconds: count,
    increment: count,
    sum: count,
    exact: z.boolean().optional(),
  }),
  /** SHA-256 of `SHA256SUMS`, which lists every file except those that `--follow` writes to. */
  sums: sha256,
  files: count,
  /** Size of the engine's data file when it was checked, bytes. */
  dataBytes: count,
  /** The minimum size of the log beside the data file of a following copy, bytes. */
  logBytes: count,
  /** Number of documents in each collection when the data file was checked. */
  documents: z.record(z.string(), count),
});

/** The facts of a backup: its time, the state of its data, and the digest of its list of files. */
export type Manifest = Readonly<z.infer<typeof MANIFEST>>;

/** Writes the manifest of a backup, atomically replacing an earlier one. From then on the backup is complete. */
export async function writeManifest(folder: string, manifest: Manifest): Promise<void> {
  const draft = join(folder, `.${FILE}`);
  const handle = await open(draft, 'w', 0o600);
  try {
    await handle.writeFile(`${JSON.stringify({ ...manifest, digest: digestOf(manifest) }, null, 2)}\n`);
    await handle.sync();
  } finally {
    await handle.close();
  }
  await rename(draft, join(folder, FILE));
  await syncFolder(folder);
}

/** @returns the manifest; null if there is none @throws when the file is not what {@link writeManifest} writes */
export async function findManifest(folder: string): Promise<Manifest | null> {
  const path = join(folder, FILE);
  const text = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return null;
    throw error;
  });
  if (text === null) return null;
  try {
    const { digest, ...rest } = JSON.parse(text) as Record<string, unknown>;
    if (digest !== digestOf(rest)) throw new Error('its digest is another one');
    return MANIFEST.parse(rest);
  } catch (cause) {
    const reason = cause instanceof z.ZodError ? z.prettifyError(cause) : (cause as Error).message;
    throw new Error(`${path} is damaged or of another version: ${reason}.`, { cause });
  }
}

function digestOf(manifest: object): string {
  return createHash('sha256').update(JSON.stringify(manifest)).digest('hex');
}
