import type { ChangeStream, ChangeStreamDocument, Collection, Document } from 'mongodb';

/** A change stream of this process. */
export interface FollowedChanges {
  /** Resolves when the stream is open for the first time: from then on no change is missed without a call of `gap`. */
  readonly opened: Promise<void>;
  close(): Promise<void>;
}

export interface ChangeHandlers<Stored extends Document> {
  /** The next change is handled when this one is. A failure reopens the stream. */
  change(change: ChangeStreamDocument<Stored>): Promise<void>;
  /** The stream is open again after a loss: changes may have been missed. A failure reopens the stream, and `gap` is called again. */
  gap(): void | Promise<void>;
  /** Called for each loss of the stream. It is reopened without the caller's help. */
  onError(error: unknown): void;
}

const RECONNECT_MS = 250;

/** Follows the changes of a collection that have one of these types, by a change stream that is reopened whenever it is lost. */
export function followChanges<Stored extends Document>(
  collection: Collection<Stored>,
  types: readonly ('insert' | 'update')[],
  { change, gap, onError }: ChangeHandlers<Stored>,
): FollowedChanges {
  const opened = Promise.withResolvers<void>();
  let stream: ChangeStream<Stored> | null = null;
  let closed = false;
  let first = true;

  async function onOpen(open: ChangeStream<Stored>): Promise<void> {
    opened.resolve();
    const reopened = !first;
    first = false;
    try {
      if (reopened) await gap();
    } catch (error) {
      if (closed) return;
      onError(error);
      // The stream that is opened in its place calls `gap` again.
      await open.close().catch(() => undefined);
    }
  }

  async function pump(): Promise<void> {
    while (!closed) {
      const open = collection.watch<Stored>([{ $match: { operationType: { $in: types } } }]);
      stream = open;
      // The first token comes with the server's answer to the stream's opening.
      open.once('resumeTokenChanged', () => void onOpen(open));
      try {
        for await (const each of open) await change(each as ChangeStreamDocument<Stored>);
      } catch (error) {
        if (!closed) onError(error);
      }
      await open.close().catch(() => undefined);
      if (!closed) await new Promise((resolve) => setTimeout(resolve, RECONNECT_MS));
    }
  }

  const running = pump();
  return {
    opened: opened.promise,
    async close() {
      closed = true;
      await stream?.close().catch(() => undefined);
      await running;
    },
  };
}
