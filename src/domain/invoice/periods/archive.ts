import { createHash, hash } from 'node:crypto';
import { crc32 } from 'node:zlib';
import { takeTurn } from '../../event-loop-turns.ts';
import {
  directoryRow,
  endOfZip,
  headerInZip,
  lengthInZip,
  rowLength,
  type ZipLayout,
  type ZippedFile,
} from '../../kit/zip.ts';
import type { DocumentRange, DocumentStore } from '../document-store.ts';
import type { StoredDocument } from '../invoice.ts';
import { type ArchivedFile, archivedFiles, MANIFEST_HEAD, manifestLine } from './archive-files.ts';
import type { FiledDocument } from './ports.ts';

/** Maximum number of files, and of their bytes, that are read from the store together. A larger file is read alone. */
const [READ_FILES, READ_BYTES] = [16, 4 * 1024 * 1024];
/** Number of bytes hashed, and of files listed, in one unit of `takeTurn`. */
const [HASHED_BYTES_A_UNIT, LISTED_A_UNIT] = [250, 0.2];
/** Maximum number of missing files of each kind that a plan lists. */
const NAMED = 64;

/** The source of an archive. */
export interface ArchiveSource {
  /** The folder in the archive that contains all files. */
  readonly folder: string;
  /** The end of the period, which is the modification time of the manifest. */
  readonly end: Date;
  /** Lists the documents that were accepted until then, from the first one on, in the same order each time. */
  readonly list: (until: Date) => AsyncIterable<readonly FiledDocument[]>;
  readonly documents: Pick<DocumentStore, 'get'>;
  /** The known CRC-32 values of files, by their SHA-256. */
  readonly crcs: { get(sha256: string): number | undefined; set(sha256: string, crc: number): unknown };
}

/** The properties of an archive that are known before it is written. */
export interface ArchivePlan {
  /** Number of documents. */
  readonly documents: number;
  /** When the last of the documents was accepted; 1970 without documents. */
  readonly until: Date;
  /** Number of documents with a missing file, and some of the missing files of each kind. */
  readonly incomplete: number;
  readonly missing: readonly ArchivedFile[];
  readonly manifest: ZippedFile & { readonly crc: number; readonly offset: number };
  readonly layout: ZipLayout;
  /** Size of the whole archive, bytes. */
  readonly size: number;
  /** SHA-256 of the manifest. It contains the digest of every file, so archives with equal digests are equal. */
  readonly digest: string;
}

/** A file with its place in the archive. */
interface PlacedFile extends ZippedFile {
  readonly stored: StoredDocument;
  readonly index: number;
  readonly offset: number;
}

/** Reads the list of documents accepted until `until` once, and computes the places of the archive's parts. */
export async function planArchive(source: ArchiveSource, until: Date): Promise<ArchivePlan> {
  const sha256 = createHash('sha256');
  let [documents, incomplete, offset, length, count] = [0, 0, 0, 0, 0];
  // Two lists, so that XMLs that the authority never returns do not keep PDFs from being requested.
  const missing = { xml: [] as ArchivedFile[], pdf: [] as ArchivedFile[] };
  let [manifestSize, crc, latest] = [0, 0, 0];
  const addToManifest = (text: string) => {
    sha256.update(text);
    manifestSize += text.length;
    crc = crc32(text, crc);
  };
  addToManifest(MANIFEST_HEAD);
  for await (const batch of source.list(until)) {
    await takeTurn(batch.length / LISTED_A_UNIT);
    for (const document of batch) {
      latest = Math.max(latest, document.updatedAt.getTime());
      const files = archivedFiles(source.folder, document);
      const absent = files.filter(({ stored }) => stored === null);
      documents++;
      if (absent.length > 0) incomplete++;
      for (const file of absent) if (missing[file.kind].length < NAMED) missing[file.kind].push(file);
      addToManifest(files.map(manifestLine).join(''));
      for (const { path, modified, stored } of files) {
        if (stored === null) continue;
        length += rowLength(path, offset);
        offset += lengthInZip({ path, modified, size: stored.size });
        count++;
      }
    }
  }
  const file = { path: `${source.folder}/manifest.csv`, modified: source.end, size: manifestSize };
  const start = offset + lengthInZip(file);
  const layout = { count: count + 1, start, length: length + rowLength(file.path, offset) };
  return {
    documents,
    incomplete,
    layout,
    until: new Date(latest),
    missing: [...missing.pdf, ...missing.xml],
    manifest: { ...file, crc, offset },
    size: start + layout.length + endOfZip(layout).length,
    digest: sha256.digest('hex'),
  };
}

/**
 * Writes an archive, or a part of it: its files in the order of the list, the manifest, and the directory. Files are
 * read from the store while they are written. Files before the part are read only if their CRC is unknown.
 * @throws when a file is damaged, or the list is not that of the plan
 */
export async function* readArchive(
  source: ArchiveSource,
  plan: ArchivePlan,
  { first, last }: DocumentRange = { first: 0, last: plan.size - 1 },
): AsyncGenerator<Uint8Array, void, void> {
  const within = function* (bytes: Uint8Array, offset: number) {
    const part = bytes.subarray(Math.max(0, first - offset), Math.max(0, last + 1 - offset));
    if (part.length > 0) yield part;
  };
  const isWithin = (offset: number, length: number) => offset + length > first && offset <= last;
  // -1: unknown.
  const crcs = new Float64Array(plan.layout.count).fill(-1);
  const load = async (file: PlacedFile) => {
    const { bytes, crc } = await readFile(source, file);
    crcs[file.index] = crc;
    return bytes;
  };
  const headerOf = (file: PlacedFile) => headerInZip(file, crcs[file.index] ?? 0);
  for await (const files of placedFiles(source, plan.until)) {
    if ((files[0]?.offset ?? 0) > last) return;
    const wanted = files.filter((file) => isWithin(file.offset, lengthInZip(file)));
    const contents = await Promise.all(wanted.map(load));
    for (const [i, file] of wanted.entries()) {
      const header = headerOf(file);
      yield* within(header, file.offset);
      yield* within(contents[i] ?? new Uint8Array(), file.offset + header.length);
    }
  }
  const { manifest, layout } = plan;
  if (manifest.offset > last) return;
  const header = headerInZip(manifest, manifest.crc);
  yield* within(header, manifest.offset);
  let offset = manifest.offset + header.length;
  const sha256 = createHash('sha256');
  for await (const bytes of manifestOf(source, plan.until)) {
    sha256.update(bytes);
    yield* within(bytes, offset);
    offset += bytes.length;
  }
  if (sha256.digest('hex') !== plan.digest) throw new Error('the documents of an archive have changed');
  if (layout.start > last) return;
  for await (const files of placedFiles(source, plan.until)) {
    for (const { index, stored } of files) {
      const known = source.crcs.get(stored.sha256);
      if (known !== undefined) crcs[index] = known;
    }
    await Promise.all(files.filter(({ index }) => crcs[index] === -1).map(load));
    const rows = Buffer.concat(files.map((file) => directoryRow(file, crcs[file.index] ?? 0, file.offset)));
    yield* within(rows, offset);
    offset += rows.length;
  }
  const end = [directoryRow(manifest, manifest.crc, manifest.offset), endOfZip(layout)];
  yield* within(Buffer.concat(end), offset);
}

/** Yields the existing files with their places, in groups that are read together. */
async function* placedFiles(
  { folder, list }: ArchiveSource,
  until: Date,
): AsyncGenerator<readonly PlacedFile[], void, void> {
  let [index, offset] = [0, 0];
  let [group, bytes]: [PlacedFile[], number] = [[], 0];
  for await (const batch of list(until)) {
    await takeTurn(batch.length / LISTED_A_UNIT);
    for (const { path, modified, stored } of batch.flatMap((document) => archivedFiles(folder, document))) {
      if (stored === null) continue;
      const file = { path, modified, size: stored.size, stored, index, offset };
      if (group.length === READ_FILES || (group.length > 0 && bytes + file.size > READ_BYTES)) {
        yield group;
        [group, bytes] = [[], 0];
      }
      group.push(file);
      bytes += file.size;
      index++;
      offset += lengthInZip(file);
    }
  }
  if (group.length > 0) yield group;
}

async function* manifestOf({ folder, list }: ArchiveSource, until: Date): AsyncGenerator<Uint8Array, void, void> {
  yield Buffer.from(MANIFEST_HEAD);
  for await (const batch of list(until)) {
    await takeTurn(batch.length / LISTED_A_UNIT);
    const lines = batch.flatMap((document) => archivedFiles(folder, document).map(manifestLine));
    yield Buffer.from(lines.join(''));
  }
}

/** Reads a file. @throws when its bytes do not have its digest */
async function readFile({ documents, crcs }: ArchiveSource, { stored, path }: PlacedFile) {
  const bytes = await documents.get(stored);
  await takeTurn(bytes.length / HASHED_BYTES_A_UNIT);
  if (hash('sha256', bytes) !== stored.sha256)
    throw new Error(`The bytes of ${path} are damaged: run the command check.`);
  const crc = crc32(bytes);
  crcs.set(stored.sha256, crc);
  return { bytes, crc };
}
