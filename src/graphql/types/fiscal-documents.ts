import type { FieldMap } from '@pothos/core';
import type { Invoice } from '../../domain/invoice/invoice.ts';
import { builder } from '../builder.ts';
import type { Types } from '../payload.ts';

/** The types of the kinds of fiscal documents. `invoice.ts` and `credit-note.ts` implement them. */
export const InvoiceType = builder.objectRef<Invoice>('Invoice');
export const CreditNoteType = builder.objectRef<Invoice>('CreditNote');

/** Adds fields that documents of all kinds have. */
export function addDocumentFields(fields: (t: PothosSchemaTypes.ObjectFieldBuilder<Types, Invoice>) => FieldMap): void {
  for (const type of [InvoiceType, CreditNoteType]) builder.objectFields(type, fields);
}
