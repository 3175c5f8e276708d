import { createHash } from 'node:crypto';

/**
 * Computes a fingerprint that is equal for bodies with the same values. The order of members does not matter, and null
 * equals absent.
 */
export function fingerprintOf(input: object): string {
  return createHash('sha256').update(canonicalJson(input)).digest('hex');
}

function canonicalJson(value: unknown): string {
  return JSON.stringify(value, (_key, each: unknown) =>
    each !== null && typeof each === 'object' && !Array.isArray(each)
      ? Object.fromEntries(
          Object.entries(each)
            .filter(([, member]) => member !== null)
            .sort(([a], [b]) => (a < b ? -1 : 1)),
        )
      : each,
  );
}
