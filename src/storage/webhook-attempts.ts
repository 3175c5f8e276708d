import type { Db } from 'mongodb';
import { READ_BYTES } from '../domain/answer-bounds.ts';
import { takeTurn, WRITTEN_BYTES_A_UNIT } from '../domain/event-loop-turns.ts';
import { type Attempt, KEPT_ATTEMPTS } from '../domain/webhook/delivery.ts';
import type { DeliveryLedger } from '../domain/webhook/ports.ts';
import { readAll, readPage } from './pages.ts';
import {
  type AttemptDocument,
  type DeliveryDocument,
  deliveryOf,
  filterOf,
  indexOf,
  isOf,
} from './webhook-delivery-document.ts';

/**
 * Maximum number of attempts in one reply of the server. Even with the largest bodies and headers they have less than
 * 10 MiB.
 */
const ATTEMPTS_AT_ONCE = 100;

/** Reads attempts from the collection `webhook_attempts`, and only the requested fields. */
export function createAttemptReading(db: Db): Pick<DeliveryLedger, 'attempts' | 'pageWithAttempts'> {
  const deliveries = db.collection<DeliveryDocument>('webhook_deliveries');
  const attempts = db.collection<AttemptDocument>('webhook_attempts');

  async function read<Field extends keyof Attempt>(
    ids: string[],
    fields: readonly Field[],
    most: number,
    maxBytes: number | undefined,
  ) {
    if (ids.length === 0) return { stored: new Map<string, Pick<Attempt, Field>>(), bytes: 0 };
    const search = attempts
      .find({ _id: { $in: ids } }, { raw: true })
      .project<Pick<AttemptDocument, '_id' | Field>>(Object.fromEntries(['_id', ...fields].map((name) => [name, 1])));
    const { found, bytes } = await readAll(search, most, maxBytes, ATTEMPTS_AT_ONCE);
    const stored = new Map(found.map(({ _id, ...attempt }) => [_id, attempt as unknown as Pick<Attempt, Field>]));
    return { stored, bytes };
  }

  return {
    async attempts(owner, ids, fields, maxBytes) {
      const named = deliveries
        .find({ _id: { $in: [...ids] } })
        .project<Pick<DeliveryDocument, '_id' | 'tenantId' | 'environment' | 'attempts'>>({
          tenantId: 1,
          environment: 1,
          attempts: 1,
        });
      const own = (await named.toArray()).filter(isOf(owner));
      const all = own.flatMap((each) => each.attempts);
      const { stored, bytes } = await read(all, fields, ids.length * KEPT_ATTEMPTS, maxBytes);
      const rows = own.map((each) => [each._id, each.attempts.flatMap((id) => stored.get(id) ?? [])] as const);
      return { rows: new Map(rows), bytes };
    },

    async pageWithAttempts(query, fields) {
      const { maxBytes = READ_BYTES } = query;
      const named = (document: DeliveryDocument) => ({ delivery: deliveryOf(document), ids: document.attempts });
      const page = await readPage(deliveries, filterOf(query), query, named, { hint: indexOf(query) });
      const isReversed = query.cursor?.direction === 'before';
      // When the page is cut, the rows next to the cursor stay.
      const found = isReversed ? page.rows.toReversed() : page.rows;
      const inOrder = <Row>(rows: Row[]) => (isReversed ? rows.reverse() : rows);
      const rows = [];
      let { bytes } = page;
      for (const group of groupsOf(found)) {
        const ids = group.flatMap((each) => each.ids);
        const { stored } = await read(ids, fields, ids.length, Number.POSITIVE_INFINITY);
        for (const { delivery, ids } of group) {
          const row = { ...delivery, attempts: ids.flatMap((id) => stored.get(id) ?? []) };
          let size = 0;
          for (const attempt of row.attempts) size += await textBytes(attempt);
          if (rows.length > 0 && bytes + size > maxBytes) return { ...page, rows: inOrder(rows), hasMore: true, bytes };
          bytes += size;
          rows.push(row);
        }
      }
      return { ...page, rows: inOrder(rows), bytes };
    },
  };
}

/** Groups neighbouring deliveries whose attempts fit into one reply of the server. */
function groupsOf<Row extends { readonly ids: readonly string[] }>(rows: readonly Row[]): Row[][] {
  const groups: Row[][] = [];
  let room = 0;
  for (const row of rows) {
    room -= row.ids.length;
    const group = groups.at(-1);
    if (group && room >= 0) {
      group.push(row);
      continue;
    }
    groups.push([row]);
    room = ATTEMPTS_AT_ONCE - row.ids.length;
  }
  return groups;
}

/**
 * Returns the size of an attempt as JSON, bytes. It exceeds the stored size by the escapes, which are frequent in
 * responses with HTML.
 */
async function textBytes(attempt: object): Promise<number> {
  const bytes = Buffer.byteLength(JSON.stringify(attempt));
  await takeTurn(bytes / WRITTEN_BYTES_A_UNIT);
  return bytes;
}
