import type { Call, UseCase } from '../use-case.ts';
import { ownImport } from './find-import.ts';
import type { Import } from './import.ts';
import type { ImportStore } from './import-store.ts';

/** Tells of changes of imports. */
export interface ImportFeed {
  /** Calls `tell` with the import when it has changed, and with null when it is gone. @returns a function that ends it */
  follow(imported: Import, tell: (changed: Import | null) => void): () => void;
}

/** A state of an import, as the stream sends it. */
export interface ImportState {
  readonly imported: Import;
}

/**
 * Streams an import of the caller: as it is, and then after changes, the latest state only. Ends when nothing more
 * changes by itself.
 */
export const watchImport = {
  scope: 'read',
  async run(
    { imports, importFeed }: { readonly imports: Pick<ImportStore, 'find'>; readonly importFeed: ImportFeed },
    { by }: Call,
    id: string,
  ): Promise<AsyncIterableIterator<ImportState>> {
    return new Watch(await ownImport(imports, by, id), importFeed);
  },
} as const satisfies UseCase;

/** Whether an import stays as it is until somebody does something. */
function isAtRest({ status, isSettled }: Import): boolean {
  return isSettled || status === 'unreadable' || status === 'checked';
}

class Watch implements AsyncIterableIterator<ImportState> {
  /** The state that is to be sent next. */
  #next: Import | null;
  #isOver = false;
  #wake: (() => void) | null = null;
  readonly #end: () => void;

  constructor(imported: Import, feed: ImportFeed) {
    this.#next = imported;
    this.#end = isAtRest(imported)
      ? () => undefined
      : feed.follow(imported, (changed) => {
          this.#next = changed;
          if (changed === null) this.#isOver = true;
          this.#ring();
        });
  }

  #ring(): void {
    const wake = this.#wake;
    this.#wake = null;
    wake?.();
  }

  /** What `next` has without waiting; null if it must wait. */
  #now(): IteratorResult<ImportState> | null {
    const imported = this.#next;
    if (this.#isOver || !imported) return this.#isOver ? this.#finish() : null;
    this.#next = null;
    if (isAtRest(imported)) {
      this.#isOver = true;
      this.#end();
    }
    return { done: false, value: { imported } };
  }

  #finish() {
    this.#isOver = true;
    this.#end();
    this.#ring();
    return { done: true, value: undefined } as const;
  }

  next(): Promise<IteratorResult<ImportState>> {
    const result = this.#now();
    if (result) return Promise.resolve(result);
    return new Promise((resolve) => {
      this.#wake = () => resolve(this.#now() ?? this.next());
    });
  }

  /** May be called while `next` waits. */
  async return(): Promise<IteratorResult<ImportState>> {
    return this.#finish();
  }

  async throw(error: unknown): Promise<never> {
    this.#finish();
    throw error;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }
}
