import { importTexts } from '../adapters/spreadsheet/import-texts.ts';
import { resultWriter } from '../adapters/spreadsheet/result-writer.ts';
import { createSpreadsheetReader } from '../adapters/spreadsheet/spreadsheet-reader.ts';
import { createTemporaryFiles } from '../adapters/spreadsheet/temporary-file.ts';
import { MINUTE_MS } from '../domain/durations.ts';
import type { Import } from '../domain/imports/import.ts';
import { createImportFeed } from '../domain/imports/import-feed.ts';
import type { ImportedInvoiceStore, ImportFiles, ImportMappings, ImportStore } from '../domain/imports/import-store.ts';
import type { ImportTexts } from '../domain/imports/import-texts.ts';
import { resultRows } from '../domain/imports/result-rows.ts';
import { type ImportRunner, runImports } from '../domain/imports/run-imports.ts';
import type { ImportFeed } from '../domain/imports/watch-import.ts';
import { createImportInvoicing } from '../domain/invoice/imported-invoicing.ts';
import { every } from '../domain/kit/every.ts';
import { createFairQueue } from '../domain/kit/fair-queue.ts';
import type { Tracing } from '../domain/tracing.ts';
import type { DocumentUrl } from '../domain/webhook/webhook-event.ts';
import type { Jobs } from '../jobs/agenda.ts';
import { createImportFiles } from '../storage/import-files.ts';
import { createImportMappings } from '../storage/import-mappings.ts';
import { createImportedInvoiceStore } from '../storage/imported-invoices.ts';
import { createImportStore } from '../storage/imports.ts';
import { createIssuedRows } from '../storage/issued-rows.ts';
import { storeClock } from '../storage/store-clock.ts';
import type { Data } from './data.ts';
import type { Documents } from './documents.ts';
import { createMissingForIssue, type LiveMeans } from './live-needs.ts';
import type { Runtime } from './runtime.ts';

/** Pause between two searches for copies of files that killed processes have left, milliseconds. */
const SWEEP_MS = 10 * MINUTE_MS;

/** The parts of imports that requests and the worker use. */
export interface Imports {
  readonly needs: {
    readonly imports: ImportStore;
    readonly importedInvoices: ImportedInvoiceStore;
    readonly importFiles: ImportFiles;
    readonly mappings: ImportMappings;
    readonly importFeed: ImportFeed;
    readonly wakeImports: () => void;
  };
  readonly texts: ImportTexts;
  /** Writes the file of an import that was read, with its current verdicts. */
  readonly returned: (imported: Import) => AsyncIterable<Uint8Array>;
  /** Starts the work on imports. */
  start(parts: WorkParts): void;
}

interface WorkParts {
  readonly jobs: Pick<Jobs, 'queue'>;
  readonly documents: Documents;
  readonly means: LiveMeans;
  readonly tracing: Tracing;
}

export function composeImports(runtime: Runtime, data: Data, documentUrl: DocumentUrl): Imports {
  const { closing, log } = runtime;
  const { store, invoices, logFailure } = data;
  const imports = createImportStore(store.db);
  const importedInvoices = createImportedInvoiceStore(store.db);
  const importFiles = createImportFiles(store.db);
  const mappings = createImportMappings(store.db);
  const importFeed = createImportFeed(imports, (err) => logFailure('warn', 'imports could not be followed', err));
  closing.add(importFeed.close);
  const files = createTemporaryFiles(runtime.config.dataDir, data.alone);
  closing.add(files.close);
  closing.add(
    every(SWEEP_MS, files.sweep, (err) => logFailure('warn', 'copies of uploaded files could not be removed', err), {
      firstMs: 0,
    }),
  );
  let runner: ImportRunner | null = null;

  return {
    needs: { imports, importedInvoices, importFiles, mappings, importFeed, wakeImports: () => runner?.wake() },
    texts: importTexts,
    async *returned(imported) {
      if (imported.reading === null) throw new Error(`the file of ${imported.id} was not read`);
      const file = await files.copy(importFiles.read(imported.id));
      try {
        const pdfUrl = (invoice: Parameters<DocumentUrl>[0]) => documentUrl(invoice, 'pdf');
        const rows = resultRows({ importedInvoices, invoices, importTexts, pdfUrl }, imported);
        yield* resultWriter.write(file.path, imported.reading, rows);
      } finally {
        await file.remove();
      }
    },
    start({ jobs, documents, means, tracing }) {
      const turns = createFairQueue({ places: 1 });
      const reader = createSpreadsheetReader();
      closing.add(reader.close);
      runner = runImports({
        imports,
        importedInvoices,
        issuedRows: createIssuedRows(store.db),
        mappings,
        reader,
        tenants: data.tenants,
        invoicing: createImportInvoicing({
          invoices,
          invoiceIds: data.invoiceIds,
          clientSecrets: data.clientSecrets,
          queue: jobs.queue,
          writer: documents.writer,
          invoiceWarnings: documents.invoiceWarnings,
          tracing,
          logWarnings: (entry) => log.debug(entry, 'an invoice of a file was created with warnings'),
          missingForIssue: createMissingForIssue(means),
        }),
        async withFile(importId, work) {
          const file = await files.copy(importFiles.read(importId));
          try {
            return await work(file.path);
          } finally {
            await file.remove();
          }
        },
        inTurn: (tenantId) => (work) => turns.run(tenantId, work),
        now: storeClock(store.client),
        alone: data.alone,
        report: (message, err) => logFailure('error', message, err),
      });
      closing.addWork(runner.stop);
    },
  };
}
