import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import type { LedgerEntry } from '../../src/domain/authority/ports.ts';
import { createReconcile, type ReconcileParts } from '../../src/domain/authority/reconcile.ts';
import type { ReconciliationRun, Transmission } from '../../src/domain/authority/reconciliation.ts';

const DECIDED_AT = new Date('2026-11-01T00:00:00Z');

/**
 * Reconciles a generated ledger of `size` entries with as many equal invoices. Nothing is stored.
 * @param marks numbers of entries after which the heap is measured
 * @param stores replace the stores, which by default store nothing
 * @returns the run, and the used heap in bytes at each mark, after a garbage collection
 */
export async function reconcileGenerated(
  size: number,
  marks: readonly number[],
  stores: Partial<Pick<ReconcileParts, 'copy' | 'differences' | 'state'>> = {},
): Promise<{ run: ReconciliationRun; heapAfter: readonly number[] }> {
  const collect = garbageCollector();
  const heapAfter: number[] = [];
  const indexOf = (id: string) => Number(id.slice('inv_'.length));
  const reconcile = createReconcile({
    authority: {
      capabilities: () => {
        throw new Error('nothing is undecided');
      },
      async changes(after, limit) {
        const first = Number(after ?? 0);
        const last = Math.min(size, first + limit);
        const entries = Array.from({ length: last - first }, (_, i) => entryAt(first + i));
        return { kind: 'changes', requestId: null, entries, nextCursor: String(last), highWaterMark: String(size) };
      },
    },
    transmissions: {
      bySubmission: async (ids) => ids.map((id) => invoiceAt(indexOf(id))),
      byDigest: async () => [],
      async *decided(_from, until) {
        if (until < DECIDED_AT) return;
        for (let first = 0; first < size; first += 500)
          yield Array.from({ length: Math.min(500, size - first) }, (_, i) => invoiceAt(first + i));
      },
    },
    copy: { keep: async () => 0, find: async (ids) => ids.map((id) => entryAt(indexOf(id))) },
    differences: {
      observe: async (findings) => ({ fresh: findings, leftOut: 0 }),
      acknowledge: async () => null,
      unresolved: async () => [],
      resolve: async () => {},
      count: async () => ({}) as never,
    },
    state: {
      begin: async () => ({ token: 'run', progress: { cursor: null, checkedUntil: null, stalled: 0 } }),
      advance: async () => {},
      end: async () => {},
      release: async () => {},
      last: async () => null,
    },
    makeLookUpsDue: async () => 0,
    report: () => {},
    pause: async () => {},
    ...stores,
  });
  const run = await reconcile({
    progress(entries, invoices) {
      if (invoices > 0 || !marks.includes(entries)) return;
      collect();
      heapAfter.push(process.memoryUsage().heapUsed);
    },
  });
  return { run, heapAfter };
}

function entryAt(index: number): LedgerEntry {
  const { invoiceId: submissionId, sha256 } = invoiceAt(index);
  return {
    submissionId,
    sha256: sha256 ?? '',
    decision: { outcome: 'accepted', dgiId: `DGI-${index}`, decidedAt: DECIDED_AT },
  };
}

function invoiceAt(index: number): Transmission {
  const invoiceId = `inv_${index}`;
  return {
    invoiceId,
    tenantId: 'ten_1',
    submissionId: invoiceId,
    status: 'accepted',
    wasHeld: true,
    dgiId: `DGI-${index}`,
    changedAt: DECIDED_AT,
    hasReceipt: true,
    sha256: index.toString(16).padStart(64, '0'),
  };
}

/** Returns Node's garbage collector, which is accessible only with a flag. */
function garbageCollector(): () => void {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  setFlagsFromString('--no-expose-gc');
  return collect;
}
