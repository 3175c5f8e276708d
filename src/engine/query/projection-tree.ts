import type { Environment, Expression } from './expression.ts';
import { asDoc, type Doc, setField } from './types.ts';

/** The action of a projection on a field: keep it, omit it, compute it, or project its nested fields. */
export type Branch = true | false | { compute: Expression } | Tree;
export type Tree = Map<string, Branch>;

/**
 * Keeps only the fields of the tree, in the document's order. In an array, the tree applies to each document, and other
 * elements are removed.
 */
export function include(doc: Doc, tree: Tree): Doc {
  const kept: Doc = {};
  for (const name of Object.keys(doc)) {
    const branch = tree.get(name);
    if (branch === true) setField(kept, name, doc[name]);
    else if (branch instanceof Map) {
      const value = includeBelow(doc[name], branch);
      if (value !== undefined) setField(kept, name, value);
    }
  }
  return kept;
}

function includeBelow(value: unknown, tree: Tree): unknown {
  if (Array.isArray(value))
    return value.map((element) => includeBelow(element, tree)).filter((element) => element !== undefined);
  const doc = asDoc(value);
  return doc === undefined ? undefined : include(doc, tree);
}

/** Omits the fields of the tree; in arrays, from each document. */
export function exclude(doc: Doc, tree: Tree): Doc {
  const kept: Doc = {};
  for (const name of Object.keys(doc)) {
    const branch = tree.get(name);
    if (branch === false) continue;
    setField(kept, name, branch instanceof Map ? excludeBelow(doc[name], branch) : doc[name]);
  }
  return kept;
}

function excludeBelow(value: unknown, tree: Tree): unknown {
  if (Array.isArray(value)) return value.map((element) => excludeBelow(element, tree));
  const doc = asDoc(value);
  return doc === undefined ? value : exclude(doc, tree);
}

/**
 * Sets the computed fields of the tree in a document, which is modified. A missing result removes the field. In arrays
 * the fields are computed for each element; an element that is not a document becomes one.
 */
export function compute(doc: Doc, tree: Tree, environment: Environment): Doc {
  for (const [name, branch] of tree) {
    if (typeof branch === 'boolean') continue;
    const value =
      branch instanceof Map ? computeBelow(own(doc, name), branch, environment) : branch.compute(environment);
    if (value === undefined) delete doc[name];
    else setField(doc, name, value);
  }
  return doc;
}

function computeBelow(value: unknown, tree: Tree, environment: Environment): unknown {
  if (!hasComputed(tree)) return value;
  if (Array.isArray(value)) return value.map((element) => computeBelow(element, tree, environment));
  return compute({ ...asDoc(value) }, tree, environment);
}

/** Whether a tree contains computed fields. */
export function hasComputed(tree: Tree): boolean {
  return [...tree.values()].some((branch) =>
    branch instanceof Map ? hasComputed(branch) : typeof branch === 'object',
  );
}

function own(doc: Doc, name: string): unknown {
  return Object.hasOwn(doc, name) ? doc[name] : undefined;
}
