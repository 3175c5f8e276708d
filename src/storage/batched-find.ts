import type { Collection, Filter } from 'mongodb';
import { DECODED_BYTES_A_UNIT, takeTurn } from '../domain/turns.ts';
import { type Decoded, decodedOnce } from './decoded-once.ts';

/** Ids that one search asks for at most. */
const LARGEST_BATCH = 100;

/**
 * Documents by their id, where all that are asked for in one turn of the event loop are one search: under load most of a read's cost is the
 * driver's, per operation. Each caller gets what `convert` makes of the document as it is after the call; see {@link decodedOnce}.
 */
export function batchedFind<Stored extends { _id: string }, Value>(
  collection: Collection<Stored>,
  convert: (document: Stored) => Value,
): (id: string) => Promise<Value | null> {
  type Asked = Map<string, PromiseWithResolvers<Value | null>>;
  const decode = decodedOnce(convert);
  let asked: Asked = new Map();

  function send(batch: Asked): void {
    if (asked === batch) asked = new Map();
    search([...batch.keys()]).then(
      (found) => {
        const byId = new Map(found.map(({ id, value }) => [id, value]));
        for (const [id, { resolve }] of batch) resolve(byId.get(id) ?? null);
      },
      (error: unknown) => {
        for (const { reject } of batch.values()) reject(error);
      },
    );
  }

  async function search(ids: string[]): Promise<Decoded<Value>[]> {
    const filter = { _id: { $in: ids } } as Filter<Stored>;
    // With `raw` the documents come as their bytes, whatever their type says.
    const found: unknown[] = await collection.find(filter, { limit: ids.length, raw: true }).toArray();
    const values: Decoded<Value>[] = [];
    for (const bytes of found as Uint8Array[]) {
      const known = decode.known(bytes);
      const turn = known ? null : takeTurn(bytes.length / DECODED_BYTES_A_UNIT);
      if (turn) await turn;
      values.push(known ?? decode(bytes));
    }
    return values;
  }

  return (id) => {
    const known = asked.get(id);
    if (known) return known.promise;
    const batch = asked;
    if (batch.size === 0) setImmediate(() => batch.size < LARGEST_BATCH && send(batch));
    const answer = Promise.withResolvers<Value | null>();
    batch.set(id, answer);
    if (batch.size === LARGEST_BATCH) send(batch);
    return answer.promise;
  };
}
