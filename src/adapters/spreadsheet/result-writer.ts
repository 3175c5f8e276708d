import type { ResultWriter } from '../../domain/imports/ports.ts';
import { writeCsvResult } from './result-csv.ts';
import { writeXlsxResult } from './result-xlsx.ts';

const WRITERS = { csv: writeCsvResult, xlsx: writeXlsxResult } as const;

/** Writes files with verdicts in the format in which they were uploaded. */
export const resultWriter: ResultWriter = {
  write: (file, reading, verdicts) => WRITERS[reading.format](file, reading, verdicts),
};
