import type { DatabaseSync } from 'node:sqlite';
import { crc32 } from 'node:zlib';
import { CommandError } from '../errors.ts';

/** A prime: a flipped bit of a number, whichever it is, changes the remainder. */
const MODULUS = 4_294_967_291;

type Content = Uint8Array | string | null;

/** The checksum that each row carries in its column `sum`, as SQL: CRC-32 of its bytes and texts, and its numbers. */
export const SUMS: Readonly<Record<string, string>> = {
  coll: `(crc32(db) + crc32(name) + crc32(uuid) + crc32(options) + id) % ${MODULUS}`,
  ind: `(crc32(spec) + id + coll + multikey) % ${MODULUS}`,
  doc: `(crc32(bson) + rid) % ${MODULUS}`,
  idx: `(crc32(key) + i + rid) % ${MODULUS}`,
  oplog: `(crc32(op) + crc32(db) + crc32(coll) + crc32(uuid) + crc32(id) + crc32(body) + crc32(extra) + seq + pos + wall) % ${MODULUS}`,
  retry: `(crc32(lsid) + crc32(reply) + txn + at) % ${MODULUS}`,
  meta: `(crc32(name) + value) % ${MODULUS}`,
};

/** Makes `crc32` known to SQL. */
export function defineChecksums(sqlite: DatabaseSync): void {
  const options = { deterministic: true, directOnly: true };
  sqlite.function('crc32', options, (value) => contentSum(value as Content));
}

/** How many rows of each table do not have their checksum, as text; undefined when all have. Reads everything. */
export function damagedRows(sqlite: DatabaseSync): string | undefined {
  const damaged = Object.entries(SUMS).flatMap(([table, sum]) => {
    const n = Number(sqlite.prepare(`SELECT count(*) AS n FROM ${table} WHERE ${sum} IS NOT sum`).get()?.n);
    return n > 0 ? [`${n} of ${table}`] : [];
  });
  return damaged.length > 0 ? `rows that do not have their checksum: ${damaged.join(', ')}` : undefined;
}

/** The checksum of a row with these bytes and texts, and these numbers: as in `SUMS`. */
export function rowSum(contents: readonly Content[], ...numbers: number[]): number {
  let sum = 0;
  for (const content of contents) sum += contentSum(content);
  for (const number of numbers) sum += number;
  return sum % MODULUS;
}

/** CRC-32, another one for a text than for a blob of the same bytes, so that a column's type counts too. */
function contentSum(content: Content): number {
  if (content === null) return 1;
  return typeof content === 'string' ? crc32(content) + 2 : crc32(content);
}

export function documentSum(rid: number, bson: Uint8Array): number {
  return rowSum([bson], rid);
}

/** Bytes as read, after their checksum proved them whole: a damaged document is never served. */
export function verified(rid: number, bson: Uint8Array, sum: number): Uint8Array {
  if (documentSum(rid, bson) === sum) return bson;
  throw corrupt('a stored document');
}

export function corrupt(what: string): CommandError {
  return new CommandError(
    'DataCorruptionDetected',
    `${what} is damaged: its checksum does not match. Restore the data from a backup`,
  );
}
