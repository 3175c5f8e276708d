import { MINUTE_MS } from '../durations.ts';
import { isFinal } from '../invoice/lifecycle.ts';
import type { ImportClaim, ImportProgress, VerdictChange } from './import-store.ts';
import type { ImportWorkNeeds } from './import-work.ts';

/** Invoices whose statuses are read together. */
const AT_ONCE = 500;
/** Pause between two looks at invoices that are not decided, milliseconds: a tenth of the time since the start. */
const [LEAST_PAUSE_MS, MOST_PAUSE_MS] = [1000, 10 * MINUTE_MS];

/** Notes what the authority has decided about the issued invoices by now. @returns what to write of the import */
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

/** How long to wait for the next look, milliseconds. */
export function pauseOf(startedAt: Date | null, now: Date): number {
  const passed = now.getTime() - (startedAt ?? now).getTime();
  return Math.min(MOST_PAUSE_MS, Math.max(LEAST_PAUSE_MS, passed / 10));
}
