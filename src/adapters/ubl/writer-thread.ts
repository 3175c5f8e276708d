import { move } from 'piscina';
import { InvalidDocument, type LegalInvoice, type UnsignedDocument } from '../../domain/invoice/ports.ts';
import { unsignedDocument, writeInvoice } from './write-invoice.ts';

/**
 * Result of the thread. An invalid document is returned, not thrown, because an error loses its class between threads.
 */
export type Written = UnsignedDocument | { readonly invalid: string };

/** The task of the thread of `createInvoiceWriter`. */
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
