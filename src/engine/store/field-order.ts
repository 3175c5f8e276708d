import type { Doc } from '../query/types.ts';
import { asDoc } from '../query/types.ts';
import { type Element, elements } from '../wire/bson.ts';

const DOCUMENT = 3;
const ARRAY = 4;

/** Whether any nested document has a field name that is a whole number. JavaScript moves such fields to the front. */
export function hasNumberedField(value: unknown): boolean {
  if (Array.isArray(value)) return value.some(hasNumberedField);
  const doc: Doc | undefined = asDoc(value);
  if (!doc) return false;
  const [first] = Object.keys(doc);
  return (first !== undefined && /^\d+$/.test(first)) || Object.values(doc).some(hasNumberedField);
}

/**
 * Encodes an updated document with its fields in their previous order; new fields come last. A value that was set as a
 * whole keeps its own order.
 */
export function inOrderOf(
  before: Uint8Array,
  after: Uint8Array,
  isSet: (path: string) => boolean,
  prefix = '',
): Uint8Array {
  const fields = new Map<string, Element>();
  for (const element of elements(after)) fields.set(element.name, element);
  const parts: Uint8Array[] = [];
  for (const old of elements(before)) {
    const field = fields.get(old.name);
    if (!field || !fields.delete(old.name)) continue;
    const path = prefix + old.name;
    const nested = field.type === old.type && (field.type === DOCUMENT || field.type === ARRAY);
    if (!nested || isSet(path)) parts.push(after.subarray(field.start, field.end));
    else {
      parts.push(after.subarray(field.start, field.value));
      const [was, is] = [before.subarray(old.value, old.end), after.subarray(field.value, field.end)];
      parts.push(inOrderOf(was, is, isSet, `${path}.`));
    }
  }
  for (const { start, end } of fields.values()) parts.push(after.subarray(start, end));
  return Buffer.concat([after.subarray(0, 4), ...parts, Uint8Array.of(0)]);
}
