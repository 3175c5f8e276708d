import { openFile } from '../../src/adapters/spreadsheet/open-file.ts';
import { CHOICES } from '../../src/adapters/spreadsheet/read-choices.ts';
import type { DocumentLanguage } from '../../src/domain/document-language.ts';
import { examineFile } from '../../src/domain/imports/examine-file.ts';
import { readInvoices } from '../../src/domain/imports/read-invoices.ts';
import type { ColumnMapping, FileReading, ReadInvoice, RowProblem } from '../../src/domain/imports/reading.ts';
import { columnName } from '../../src/text/column-name.ts';

interface Options {
  readonly mapping?: ColumnMapping | null;
  readonly language?: DocumentLanguage;
}

/** Reads a file without a thread. */
export async function readSpreadsheet(file: string, { mapping = null, language = 'fr' }: Options = {}) {
  const opened = await openFile(file, mapping);
  try {
    const examination = await examineFile(opened, { mapping, language, choices: CHOICES });
    const invoices: ReadInvoice[] = [];
    for await (const batch of readInvoices(examination, CHOICES)) invoices.push(...batch);
    return { reading: examination.reading, invoices };
  } finally {
    await opened.close();
  }
}

/**
 * Formats what was read as lines that people can check: how the file was interpreted, then each invoice with its rows,
 * its values and its problems.
 */
export function summary({
  reading,
  invoices,
}: {
  readonly reading: FileReading;
  readonly invoices: readonly ReadInvoice[];
}): string {
  return [headOf(reading), ...invoices.flatMap(linesOf)].join('\n');
}

function headOf(reading: FileReading): string {
  const { format, sheet, otherSheets, encoding, separator, decimalSign, dateOrder, dateSystem, headerRow, language } =
    reading;
  const ignored = reading.ignoredRows.map(({ row, reason }) => `${row} ${reason}`);
  return [
    format,
    sheet,
    otherSheets.length > 0 && `not ${otherSheets.join(', ')}`,
    encoding,
    separator && `separator ${JSON.stringify(separator)}`,
    decimalSign && `decimals ${decimalSign}`,
    dateOrder,
    dateSystem,
    `header ${headerRow}`,
    language,
    ignored.length > 0 && `ignored ${ignored.join(', ')}`,
    reading.missing.length > 0 && `missing ${reading.missing.join(', ')}`,
  ]
    .filter(Boolean)
    .join(' | ');
}

function linesOf({ firstRow, lastRow, label, input, problems }: ReadInvoice): string[] {
  const { customer, lines, ...rest } = input as { customer?: object; lines: readonly object[] };
  return [
    `${firstRow}-${lastRow} ${label ?? '?'}: ${valuesOf({ ...customer, ...rest })}`,
    ...lines.map((line) => `  ${valuesOf(line)}`),
    ...problems.map(problemText),
  ];
}

function valuesOf(record: object): string {
  return Object.entries(record)
    .map(([name, value]) => `${name}=${typeof value === 'object' ? `{${valuesOf(value)}}` : JSON.stringify(value)}`)
    .join(' ');
}

function problemText({ place, header, value, code, param, facts }: RowProblem): string {
  const column = place.column === null ? '' : columnName(place.column);
  const named = Object.entries(facts).map(([name, fact]) => ` ${name}=${fact}`);
  return `  ! ${column}${place.row} ${header ?? ''} ${JSON.stringify(value)} ${code} ${param ?? '-'}${named.join('')}`;
}
