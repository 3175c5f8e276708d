import { openPromise, type ZipFile } from 'yauzl';

/** A file in a package. */
export interface PackedFile {
  readonly path: string;
  readonly modified: Date;
  /** Reads it from its beginning. @throws if it is not as long as the package says */
  readonly read: () => AsyncIterable<Uint8Array>;
}

export interface Package {
  /** In their order. Folders have no entry. */
  readonly files: readonly PackedFile[];
  readonly close: () => void;
}

/** The limits of a package. */
export interface PackageLimits {
  /** Number of files. */
  readonly parts: number;
  /** Bytes of all of them when unpacked. */
  readonly unpackedBytes: number;
}

/**
 * Opens a ZIP file.
 * @throws if it is none, or is beyond the limits
 */
export async function openPackage(file: string, limits: PackageLimits): Promise<Package> {
  const zip = await openPromise(file, { lazyEntries: true, autoClose: false, strictFileNames: true });
  try {
    return { files: await filesOf(zip, limits), close: () => zip.close() };
  } catch (error) {
    zip.close();
    throw error;
  }
}

async function filesOf(zip: ZipFile, { parts, unpackedBytes }: PackageLimits): Promise<PackedFile[]> {
  if (zip.entryCount > parts) throw new Error(`the package has ${zip.entryCount} files, at most ${parts} are read`);
  const files: PackedFile[] = [];
  let bytes = 0;
  for await (const entry of zip.eachEntry()) {
    bytes += entry.uncompressedSize;
    if (bytes > unpackedBytes) throw new Error(`the package unpacks to more than ${unpackedBytes} bytes`);
    if (entry.fileName.endsWith('/')) continue;
    files.push({
      path: entry.fileName,
      modified: entry.getLastModDate(),
      async *read() {
        yield* (await zip.openReadStreamPromise(entry)) as AsyncIterable<Uint8Array>;
      },
    });
  }
  return files;
}
