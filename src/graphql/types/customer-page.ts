import { holdsScope, isMember, type Principal } from '../../domain/principal.ts';
import { addDocumentFields } from './fiscal-documents.ts';

/** Whether a caller may send a document to its customer, and with it the right to read it. */
function maySend(principal: Principal): boolean {
  return isMember(principal) && holdsScope(principal, 'mail');
}

addDocumentFields((t) => ({
  sellerName: t.string({
    nullable: true,
    description:
      'The name of the seller, as its profile had it at the creation. For every credential that reads the document.',
    resolve: ({ seller }) => seller.legalName ?? null,
  }),
  customerUrl: t.string({
    nullable: true,
    description:
      'Address of the page for its customer. It contains the client_secret: treat it as a secret. For a secret key and people who may mail the document; null for others.',
    resolve: ({ id }, _args, { principal, useCases }) => (maySend(principal) ? useCases.customerUrl(id) : null),
  }),
}));
