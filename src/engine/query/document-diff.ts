import { identical } from './compare.ts';
import { asDoc, type Doc, setField } from './types.ts';
import type { UpdateDescription } from './update-types.ts';

/**
 * Builds the `updateDescription` of a change from one document to another: only the differences, including those in
 * nested documents and arrays.
 */
export function describeChange(before: Doc, after: Doc): UpdateDescription {
  const description: UpdateDescription = { updatedFields: {}, removedFields: [], truncatedArrays: [] };
  diffDocs(before, after, '', description);
  return description;
}

function diffDocs(before: Doc, after: Doc, prefix: string, description: UpdateDescription): void {
  for (const name of Object.keys(before)) {
    if (!Object.hasOwn(after, name)) description.removedFields.push(prefix + name);
  }
  const names = Object.keys(after);
  const ordered = orderedCount(before, after);
  for (const [i, name] of names.entries()) {
    if (i >= ordered) setField(description.updatedFields, prefix + name, after[name]);
    else diffValues(before[name], after[name], prefix + name, description);
  }
}

/** Counts the fields that both documents have and that still come first in the changed one, in their previous order. */
function orderedCount(before: Doc, after: Doc): number {
  const names = Object.keys(after);
  const left = remaining(before, after);
  const moved = left.findIndex((name, i) => name !== names[i]);
  return moved < 0 ? left.length : moved;
}

function remaining(before: Doc, after: Doc): string[] {
  return Object.keys(before).filter((name) => Object.hasOwn(after, name));
}

function diffValues(before: unknown, after: unknown, path: string, description: UpdateDescription): void {
  if (identical(before, after)) return;
  const [x, y] = [asDoc(before), asDoc(after)];
  // A document with reordered fields is reported as set as a whole: differences do not express order, and index keys
  // depend on it.
  if (x !== undefined && y !== undefined && remaining(x, y).length === orderedCount(x, y)) {
    diffDocs(x, y, `${path}.`, description);
  } else if (Array.isArray(before) && Array.isArray(after)) {
    if (after.length < before.length) description.truncatedArrays.push({ field: path, newSize: after.length });
    for (const [i, element] of after.entries()) {
      if (i < before.length) diffValues(before[i], element, `${path}.${i}`, description);
      else setField(description.updatedFields, `${path}.${i}`, element);
    }
  } else {
    setField(description.updatedFields, path, after);
  }
}
