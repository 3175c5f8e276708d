import type { Problem } from '../../domain/authority/ports.ts';
import { builder } from '../builder.ts';
import { addDocumentFields } from './fiscal-documents.ts';

const AuthorityProblemType = builder.objectRef<Problem>('AuthorityProblem').implement({
  description: 'A finding of the tax authority about an invoice.',
  fields: (t) => ({
    code: t.exposeString('code', { description: 'The authority’s code, such as `ice_unknown`.' }),
    path: t.exposeString('path', {
      nullable: true,
      description:
        'XPath of the element in the signed XML that it is about: `/Invoice/cac:InvoiceLine[2]/cbc:InvoicedQuantity`. Null if it is about the whole document.',
    }),
    message: t.exposeString('message', { description: 'What is wrong, in French.' }),
  }),
});

addDocumentFields((t) => ({
  problems: t.field({
    type: [AuthorityProblemType],
    description: 'Why the tax authority rejected the invoice; empty if it did not.',
    resolve: ({ problems }) => [...problems],
  }),
  authorityWarnings: t.field({
    type: [AuthorityProblemType],
    description: 'Findings of the tax authority that do not prevent acceptance.',
    resolve: ({ authorityWarnings }) => [...authorityWarnings],
  }),
}));
