import { InvalidDocument, type InvoiceWriter } from '../../domain/invoice/ports.ts';
import { writeCanonical } from './canonical-xml.ts';
import { brokenRule } from './check-document.ts';
import { invoiceDocument } from './invoice-document.ts';
import { NAMESPACES } from './vocabulary.ts';

/**
 * Writes UBL 2.1 Invoices that also keep every fatal rule of EN 16931, straight in exclusive canonical form. Each is read back and
 * recomputed before it is handed out. Line ends in texts become LF, those of U+0085 and U+2028 included.
 */
export function createInvoiceWriter(): InvoiceWriter {
  return {
    write(invoice) {
      const document = writeCanonical(invoiceDocument(invoice), NAMESPACES);
      const broken = brokenRule(document.xml);
      if (broken !== null) throw new InvalidDocument(broken);
      return document;
    },
  };
}
