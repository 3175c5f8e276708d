/**
 * Makes a new identifier: prefix of its type and canonical UUID v4, e.g. `inv_550e8400-e29b-41d4-a716-446655440000`
 * (docs/api/contract.md, "Conventions").
 */
export function newId(prefix: string): string {
  return `${prefix}_${crypto.randomUUID()}`;
}

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

/** Whether `text` has the format of an identifier with this prefix. Other texts are never looked up in the store. */
export function isId(prefix: string, text: string): boolean {
  return text.startsWith(`${prefix}_`) && UUID.test(text.slice(prefix.length + 1));
}
