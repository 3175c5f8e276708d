import { READ_BYTES } from '../../domain/answer-bounds.ts';
import {
  IMPORT_STATUSES,
  type Import,
  type ImportCounts,
  type ImportedInvoice,
  VERDICTS,
} from '../../domain/imports/import.ts';
import { IMPORT_DAYS } from '../../domain/imports/limits.ts';
import { importedId } from '../../domain/imports/own-imports.ts';
import type { FileReading, ReadColumn, RowProblem } from '../../domain/imports/reading.ts';
import { accessOf } from '../access.ts';
import { searchMetered } from '../answer-meter.ts';
import { builder, inBatches } from '../builder.ts';
import { enumOf } from '../enum-of.ts';
import { payloadOf } from '../payload.ts';
import { connectionOf, pageRequest } from '../relay-page.ts';
import { AuditActorType } from './audit-entry.ts';
import { ConflictError, InvalidInputError, NotFoundError } from './errors.ts';
import { InvoiceType } from './fiscal-documents.ts';
import { invoicesById } from './invoice-events.ts';
import { findableAsNode, NodeInterface } from './node.ts';
import './scalars.ts';

/** Maximum size of a stored import, and of a stored invoice of a file, in bytes. */
const [IMPORT_BYTES, IMPORTED_BYTES] = [500_000, 1_500_000];

const ImportStatusType = enumOf('ImportStatus', 'How far an import is.', IMPORT_STATUSES);
const VerdictType = enumOf('ImportVerdict', 'What is known of an invoice of a file.', VERDICTS);
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

const FileReadingType = builder.objectRef<FileReading>('FileReading').implement({
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
      description: 'Required fields that no column fills. If there are any, no invoice is read: choose columns.',
    }),
    columns: t.field({ type: [ImportColumnType], description: 'Its columns.', resolve: ({ columns }) => [...columns] }),
    ignoredRows: t.field({
      type: [IgnoredRowType],
      description: 'Rows that belong to no invoice, the first ones.',
      resolve: ({ ignoredRows }) => [...ignoredRows],
    }),
  }),
});

const ImportCountsType = builder.objectRef<ImportCounts>('ImportCounts').implement({
  description: 'How many invoices a file has, by verdict.',
  fields: (t) => ({
    invoices: t.exposeInt('invoices', { description: 'All that were read so far.' }),
    ready: t.exposeInt('ready', { description: VERDICTS.ready }),
    faulty: t.exposeInt('faulty', { description: VERDICTS.faulty }),
    known: t.exposeInt('known', { description: 'An import has issued them before.' }),
    issued: t.exposeInt('issued', { description: 'This import has issued them.' }),
    refused: t.exposeInt('refused', { description: 'They were ready, but could not be issued any more.' }),
    accepted: t.exposeInt('accepted', { description: 'Issued ones that are accepted by now.' }),
    rejected: t.exposeInt('rejected', { description: 'Issued ones that are rejected by now.' }),
  }),
});

const ImportFailureType = builder.objectRef<Import>('ImportFailure').implement({
  description: 'Why a file cannot be read, or why an import waits.',
  fields: (t) => ({
    code: t.string({
      description: 'For programs: `encrypted`, `too_many_rows`, `tenant_suspended`, … More may be added.',
      resolve: ({ failure }) => failure?.code ?? '',
    }),
    message: t.string({
      description: 'What is wrong and how to correct it, in the language of the file.',
      resolve: (imported, _args, { useCases }) => useCases.importTexts.failure(imported) ?? '',
    }),
  }),
});

/** A problem with the import whose language it is told in. */
interface ToldProblem {
  readonly problem: RowProblem;
  readonly imported: Import;
}

const ImportProblemType = builder.objectRef<ToldProblem>('ImportProblem').implement({
  description: 'What is wrong with a row of a file.',
  fields: (t) => ({
    sheet: t.string({
      nullable: true,
      description: 'The sheet; null in a CSV file.',
      resolve: ({ problem }) => problem.place.sheet,
    }),
    row: t.int({ description: 'The row, from 1.', resolve: ({ problem }) => problem.place.row }),
    column: t.string({
      nullable: true,
      description: 'The letters of the column: `A`, `AB`; null if the whole row is meant.',
      resolve: ({ problem: { place } }, _args, { useCases }) =>
        place.column === null ? null : useCases.importTexts.column(place.column),
    }),
    header: t.string({
      nullable: true,
      description: 'The text above the column; null of a whole row.',
      resolve: ({ problem }) => problem.header,
    }),
    value: t.string({
      nullable: true,
      description: 'What stands in the cell, shortened; null if it is empty.',
      resolve: ({ problem }) => problem.value,
    }),
    code: t.string({
      description: 'For programs: an error code of the API, or one of rows such as `digits_lost`. More may be added.',
      resolve: ({ problem }) => problem.code,
    }),
    param: t.string({
      nullable: true,
      description: 'The field of `CreateInvoiceInput`: `customer.ice`, `lines.0.quantity`; null if it concerns none.',
      resolve: ({ problem }) => problem.param,
    }),
    message: t.string({
      description: 'What is wrong and how to correct it, in the language of the file.',
      resolve: ({ problem, imported }, _args, { useCases }) => useCases.importTexts.problem(imported, problem),
    }),
  }),
});

const ImportWarningType = builder.objectRef<ImportedInvoice['warnings'][number]>('ImportWarning').implement({
  description: 'A fault that the service accepts but the law or the tax authority may not.',
  fields: (t) => ({
    code: t.exposeString('code', { description: 'What is wrong, for programs: a value of `InvoiceWarningCode`.' }),
    path: t.exposeString('path', { description: 'Dotted path of the field: `customer.address`.' }),
    message: t.exposeString('message', { description: 'What is wrong, by which rule, and how to correct it.' }),
  }),
});

/** An invoice of a file with its import. */
interface Listed {
  readonly id: string;
  readonly row: ImportedInvoice;
  readonly imported: Import;
}

const ImportedInvoiceType = builder.objectRef<Listed>('ImportedInvoice').implement({
  description: 'An invoice of a file, with its verdict.',
  fields: (t) => ({
    id: t.exposeID('id', { description: 'The cursor: the id of the import and the place in the file.' }),
    sheet: t.string({
      nullable: true,
      description: 'The sheet; null in a CSV file.',
      resolve: ({ row }) => row.sheet,
    }),
    firstRow: t.int({ description: 'Its first row, from 1.', resolve: ({ row }) => row.firstRow }),
    lastRow: t.int({ description: 'Its last row.', resolve: ({ row }) => row.lastRow }),
    label: t.string({
      nullable: true,
      description: 'How the file calls it; null if it does not.',
      resolve: ({ row }) => row.label,
    }),
    number: t.string({
      nullable: true,
      description: 'The number that the file states; null if it states none.',
      resolve: ({ row }) => row.number,
    }),
    customerName: t.string({
      nullable: true,
      description: 'The name of the customer; null if it cannot be read.',
      resolve: ({ row }) => row.customerName,
    }),
    amount: t.field({
      type: 'Centimes',
      nullable: true,
      description: 'The amount payable; null if it cannot be read.',
      resolve: ({ row }) => row.amount,
    }),
    verdict: t.field({ type: VerdictType, description: 'What is known of it.', resolve: ({ row }) => row.verdict }),
    problems: t.field({
      type: [ImportProblemType],
      description: 'Why it is not issued, in the order of the rows, at most 100.',
      resolve: ({ row, imported }) => row.problems.map((problem) => ({ problem, imported })),
    }),
    warnings: t.field({
      type: [ImportWarningType],
      description: 'Suspicious values, and missing information that the law requires, at most 20.',
      resolve: ({ row }) => [...row.warnings],
    }),
    invoice: t.loadable({
      type: InvoiceType,
      nullable: true,
      description: 'The invoice that was issued of it, as it is now; null if there is none.',
      resolve: ({ row }) => row.invoiceId ?? '',
      ...inBatches(invoicesById),
    }),
  }),
});

const ImportedInvoiceConnection = builder.connectionObject({
  type: ImportedInvoiceType,
  name: 'ImportedInvoiceConnection',
});

const ImportType = builder.objectRef<Import>('Import').implement({
  description: `A file of invoices: it is uploaded to \`POST /imports\`, read and checked, and its invoices are issued by \`startImport\`. File and verdicts are kept for ${IMPORT_DAYS} days; the invoices stay.`,
  interfaces: [NodeInterface],
  fields: (t) => ({
    id: t.exposeID('id', { description: 'Prefix `imp_`.' }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When it was uploaded.' }),
    createdBy: t.expose('createdBy', { type: AuditActorType, description: 'Who uploaded it.' }),
    fileName: t.string({ description: 'The name of the file.', resolve: ({ file }) => file.name }),
    fileSize: t.int({ description: 'Its size in bytes.', resolve: ({ file }) => file.size }),
    fileSha256: t.string({ description: 'Its SHA-256, in hex.', resolve: ({ file }) => file.sha256 }),
    status: t.expose('status', { type: ImportStatusType, description: 'How far it is.' }),
    reading: t.expose('reading', {
      type: FileReadingType,
      nullable: true,
      description: 'How the file was read; null until it is.',
    }),
    failure: t.field({
      type: ImportFailureType,
      nullable: true,
      description: 'Why the file cannot be read, or why nothing is issued at present; null if nothing is wrong.',
      resolve: (imported) => (imported.failure ? imported : null),
    }),
    counts: t.expose('counts', { type: ImportCountsType, description: 'How many invoices it has, by verdict.' }),
    startedAt: t.expose('startedAt', {
      type: 'DateTime',
      nullable: true,
      description: 'When the issuing was started; null before.',
    }),
    startedBy: t.expose('startedBy', {
      type: AuditActorType,
      nullable: true,
      description: 'Who started it; null before.',
    }),
    settled: t.exposeBoolean('isSettled', {
      description: 'Whether the tax authority has decided about every issued invoice.',
    }),
    expiresAt: t.expose('expiresAt', { type: 'DateTime', description: 'When file and verdicts are removed.' }),
    invoices: t.connection(
      {
        type: ImportedInvoiceType,
        description: 'The invoices of the file, in its order: `after` means further below.',
        args: { only: t.arg({ type: [VerdictType], description: 'Only those with one of these verdicts.' }) },
        resolve: async (imported, { only, ...args }, { principal, useCases, meter }) => {
          const asked = { ...pageRequest(args), only: [...new Set(only ?? [])] };
          const most = Math.min(READ_BYTES, asked.limit * IMPORTED_BYTES);
          const page = await searchMetered(meter, most, (maxBytes) =>
            useCases.importedInvoices(principal, imported, { ...asked, maxBytes }),
          );
          const rows = page.rows.map((row): Listed => ({ id: importedId(row), row, imported }));
          return connectionOf({ ...page, rows }, args);
        },
      },
      ImportedInvoiceConnection,
    ),
  }),
});

findableAsNode({
  prefix: 'imp',
  type: 'Import',
  find: (id, _clientSecret, { principal, useCases }) => useCases.import(principal, id),
});

const ImportConnection = builder.connectionObject({ type: ImportType, name: 'ImportConnection' });

const ID = { required: true, description: 'Prefix `imp_`.' } as const;

builder.queryFields((t) => ({
  import: t.field({
    type: ImportType,
    authScopes: accessOf('import'),
    description: 'The import with this id.',
    args: { id: t.arg.id(ID) },
    resolve: async (_root, { id }, { principal, useCases, meter }) => {
      await meter?.hold(IMPORT_BYTES);
      return useCases.import(principal, id);
    },
  }),
  imports: t.connection(
    {
      type: ImportType,
      authScopes: accessOf('imports'),
      description: `The imports of the secret key’s tenant and environment, newest first, of the last ${IMPORT_DAYS} days.`,
      resolve: async (_root, args, { principal, useCases, meter }) => {
        const asked = pageRequest(args);
        const page = await searchMetered(meter, asked.limit * IMPORT_BYTES, (maxBytes) =>
          useCases.imports(principal, { ...asked, maxBytes }),
        );
        return connectionOf(page, args);
      },
    },
    ImportConnection,
  ),
}));

const ImportColumnInput = builder.inputType('ImportColumnInput', {
  description: 'Which field a column fills.',
  fields: (t) => ({
    key: t.string({ required: true, description: '`ImportColumn.key`.' }),
    field: t.string({ description: 'The field, as in `ImportColumn.field`; null: the column is not used.' }),
  }),
});

const DiscardImportPayload = builder.objectRef<{ id: string }>('DiscardImportPayload').implement({
  description: 'A discarded import.',
  fields: (t) => ({ id: t.exposeID('id', { description: 'Id of the discarded import.' }) }),
});

builder.mutationFields((t) => ({
  startImport: t.field({
    type: payloadOf('startImport', 'import', ImportType, 'The import.'),
    authScopes: accessOf('startImport'),
    errors: { types: [NotFoundError, ConflictError] },
    description:
      'Issues the invoices of a file that are `ready`, in the order of the file. A repeated request changes nothing. Each invoice is issued once, also if its file is uploaded again. For secret keys, and people who may invoice.',
    args: { id: t.arg.id(ID) },
    resolve: (_root, { id }, { principal, useCases }) => useCases.startImport(principal, id),
  }),
  remapImport: t.field({
    type: payloadOf('remapImport', 'import', ImportType, 'The import.'),
    authScopes: accessOf('remapImport'),
    errors: { types: [InvalidInputError, NotFoundError, ConflictError] },
    description:
      'Reads a file anew with other columns, before it is started. They are kept for later files with the same headers. For secret keys, and people who may invoice.',
    args: {
      id: t.arg.id(ID),
      columns: t.arg({
        type: [ImportColumnInput],
        required: true,
        description: 'The columns that change. Others stay as in `reading`.',
      }),
    },
    resolve: (_root, { id, columns }, { principal, useCases }) => {
      const mapping = Object.fromEntries(columns.map(({ key, field }) => [key, field ?? null]));
      return useCases.remapImport(principal, id, mapping);
    },
  }),
  discardImport: t.field({
    type: DiscardImportPayload,
    authScopes: accessOf('discardImport'),
    errors: { types: [NotFoundError, ConflictError] },
    description:
      'Removes a file and its verdicts. Invoices that it has issued stay. Not while they are being issued. For secret keys, and people who may invoice.',
    args: { id: t.arg.id(ID) },
    resolve: async (_root, { id }, { principal, useCases }) => {
      await useCases.discardImport(principal, id);
      return { id };
    },
  }),
}));

builder.subscriptionFields((t) => ({
  importProgress: t.field({
    type: ImportType,
    authScopes: accessOf('importProgress'),
    description:
      'The import as it is, and then after changes, at most twice a second. Completes when nothing changes by itself: when it is `checked` or `unreadable`, and once it is `settled`.',
    args: { id: t.arg.id(ID) },
    subscribe: (_root, { id }, { principal, useCases }) => useCases.importProgress(principal, id),
    resolve: ({ imported }) => imported,
  }),
}));
