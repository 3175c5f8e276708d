import { kindOfId } from '../../domain/invoice/kinds.ts';

/** Returns the address of the document with a typed id; null for any other text. @param address of the workspace */
export function documentAddress(address: string, typed: string): string | null {
  return kindOfId(typed) === null ? null : `${address}/invoices/${encodeURIComponent(typed)}`;
}
