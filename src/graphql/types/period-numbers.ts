import {
  FATES,
  type LedgerEntry,
  type NumberedDocument,
  type NumberRange,
} from '../../domain/invoice/periods/number-ledger.ts';
import { moroccanDate } from '../../domain/morocco/time.ts';
import { accessOf } from '../access.ts';
import { builder } from '../builder.ts';
import { enumOf } from '../enum-of.ts';
import { connectionOf, pageRequest } from '../relay-page.ts';
import { InvoiceStatusType } from './contract.ts';
import { FiscalDocumentKindType } from './fiscal-document-list.ts';
import { PERIOD_NAMES } from './period.ts';
import './scalars.ts';

/** Maximum number of credit notes of a document that are listed with its number. */
const LISTED_CREDIT_NOTES = 10;

const NumberFateType = enumOf('NumberFate', 'What became of a number.', FATES);

const NumberedDocumentType = builder.objectRef<NumberedDocument>('NumberedDocument').implement({
  description: 'What a ledger of numbers says of an invoice or a credit note.',
  fields: (t) => ({
    id: t.exposeID('id', { description: 'Prefix `inv_` or `crn_`.' }),
    kind: t.expose('kind', { type: FiscalDocumentKindType, description: 'Invoice or credit note.' }),
    number: t.exposeString('number', { nullable: true, description: 'Its legal number; null until it is assigned.' }),
    status: t.expose('status', { type: InvoiceStatusType, description: 'Its current status.' }),
    issueDate: t.string({
      description: 'Its calendar date in Morocco: `2026-01-31`.',
      resolve: ({ createdAt }) => moroccanDate(createdAt),
    }),
    customerName: t.exposeString('customerName', { description: 'The name of the customer.' }),
    amount: t.expose('amount', { type: 'Centimes', description: 'The amount, in centimes, including tax.' }),
    currency: t.exposeString('currency', { description: '`MAD`.' }),
    originalNumber: t.string({
      nullable: true,
      description: 'Of a credit note: the number of the invoice that it credits.',
      resolve: ({ original }) => original?.number ?? null,
    }),
    originalId: t.id({
      nullable: true,
      description: 'Of a credit note: that invoice; null if another system issued it.',
      resolve: ({ original }) => original?.id ?? null,
    }),
  }),
});

const PeriodNumberType = builder.objectRef<LedgerEntry>('PeriodNumber').implement({
  description:
    'A number of the service’s series with what became of it, or several that follow each other and that no document has.',
  fields: (t) => ({
    id: t.exposeID('id', { description: 'The last number, which is the cursor.' }),
    number: t.exposeString('number', { description: 'The number; the first one of several.' }),
    fate: t.expose('fate', { type: NumberFateType, description: 'What became of it.' }),
    document: t.expose('document', {
      type: NumberedDocumentType,
      nullable: true,
      description: 'The document that has the number; null if none has it, or not yet.',
    }),
    replacedBy: t.expose('replacedBy', {
      type: NumberedDocumentType,
      nullable: true,
      description: 'The invoice that replaces the document; null if there is none.',
    }),
    creditedBy: t.field({
      type: [NumberedDocumentType],
      description: `The accepted credit notes of the document, the first ${LISTED_CREDIT_NOTES}.`,
      resolve: ({ creditedBy }) => creditedBy.slice(0, LISTED_CREDIT_NOTES),
    }),
    creditNotes: t.int({
      description: 'How many accepted credit notes the document has.',
      resolve: ({ creditedBy }) => creditedBy.length,
    }),
  }),
});

const NumberGapType = builder.objectRef<NumberRange['lost'][number]>('NumberGap').implement({
  description: 'Numbers that no document has, because they were passed over after older data was restored.',
  fields: (t) => ({
    number: t.exposeString('number', { description: 'The first one.' }),
    through: t.exposeString('through', { description: 'The last one.' }),
  }),
});

const PeriodSeriesType = builder.objectRef<NumberRange>('PeriodSeries').implement({
  description: 'The numbers of one of the service’s series that belong to a period.',
  fields: (t) => ({
    series: t.exposeString('series', { description: '`2026` for invoices, `AV-2026` for credit notes.' }),
    kind: t.expose('kind', { type: FiscalDocumentKindType, description: 'Whose numbers they are.' }),
    first: t.exposeString('first', { nullable: true, description: 'The first number; null if there is none.' }),
    last: t.exposeString('last', { nullable: true, description: 'The last number.' }),
    count: t.expose('count', {
      type: 'SafeInt',
      nullable: true,
      description: 'How many numbers that is, without those in `lost`; null if it has more ranges than are listed.',
    }),
    lost: t.expose('lost', {
      type: [NumberGapType],
      description:
        'The numbers that were noted as passed over, the first 100 ranges. Empty: no gap was noted. A number that is `missing` in `periodNumbers` is not among them.',
    }),
  }),
});

const PeriodNumberConnection = builder.connectionObject({ type: PeriodNumberType, name: 'PeriodNumberConnection' });

builder.queryFields((t) => ({
  periodNumbers: t.connection(
    {
      type: PeriodNumberType,
      authScopes: accessOf('periodNumbers'),
      description:
        'The ledger of numbers of a period: every number of the service’s series in order, invoices before credit notes, with what became of it and with the gaps. Numbers that you give yourself are not in it. Cursors are numbers.',
      args: { period: t.arg.string({ required: true, description: PERIOD_NAMES }) },
      resolve: async (_root, args, { principal, useCases }) =>
        connectionOf(await useCases.periodNumbers(principal, args.period, pageRequest(args)), args),
    },
    PeriodNumberConnection,
  ),
  periodSeries: t.field({
    type: [PeriodSeriesType],
    authScopes: accessOf('periodSeries'),
    description:
      'From which to which number the service’s series went in a period, and which numbers were noted as passed over.',
    args: { period: t.arg.string({ required: true, description: PERIOD_NAMES }) },
    resolve: async (_root, { period }, { principal, useCases }) => useCases.periodSeries(principal, period),
  }),
}));
