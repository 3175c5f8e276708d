import { MINUTE_MS } from '../durations.ts';
import { isFinal } from '../invoice/lifecycle.ts';
import type { ImportClaim, ImportProgress, VerdictChange } from './import-store.ts';
import type { ImportWorkNeeds } from './import-work.ts';

/** Number of invoices whose statuses are read together. */
const AT_ONCE = 500;
/**
 * Limits of the pause between two reads of undecided invoices, milliseconds. The pause is a tenth of the time since the
 * start.
 */
const [LEAST_PAUSE_MS, MOST_PAUSE_MS] = [1000, 10 * MINUTE_MS];

/** Records the authority's decisions about the issued invoices. @returns the changes of the import */
export async function followImport(
  { importedInvoices, invoicing }: Pick<ImportWorkNeeds, 'importedInvoices' | 'invoicing'>,
  { imported }: ImportClaim,
  signal: AbortSignal,
): Promise<ImportProgress> {
  let isSettled = true;
  for (let after = -1; ; ) {
    signal.throwIfAborted();
    const rows = await importedInvoices.awaiting(imported, after, AT_ONCE);
    const statuses = await invoicing.statusesOf(rows.flatMap(({ invoiceId }) => invoiceId ?? []));
    const changes = rows.flatMap(({ nth, invoiceId }): VerdictChange[] => {
      const status = statuses.get(invoiceId ?? '');
      if (status === undefined) return [{ nth, awaits: false }];
      if (!isFinal(status)) return [];
      return [{ nth, awaits: false, outcome: status === 'accepted' ? 'accepted' : 'rejected' }];
    });
    await importedInvoices.change(imported, changes);
    isSettled &&= changes.length === rows.length;
    if (rows.length < AT_ONCE) return { isSettled, counts: await importedInvoices.counts(imported) };
    after = rows.at(-1)?.nth ?? after;
  }
}

/** Returns the pause before the next read, milliseconds. */
export function pauseOf(startedAt: Date | null, now: Date): number {
  const passed = now.getTime() - (startedAt ?? now).getTime();
  return Math.min(MOST_PAUSE_MS, Math.max(LEAST_PAUSE_MS, passed / 10));
}
