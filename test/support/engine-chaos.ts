import { isDeepStrictEqual } from 'node:util';
import { type Document, Long, UUID } from 'bson';
import { WireClient } from './wire-client.ts';

/** The expected state of a document, and the number of its changes. */
interface Known {
  /** Undefined after it was deleted. */
  doc: Document | undefined;
  changes: number;
}

/** A command of a writer, and the expected state of its document afterwards. */
interface Operation {
  command: Document;
  id: number;
  after: Document | undefined;
  /** A retryable write: it may be sent again after a crash, and must be executed exactly once. */
  retryable: boolean;
  check(reply: Document): void;
}

const DB = 'chaos';
const COLLECTION = 'c';

/** Creates the collection with a unique, a multikey, a compound and a partial index. */
export async function prepareChaos(uri: string): Promise<void> {
  const wire = await WireClient.connect(uri);
  const indexes = [
    { key: { name: 1 }, name: 'name', unique: true },
    { key: { tags: 1 }, name: 'tags' },
    { key: { writer: 1, n: -1 }, name: 'writer_n' },
    { key: { n: 1 }, name: 'even', partialFilterExpression: { even: true } },
  ];
  succeeded(await wire.command({ createIndexes: COLLECTION, indexes, $db: DB }));
  wire.close();
}

/**
 * A client that changes its own documents, one command at a time, and records the expected state of each. When the
 * server is killed, at most one command has an unknown outcome, which `settle` determines.
 */
export class ChaosWriter {
  readonly documents = new Map<number, Known>();
  readonly #writer: number;
  readonly #random: (below: number) => number;
  readonly #session = { id: new UUID() };
  #txn = 0;
  #next: number;
  #pending: Operation | undefined;
  acknowledged = 0;
  resent = 0;

  constructor(writer: number, random: (below: number) => number) {
    this.#writer = writer;
    this.#random = random;
    this.#next = writer * 1_000_000;
  }

  /** Sends commands until the connection is lost. */
  async work(uri: string): Promise<void> {
    const wire = await WireClient.connect(uri);
    try {
      for (;;) {
        this.#pending = this.#choose();
        this.#apply(this.#pending, await wire.command(this.#pending.command));
      }
    } catch (error) {
      if ((error as Error).message !== 'connection closed') throw error;
    } finally {
      wire.close();
    }
  }

  /**
   * After the restart: sends a retryable command again; for another command the stored document shows whether it was
   * executed.
   */
  async settle(wire: WireClient): Promise<void> {
    const pending = this.#pending;
    if (!pending) return;
    if (pending.retryable) {
      this.resent++;
      this.#apply(pending, await wire.command(pending.command));
      return;
    }
    const { cursor } = succeeded(await wire.command({ find: COLLECTION, filter: { _id: pending.id }, $db: DB }));
    const known = this.#known(pending.id);
    const stored = cursor.firstBatch[0] as Document | undefined;
    if (isDeepStrictEqual(stored, pending.after)) this.#done(pending);
    else if (!isDeepStrictEqual(stored, known.doc)) {
      throw new Error(`${describe(stored)} is neither ${describe(known.doc)} nor ${describe(pending.after)}`);
    }
    this.#pending = undefined;
  }

  #apply(operation: Operation, reply: Document): void {
    operation.check(reply);
    this.acknowledged++;
    this.#done(operation);
    this.#pending = undefined;
  }

  #done({ id, after }: Operation): void {
    const known = this.#known(id);
    if (!isDeepStrictEqual(known.doc, after)) known.changes++;
    known.doc = after;
    this.documents.set(id, known);
  }

  #known(id: number): Known {
    return this.documents.get(id) ?? { doc: undefined, changes: 0 };
  }

  #choose(): Operation {
    const living = [...this.documents].filter(([, { doc }]) => doc);
    const [id, known] = living[this.#random(living.length)] ?? [0, undefined];
    const doc = known?.doc;
    const kind = this.#random(10);
    if (!doc || living.length < 5 || (kind < 2 && living.length < 60)) return this.#insert(this.#next++, undefined);
    if (kind === 2) return this.#insert(this.#next++, doc.name);
    if (kind === 3) return this.#delete(id);
    if (kind === 4) return this.#claim(id, doc);
    return this.#update(id, doc, kind >= 7);
  }

  /** With the unique name of another document it must be refused. */
  #insert(_id: number, taken: string | undefined): Operation {
    const doc = { _id, writer: this.#writer, name: taken ?? `name ${_id}`, n: 0, even: true, tags: [_id % 5, 'all'] };
    const check = (reply: Document): void => {
      if (taken === undefined) expectCount(reply, 1);
      else if (reply.writeErrors?.[0]?.code !== 11000) throw new Error(`not refused: ${describe(reply)}`);
    };
    const command = { insert: COLLECTION, documents: [doc], $db: DB };
    return this.#maybeRetryable({ command, id: _id, after: taken === undefined ? doc : undefined, check });
  }

  #update(id: number, doc: Document, retryable: boolean): Operation {
    const n = doc.n + 1;
    const tags = Array.from({ length: this.#random(4) }, (_, k) => `${n % 7}-${k}`);
    const after = { ...doc, n, even: n % 2 === 0, tags };
    const u = { $inc: { n: 1 }, $set: { even: n % 2 === 0, tags } };
    const command = { update: COLLECTION, updates: [{ q: { _id: id }, u }], $db: DB };
    const operation = { command, id, after, check: (reply: Document) => expectCount(reply, 1) };
    return retryable ? this.#retryable(operation) : { ...operation, retryable: false };
  }

  #claim(id: number, doc: Document): Operation {
    const after = { ...doc, n: doc.n + 1, even: (doc.n + 1) % 2 === 0 };
    const command = {
      findAndModify: COLLECTION,
      query: { writer: this.#writer, n: doc.n, name: doc.name },
      sort: { n: -1 },
      update: { $inc: { n: 1 }, $set: { even: after.even } },
      new: true,
      $db: DB,
    };
    const check = (reply: Document): void => {
      if (!isDeepStrictEqual(reply.value, after)) throw new Error(`${describe(reply)} is not ${describe(after)}`);
    };
    return this.#maybeRetryable({ command, id, after, check });
  }

  #delete(id: number): Operation {
    const command = { delete: COLLECTION, deletes: [{ q: { _id: id }, limit: 1 }], $db: DB };
    return this.#maybeRetryable({ command, id, after: undefined, check: (reply) => expectCount(reply, 1) });
  }

  #maybeRetryable(operation: Omit<Operation, 'retryable'>): Operation {
    return this.#random(2) === 0 ? this.#retryable(operation) : { ...operation, retryable: false };
  }

  #retryable(operation: Omit<Operation, 'retryable'>): Operation {
    const command = { ...operation.command, lsid: this.#session, txnNumber: Long.fromNumber(++this.#txn) };
    return { ...operation, command, retryable: true };
  }
}

/** Reads the change stream of the collection across all crashes and rebuilds the documents from its events alone. */
export class ChaosReader {
  readonly documents = new Map<number, Known>();
  resumed = 0;
  #token: Document | undefined;

  /** Reads until the connection is lost; with `drain`, until there are no more events. */
  async read(uri: string, { drain }: { drain: boolean }): Promise<void> {
    const wire = await WireClient.connect(uri);
    try {
      const $changeStream = this.#token ? { resumeAfter: this.#token } : {};
      if (this.#token) this.resumed++;
      const opened = { aggregate: COLLECTION, pipeline: [{ $changeStream }], cursor: {}, $db: DB };
      let { cursor } = succeeded(await wire.command(opened));
      this.#take(cursor.firstBatch, cursor.postBatchResumeToken);
      for (;;) {
        const more = {
          getMore: cursor.id,
          collection: COLLECTION,
          maxTimeMS: drain ? 1 : 5000,
          batchSize: 50,
          $db: DB,
        };
        cursor = succeeded(await wire.command(more)).cursor;
        this.#take(cursor.nextBatch, cursor.postBatchResumeToken);
        if (drain && cursor.nextBatch.length === 0) return;
      }
    } catch (error) {
      if ((error as Error).message !== 'connection closed') throw error;
    } finally {
      wire.close();
    }
  }

  #take(events: Document[], token: Document): void {
    for (const event of events) {
      const id = event.documentKey._id;
      const known = this.documents.get(id) ?? { doc: undefined, changes: 0 };
      known.changes++;
      if (event.operationType === 'insert') known.doc = event.fullDocument;
      else if (event.operationType === 'delete') known.doc = undefined;
      else if (event.operationType === 'update') known.doc = updated(known.doc, event.updateDescription);
      else throw new Error(`unexpected event: ${describe(event)}`);
      this.documents.set(id, known);
    }
    this.#token = token;
  }
}

/**
 * Returns the differences between the server's state and the one that the writers and the reader expect. Must be empty.
 */
export async function chaosProblems(wire: WireClient, writers: ChaosWriter[], reader: ChaosReader): Promise<string[]> {
  const problems: string[] = [];
  const { cursor } = succeeded(await wire.command({ find: COLLECTION, batchSize: 1_000_000, $db: DB }));
  const stored = new Map<number, Document>(cursor.firstBatch.map((doc: Document) => [doc._id, doc]));
  const known = new Map(writers.flatMap((writer) => [...writer.documents]));
  for (const [id, { doc, changes }] of known) {
    if (!isDeepStrictEqual(stored.get(id), doc))
      problems.push(`stored ${describe(stored.get(id))}, expected ${describe(doc)}`);
    const streamed = reader.documents.get(id) ?? { doc: undefined, changes: 0 };
    if (!isDeepStrictEqual(streamed.doc, doc))
      problems.push(`document rebuilt from the stream: ${describe(streamed.doc)}, expected ${describe(doc)}`);
    if (streamed.changes !== changes)
      problems.push(`the stream has ${streamed.changes} changes of ${id}, expected ${changes}`);
  }
  for (const id of stored.keys()) if (!known.has(id)) problems.push(`${id} was never written`);
  for (const hint of ['name', 'tags', 'writer_n']) {
    const found = succeeded(await wire.command({ find: COLLECTION, hint, batchSize: 1_000_000, $db: DB })).cursor
      .firstBatch;
    if (found.length !== stored.size) problems.push(`index ${hint} finds ${found.length} of ${stored.size} documents`);
  }
  const { valid, errors } = succeeded(await wire.command({ validate: COLLECTION, $db: DB }));
  if (!valid) problems.push(...errors);
  return problems;
}

function updated(doc: Document | undefined, { updatedFields, removedFields, truncatedArrays }: Document): Document {
  if (!doc || removedFields.length > 0) throw new Error('unexpected update event');
  const made: Document = structuredClone(doc);
  for (const { field, newSize } of truncatedArrays) made[field].length = newSize;
  for (const [path, value] of Object.entries(updatedFields)) {
    const [name, position] = path.split('.');
    if (position === undefined) made[path] = value;
    else made[name!][Number(position)] = value;
  }
  return made;
}

function expectCount(reply: Document, n: number): void {
  if (succeeded(reply).n !== n) throw new Error(`unexpected count: ${describe(reply)}`);
}

function succeeded(reply: Document): Document {
  if (reply.ok !== 1 || reply.writeErrors) throw new Error(`refused: ${describe(reply)}`);
  return reply;
}

function describe(value: unknown): string {
  return JSON.stringify(value) ?? 'nothing';
}
