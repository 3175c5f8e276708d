import type { DocumentLanguage } from '../../domain/document-language.ts';
import { type Examination, examineFile } from '../../domain/imports/examine-file.ts';
import { readInvoices } from '../../domain/imports/read-invoices.ts';
import {
  type ColumnMapping,
  type OpenSpreadsheet,
  type ReadInvoice,
  UnreadableFile,
} from '../../domain/imports/reading.ts';
import type { FileFault } from '../../domain/imports/row-rules.ts';
import type { OpenFile } from '../../domain/imports/table.ts';
import { openFile } from './open-file.ts';
import { CHOICES } from './read-choices.ts';

/** A task of the thread, which reads one file: it opens the file, then reads its batches. */
export type ReadTask =
  | {
      readonly open: {
        readonly file: string;
        readonly mapping: ColumnMapping | null;
        readonly language: DocumentLanguage;
      };
    }
  | { readonly next: true };

/** The result of a task. A fault is returned, not thrown, because an error loses its class between threads. */
export type ReadAnswer =
  | Pick<OpenSpreadsheet, 'reading' | 'rows'>
  /** Null after the last batch. */
  | { readonly batch: readonly ReadInvoice[] | null }
  | { readonly fault: FileFault; readonly facts: UnreadableFile['facts'] };

let opened: OpenFile | null = null;
let batches: AsyncGenerator<readonly ReadInvoice[], void, void> | null = null;

/** The tasks of the thread of `createSpreadsheetReader`. */
export default async function run(task: ReadTask): Promise<ReadAnswer> {
  try {
    return 'open' in task ? await examine(task.open) : { batch: await nextBatch() };
  } catch (error) {
    await opened?.close();
    if (error instanceof UnreadableFile) return { fault: error.code, facts: error.facts };
    throw error;
  }
}

async function examine({
  file,
  ...options
}: Extract<ReadTask, { open: unknown }>['open']): Promise<Pick<OpenSpreadsheet, 'reading' | 'rows'>> {
  opened = await openFile(file, options.mapping);
  const examination: Examination = await examineFile(opened, { ...options, choices: CHOICES });
  batches = readInvoices(examination, CHOICES);
  return { reading: examination.reading, rows: examination.rows };
}

async function nextBatch(): Promise<readonly ReadInvoice[] | null> {
  const next = await batches?.next();
  if (next && !next.done) return next.value;
  await opened?.close();
  return null;
}
