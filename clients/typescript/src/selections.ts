/**
 * The fields that are read of results of GraphQL, by type. `npm run build` makes the types of `results.ts` from them
 * and the schema.
 */
export const SELECTIONS = {
  Draft: 'Draft { id version content validation { problems { code message param } } }',
  Issued: 'IssueDraftPayload { replayed invoice { id status amount } }',
  Credit: 'CreditInvoicePayload { replayed creditNote { id status amount } }',
  Replacement: 'ReplaceInvoicePayload { replayed invoice { id status amount } creditNote { id status amount } }',
} as const;
