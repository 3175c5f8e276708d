// Converts values that may be anything to the texts that forms of invoices show.

/** Replaces a figure that cannot be read. The service refuses the negative value and names the field. */
export const UNREADABLE = -1;

/** Returns the members of a value; none if it is no object. */
export function recordOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : {};
}

/** Returns a value as a field shows it; empty if it is neither a text nor a number. */
export function textOf(value: unknown): string {
  return typeof value === 'string' || typeof value === 'number' ? String(value) : '';
}

/** Writes a number as people type it. */
export function withComma(number: number): string {
  return String(number).replace('.', ',');
}
