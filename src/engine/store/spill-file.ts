import { randomUUID } from 'node:crypto';
import { close, openSync, readSync, rm, rmSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Bytes that are written at once. */
const BUFFER_BYTES = 256 * 1024;

/**
 * Pieces of bytes in a temporary file, which are read again by their places. The file loses its name at once, so that the
 * operating system removes it even if the process is killed; on Windows, which keeps the name, at the end.
 */
export class SpillFile {
  readonly #path = join(tmpdir(), `fatoura-sort-${randomUUID()}`);
  readonly #file = openSync(this.#path, 'wx+', 0o600);
  readonly #buffer = Buffer.allocUnsafeSlow(BUFFER_BYTES);
  /** Bytes in the buffer, which belong behind those in the file. */
  #used = 0;
  #written = 0;

  constructor() {
    if (process.platform !== 'win32') rmSync(this.#path);
  }

  /** @returns the place of the piece @throws Error ENOSPC when the disk is full */
  append(piece: Uint8Array): number {
    if (this.#used + piece.length > BUFFER_BYTES) this.#flush();
    const place = this.#written + this.#used;
    if (piece.length > BUFFER_BYTES) this.#write(piece);
    else {
      this.#buffer.set(piece, this.#used);
      this.#used += piece.length;
    }
    return place;
  }

  read(place: number, length: number): Uint8Array {
    this.#flush();
    // Not out of Node's pool, whose parts would keep each other in memory.
    const piece = Buffer.allocUnsafeSlow(length);
    let read = 0;
    while (read < length) {
      const count = readSync(this.#file, piece, read, length - read, place + read);
      if (count === 0) throw new Error('the temporary file of a sort was cut off');
      read += count;
    }
    return piece;
  }

  /** Not on this thread: to free the pages of a large file takes 50 ms a GiB. */
  close(): void {
    close(this.#file, () => {
      if (process.platform === 'win32') rm(this.#path, { force: true }, () => undefined);
    });
  }

  #flush(): void {
    if (this.#used > 0) this.#write(this.#buffer.subarray(0, this.#used));
    this.#used = 0;
  }

  #write(bytes: Uint8Array): void {
    for (let done = 0; done < bytes.length; )
      done += writeSync(this.#file, bytes, done, bytes.length - done, this.#written + done);
    this.#written += bytes.length;
  }
}
