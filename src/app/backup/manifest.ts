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
  /** `complete`: made once, and nothing is written to it. `following`: `backup --follow` writes to it. */
  kind: z.enum(['complete', 'following']),
  /** Where the files are, beside the manifest. */
  folder: z.string().regex(/^(\.|copy-[0-9TZ]+)$/),
  startedAt: z.iso.datetime(),
  /** Writes that were acknowledged before this time are in the copy. */
  takenAt: z.iso.datetime(),
  /** Version of the engine's data file. */
  fileVersion: count,
  masterKey: z.boolean(),
  /** The state of the data that the copy has at least. */
  history: z.strictObject({
    id: z.string().regex(/^[0-9a-f]{12}$/),
    seconds: count,
    increment: count,
    sum: count,
    exact: z.boolean().optional(),
  }),
  /** SHA-256 of `SHA256SUMS`, which lists every file but those that `--follow` writes to. */
  sums: sha256,
  files: count,
  /** Bytes of the engine's data file, when it was checked. */
  dataBytes: count,
  /** Bytes that the log beside a following data file has at least. */
  logBytes: count,
  /** Documents of each collection, when the data file was checked. */
  documents: z.record(z.string(), count),
});

/** The facts of a backup: when it was taken, of what, and the digest of its list of files. */
export type Manifest = Readonly<z.infer<typeof MANIFEST>>;

/** Writes the manifest of a backup in place of an earlier one, at once. From then on the backup is whole. */
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

/** @returns null if there is none @throws when it is not what {@link writeManifest} wrote */
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
