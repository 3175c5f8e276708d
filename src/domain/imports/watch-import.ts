import { Watch } from '../kit/watch.ts';
import type { Call, UseCase } from '../use-case.ts';
import { ownImport } from './find-import.ts';
import type { Import } from './import.ts';
import type { ImportStore } from './import-store.ts';

/** Notifies of changes of imports. */
export interface ImportFeed {
  /**
   * Calls `tell` with the import after each change, and with null when it is gone.
   * @returns a function that ends this
   */
  follow(imported: Import, tell: (changed: Import | null) => void): () => void;
}

/** A state of an import, as the stream sends it. */
export interface ImportState {
  readonly imported: Import;
}

/**
 * Streams an import of the caller: its present state, and then the latest state after changes. Ends when only a person
 * can change the import.
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

/** Whether only a person can change the import. */
function isAtRest({ status, isSettled }: Import): boolean {
  return isSettled || status === 'unreadable' || status === 'checked';
}

/** The states of an import as one stream. */
class ImportStates extends Watch<ImportState> {
  /** The next state to be sent. */
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
    // An import at rest is sent, and then the iteration ends.
    if (isAtRest(imported)) this.finish();
    return { imported };
  }

  protected onEnd(): void {
    this.#unfollow();
  }
}
