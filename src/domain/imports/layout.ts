import { RESULT_COLUMNS } from './column-headers.ts';
import { columnOf, type ImportColumn } from './columns.ts';
import type { ReadColumn } from './reading.ts';
import { headerKey } from './recognize-columns.ts';

/** A column that is read. */
export interface LaidColumn {
  /** From 0. */
  readonly index: number;
  readonly header: string;
  readonly column: ImportColumn;
}

/** Positions of the fields in a file. */
export interface Layout {
  readonly sheet: string | null;
  /** From 1. */
  readonly headerRow: number;
  /** The folded texts of the header row, by which a repeated header row is recognized. */
  readonly headerKeys: readonly string[];
  readonly columns: readonly LaidColumn[];
  /** Index of the column that groups the rows of an invoice: `document`, else `number`; null without both. */
  readonly keyColumn: number | null;
  /** Whether each invoice must have a key. A number may be absent, because the service assigns one. */
  readonly needsKey: boolean;
  /** Indexes of the customer's columns. Without a key, a row with a customer begins an invoice. */
  readonly customerColumns: readonly number[];
  readonly nameColumn: number | null;
  readonly orderColumn: number | null;
  readonly descriptionColumn: number | null;
  /** Index of the column of numbers that the service added to a returned file. */
  readonly resultNumberColumn: number | null;
  /** Indexes of the columns that the service added to a returned file. */
  readonly resultColumns: ReadonlySet<number>;
}

const NUMBER_HEADERS: ReadonlySet<string> = new Set(Object.values(RESULT_COLUMNS.number).map(headerKey));

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
    nameColumn: indexOf('customer.name'),
    orderColumn: indexOf('references.order'),
    descriptionColumn: indexOf('line.description'),
    resultNumberColumn: columns.find(({ header }) => NUMBER_HEADERS.has(headerKey(header)))?.index ?? null,
    resultColumns: new Set(columns.filter(({ isResult }) => isResult).map(({ index }) => index)),
  };
}
