import { builder } from '../builder.ts';
import { NotFoundError } from './errors.ts';
import { InvoiceType } from './invoice.ts';

builder.mutationFields((t) => ({
  revokeDocumentUrls: t.field({
    type: InvoiceType,
    authScopes: { secretKey: true },
    errors: { types: [NotFoundError] },
    description: "Makes the present URLs of an invoice's documents lead nowhere, at once; the answer has the new ones.",
    args: { id: t.arg.id({ required: true, description: 'Prefix `inv_`.' }) },
    resolve: (_root, { id }, { principal, useCases }) => useCases.revokeDocumentUrls(principal, id),
  }),
}));
