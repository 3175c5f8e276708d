import { ServiceError } from '../errors.ts';
import type { Through } from '../kit/group.ts';
import type { Member } from '../principal.ts';
import type { Import, ImportCounts, ImportedInvoice } from './import.ts';
import type { ImportClaim, ImportProgress, RowPlace, VerdictChange } from './import-store.ts';
import { type ImportWorkNeeds, memberOf, progressOf, withRest } from './import-work.ts';
import type { ReadInvoice } from './reading.ts';
import { rowProblem } from './row-problems.ts';

/**
 * Invoices that are stored together. They get their order in the file, so the next ones begin when these are stored.
 */
const AT_ONCE = 16;
/** Invoices that are read together. */
const READ_TOGETHER = 6 * AT_ONCE;

export interface IssuingImportNeeds extends ImportWorkNeeds {
  /** Runs the work of some invoices of a tenant when it is the tenant's turn. */
  readonly inTurn: (tenantId: string) => Through;
}

/**
 * Issues the invoices that are ready, in the order of the file. Goes on where a process has died: an invoice that was
 * stored and not noted gets the same id again, and is not stored twice.
 * @returns what to write of the import; null if its tenant is erased
 * @throws {ImportLost}
 * @throws {ServiceError} if none of the tenant's can be issued at present
 */
export async function issueImport(
  needs: IssuingImportNeeds,
  claim: ImportClaim,
  signal: AbortSignal,
): Promise<ImportProgress | null> {
  const { imported } = claim;
  const { imports, importedInvoices, tenants } = needs;
  // Counted, because those that a process has noted before it died may not be in the counts of the import.
  let counts = await importedInvoices.counts(imported);
  const note = progressOf(imports, claim, signal);
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
        counts = counted(counts, await issueSome(needs, imported, by, some));
      };
      await withRest(() => needs.inTurn(imported.tenantId)(issue));
      await note(() => ({ counts, failure: null }));
    }
  }
}

/**
 * Issues invoices and notes what became of each. A row that another import has issued since it was checked is known.
 * @throws the first error that says nothing about an invoice itself
 */
async function issueSome(
  { importedInvoices, invoicing, issuedRows }: IssuingImportNeeds,
  imported: Import,
  by: Member,
  rows: readonly ImportedInvoice[],
): Promise<VerdictChange[]> {
  const places = rows.map(({ raw, rawPlace, key }): RowPlace => {
    return { raw, place: rawPlace, invoiceId: invoicing.idOf(imported, key) };
  });
  const issuedBy = await issuedRows.claim(imported, places);
  const results = await Promise.allSettled(
    rows.map(async ({ nth, key, digest, input }, index): Promise<VerdictChange> => {
      const other = issuedBy.get(places[index]?.invoiceId ?? '');
      if (other !== undefined) return { nth, verdict: 'known', invoiceId: other };
      const content = JSON.parse(input) as Record<string, unknown>;
      const { invoiceId, isOwn } = await invoicing.issue(by, { importId: imported.id, key, digest }, content);
      // Another import of the same file may have been started at the same time.
      return isOwn ? { nth, verdict: 'issued', invoiceId, awaits: true } : { nth, verdict: 'known', invoiceId };
    }),
  );
  const changes: VerdictChange[] = [];
  const free: RowPlace[] = [];
  let failure: { readonly error: unknown } | null = null;
  for (const [index, result] of results.entries()) {
    const row = rows[index] as ImportedInvoice;
    if (result.status === 'fulfilled') changes.push(result.value);
    else if (isOfInvoice(result.reason)) {
      changes.push(refused(row, result.reason));
      free.push(places[index] as RowPlace);
    } else failure ??= { error: result.reason };
  }
  if (free.length > 0) await issuedRows.release(imported, free);
  await importedInvoices.change(imported, changes);
  if (failure) throw failure.error;
  return changes;
}

/** Whether an error is about the invoice, which then cannot be issued later either. */
function isOfInvoice(error: unknown): error is ServiceError {
  return error instanceof ServiceError && [400, 404, 409, 422].includes(error.status);
}

function refused(row: ImportedInvoice, { problems }: ServiceError): VerdictChange {
  const place: Pick<ReadInvoice, 'origins' | 'sheet' | 'firstRow'> = { ...row, origins: {} };
  return { nth: row.nth, verdict: 'refused', problems: problems.map((each) => rowProblem(place, each)) };
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
