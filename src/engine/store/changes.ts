import type { Oplog, Scope } from './oplog.ts';

interface Waiter {
  scope: Scope;
  wake: () => void;
}

/** Wakes change streams. A commit wakes those that watch a namespace changed by it. */
export class Changes {
  readonly oplog: Oplog;
  readonly #waiters = new Set<Waiter>();

  constructor(oplog: Oplog) {
    this.oplog = oplog;
  }

  /**
   * Resolves at the next commit of a change in scope, or after `ms` milliseconds. `cancel` ends the wait immediately.
   */
  wait(scope: Scope, ms: number): { done: Promise<void>; cancel: () => void } {
    const { promise, resolve } = Promise.withResolvers<void>();
    const finish = (): void => {
      clearTimeout(timer);
      this.#waiters.delete(waiter);
      resolve();
    };
    const waiter: Waiter = { scope, wake: finish };
    const timer = setTimeout(finish, ms);
    this.#waiters.add(waiter);
    return { done: promise, cancel: finish };
  }

  /** Called after each commit with the namespaces (or dropped databases) that it changed. */
  wake(touched: ReadonlySet<string>): void {
    if (touched.size === 0) return;
    for (const waiter of [...this.#waiters]) if (inScope(waiter.scope, touched)) waiter.wake();
  }

  wakeAll(): void {
    for (const waiter of [...this.#waiters]) waiter.wake();
  }
}

function inScope({ db, coll }: Scope, touched: ReadonlySet<string>): boolean {
  if (db === undefined) return true;
  if (touched.has(db)) return true;
  if (coll !== undefined) return touched.has(`${db}.${coll}`);
  for (const ns of touched) if (ns.startsWith(`${db}.`)) return true;
  return false;
}
