import { randomUUID } from 'node:crypto';
import { close, openSync, readSync, rm, rmSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Size in bytes of the write buffer. */
const BUFFER_BYTES = 256 * 1024;

/**
 * A temporary file for pieces of bytes, which are read back by their positions. The file's name is deleted immediately,
 * so that the operating system frees it even if the process is killed. On Windows, where that is not possible, it is
 * deleted on close.
 */
export class SpillFile {
  readonly #path = join(tmpdir(), `fatoura-sort-${randomUUID()}`);
  readonly #file = openSync(this.#path, 'wx+', 0o600);
  readonly #buffer = Buffer.allocUnsafeSlow(BUFFER_BYTES);
  /** Bytes in the buffer, which follow those in the file. */
  #used = 0;
  #written = 0;

  constructor() {
    if (process.platform !== 'win32') rmSync(this.#path);
  }

  /** @returns the position of the piece @throws Error ENOSPC when the disk is full */
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
    // Allocated outside Node's buffer pool: a pooled piece would keep a whole slab in memory.
    const piece = Buffer.allocUnsafeSlow(length);
    let read = 0;
    while (read < length) {
      const count = readSync(this.#file, piece, read, length - read, place + read);
      if (count === 0) throw new Error('the temporary file of a sort was cut off');
      read += count;
    }
    return piece;
  }

  /** Closes the file, off this thread: freeing the pages of a large file takes 50 ms per GiB. */
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
