import type { Through } from '../kit/group.ts';
import type { ImportCounts, ImportedInvoice } from './import.ts';
import type { ImportClaim, ImportProgress, VerdictChange } from './import-store.ts';
import { type ImportWorkNeeds, memberOf, progressOf, withRest } from './import-work.ts';
import { issueRows, type RowsToIssue } from './issue-rows.ts';

/**
 * Number of invoices that are stored together. They get their order from the file, so the next group starts after this
 * one is stored.
 */
const AT_ONCE = 16;
/** Number of invoices that are read together. */
const READ_TOGETHER = 6 * AT_ONCE;

export interface IssuingImportNeeds extends ImportWorkNeeds {
  /** Returns a function that runs work on some invoices when the tenant's turn comes. */
  readonly inTurn: (tenantId: string) => Through;
}

/**
 * Issues the invoices that are ready, in the order of the file. Continues the work of a process that died: an invoice
 * that was stored but not recorded in the import gets the same id again and is not stored twice.
 * @returns the changes of the import; null if its tenant is erased
 * @throws {ImportLost}
 * @throws {ServiceError} if the tenant cannot issue invoices at present
 */
export async function issueImport(
  needs: IssuingImportNeeds,
  claim: ImportClaim,
  signal: AbortSignal,
): Promise<ImportProgress | null> {
  const { imported } = claim;
  const { imports, importedInvoices, tenants } = needs;
  // Counts again: the import's counts may lack invoices that a process recorded before it died.
  let counts = await importedInvoices.counts(imported);
  const note = progressOf(imports, claim, signal);
  let raws: Promise<ReadonlySet<string>> | null = null;
  const isOfFile = async (raw: string) => {
    raws ??= importedInvoices.raws(imported);
    return (await raws).has(raw);
  };
  for (;;) {
    const ready = { imported, only: ['ready'], after: null, before: null, limit: READ_TOGETHER } as const;
    const { rows } = await importedInvoices.page(ready);
    if (rows.length === 0) return { status: 'done', failure: null, counts };
    const by = await memberOf(tenants, imported, imported.startedBy ?? imported.createdBy, 'issue');
    if (!by) return null;
    for (let at = 0; at < rows.length; at += AT_ONCE) {
      const some = rows.slice(at, at + AT_ONCE);
      const issue = async () => {
        signal.throwIfAborted();
        counts = counted(counts, await issueSome(needs, { imported, by, isOfFile }, some));
      };
      await withRest(() => needs.inTurn(imported.tenantId)(issue));
      await note(() => ({ counts, failure: null }));
    }
  }
}

/** Issues invoices and records the result of each. @throws the first error that is not about an invoice itself */
async function issueSome(
  needs: IssuingImportNeeds,
  of: RowsToIssue,
  rows: readonly ImportedInvoice[],
): Promise<VerdictChange[]> {
  const results = await issueRows(needs, of, rows);
  const changes = results.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []));
  await needs.importedInvoices.change(of.imported, changes);
  const failure = results.find((result) => result.status === 'rejected');
  if (failure) throw failure.reason;
  return changes;
}

function counted(counts: ImportCounts, changes: readonly VerdictChange[]): ImportCounts {
  const of = (wanted: VerdictChange['verdict']) => changes.filter(({ verdict }) => verdict === wanted).length;
  const [issued, known, refusals] = [of('issued'), of('known'), of('refused')];
  return {
    ...counts,
    ready: counts.ready - issued - known - refusals,
    issued: counts.issued + issued,
    known: counts.known + known,
    refused: counts.refused + refusals,
  };
}
