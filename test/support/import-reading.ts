import { randomUUID } from 'node:crypto';
import { rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ResultWriter, RowVerdict } from '../../src/domain/imports/ports.ts';
import type { FileReading } from '../../src/domain/imports/reading.ts';

/** Makes the reading of a file, for tests of returned files. */
export function readingOf(format: 'xlsx' | 'csv', changes: Partial<FileReading> = {}): FileReading {
  return {
    format,
    sheet: format === 'xlsx' ? 'Factures' : null,
    otherSheets: [],
    encoding: format === 'csv' ? 'utf-8' : null,
    separator: format === 'csv' ? ';' : null,
    decimalSign: null,
    dateOrder: null,
    dateSystem: format === 'xlsx' ? 1900 : null,
    headerRow: 1,
    columns: [],
    missing: [],
    language: 'fr',
    ignoredRows: [],
    rows: 0,
    invoices: 0,
    ...changes,
  };
}

/** Makes the verdict of an accepted invoice, with these changes. */
export function verdictOf(row: number, changes: Partial<RowVerdict> = {}): RowVerdict {
  return {
    row,
    number: '2026-000001',
    status: 'Acceptée',
    reason: null,
    dgiId: 'DGI-1',
    pdfUrl: 'https://facture.example/d/1',
    ...changes,
  };
}

/** Writes the result of a file. */
export async function resultOf(
  writer: ResultWriter,
  bytes: Uint8Array,
  reading: FileReading,
  verdicts: readonly RowVerdict[],
): Promise<Buffer> {
  const file = join(tmpdir(), `fatoura-${randomUUID()}`);
  await writeFile(file, bytes);
  try {
    return Buffer.concat(await Array.fromAsync(writer.write(file, reading, each(verdicts))));
  } finally {
    await rm(file);
  }
}

async function* each(verdicts: readonly RowVerdict[]) {
  yield* verdicts;
}
