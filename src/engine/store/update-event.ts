import { Int32 } from 'bson';
import { asDoc, type Doc, getField } from '../query/types.ts';
import type { UpdateDescription } from '../query/update-types.ts';

const NUMBERED = /(?:^|\.)\d+(?:\.|$)/;

/**
 * Builds the oplog body of an update: its description, and the components of every path in which a number is a field
 * name, not an array index (`disambiguatedPaths`).
 */
export function updateEntryBody(description: UpdateDescription, after: Doc): Doc {
  const paths = [
    ...Object.keys(description.updatedFields),
    ...description.removedFields,
    ...description.truncatedArrays.map(({ field }) => field),
  ];
  const ambiguous: Doc = {};
  for (const path of paths) {
    const parts = NUMBERED.test(path) ? partsOf(path, after) : undefined;
    if (parts) ambiguous[path] = parts;
  }
  return Object.keys(ambiguous).length > 0 ? { ...description, disambiguatedPaths: ambiguous } : { ...description };
}

function partsOf(path: string, after: Doc): unknown[] | undefined {
  let at: unknown = after;
  let isAmbiguous = false;
  const parts = path.split('.').map((name) => {
    const isNumber = /^\d+$/.test(name);
    const part = Array.isArray(at) && isNumber ? new Int32(Number(name)) : name;
    if (isNumber && !Array.isArray(at)) isAmbiguous = true;
    at = Array.isArray(at) ? at[Number(name)] : nested(at, name);
    return part;
  });
  return isAmbiguous ? parts : undefined;
}

function nested(value: unknown, name: string): unknown {
  const doc = asDoc(value);
  return doc && getField(doc, name);
}
