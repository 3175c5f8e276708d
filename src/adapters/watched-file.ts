import { readFile, stat } from 'node:fs/promises';

/** A file whose content is read again when it changes. */
export interface WatchedFile<T> {
  /** The content as last read successfully. */
  readonly value: T;
  /**
   * Reads the file again if it has changed since it was last read. If it is missing, half-written or wrong, the old
   * value stays in use and the problem is reported once.
   * @returns whether there is a new value
   */
  refresh(): Promise<boolean>;
}

/**
 * Reads a file and prepares its watch.
 * @param parse throws if the content cannot be used; the message says why
 * @param onRejected called once for each changed state of the file that is not usable
 * @throws when the file cannot be read, and what `parse` throws
 */
export async function watchFile<T>(
  file: string,
  parse: (content: Buffer) => T | Promise<T>,
  onRejected: (error: Error) => void,
): Promise<WatchedFile<T>> {
  let seen = await stampOf(file);
  let value = await parse(await readFile(file));
  let reading: Promise<boolean> | null = null;

  async function read(): Promise<boolean> {
    let stamp: string | null = null;
    try {
      stamp = await stampOf(file);
      if (stamp === seen) return false;
      const parsed = await parse(await readFile(file));
      // The file was written to meanwhile; the next refresh reads it again.
      if ((await stampOf(file)) !== stamp) return false;
      value = parsed;
      seen = stamp;
      return true;
    } catch (error) {
      const rejected = stamp ?? 'missing';
      if (seen !== rejected) onRejected(error as Error);
      seen = rejected;
      return false;
    }
  }

  return {
    get value() {
      return value;
    },
    refresh() {
      reading ??= read().finally(() => {
        reading = null;
      });
      return reading;
    },
  };
}

async function stampOf(file: string): Promise<string> {
  const { mtimeNs, size, ino } = await stat(file, { bigint: true });
  return `${mtimeNs} ${size} ${ino}`;
}
