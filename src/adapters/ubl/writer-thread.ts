import { move } from 'piscina';
import { InvalidDocument, type LegalInvoice, type UnsignedDocument } from '../../domain/invoice/ports.ts';
import { unsignedDocument, writeInvoice } from './write-invoice.ts';

/** What comes back from the thread; an error's class would not. */
export type Written = UnsignedDocument | { readonly invalid: string };

/** The work of `createInvoiceWriter`'s thread. */
export default function write(invoice: LegalInvoice): Written {
  try {
    const document = unsignedDocument(writeInvoice(invoice));
    move(document.octets.buffer as ArrayBuffer);
    return document;
  } catch (error) {
    if (error instanceof InvalidDocument) return { invalid: error.message };
    throw error;
  }
}
