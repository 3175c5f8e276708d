import { CommandError } from '../errors.ts';
import type { ArrayFilters } from './array-filters.ts';
import { describe } from './describe.ts';
import { isIndex, pathsConflict, splitPath } from './path.ts';
import { asDoc, type Doc, typeName } from './types.ts';
import { OPERATORS } from './update-operators.ts';
import type { Modification } from './update-types.ts';

/**
 * Parses an update document of operators to a list of modifications, sorted by path (numeric names by value). The order
 * of the operators does not matter.
 * @throws CommandError FailedToParse for an unknown operator, ConflictingUpdateOperators for overlapping paths, and
 *   others.
 */
export function parseModifications(update: Doc, filters: ArrayFilters): Modification[] {
  const modifications: Modification[] = [];
  const used = new Set<string>();
  for (const operator of Object.keys(update)) {
    if (operator !== '$rename' && operator !== '$setOnInsert' && !Object.hasOwn(OPERATORS, operator)) {
      throw new CommandError(
        'FailedToParse',
        `Unknown modifier: ${operator}. Expected a valid update modifier or pipeline-style update specified as an array`,
      );
    }
    const fields = asDoc(update[operator]);
    if (fields === undefined) {
      throw new CommandError(
        'FailedToParse',
        `Modifiers operate on fields but we found type ${typeName(update[operator])} instead. For example: {$mod: {<field>: ...}} not {${operator}: ${describe(update[operator])}}`,
      );
    }
    for (const path of Object.keys(fields)) {
      const operand = fields[path];
      if (operator === '$rename') modifications.push(rename(path, operand));
      else modifications.push(modification(operator, path, operand, filters, used));
    }
  }
  refuseConflicts(modifications);
  const unused = [...filters.keys()].find((name) => !used.has(name));
  if (unused !== undefined) {
    throw new CommandError(
      'FailedToParse',
      `The array filter for identifier '${unused}' was not used in the update ${describe(update)}`,
    );
  }
  return modifications.sort((a, b) => comparePaths(a.parts, b.parts));
}

function modification(
  operator: string,
  path: string,
  operand: unknown,
  filters: ArrayFilters,
  used: Set<string>,
): Modification {
  const parts = checkedPath(path);
  for (const part of parts) {
    if (!part.startsWith('$[')) continue;
    const identifier = part.slice(2, -1);
    if (identifier === '') continue;
    if (!filters.has(identifier)) {
      throw new CommandError('BadValue', `No array filter found for identifier '${identifier}' in path '${path}'`);
    }
    used.add(identifier);
  }
  const definition = OPERATORS[operator === '$setOnInsert' ? '$set' : operator];
  if (definition === undefined) throw new CommandError('FailedToParse', `Unknown modifier: ${operator}`);
  return {
    operator,
    path,
    parts,
    creates: definition.creates,
    onInsertOnly: operator === '$setOnInsert',
    apply: definition.compile(operand, path),
  };
}

function checkedPath(path: string): string[] {
  if (path === '') {
    throw new CommandError('EmptyFieldName', 'An empty update path is not valid.');
  }
  const parts = splitPath(path);
  if (parts.includes('')) {
    throw new CommandError(
      'EmptyFieldName',
      `The update path '${path}' contains an empty field name, which is not allowed.`,
    );
  }
  let positional = 0;
  for (const [i, part] of parts.entries()) {
    if (!part.startsWith('$')) continue;
    if (part === '$') positional += 1;
    if (part === '$' || /^\$\[.*\]$/.test(part)) {
      if (i === 0) {
        throw new CommandError(
          'BadValue',
          `Cannot have array filter or positional (i.e. '$') element in the first position in path '${path}'`,
        );
      }
    } else if (i === 0 || !['$id', '$ref', '$db'].includes(part)) {
      throw new CommandError(
        'DollarPrefixedFieldName',
        `The dollar ($) prefixed field '${part}' in '${path}' is not allowed in the context of an update's replacement document. Consider using an aggregation pipeline with $replaceWith.`,
      );
    }
  }
  if (positional > 1)
    throw new CommandError('BadValue', `Too many positional (i.e. '$') elements found in path '${path}'`);
  return parts;
}

function rename(from: string, to: unknown): Modification {
  if (typeof to !== 'string') {
    throw new CommandError('BadValue', `The 'to' field for $rename must be a string: ${from}: ${describe(to)}`);
  }
  if (to.includes('\0'))
    throw new CommandError('BadValue', "The 'to' field for $rename cannot contain an embedded null byte");
  const parts = checkedPath(to);
  for (const [role, path] of [
    ['source', checkedPath(from)],
    ['destination', parts],
  ] as const) {
    if (path.some((part) => part.startsWith('$'))) {
      throw new CommandError('BadValue', `The ${role} field for $rename may not be dynamic: ${path.join('.')}`);
    }
  }
  if (from === to)
    throw new CommandError('BadValue', `The source and target field for $rename must differ: ${from}: "${to}"`);
  if (pathsConflict(from, to)) {
    throw new CommandError(
      'BadValue',
      `The source and target field for $rename must not be on the same path: ${from}: "${to}"`,
    );
  }
  return { operator: '$rename', path: to, parts, creates: true, onInsertOnly: false, from, apply: () => undefined };
}

function refuseConflicts(modifications: readonly Modification[]): void {
  const paths = modifications.flatMap(({ path, from }) => (from === undefined ? [path] : [from, path])).sort();
  const seen = new Set<string>();
  for (const path of paths) {
    for (let end = path.indexOf('.'); ; end = path.indexOf('.', end + 1)) {
      const prefix = end < 0 ? path : path.slice(0, end);
      if (seen.has(prefix)) {
        throw new CommandError(
          'ConflictingUpdateOperators',
          `Updating the path '${path}' would create a conflict at '${prefix}'`,
        );
      }
      if (end < 0) break;
    }
    seen.add(path);
  }
}

function comparePaths(a: readonly string[], b: readonly string[]): number {
  for (let i = 0; i < Math.min(a.length, b.length); i += 1) {
    const [x, y] = [a[i] as string, b[i] as string];
    if (x === y) continue;
    if (isIndex(x) && isIndex(y)) return Number(x) - Number(y);
    return x < y ? -1 : 1;
  }
  return a.length - b.length;
}
