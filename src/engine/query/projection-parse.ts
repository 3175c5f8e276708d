import { CommandError } from '../errors.ts';
import { compileExpression } from './expression.ts';
import { compileFilter, type Matcher } from './match.ts';
import { isNumber } from './numbers.ts';
import { splitPath } from './path.ts';
import type { Branch, Tree } from './projection-tree.ts';
import { type Doc, isDoc, isTruthy, wholeNumber } from './types.ts';

/** An array slice. Without `skip`: the first `limit` elements, or the last ones if `limit` is negative. */
export interface Slice {
  skip?: number;
  limit: number;
}

export interface ParsedProjection {
  exclusive: boolean;
  tree: Tree;
  slices: { parts: string[]; slice: Slice }[];
  elemMatches: { name: string; matches: Matcher }[];
  positional?: string[];
}

function fail(code: number, message: string): never {
  throw new CommandError(code, message);
}

/**
 * Parses a projection. `find` supports its own `$slice`, `$elemMatch` and `.$`; `aggregate` (`$project`) supports only
 * expressions.
 * @throws CommandError as `compileProjection`.
 */
export function parseProjection(
  spec: Doc,
  kind: 'find' | 'aggregate',
  variables: readonly string[] = [],
): ParsedProjection {
  return new Parser(kind, variables).parse(spec);
}

class Parser {
  private readonly kind: 'find' | 'aggregate';
  private readonly variables: readonly string[];
  private readonly tree: Tree = new Map();
  private readonly parsed: ParsedProjection = { exclusive: false, tree: this.tree, slices: [], elemMatches: [] };
  private exclusive: boolean | undefined;
  private id: boolean | undefined;
  private readonly claimed: string[] = [];

  constructor(kind: 'find' | 'aggregate', variables: readonly string[]) {
    this.kind = kind;
    this.variables = variables;
  }

  parse(spec: Doc): ParsedProjection {
    for (const name of Object.keys(spec)) this.field(splitChecked(name), spec[name]);
    // A projection with only `_id: 0` or only slices keeps all other fields.
    const exclusive = this.exclusive ?? (this.id === false || (this.id === undefined && this.parsed.slices.length > 0));
    if (exclusive) {
      if (this.id === false) this.tree.set('_id', false);
    } else {
      if (this.id !== false && !this.tree.has('_id')) this.tree.set('_id', true);
      for (const { parts } of this.parsed.slices) this.put(parts, true);
    }
    return { ...this.parsed, exclusive };
  }

  private field(parts: string[], value: unknown): void {
    const path = parts.join('.');
    if (parts.at(-1) === '$' && this.kind === 'find') this.positional(parts.slice(0, -1), value);
    else if (parts.some((part) => part.startsWith('$'))) {
      fail(16410, "FieldPath field names may not start with '$'. Consider using $getField or $setField.");
    } else if (isNumber(value) || typeof value === 'boolean') this.keep(parts, isTruthy(value));
    else if (!isDoc(value)) this.expression(parts, value);
    else if (Object.keys(value).length === 0) {
      fail(51270, `An empty sub-projection is not a valid value. Found empty object at path ${path}`);
    } else if (Object.keys(value)[0]?.startsWith('$')) this.operator(parts, value);
    else for (const name of Object.keys(value)) this.field([...parts, ...splitChecked(name)], value[name]);
  }

  private operator(parts: string[], spec: Doc): void {
    const [name] = Object.keys(spec);
    const slice = this.kind === 'find' && name === '$slice' ? findSlice(spec.$slice) : undefined;
    if (slice !== undefined) {
      this.claim(parts);
      this.parsed.slices.push({ parts, slice });
    } else if (this.kind === 'find' && name === '$elemMatch') this.elemMatch(parts, spec.$elemMatch);
    else this.expression(parts, spec);
  }

  private keep(parts: string[], kept: boolean): void {
    const path = parts.join('.');
    this.claim(parts);
    if (path === '_id') {
      this.id = kept;
      if (kept) this.tree.set('_id', true);
      return;
    }
    if (this.exclusive !== undefined && this.exclusive === kept) {
      if (kept) fail(31253, `Cannot do inclusion on field ${path} in exclusion projection`);
      fail(31254, `Cannot do exclusion on field ${path} in inclusion projection`);
    }
    this.exclusive = !kept;
    this.put(parts, kept);
  }

  private expression(parts: string[], spec: unknown): void {
    if (this.exclusive === true) fail(31252, 'Cannot use an expression in an exclusion projection');
    this.exclusive = false;
    this.claim(parts);
    if (parts[0] === '_id') this.id = true;
    this.put(parts, { compute: compileExpression(spec, this.variables) });
  }

  private elemMatch(parts: string[], condition: unknown): void {
    const [name] = parts;
    if (name === undefined || parts.length > 1) fail(31275, 'Cannot use $elemMatch projection on a nested field');
    this.claim(parts);
    if (this.exclusive === undefined) this.exclusive = false;
    this.parsed.elemMatches.push({ name, matches: compileFilter({ [name]: { $elemMatch: condition } }) });
  }

  private positional(parts: string[], value: unknown): void {
    if (!isTruthy(value) || this.exclusive === true) fail(31395, 'positional projection cannot be used with exclusion');
    if (this.parsed.positional !== undefined)
      fail(31276, 'Cannot specify more than one positional projection per query.');
    this.keep(parts, true);
    this.parsed.positional = parts;
  }

  /**
   * Records a path of the projection.
   * @throws CommandError 31249 or 31250 if it equals, contains or is contained in a recorded path.
   */
  private claim(parts: string[]): void {
    const path = parts.join('.');
    for (const other of this.claimed) {
      if (path.startsWith(`${other}.`)) {
        fail(31249, `Path collision at ${path} remaining portion ${path.slice(other.length + 1)}`);
      }
      if (other === path || other.startsWith(`${path}.`)) fail(31250, `Path collision at ${path}`);
    }
    this.claimed.push(path);
  }

  private put(parts: string[], branch: Branch): void {
    let tree = this.tree;
    for (const part of parts.slice(0, -1)) {
      const below = tree.get(part);
      const next: Tree = below instanceof Map ? below : new Map();
      tree.set(part, next);
      tree = next;
    }
    tree.set(parts.at(-1) as string, branch);
  }
}

function splitChecked(path: string): string[] {
  if (path === '') return fail(40352, 'FieldPath cannot be constructed with empty string');
  const parts = splitPath(path);
  if (parts.at(-1) === '') return fail(40353, "FieldPath must not end with a '.'.");
  if (parts.includes('')) return fail(15998, 'FieldPath field names may not be empty strings.');
  return parts;
}

/** Parses the `$slice` of find; undefined if the operand is one of the expression `$slice`. */
function findSlice(value: unknown): Slice | undefined {
  const whole = (part: unknown): number =>
    Number(
      isNumber(part)
        ? (wholeNumber(part) ?? fail(28667, 'Invalid $slice syntax: not a whole number'))
        : fail(28667, 'Invalid $slice syntax'),
    );
  if (isNumber(value)) return { limit: whole(value) };
  if (!Array.isArray(value))
    return fail(
      28667,
      'Invalid $slice syntax. The given syntax did not match the find() syntax: $slice only supports numbers and [skip, limit] arrays',
    );
  if (value.length !== 2 || !isNumber(value[0])) return undefined;
  const [skip, limit] = value.map(whole) as [number, number];
  return limit > 0 ? { skip, limit } : fail(28724, '$slice limit must be positive');
}
