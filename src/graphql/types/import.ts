import { READ_BYTES } from '../../domain/answer-bounds.ts';
import { IMPORT_STATUSES, type Import, type ImportCounts, VERDICTS } from '../../domain/imports/import.ts';
import { IMPORT_DAYS } from '../../domain/imports/limits.ts';
import { importedId } from '../../domain/imports/own-imports.ts';
import { accessOf } from '../access.ts';
import { searchMetered } from '../answer-meter.ts';
import { builder } from '../builder.ts';
import { enumOf } from '../enum-of.ts';
import { payloadOf } from '../payload.ts';
import { connectionOf, pageRequest } from '../relay-page.ts';
import { AuditActorType } from './audit-entry.ts';
import { ConflictError, InvalidInputError, NotFoundError } from './errors.ts';
import { FileReadingType } from './file-reading.ts';
import { ImportedInvoiceConnection, ImportedInvoiceType, type Listed, VerdictType } from './imported-invoice.ts';
import { findableAsNode, NodeInterface } from './node.ts';
import './scalars.ts';

/** Maximum size of a stored import, and of a stored invoice of a file, in bytes. */
const [IMPORT_BYTES, IMPORTED_BYTES] = [500_000, 1_500_000];

const ImportStatusType = enumOf('ImportStatus', 'How far an import is.', IMPORT_STATUSES);
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
    round: t.exposeInt('round', {
      description: '1, and one more each time that the file is read anew with other columns.',
    }),
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
    args: {
      id: t.arg.id(ID),
      round: t.arg.int({
        description:
          '`Import.round` of the verdicts that you have seen. If the file was read anew since: `import_not_checked`.',
      }),
    },
    resolve: (_root, { id, round }, { principal, useCases }) => useCases.startImport(principal, id, round ?? null),
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
      privateCustomers: t.arg.boolean({
        description:
          'Whether customers of whom the file has no ICE, type, tax number or country abroad are private persons. Without it: as in `reading`.',
      }),
    },
    resolve: (_root, { id, columns, privateCustomers }, { principal, useCases }) => {
      const mapping = Object.fromEntries(columns.map(({ key, field }) => [key, field ?? null]));
      return useCases.remapImport(principal, id, mapping, privateCustomers ?? null);
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
