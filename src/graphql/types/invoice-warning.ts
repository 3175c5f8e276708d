import { INVOICE_WARNINGS, type InvoiceWarning } from '../../domain/invoice/invoice-warnings.ts';
import { isMember } from '../../domain/principal.ts';
import { builder } from '../builder.ts';
import { enumOf } from '../enum-of.ts';
import { addDocumentFields } from './fiscal-documents.ts';
import { RuleType } from './rule.ts';

const WarningCodeType = enumOf(
  'InvoiceWarningCode',
  'Code of a warning, for programs; the header `Fatoura-Warnings` of REST lists the same codes. More codes may be added.',
  INVOICE_WARNINGS,
);

export const InvoiceWarningType = builder.objectRef<InvoiceWarning>('InvoiceWarning').implement({
  description: 'A fault that the service accepts but the law or the tax authority may not.',
  fields: (t) => ({
    code: t.expose('code', { type: WarningCodeType, description: 'What is wrong, for programs.' }),
    path: t.exposeString('path', { description: 'Dotted path of the field: `customer.address`, `seller.cnss`.' }),
    message: t.exposeString('message', { description: 'What is wrong, by which rule, and how to correct it.' }),
    rule: t.field({
      type: RuleType,
      nullable: true,
      description: 'The rule of law; null if it is none.',
      resolve: ({ rule }) => rule ?? null,
    }),
  }),
});

addDocumentFields((t) => ({
  warnings: t.field({
    type: [InvoiceWarningType],
    description: 'Missing information that the law requires, and suspicious values. Empty without a secret key.',
    resolve: (invoice, _args, { principal, useCases }) =>
      isMember(principal) ? useCases.invoiceWarnings(invoice) : [],
  }),
}));
