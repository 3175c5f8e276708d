// The keys from which the ids of imported invoices are derived.

/** Returns the key of an invoice with a number of the tenant's own. */
export function numberKey(number: string): string {
  return `number ${number}`;
}

/** Returns the key of the nth invoice, from 1, with the same content. No invoice is issued under 0. */
export function contentKey(digest: string, nth: number): string {
  return `content ${digest} ${nth}`;
}

/** Returns the key for issuing a rejected invoice of `key` again, for the nth time, from 1. */
export function keyAgain(key: string, nth: number): string {
  return `${key} again ${nth}`;
}

/** Returns the key of the next invoice with the same content; null if the key is that of a number. */
export function nextContentKey(key: string): string | null {
  const [kind, digest, nth] = key.split(' ');
  return kind === 'content' ? contentKey(String(digest), Number(nth) + 1) : null;
}
