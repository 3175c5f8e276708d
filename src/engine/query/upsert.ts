import { CommandError } from '../errors.ts';
import { compareStrings, valuesEqual } from './compare.ts';
import { type Leaf, type Node, parseFilter } from './filter-parse.ts';
import { splitPath } from './path.ts';
import { asDoc, type Doc, getField, setField } from './types.ts';

/**
 * Builds the initial document of an upsert: `_id` and the fields that the filter requires to equal a value (at the top
 * level, in `$and`, `$all`, an `$in` with one value, or an `$or` with one branch). Dotted names become nested
 * documents.
 * @throws CommandError 54 when two conditions name the same field.
 */
export function upsertBase(filter: Doc): Doc {
  const values = new Map<string, unknown>();
  collect(parseFilter(filter), values);
  const paths = [...values.keys()].sort((a, b) => Number(b === '_id') - Number(a === '_id') || compareStrings(a, b));
  const doc: Doc = {};
  for (const path of paths) {
    const parts = splitPath(path);
    const inner = parts.slice(0, -1).find((_, i) => values.has(parts.slice(0, i + 1).join('.')));
    if (inner !== undefined) {
      throw new CommandError(
        'NotSingleValueField',
        `cannot infer query fields to set, both paths '${path}' and '${parts[0]}' are matched`,
      );
    }
    let container = doc;
    for (const part of parts.slice(0, -1)) {
      const next = asDoc(getField(container, part)) ?? {};
      setField(container, part, next);
      container = next;
    }
    setField(container, parts.at(-1) as string, values.get(path));
  }
  return doc;
}

function collect(node: Node, values: Map<string, unknown>): void {
  if (node.kind === 'and' || (node.kind === 'or' && node.children.length === 1)) {
    for (const child of node.children) collect(child, values);
  } else if (node.kind === 'leaf') {
    const required = requiredValue(node.leaf);
    if (required === null) return;
    if (values.has(node.path)) {
      throw new CommandError(
        'NotSingleValueField',
        `cannot infer query fields to set, path '${node.path}' is matched twice`,
      );
    }
    values.set(node.path, required.value);
  }
}

/** The only value that satisfies the predicate; null if several may. */
function requiredValue(leaf: Leaf): { readonly value: unknown } | null {
  if (leaf.op === 'eq') return leaf;
  if (leaf.op !== 'in' || leaf.regexes.length > 0 || leaf.values.length === 0) return null;
  const [value, ...others] = leaf.values;
  return others.every((other) => valuesEqual(value, other)) ? { value } : null;
}
