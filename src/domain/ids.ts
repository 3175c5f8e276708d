import { randomUUID } from 'node:crypto';

/** The type prefixes of identifiers (docs/api/contract.md, "Conventions"; the last four are this service's own). */
export type IdPrefix = 'inv' | 'we' | 'evt' | 'ten' | 'key' | 'per' | 'aud';

/** A new identifier: prefix and canonical UUID v4, e.g. `inv_550e8400-e29b-41d4-a716-446655440000`. */
export function newId(prefix: IdPrefix): string {
  return `${prefix}_${randomUUID()}`;
}

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

/** Whether `text` has the format of an identifier with this prefix. Other texts are never looked up in the store. */
export function isId(prefix: IdPrefix, text: string): boolean {
  return text.startsWith(`${prefix}_`) && UUID.test(text.slice(prefix.length + 1));
}
