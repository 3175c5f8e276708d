import { every } from '../kit/every.ts';
import type { Import } from './import.ts';
import type { ImportStore } from './import-store.ts';
import type { ImportFeed } from './watch-import.ts';

/** Pause between two reads of the followed imports, milliseconds. A follower is not notified more often. */
const LOOK_MS = 500;
/** Maximum number of imports per read. The next read begins with the others. */
const AT_ONCE = 500;

interface Follower {
  readonly tell: (changed: Import | null) => void;
  /** The last state that the follower was notified of. */
  seen: string;
}

/**
 * Polls the imports that have followers, with one query for all of them. A change stream would deliver every change of
 * every import to every process.
 */
export function createImportFeed(
  imports: Pick<ImportStore, 'findMany'>,
  report: (error: unknown) => void,
): ImportFeed & { close(): Promise<void> } {
  const followed = new Map<string, Set<Follower>>();

  function tell(id: string, imported: Import | null): void {
    const state = imported && stateOf(imported);
    for (const follower of followed.get(id) ?? []) {
      if (state !== null && follower.seen === state) continue;
      follower.seen = state ?? '';
      follower.tell(imported);
    }
  }

  async function look(): Promise<void> {
    const ids = [...followed.keys()].slice(0, AT_ONCE);
    if (ids.length === 0) return;
    const found = new Map((await imports.findMany(ids)).map((each) => [each.id, each]));
    for (const id of ids) {
      tell(id, found.get(id) ?? null);
      // Moves the import behind the others.
      const followers = followed.get(id);
      if (followers && followed.delete(id)) followed.set(id, followers);
    }
  }

  const stop = every(LOOK_MS, look, report);
  return {
    follow(imported, told) {
      const follower = { tell: told, seen: stateOf(imported) };
      const followers = followed.get(imported.id) ?? new Set();
      followed.set(imported.id, followers.add(follower));
      return () => {
        followers.delete(follower);
        if (followers.size === 0 && followed.get(imported.id) === followers) followed.delete(imported.id);
      };
    },
    close: stop,
  };
}

/** Returns the changeable parts of an import, as text. */
function stateOf({ status, round, counts, failure, isSettled, reading }: Import): string {
  return JSON.stringify([status, round, counts, failure, isSettled, reading !== null]);
}
