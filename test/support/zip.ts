import { createHash } from 'node:crypto';
import { fromBuffer, type ZipFile } from 'yauzl';

/** Reads a ZIP file with an independent library, which checks CRCs and lengths. Returns its files by their paths. */
export async function unzipped(bytes: Uint8Array): Promise<Map<string, Buffer>> {
  const zip = await new Promise<ZipFile>((resolve, reject) => {
    const options = { lazyEntries: true, validateEntrySizes: true, strictFileNames: true };
    fromBuffer(Buffer.from(bytes), options, (error, opened) => (error ? reject(error) : resolve(opened)));
  });
  const files = new Map<string, Buffer>();
  return new Promise((resolve, reject) => {
    zip.on('entry', (entry) => {
      zip.openReadStream(entry, (error, stream) => {
        if (error) return reject(error);
        stream.toArray().then((parts) => {
          if (files.has(entry.fileName)) return reject(new Error(`${entry.fileName} is there twice`));
          files.set(entry.fileName, Buffer.concat(parts));
          zip.readEntry();
        }, reject);
      });
    });
    zip.on('end', () => resolve(files));
    zip.on('error', reject);
    zip.readEntry();
  });
}

export const sha256Of = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex');
