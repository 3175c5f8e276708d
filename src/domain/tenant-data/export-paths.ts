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

/** Characters of a client's own number in the name of a folder. */
const SHOWN = 60;

type Numbered = Pick<Invoice, 'id' | 'environment' | 'createdAt' | 'number' | 'ownNumber'>;

/**
 * The folder of an invoice's documents in an export: `live/documents/2026/2026-000123`. A number of the client's own may
 * have any characters and length, and differ from another one in upper and lower case alone: only its harmless characters
 * are in the name, and the invoice's id with them.
 */
export function documentFolder({ id, environment, createdAt, number, ownNumber }: Numbered): string {
  const year = moroccanYear(createdAt);
  const own = ownNumber === null ? '' : `${ownNumber.replaceAll(/[^A-Za-z0-9-]+/g, '-').slice(0, SHOWN)}_`;
  const name = ownNumber === null && number !== null ? number : `${own}${id}`;
  return `${environment}/documents/${year}/${name}`;
}
