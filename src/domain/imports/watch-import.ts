import { Watch } from '../kit/watch.ts';
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
    return new ImportStates(await ownImport(imports, by, id), importFeed);
  },
} as const satisfies UseCase;

/** Whether an import stays as it is until somebody does something. */
function isAtRest({ status, isSettled }: Import): boolean {
  return isSettled || status === 'unreadable' || status === 'checked';
}

/** The states of one stream. */
class ImportStates extends Watch<ImportState> {
  /** The state that is to be sent next. */
  #next: Import | null;
  readonly #unfollow: () => void;

  constructor(imported: Import, feed: ImportFeed) {
    super();
    this.#next = imported;
    this.#unfollow = isAtRest(imported)
      ? () => undefined
      : feed.follow(imported, (changed) => {
          this.#next = changed;
          if (changed === null) this.finish();
          else this.ring();
        });
  }

  protected take(): ImportState | null {
    const imported = this.#next;
    if (imported === null) return null;
    this.#next = null;
    // What is at rest is the last state: it is sent, and then the iteration ends.
    if (isAtRest(imported)) this.finish();
    return { imported };
  }

  protected onEnd(): void {
    this.#unfollow();
  }
}
