import type { Document, FindCursor } from 'mongodb';
import { READ_BYTES } from '../domain/answer-bounds.ts';
import { decoded, readBatches } from './pages.ts';
import { firstOf } from './search-sources.ts';

/** A document with its key in the order of the list, and its stored size. */
interface Row<Stored> {
  readonly stored: Stored;
  readonly bytes: number;
}

/**
 * Reads a page from several queries as if they were one: the first `limit` documents in the order of their keys, or
 * fewer if they would exceed `maxBytes` together, but at least one. Of each query, decodes at most one document beyond
 * the page, and reads at most one batch beyond it.
 * @param cursors with the option `raw`, each sorted by `order`
 * @param newestFirst whether they are sorted from the highest key down
 */
export async function readMerged<Stored extends Document & { order: string }>(
  cursors: readonly FindCursor<Stored>[],
  newestFirst: boolean,
  limit: number,
  maxBytes = READ_BYTES,
): Promise<{ found: Stored[]; hasMore: boolean; bytes: number }> {
  const sources = cursors.map((cursor) => rowsOf(cursor, limit, maxBytes));
  const found: Stored[] = [];
  let bytes = 0;
  try {
    const heads: (Row<Stored> | null)[] = [];
    for (const source of sources) heads.push(await nextOf(source));
    for (;;) {
      const nth = firstOf(
        heads.map((head) => head?.stored ?? null),
        newestFirst,
      );
      const head = heads[nth];
      const source = sources[nth];
      if (!head || !source) return { found, hasMore: false, bytes };
      if (found.length === limit || (found.length > 0 && bytes + head.bytes > maxBytes))
        return { found, hasMore: true, bytes };
      found.push(head.stored);
      bytes += head.bytes;
      heads[nth] = await nextOf(source);
    }
  } finally {
    for (const cursor of cursors) await cursor.close();
  }
}

async function* rowsOf<Stored extends Document>(
  cursor: FindCursor<Stored>,
  limit: number,
  maxBytes: number,
): AsyncGenerator<Row<Stored>> {
  for await (const batch of readBatches(cursor, limit, maxBytes))
    for (const raw of batch) yield { stored: await decoded<Stored>(raw), bytes: raw.length };
}

async function nextOf<Stored>(source: AsyncGenerator<Row<Stored>>): Promise<Row<Stored> | null> {
  const { value, done } = await source.next();
  return done ? null : value;
}
