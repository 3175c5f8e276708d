import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { opendir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { z } from 'zod';
import type { ExportManifest } from '../../domain/tenant-data/ports.ts';
import { MANIFEST, PATH, SUMS } from './export-folder.ts';

const count = z.int().nonnegative();
const SHAPE = z.strictObject({
  format: z.literal(1),
  tenant: z.string(),
  started_at: z.iso.datetime(),
  finished_at: z.iso.datetime(),
  records: z.record(z.string(), count),
  files: count,
  bytes: count,
  sums: z.string().regex(/^[0-9a-f]{64}$/),
}) satisfies z.ZodType<ExportManifest>;

/** Maximum size of a manifest, bytes. */
const MOST_MANIFEST = 1024 * 1024;
const LINE_FEED = 10;

/**
 * Compares an export with its manifest: every file, its bytes and its number of records. Also checks that there is no
 * other file.
 * @throws at the first difference; the message names it
 */
export async function verifyExport(folder: string): Promise<ExportManifest> {
  const manifest = await readManifest(folder);
  const list = await measured(join(folder, SUMS), SUMS);
  if (list.sha256 !== manifest.sums) throw new Error(`${SUMS} is damaged: its digest is not that of the manifest.`);
  const total = { files: 0, bytes: 0, counted: 0 };
  for await (const line of createInterface({ input: createReadStream(join(folder, SUMS)) })) {
    const [, sum, path = ''] = /^([0-9a-f]{64}) {2}(.+)$/.exec(line) ?? [];
    if (!PATH.test(path)) throw new Error(`${SUMS} has a wrong line: ${JSON.stringify(line.slice(0, 200))}.`);
    const file = await measured(join(folder, path), path);
    if (file.sha256 !== sum) throw new Error(`${path} is damaged: its digest is another one.`);
    const records = manifest.records[path];
    if (records !== undefined && records !== file.lines)
      throw new Error(`${path} has ${file.lines} records, and the manifest says ${records}.`);
    total.files++;
    total.bytes += file.bytes;
    total.counted += records === undefined ? 0 : 1;
  }
  if (total.files !== manifest.files || total.bytes !== manifest.bytes)
    throw new Error(`${SUMS} has ${total.files} files, and the manifest says ${manifest.files}.`);
  if (total.counted !== Object.keys(manifest.records).length)
    throw new Error('The manifest counts records of a file that is not there.');
  // All listed files are present, so a higher number means that there are unlisted files.
  const present = await filesIn(folder);
  if (present !== total.files + 2)
    throw new Error(`The folder has ${present - total.files - 2} files that do not belong to the export.`);
  return manifest;
}

async function readManifest(folder: string): Promise<ExportManifest> {
  const path = join(folder, MANIFEST);
  const text = await readFile(path, 'utf8').catch((cause: NodeJS.ErrnoException) => {
    if (cause.code !== 'ENOENT' && cause.code !== 'ENOTDIR') throw cause;
    throw new Error(`${folder} has no ${MANIFEST}: it is no export, or one that was interrupted.`, { cause });
  });
  try {
    if (text.length > MOST_MANIFEST) throw new Error('it is too large');
    return SHAPE.parse(JSON.parse(text));
  } catch (cause) {
    const reason = cause instanceof z.ZodError ? z.prettifyError(cause) : (cause as Error).message;
    throw new Error(`${path} is damaged or of another version: ${reason}.`, { cause });
  }
}

async function measured(path: string, name: string): Promise<{ bytes: number; lines: number; sha256: string }> {
  const hash = createHash('sha256');
  let [bytes, lines] = [0, 0];
  try {
    for await (const part of createReadStream(path) as AsyncIterable<Buffer>) {
      hash.update(part);
      bytes += part.length;
      for (let at = part.indexOf(LINE_FEED); at >= 0; at = part.indexOf(LINE_FEED, at + 1)) lines++;
    }
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'ENOENT') throw new Error(`${name} is missing.`, { cause });
    throw cause;
  }
  return { bytes, lines, sha256: hash.digest('hex') };
}

async function filesIn(folder: string): Promise<number> {
  let files = 0;
  for await (const entry of await opendir(folder, { recursive: true })) if (!entry.isDirectory()) files++;
  return files;
}
