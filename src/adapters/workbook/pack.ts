import { Readable } from 'node:stream';
import { ZipFile } from 'yazl';

/** A file of a package. */
export interface Part {
  readonly path: string;
  /** A text, or a source of bytes, which is read only when the files before it have been written. */
  readonly content: string | (() => AsyncIterable<Uint8Array>);
}

/** Writes files as a ZIP, in their order. Throws the error of a content. */
export async function* packed(parts: Iterable<Part>): AsyncGenerator<Uint8Array, void, void> {
  const zip = new ZipFile();
  let open: Readable | null = null;
  const { outputStream } = zip as unknown as { readonly outputStream: Readable };
  zip.on('error', (error: Error) => outputStream.destroy(error));
  for (const { path, content } of parts) {
    if (typeof content === 'string') zip.addBuffer(Buffer.from(content), path);
    else {
      zip.addReadStreamLazy(path, (opened) => {
        open = Readable.from(content(), { objectMode: false });
        opened(null, open);
      });
    }
  }
  zip.end();
  try {
    for await (const bytes of outputStream) yield bytes as Uint8Array;
  } finally {
    // The consumer may have stopped before the end.
    (open as Readable | null)?.destroy();
  }
}
