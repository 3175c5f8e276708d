import { type Import, type ImportedInvoice, type ImportWarning, VERDICTS } from '../../domain/imports/import.ts';
import type { RowProblem } from '../../domain/imports/reading.ts';
import { builder, inBatches } from '../builder.ts';
import { enumOf } from '../enum-of.ts';
import { InvoiceType } from './fiscal-documents.ts';
import { invoicesById } from './invoice-events.ts';
import './scalars.ts';

export const VerdictType = enumOf('ImportVerdict', 'What is known of an invoice of a file.', VERDICTS);
/** A problem, with the import that decides the language of its text. */
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

/** A warning, with the import that decides the language of its text. */
interface ToldWarning {
  readonly warning: ImportWarning;
  readonly imported: Import;
}

const ImportWarningType = builder.objectRef<ToldWarning>('ImportWarning').implement({
  description: 'What somebody should look at, although it is no problem.',
  fields: (t) => ({
    code: t.string({
      description:
        'For programs: a value of `InvoiceWarningCode`, `equal_sale` of an invoice that counts as `known` because an equal one was issued of another row, or `similar_sale` of one that may be issued already.',
      resolve: ({ warning }) => warning.code,
    }),
    path: t.string({
      description: 'Dotted path of the field: `customer.address`.',
      resolve: ({ warning }) => warning.path,
    }),
    message: t.string({
      description: 'What is wrong, by which rule, and how to correct it.',
      resolve: ({ warning, imported }, _args, { useCases }) => useCases.importTexts.warning(imported, warning),
    }),
  }),
});

/** An invoice of a file with its import. */
export interface Listed {
  readonly id: string;
  readonly row: ImportedInvoice;
  readonly imported: Import;
}

export const ImportedInvoiceType = builder.objectRef<Listed>('ImportedInvoice').implement({
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
      description:
        'Suspicious values, missing information that the law requires, and equal sales that were issued before, at most 20.',
      resolve: ({ row, imported }) => row.warnings.map((warning) => ({ warning, imported })),
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

export const ImportedInvoiceConnection = builder.connectionObject({
  type: ImportedInvoiceType,
  name: 'ImportedInvoiceConnection',
});
