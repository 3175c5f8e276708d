import { takeTurn } from '../event-loop-turns.ts';
import { createInvoiceChecker } from './check-invoices.ts';
import type { Import } from './import.ts';
import type { ImportClaim, ImportMappings, ImportProgress } from './import-store.ts';
import { type ImportWorkNeeds, memberOf, progressOf } from './import-work.ts';
import { findIssued } from './issued-of-file.ts';
import { type FileReading, type OpenSpreadsheet, type SpreadsheetReader, UnreadableFile } from './reading.ts';

export interface ReadingNeeds extends ImportWorkNeeds {
  readonly mappings: ImportMappings;
  readonly reader: SpreadsheetReader;
  /** Runs `work` with the path of a temporary copy of the uploaded file. */
  readonly withFile: <Result>(importId: string, work: (path: string) => Promise<Result>) => Promise<Result>;
}

/** Work per batch of invoices without their checks, in units of `takeTurn`. */
const BATCH_UNITS = 500;

/**
 * Reads an uploaded file and gives each invoice its verdict. After the death of a process it starts again, with the
 * same result.
 * @returns the changes of the import; null if its tenant is erased
 * @throws {ImportLost}
 */
export async function readImport(
  needs: ReadingNeeds,
  claim: ImportClaim,
  signal: AbortSignal,
): Promise<ImportProgress | null> {
  const { imported } = claim;
  const { importedInvoices, tenants, imports } = needs;
  const by = await memberOf(tenants, imported, imported.createdBy, 'read');
  if (!by) return null;
  await importedInvoices.removeUpTo(imported.id, imported.round);
  const note = progressOf(imports, claim, signal);
  try {
    return await needs.withFile(imported.id, async (path) => {
      const { file, rows, batches } = await open(needs, imported, path, signal);
      try {
        const checker = createInvoiceChecker(needs, imported, by, await findIssued(needs, imported, rows, signal));
        for await (const batch of batches) {
          await importedInvoices.put(await checker.check(batch), imported.expiresAt);
          await note(() => ({ reading: file.reading, counts: checker.counts() }));
          await takeTurn(BATCH_UNITS);
        }
        await importedInvoices.change(imported, checker.end());
        return { status: 'checked', ...file, failure: null, counts: checker.counts() };
      } finally {
        await batches.return?.();
      }
    });
  } catch (error) {
    if (!(error instanceof UnreadableFile)) throw error;
    return { status: 'unreadable', failure: { code: error.code, facts: error.facts } };
  }
}

/** Opens a file with the columns that a person chose for this file, or for an earlier file with the same headers. */
async function open(
  { mappings, reader }: ReadingNeeds,
  imported: Import,
  path: string,
  signal: AbortSignal,
): Promise<{ file: Pick<Import, 'reading' | 'mapping'> } & Pick<OpenSpreadsheet, 'rows' | 'batches'>> {
  const options = { name: imported.file.name, language: imported.language, signal };
  const { mapping } = imported;
  const first = await reader.read(path, { ...options, mapping });
  const saved = mapping === null ? await mappings.find(imported, headersOf(first.reading)) : null;
  if (saved === null) return { file: { reading: first.reading, mapping }, ...first };
  // Ends the thread that reads the file.
  await first.batches.return?.();
  const again = await reader.read(path, { ...options, mapping: saved });
  return { file: { reading: again.reading, mapping: saved }, ...again };
}

/** Returns the set of headers by which chosen columns are saved. */
export function headersOf({ columns }: Pick<FileReading, 'columns'>): string[] {
  return columns.filter(({ isResult }) => !isResult).map(({ key }) => key);
}
