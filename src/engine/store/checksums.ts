import type { DatabaseSync } from 'node:sqlite';
import { crc32 } from 'node:zlib';
import { CommandError } from '../errors.ts';

/** A prime, so that flipping any single bit of a number changes the remainder. */
const MODULUS = 4_294_967_291;

type Content = Uint8Array | string | null;

/**
 * The checksum in the column `sum` of each table, as SQL: the CRC-32 of the row's blobs and texts, plus its numbers.
 */
export const SUMS: Readonly<Record<string, string>> = {
  coll: `(crc32(db) + crc32(name) + crc32(uuid) + crc32(options) + id) % ${MODULUS}`,
  ind: `(crc32(spec) + id + coll + multikey) % ${MODULUS}`,
  doc: `(crc32(bson) + rid) % ${MODULUS}`,
  idx: `(crc32(key) + i + rid) % ${MODULUS}`,
  oplog: `(crc32(op) + crc32(db) + crc32(coll) + crc32(uuid) + crc32(id) + crc32(body) + crc32(extra) + seq + pos + wall) % ${MODULUS}`,
  retry: `(crc32(lsid) + crc32(reply) + txn + at) % ${MODULUS}`,
  meta: `(crc32(name) + value) % ${MODULUS}`,
};

/** Defines the SQL function `crc32`. */
export function defineChecksums(sqlite: DatabaseSync): void {
  const options = { deterministic: true, directOnly: true };
  sqlite.function('crc32', options, (value) => contentSum(value as Content));
}

/** Reads every row and reports how many in each table have a wrong checksum, as text; undefined if there are none. */
export function damagedRows(sqlite: DatabaseSync): string | undefined {
  const damaged = Object.entries(SUMS).flatMap(([table, sum]) => {
    // Reads single rows, because SQLite keeps the arguments of `crc32` in memory until the query's next row.
    const rows = sqlite.prepare(`SELECT ${sum} IS NOT sum FROM ${table}`);
    rows.setReturnArrays(true);
    let n = 0;
    for (const [isWrong] of rows.iterate() as Iterable<unknown> as Iterable<[number]>) n += isWrong;
    return n > 0 ? [`${n} of ${table}`] : [];
  });
  return damaged.length > 0 ? `rows with a wrong checksum: ${damaged.join(', ')}` : undefined;
}

/** Computes the checksum of a row with these blobs and texts, and these numbers. Equal to the SQL in `SUMS`. */
export function rowSum(contents: readonly Content[], ...numbers: number[]): number {
  let sum = 0;
  for (const content of contents) sum += contentSum(content);
  for (const number of numbers) sum += number;
  return sum % MODULUS;
}

/**
 * Computes the CRC-32 of a value. A text and a blob with the same bytes give different sums, so a changed column type
 * is detected.
 */
function contentSum(content: Content): number {
  if (content === null) return 1;
  return typeof content === 'string' ? crc32(content) + 2 : crc32(content);
}

export function documentSum(rid: number, bson: Uint8Array): number {
  return rowSum([bson], rid);
}

/**
 * Returns the bytes of a document after verifying their checksum, so that a damaged document is never returned to a
 * client.
 */
export function verified(rid: number, bson: Uint8Array, sum: number): Uint8Array {
  if (documentSum(rid, bson) === sum) return bson;
  throw corruptionError('a stored document');
}

export function corruptionError(what: string): CommandError {
  return new CommandError(
    'DataCorruptionDetected',
    `${what} is damaged: its checksum does not match. Restore the data from a backup.`,
  );
}
