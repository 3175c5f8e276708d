import type { WriteDeclaration } from '../../domain/invoice/periods/ports.ts';
import { columnsOf } from './columns.ts';
import { writeCsv } from './csv-file.ts';
import { writeXlsx } from './xlsx-file.ts';

const WRITERS = { csv: writeCsv, xlsx: writeXlsx } as const;

/**
 * Writes a declaration in a format. A spreadsheet ends with a row of sums. A CSV file, which programs read, has no such
 * row.
 */
export const writeDeclaration: WriteDeclaration = (format, batches, title, language) =>
  WRITERS[format](columnsOf(language), batches, { title, language });
