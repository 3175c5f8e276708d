import type { FieldMap } from '@pothos/core';
import { INVOICE } from '../../domain/invoice/fields.ts';
import type { Invoice } from '../../domain/invoice/invoice.ts';
import { builder } from '../builder.ts';
import type { Types } from '../payload.ts';

/** The types of the kinds of fiscal documents. `invoice.ts` and `credit-note.ts` implement them. */
export const InvoiceType = builder.objectRef<Invoice>('Invoice');
export const CreditNoteType = builder.objectRef<Invoice>('CreditNote');
/** The interface of documents of all kinds. `fiscal-document-list.ts` implements it. */
export const FiscalDocumentType = builder.interfaceRef<Invoice>('FiscalDocument');

const {
  terms: _terms,
  discount: _discount,
  charge: _charge,
  isDeposit: _isDeposit,
  deposits: _deposits,
  references: _references,
  servicePeriod: _period,
  foreignValue: _value,
  withholding: _withholding,
  ...fields
} = INVOICE.fields;
/**
 * The fields of the record that documents of all kinds have. A credit note is not paid, so it has no terms and is no
 * deposit. Its invoice states the particulars. Its lines are the credited amounts, with their shares of the invoice's
 * discount and charge.
 */
export const DOCUMENT_FIELDS = fields;

/** Adds fields that documents of all kinds have. */
export function addDocumentFields(
  fields: (t: PothosSchemaTypes.InterfaceFieldBuilder<Types, Invoice>) => FieldMap,
): void {
  builder.interfaceFields(FiscalDocumentType, fields);
}
