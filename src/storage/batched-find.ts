import type { Collection, Filter } from 'mongodb';

/** Ids that one search asks for at most. */
const LARGEST_BATCH = 100;

/**
 * Documents by their id, where all that are asked for in one turn of the event loop are one search: under load most of a read's cost is the
 * driver's, per operation. Each caller gets the document as it is after the call.
 */
export function batchedFind<Stored extends { _id: string }>(
  collection: Collection<Stored>,
): (id: string) => Promise<Stored | null> {
  type Asked = Map<string, PromiseWithResolvers<Stored | null>>;
  let asked: Asked = new Map();

  function send(batch: Asked): void {
    if (asked === batch) asked = new Map();
    search([...batch.keys()]).then(
      (found) => {
        const byId = new Map(found.map((each) => [each._id, each]));
        for (const [id, { resolve }] of batch) resolve(byId.get(id) ?? null);
      },
      (error: unknown) => {
        for (const { reject } of batch.values()) reject(error);
      },
    );
  }

  async function search(ids: string[]): Promise<Stored[]> {
    const filter = { _id: { $in: ids } } as Filter<Stored>;
    return (await collection.find(filter, { limit: ids.length }).toArray()) as Stored[];
  }

  return (id) => {
    const known = asked.get(id);
    if (known) return known.promise;
    const batch = asked;
    if (batch.size === 0) setImmediate(() => batch.size < LARGEST_BATCH && send(batch));
    const answer = Promise.withResolvers<Stored | null>();
    batch.set(id, answer);
    if (batch.size === LARGEST_BATCH) send(batch);
    return answer.promise;
  };
}
