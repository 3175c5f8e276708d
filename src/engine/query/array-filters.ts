import { CommandError } from '../errors.ts';
import { type Node, parseFilter } from './filter-parse.ts';
import { compileNode } from './match.ts';
import { isDoc } from './types.ts';

/** The compiled `arrayFilters` by identifier. */
export type ArrayFilters = Map<string, (element: unknown) => boolean>;

/**
 * Compiles the `arrayFilters` of an update. Each filter must use exactly one identifier, and each identifier one
 * filter.
 * @throws CommandError TypeMismatch unless it is an array of documents; FailedToParse or BadValue for a filter with no
 * identifier or several, or with an identifier that another filter uses.
 */
export function compileArrayFilters(filters: unknown): ArrayFilters {
  if (!Array.isArray(filters) || !filters.every(isDoc)) {
    throw new CommandError('TypeMismatch', "BSON field 'arrayFilters' must be an array of objects");
  }
  const compiled: ArrayFilters = new Map();
  for (const filter of filters) {
    const node = parseFilter(filter);
    const names = new Set(identifiers(node));
    const [name, other] = names;
    if (name === undefined) {
      throw new CommandError(
        'FailedToParse',
        'Cannot use an expression without a top-level field name in arrayFilters',
      );
    }
    if (other !== undefined) {
      throw new CommandError(
        'FailedToParse',
        `Error parsing array filter :: caused by :: Expected a single top-level field name, found '${name}' and '${other}'`,
      );
    }
    if (!/^[a-z][a-zA-Z0-9]*$/.test(name)) {
      throw new CommandError(
        'BadValue',
        `Error parsing array filter :: caused by :: The top-level field name must be an alphanumeric string beginning with a lowercase letter, found '${name}'`,
      );
    }
    if (compiled.has(name)) {
      throw new CommandError(
        'FailedToParse',
        `Found multiple array filters with the same top-level field name ${name}`,
      );
    }
    const matches = compileNode(node);
    compiled.set(name, (element) => matches({ [name]: element }));
  }
  return compiled;
}

function identifiers(node: Node): string[] {
  switch (node.kind) {
    case 'leaf':
      return [node.path.split('.', 1)[0] as string];
    case 'not':
      return identifiers(node.child);
    case 'and':
    case 'or':
      return node.children.flatMap(identifiers);
    default:
      return [];
  }
}
