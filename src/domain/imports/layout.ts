import { columnOf, type ImportColumn } from './columns.ts';
import type { ReadColumn } from './reading.ts';

/** A column that is read. */
export interface LaidColumn {
  /** From 0. */
  readonly index: number;
  readonly header: string;
  readonly column: ImportColumn;
}

/** Where the fields are in a file. */
export interface Layout {
  readonly sheet: string | null;
  /** From 1. */
  readonly headerRow: number;
  /** The texts of the header row, folded, by which a repeated header row is known. */
  readonly headerKeys: readonly string[];
  readonly columns: readonly LaidColumn[];
  /** Index of the column that tells which rows are one invoice: `document`, else `number`; null without both. */
  readonly keyColumn: number | null;
  /** Whether each invoice must have a key. A number may be absent, as the service gives one. */
  readonly needsKey: boolean;
  /** Indexes of the columns of the customer, whose first row begins an invoice if no key does. */
  readonly customerColumns: readonly number[];
  readonly descriptionColumn: number | null;
}

/** Makes the layout of recognized columns. */
export function layoutOf(sheet: string | null, headerRow: number, columns: readonly ReadColumn[]): Layout {
  const laid = columns.flatMap(({ index, header, field }) => {
    const column = field === null ? null : columnOf(field);
    return column === null ? [] : [{ index, header, column }];
  });
  const indexOf = (field: string) => laid.find(({ column }) => column.field === field)?.index ?? null;
  return {
    sheet,
    headerRow,
    headerKeys: columns.map(({ key }) => key),
    columns: laid,
    keyColumn: indexOf('document') ?? indexOf('number'),
    needsKey: indexOf('document') !== null,
    customerColumns: laid.filter(({ column }) => column.field.startsWith('customer.')).map(({ index }) => index),
    descriptionColumn: indexOf('line.description'),
  };
}
