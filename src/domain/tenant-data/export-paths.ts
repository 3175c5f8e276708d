import type { DocumentField } from '../invoice/documents.ts';
import type { Invoice } from '../invoice/invoice.ts';
import { moroccanYear } from '../morocco/time.ts';

/** The names of an invoice's documents in an export, by the invoice's fields. */
export const DOCUMENT_NAMES = {
  xml: 'signed.xml',
  cleared: 'cleared.xml',
  receipt: 'receipt.xml',
  pdf: 'invoice.pdf',
} as const satisfies Readonly<Record<DocumentField, string>>;

/** Number of characters of a client's own number that a folder's name contains. */
const SHOWN = 60;

type Numbered = Pick<Invoice, 'id' | 'environment' | 'createdAt' | 'number' | 'ownNumber'>;

/**
 * Returns the folder of an invoice's documents in an export: `live/documents/2026/2026-000123`. A client's own number
 * may have any characters and length, and may differ from another one only in case. So the name contains only its
 * harmless characters, together with the invoice's id.
 */
export function documentFolder({ id, environment, createdAt, number, ownNumber }: Numbered): string {
  const year = moroccanYear(createdAt);
  const own = ownNumber === null ? '' : `${ownNumber.replaceAll(/[^A-Za-z0-9-]+/g, '-').slice(0, SHOWN)}_`;
  const name = ownNumber === null && number !== null ? number : `${own}${id}`;
  return `${environment}/documents/${year}/${name}`;
}
