import type { FileReading, ReadColumn } from '../../domain/imports/reading.ts';
import { builder } from '../builder.ts';
import { enumOf } from '../enum-of.ts';

const LanguageType = enumOf('ImportLanguage', 'The language of messages about a file.', {
  fr: 'French.',
  ar: 'Arabic.',
  en: 'English.',
});

const ImportColumnType = builder.objectRef<ReadColumn>('ImportColumn').implement({
  description: 'A column of a file.',
  fields: (t) => ({
    index: t.exposeInt('index', { description: 'Its place, from 0.' }),
    header: t.exposeString('header', { description: 'The text above it.' }),
    key: t.exposeString('key', { description: 'What `remapImport` calls it.' }),
    field: t.exposeString('field', {
      nullable: true,
      description: 'The field that it fills: `customer.name`, `line.quantity`, `document`; null: it is not used.',
    }),
    mayBe: t.stringList({
      description:
        'Fields of which it may be one, the likely one first, if its header and cells do not tell. Then `missing` has the first: say which one it is, or null.',
      resolve: ({ mayBe = [] }) => [...mayBe],
    }),
    result: t.exposeBoolean('isResult', {
      description: 'Whether the service added it to a returned file: it is not read.',
    }),
  }),
});

const IgnoredRowType = builder.objectRef<FileReading['ignoredRows'][number]>('IgnoredRow').implement({
  description: 'A row that has content, but belongs to no invoice.',
  fields: (t) => ({
    row: t.exposeInt('row', { description: 'From 1.' }),
    reason: t.exposeString('reason', {
      description: 'Why: `total`, `hidden`, `repeated_header` or `note`. More may be added.',
    }),
  }),
});

export const FileReadingType = builder.objectRef<FileReading>('FileReading').implement({
  description: 'How a file was read. What it does not tell was decided by its content.',
  fields: (t) => ({
    format: t.exposeString('format', { description: '`xlsx` or `csv`.' }),
    sheet: t.exposeString('sheet', { nullable: true, description: 'The sheet that was read; null in a CSV file.' }),
    otherSheets: t.exposeStringList('otherSheets', { description: 'The sheets that were not read.' }),
    encoding: t.exposeString('encoding', { nullable: true, description: 'Of a CSV file: `utf-8`, `windows-1256`, …' }),
    separator: t.exposeString('separator', { nullable: true, description: 'Of a CSV file: `;`, `,`, a tab.' }),
    decimalSign: t.exposeString('decimalSign', {
      nullable: true,
      description: '`,` or `.`; null if no number in a text has one.',
    }),
    dateOrder: t.exposeString('dateOrder', {
      nullable: true,
      description: '`dmy`, `ymd` or `mdy`; null if no date is a text.',
    }),
    dateSystem: t.exposeInt('dateSystem', {
      nullable: true,
      description: 'Of a workbook: the year from which it counts days, 1900 or 1904.',
    }),
    headerRow: t.exposeInt('headerRow', { description: 'The row of the headers, from 1.' }),
    rows: t.exposeInt('rows', { description: 'How many rows with content are below it.' }),
    invoices: t.exposeInt('invoices', { description: 'How many invoices they are.' }),
    language: t.expose('language', { type: LanguageType, description: 'The language of messages about it.' }),
    missing: t.exposeStringList('missing', {
      description:
        'Fields that a column has to fill, or may fill. If there are any, no invoice is read: choose columns.',
    }),
    privateCustomers: t.boolean({
      description: 'Whether customers without an ICE are private persons, as `remapImport` has said.',
      resolve: ({ privateCustomers }) => privateCustomers === true,
    }),
    columns: t.field({ type: [ImportColumnType], description: 'Its columns.', resolve: ({ columns }) => [...columns] }),
    ignoredRows: t.field({
      type: [IgnoredRowType],
      description: 'Rows that belong to no invoice, the first ones.',
      resolve: ({ ignoredRows }) => [...ignoredRows],
    }),
  }),
});
