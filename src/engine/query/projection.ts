import { CommandError } from '../errors.ts';
import { environmentOf } from './expression.ts';
import { compileFilter, type MatchDetails } from './match.ts';
import { parseProjection, type Slice } from './projection-parse.ts';
import { compute, exclude, hasComputed, include } from './projection-tree.ts';
import { asDoc, type Doc, getField, setField } from './types.ts';

/** The inputs of a projection besides the document. */
export interface ProjectionContext {
  /** The filter of the query, which determines the element for the positional `.$`. */
  filter?: Doc;
  now?: Date;
  /** The values of the command's `let`. */
  variables?: Doc;
}

/**
 * Compiles a find projection: inclusion, exclusion, nested documents, `$slice`, `$elemMatch`, the positional `.$` and
 * expressions. The result does not modify its document.
 * @throws CommandError 31253/31254 for mixing inclusion and exclusion, 31249/31250 for colliding paths, and others for
 * an invalid specification; the result throws 51246 when `.$` has no matched element.
 */
export function compileProjection(spec: Doc, context: ProjectionContext = {}): (doc: Doc) => Doc {
  const { exclusive, tree, slices, elemMatches, positional } = parseProjection(
    spec,
    'find',
    Object.keys(context.variables ?? {}),
  );
  const computed = hasComputed(tree);
  const matcher = positional === undefined ? undefined : compileFilter(context.filter ?? {}, context.variables);
  return (doc) => {
    let projected = exclusive ? exclude(doc, tree) : include(doc, tree);
    if (positional !== undefined && matcher !== undefined) {
      const details: MatchDetails = {};
      matcher(doc, details);
      projected = atPath(projected, positional, 0, (value) => [matchedElement(value, details.index)]) as Doc;
    }
    for (const { parts, slice } of slices) {
      projected = atPath(projected, parts, 0, (value) => sliceOf(value, slice), true) as Doc;
    }
    for (const { name, matches } of elemMatches) {
      const array = getField(doc, name);
      const found = Array.isArray(array) ? array.findIndex((element) => matches({ [name]: [element] })) : -1;
      delete projected[name];
      if (found >= 0) setField(projected, name, [(array as unknown[])[found]]);
    }
    return computed
      ? compute(projected, tree, environmentOf(doc, context.now ?? new Date(), context.variables))
      : projected;
  };
}

/** The fields that a projection keeps. */
export interface Inclusion {
  /** The top-level fields that determine the result; no other field does. */
  readonly names: readonly string[];
  /** Whether the result contains these fields unchanged. */
  readonly isWhole: boolean;
}

/**
 * Returns which fields a find projection keeps; undefined if it does more than keep fields.
 * @param variables the names of the command's `let`
 * @throws CommandError as `compileProjection`
 */
export function inclusionOf(spec: Doc, variables: readonly string[] = []): Inclusion | undefined {
  const { exclusive, tree, slices, elemMatches, positional } = parseProjection(spec, 'find', variables);
  if (exclusive || hasComputed(tree) || slices.length > 0 || elemMatches.length > 0 || positional !== undefined)
    return undefined;
  const kept = [...tree].filter(([, branch]) => branch !== false);
  return { names: kept.map(([name]) => name), isWhole: kept.every(([, branch]) => branch === true) };
}

function matchedElement(array: unknown[], index: number | undefined): unknown {
  if (index === undefined || index >= array.length) {
    throw new CommandError(
      51246,
      "Executor error during find command :: caused by :: positional operator '.$' couldn't find a matching element in the array",
    );
  }
  return array[index];
}

/**
 * Copies the value, with the result of `change` in place of the first array on the path; with `through`, in place of
 * every array at the end of the path.
 */
function atPath(
  value: unknown,
  parts: readonly string[],
  at: number,
  change: (array: unknown[]) => unknown[],
  through = false,
): unknown {
  if (Array.isArray(value)) {
    if (at === parts.length || !through) return change(value);
    return value.map((element) => atPath(element, parts, at, change, through));
  }
  const doc = at < parts.length ? asDoc(value) : undefined;
  const name = parts[at];
  if (doc === undefined || name === undefined || !Object.hasOwn(doc, name)) return value;
  const copy: Doc = {};
  for (const field of Object.keys(doc)) {
    setField(copy, field, field === name ? atPath(doc[field], parts, at + 1, change, through) : doc[field]);
  }
  return copy;
}

function sliceOf(array: unknown[], { skip, limit }: Slice): unknown[] {
  if (skip === undefined) return limit >= 0 ? array.slice(0, limit) : array.slice(limit);
  const start = skip >= 0 ? skip : Math.max(0, array.length + skip);
  return array.slice(start, start + limit);
}
