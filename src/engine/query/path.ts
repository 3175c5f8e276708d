import { asDoc, type Doc, getField } from './types.ts';

/** Splits a path at its dots: `'a.0.b'` → `['a', '0', 'b']`. */
export function splitPath(path: string): string[] {
  return path.includes('.') ? path.split('.') : [path];
}

/** Whether a path component is an array index: digits without a leading zero. */
export function isIndex(component: string): boolean {
  return /^(0|[1-9]\d*)$/.test(component);
}

/** Whether two paths are equal or one is a prefix of the other (`a.b` and `a.b.c`). */
export function pathsConflict(a: string, b: string): boolean {
  return a === b || a.startsWith(`${b}.`) || b.startsWith(`${a}.`);
}

/**
 * Called with each value at a query path and, if there is an array along the path, with the index in the outermost one.
 * Returning true ends the walk.
 */
export type Visitor = (value: unknown, index: number | undefined) => boolean;

/**
 * Walks a query path like MongoDB's matcher. In an array along the path, a name is looked up in each document of the
 * array, and an index also selects the element at that position. For an array at the end of the path, each element is
 * visited and then (with `leaf` true) the array itself; with `leaf` false only the array. If the path has no value,
 * undefined is visited; array elements that are not documents are skipped.
 */
export function walkPath(doc: Doc, parts: readonly string[], leaf: boolean, visit: Visitor): boolean {
  return walkDoc(doc, parts, 0, leaf, undefined, visit);
}

function walkDoc(
  doc: Doc,
  parts: readonly string[],
  at: number,
  leaf: boolean,
  outer: number | undefined,
  visit: Visitor,
): boolean {
  const last = parts.length - 1;
  for (; ; at += 1) {
    const value = getField(doc, parts[at] as string);
    if (at === last) return atEnd(value, leaf, outer, visit);
    if (Array.isArray(value)) return walkArray(value, parts, at + 1, leaf, outer, visit);
    const next = asDoc(value);
    if (next === undefined) return visit(undefined, outer);
    doc = next;
  }
}

function atEnd(value: unknown, leaf: boolean, outer: number | undefined, visit: Visitor): boolean {
  if (leaf && Array.isArray(value)) {
    for (let i = 0; i < value.length; i += 1) if (visit(value[i], outer ?? i)) return true;
  }
  return visit(value, outer);
}

function walkArray(
  array: unknown[],
  parts: readonly string[],
  at: number,
  leaf: boolean,
  outer: number | undefined,
  visit: Visitor,
): boolean {
  const component = parts[at] as string;
  const position = isIndex(component) ? Number(component) : -1;
  for (let i = 0; i < array.length; i += 1) {
    const element = array[i];
    const index = outer ?? i;
    const doc = asDoc(element);
    if (doc !== undefined && walkDoc(doc, parts, at, leaf, index, visit)) return true;
    if (i !== position) continue;
    if (at === parts.length - 1) {
      if (visit(element, index)) return true;
    } else if (Array.isArray(element)) {
      if (walkArray(element, parts, at + 1, leaf, index, visit)) return true;
    } else if (doc !== undefined && walkDoc(doc, parts, at + 1, leaf, index, visit)) return true;
  }
  return false;
}

/** The paths of all containers of a path: for `a.b.c` they are `a` and `a.b`. */
export function pathsAbove(path: string): string[] {
  const above: string[] = [];
  for (let dot = path.indexOf('.'); dot >= 0; dot = path.indexOf('.', dot + 1)) above.push(path.slice(0, dot));
  return above;
}
