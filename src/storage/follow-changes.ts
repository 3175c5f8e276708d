import type { ChangeStream, ChangeStreamDocument, Collection, Document } from 'mongodb';

/** A change stream that is reopened whenever it fails. */
export interface FollowedChanges {
  /**
   * Resolves when the stream first opens, or is closed before it opened. After that, changes can be missed only before
   * a call of `gap`.
   */
  readonly opened: Promise<void>;
  close(): Promise<void>;
}

export interface ChangeHandlers<Stored extends Document> {
  /** Handles one change. Changes arrive one at a time, in order. If it throws, the stream is reopened. */
  change(change: ChangeStreamDocument<Stored>): Promise<void>;
  /**
   * Called when the stream is open again after a failure: changes may have been missed meanwhile. If it throws, the
   * stream is reopened and `gap` is called again.
   */
  gap(): void | Promise<void>;
  /** Whether `gap` is also called when the stream first opens; default false. */
  readonly gapAtStart?: boolean;
  /** Called for each failure of the stream, which is then reopened automatically. */
  onError(error: unknown): void;
}

const RECONNECT_MS = 250;

/** Follows the changes of these types in a collection with a change stream that is reopened whenever it fails. */
export function followChanges<Stored extends Document>(
  collection: Collection<Stored>,
  types: readonly ('insert' | 'update')[],
  { change, gap, gapAtStart = false, onError }: ChangeHandlers<Stored>,
): FollowedChanges {
  const opened = Promise.withResolvers<void>();
  let stream: ChangeStream<Stored> | null = null;
  let closed = false;
  let isGap = gapAtStart;

  async function onOpen(open: ChangeStream<Stored>): Promise<void> {
    opened.resolve();
    const mayMiss = isGap;
    isGap = true;
    try {
      if (mayMiss) await gap();
    } catch (error) {
      if (closed) return;
      onError(error);
      // The loop that reads the stream then opens another one, which calls `gap` again.
      await open.close().catch(() => undefined);
    }
  }

  async function pump(): Promise<void> {
    while (!closed) {
      const open = collection.watch<Stored>([{ $match: { operationType: { $in: types } } }]);
      stream = open;
      // The first resume token arrives with the server's reply that opens the stream.
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
      opened.resolve();
      await stream?.close().catch(() => undefined);
      await running;
    },
  };
}
