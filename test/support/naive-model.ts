import type { Document } from 'bson';
import { compareValues, equal, isDocument, isNaNumber, rank } from './naive-order.ts';

/**
 * A collection as MongoDB's manual describes it, without indexes, plans or bytes. The engine's answers are compared
 * with this model.
 */

/** Whether a filter of comparisons, `$in`, `$nin`, `$exists`, `$not`, `$and`, `$or` and `$nor` matches. */
export function matches(filter: Document, doc: Document): boolean {
  return Object.entries(filter).every(([name, condition]) => {
    if (name === '$and') return condition.every((each: Document) => matches(each, doc));
    if (name === '$or') return condition.some((each: Document) => matches(each, doc));
    if (name === '$nor') return !condition.some((each: Document) => matches(each, doc));
    return Object.entries(condition as Document).every(([op, operand]) => holds(op, operand, candidates(doc, name)));
  });
}

function holds(op: string, operand: unknown, found: unknown[]): boolean {
  switch (op) {
    case '$ne':
      return !holds('$eq', operand, found);
    case '$in':
      return (operand as unknown[]).some((each) => holds('$eq', each, found));
    case '$nin':
      return !holds('$in', operand, found);
    case '$exists':
      return found.some((value) => value !== undefined) === operand;
    case '$not':
      return !Object.entries(operand as Document).every(([inner, value]) => holds(inner, value, found));
    default:
      return found.some((value) => compares(op, value, operand));
  }
}

/** Comparisons apply within a type. A missing field counts as null, and MinKey and MaxKey compare with every type. */
function compares(op: string, value: unknown, operand: unknown): boolean {
  const own = rank(value) === 1 ? 2 : rank(value);
  const other = rank(operand);
  if (own !== other) {
    if (other === 0) return op === '$gt' || op === '$gte';
    return other === 15 && (op === '$lt' || op === '$lte');
  }
  if (isNaNumber(value) || isNaNumber(operand))
    return isNaNumber(value) && isNaNumber(operand) && op !== '$gt' && op !== '$lt';
  const order = own === 2 ? 0 : compareValues(value, operand);
  if (op === '$eq') return order === 0;
  if (op === '$gt') return order > 0;
  if (op === '$gte') return order >= 0;
  return op === '$lt' ? order < 0 : order <= 0;
}

/**
 * Returns the values at a path: through the documents of arrays, and at its end the elements of an array and the array
 * itself. `undefined` stands for a missing field.
 */
function candidates(value: unknown, path: string): unknown[] {
  const [head, ...rest] = path.split('.') as [string, ...string[]];
  const next = isDocument(value) ? value[head] : undefined;
  if (rest.length === 0) return Array.isArray(next) ? [...next, next] : [next];
  if (Array.isArray(next)) return next.filter(isDocument).flatMap((element) => candidates(element, rest.join('.')));
  return candidates(next, rest.join('.'));
}

/**
 * Sorts by the fields of `sort`. For an array its smallest or largest element counts; `[]` is below null, missing is
 * null.
 */
export function sorted(docs: readonly Document[], sort: Record<string, 1 | -1>): Document[] {
  const fields = Object.entries(sort);
  return [...docs].sort((a, b) => {
    for (const [path, direction] of fields) {
      const order = compareValues(sortValue(a, path, direction), sortValue(b, path, direction)) * direction;
      if (order !== 0) return order;
    }
    return 0;
  });
}

function sortValue(doc: Document, path: string, direction: 1 | -1): unknown {
  const keys = sortKeys(doc, path).sort((a, b) => compareValues(a, b) * direction);
  return keys[0];
}

function sortKeys(value: unknown, path: string): unknown[] {
  const [head, ...rest] = path.split('.') as [string, ...string[]];
  const next = isDocument(value) ? value[head] : undefined;
  if (rest.length === 0) {
    if (Array.isArray(next)) return next.length > 0 ? [...next] : [undefined];
    return [next === undefined ? null : next];
  }
  if (!Array.isArray(next)) return sortKeys(next, rest.join('.'));
  return next.length > 0 ? next.flatMap((element) => sortKeys(element, rest.join('.'))) : [null];
}

/**
 * Returns the document after `$set`, `$unset`, `$min`, `$max`, `$push` or `$addToSet` on top-level fields; undefined if
 * the update is an error.
 */
export function changed(doc: Document, update: Document): Document | undefined {
  const made = { ...doc };
  for (const [op, fields] of Object.entries(update)) {
    for (const [name, operand] of Object.entries(fields as Document)) {
      const old = made[name];
      if (op === '$unset') delete made[name];
      else if (op === '$set') made[name] = operand;
      else if (op === '$min') made[name] = old === undefined || compareValues(operand, old) < 0 ? operand : old;
      else if (op === '$max') made[name] = old === undefined || compareValues(operand, old) > 0 ? operand : old;
      else if (old !== undefined && !Array.isArray(old)) return undefined;
      else if (op === '$push') made[name] = [...(old ?? []), operand];
      else made[name] = (old ?? []).some((each: unknown) => equal(each, operand)) ? old : [...(old ?? []), operand];
    }
  }
  return made;
}

/**
 * Groups documents by the value of a top-level field, each group in the order of `docs`. A missing field counts as
 * null.
 */
export function grouped(docs: readonly Document[], field: string): Document[][] {
  const groups: Document[][] = [];
  const keyOf = (doc: Document): unknown => (doc[field] === undefined ? null : doc[field]);
  for (const doc of docs) {
    const group = groups.find(([first]) => equal(keyOf(first as Document), keyOf(doc)));
    if (group) group.push(doc);
    else groups.push([doc]);
  }
  return groups;
}
