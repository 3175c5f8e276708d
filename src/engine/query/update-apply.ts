import { CommandError } from '../errors.ts';
import type { ArrayFilters } from './array-filters.ts';
import { identical } from './compare.ts';
import { describe } from './describe.ts';
import { isIndex, pathsAbove } from './path.ts';
import { asDoc, type Doc, getField, setField } from './types.ts';
import type {
  LeafContext,
  Modification,
  Outcome,
  UpdateContext,
  UpdateDescription,
  UpdateResult,
} from './update-types.ts';

const MAX_BACKFILL = 1_500_000;

/**
 * Applies modifications, in path order and without conflicts, to a document. The document itself is not modified: only
 * the containers on the paths are copied. The result includes the `updateDescription` for change streams.
 */
export function applyModifications(
  doc: Doc,
  modifications: readonly Modification[],
  filters: ArrayFilters,
  context: UpdateContext,
): UpdateResult {
  const run = new Run(doc, filters, context);
  for (const modification of modifications) {
    if (modification.onInsertOnly && !context.insert) continue;
    if (context.positional === undefined && modification.parts.includes('$')) {
      throw new CommandError('BadValue', 'The positional operator did not find the match needed from the query.');
    }
    if (modification.from === undefined) run.walk(modification, run.root, 0, '');
    else run.rename(modification, modification.from);
  }
  return { doc: run.root, changed: run.changed, description: run.description };
}

type Container = Doc | unknown[];

class Run {
  root: Doc;
  changed = false;
  readonly description: UpdateDescription = { updatedFields: {}, removedFields: [], truncatedArrays: [] };
  private readonly original: Doc;
  private readonly filters: ArrayFilters;
  private readonly context: UpdateContext;
  private readonly owned = new Set<unknown>();
  /** Paths that modifications with `$` have reached. A set, because an array may have many elements. */
  private readonly touched = new Set<string>();
  /** All paths above those in `touched`. */
  private readonly aboveTouched = new Set<string>();

  constructor(doc: Doc, filters: ArrayFilters, context: UpdateContext) {
    this.original = doc;
    this.root = copyOf(doc);
    this.filters = filters;
    this.context = context;
  }

  walk(modification: Modification, container: Container, at: number, prefix: string): void {
    const part = modification.parts[at] as string;
    if (part.startsWith('$[')) {
      this.walkElements(modification, container, at, prefix, part);
      return;
    }
    const name = part === '$' ? this.positional() : part;
    const path = prefix === '' ? name : `${prefix}.${name}`;
    if (at === modification.parts.length - 1) this.leaf(modification, container, name, path);
    else this.descend(modification, container, name, at, path);
  }

  private positional(): string {
    return String(this.context.positional);
  }

  private walkElements(
    modification: Modification,
    container: Container,
    at: number,
    prefix: string,
    part: string,
  ): void {
    if (!Array.isArray(container)) {
      throw new CommandError(
        'BadValue',
        `Cannot apply array updates to non-array element ${prefix.slice(prefix.lastIndexOf('.') + 1)}: ${describe(container)}`,
      );
    }
    const matches =
      part === '$[]' ? () => true : (this.filters.get(part.slice(2, -1)) as (element: unknown) => boolean);
    for (let i = 0; i < container.length; i += 1) {
      if (!matches(container[i])) continue;
      const path = `${prefix}.${i}`;
      if (at === modification.parts.length - 1) this.leaf(modification, container, String(i), path);
      else this.descend(modification, container, String(i), at, path);
    }
  }

  private descend(modification: Modification, container: Container, name: string, at: number, path: string): void {
    const child = this.read(modification, container, name, path);
    const rest = modification.parts.slice(at + 1);
    if (child === undefined) {
      if (rest[0]?.startsWith('$[')) {
        throw new CommandError(
          'BadValue',
          `The path '${path}' must exist in the document in order to apply array updates.`,
        );
      }
      if (!modification.creates) return;
      const leafPath = [path, ...rest].join('.');
      const outcome = modification.apply(undefined, this.leafContext(leafPath));
      if (outcome === undefined || outcome === 'remove') return;
      let value = outcome.value;
      for (const part of rest.toReversed()) {
        const created: Doc = {};
        setField(created, this.createdName(part, path), value);
        value = created;
      }
      this.write(container, name, value);
      this.recordUpdate(path, value);
      return;
    }
    if (!Array.isArray(child) && asDoc(child) === undefined) {
      if (rest[0]?.startsWith('$[')) {
        throw new CommandError(
          'BadValue',
          `Cannot apply array updates to non-array element ${name}: ${describe(child)}`,
        );
      }
      if (!modification.creates) return;
      const missing = rest[0] === '$' ? this.positional() : rest[0];
      throw new CommandError(
        'PathNotViable',
        `Cannot create field '${missing}' in element {${name}: ${describe(child)}}`,
      );
    }
    const before = this.changed;
    this.changed = false;
    const own = this.owned.has(child) ? (child as Container) : copyOf(child as Container);
    this.owned.add(own);
    this.walk(modification, own, at + 1, path);
    if (this.changed) put(container, name, own);
    this.changed ||= before;
  }

  private createdName(part: string, path: string): string {
    if (part.startsWith('$[')) {
      throw new CommandError(
        'BadValue',
        `The path '${path}' must exist in the document in order to apply array updates.`,
      );
    }
    return part === '$' ? this.positional() : part;
  }

  /** The child with this name. In an array, a name that is not an index has no child. */
  private read(modification: Modification, container: Container, name: string, path: string): unknown {
    if (!Array.isArray(container)) return getField(container, name);
    if (isIndex(name)) return container[Number(name)];
    if (modification.creates) {
      throw new CommandError(
        'PathNotViable',
        `Cannot create field '${name}' in element {${path.split('.').at(-2)}: ${describe(container)}}`,
      );
    }
    return undefined;
  }

  private leaf(modification: Modification, container: Container, name: string, path: string): void {
    const above = pathsAbove(path);
    if (this.touched.has(path) || this.aboveTouched.has(path) || above.some((each) => this.touched.has(each))) {
      throw new CommandError('ConflictingUpdateOperators', `Update created a conflict at '${path}'`);
    }
    if (modification.parts.some((part) => part.startsWith('$'))) {
      this.touched.add(path);
      for (const each of above) this.aboveTouched.add(each);
    }
    const current = this.read(modification, container, name, path);
    this.applyOutcome(container, name, path, current, modification.apply(current, this.leafContext(path)));
  }

  private applyOutcome(container: Container, name: string, path: string, current: unknown, outcome: Outcome): void {
    if (outcome === undefined) return;
    if (outcome === 'remove') {
      if (!Array.isArray(container)) {
        delete container[name];
        this.description.removedFields.push(path);
        this.changed = true;
      } else if (current !== null) {
        this.write(container, name, null);
        this.recordUpdate(path, null);
      }
      return;
    }
    const { value, appendedFrom, always } = outcome;
    const same = current !== undefined && appendedFrom === undefined && identical(current, value);
    if (same && always !== true) return;
    this.write(container, name, value);
    if (appendedFrom === undefined) this.recordUpdate(path, value);
    else {
      for (const [i, element] of (value as unknown[]).slice(appendedFrom).entries()) {
        this.recordUpdate(`${path}.${appendedFrom + i}`, element);
      }
    }
  }

  private write(container: Container, name: string, value: unknown): void {
    if (Array.isArray(container)) {
      const missing = Number(name) - container.length;
      if (missing > MAX_BACKFILL) {
        throw new CommandError(15891, `can't backfill more than ${MAX_BACKFILL} elements`);
      }
      for (let i = 0; i < missing; i += 1) container.push(null);
    }
    put(container, name, value);
    this.changed = true;
  }

  private recordUpdate(path: string, value: unknown): void {
    setField(this.description.updatedFields, path, value);
  }

  private leafContext(path: string): LeafContext {
    return { ...this.context, path, doc: this.original };
  }

  /** Applies a `$rename`. Neither source nor destination may be in an array. */
  rename(modification: Modification, from: string): void {
    const parts = from.split('.');
    const value = this.renamed(parts);
    if (value === undefined) return;
    this.refuseArrays(modification.parts);
    const set: Modification = { ...modification, apply: () => ({ value }) };
    const unset: Modification = { ...modification, creates: false, path: from, parts, apply: () => 'remove' };
    this.walk(unset, this.root, 0, '');
    this.walk(set, this.root, 0, '');
  }

  private renamed(parts: readonly string[]): unknown {
    let value: unknown = this.root;
    let array: string | undefined;
    for (const [i, part] of parts.entries()) {
      if (value === undefined) return undefined;
      const doc = asDoc(value);
      if (doc !== undefined) value = getField(doc, part);
      else if (Array.isArray(value) && isIndex(part)) {
        array ??= parts[i - 1];
        value = value[Number(part)];
      } else {
        throw new CommandError(
          'PathNotViable',
          `cannot use the part (${parts[i - 1]} of ${parts.join('.')}) to traverse the element ({${parts[i - 1]}: ${describe(value)}})`,
        );
      }
    }
    if (value !== undefined && array !== undefined) throw this.withinArray('source', parts, array);
    return value;
  }

  private refuseArrays(parts: readonly string[]): void {
    let value: unknown = this.root;
    for (const [i, part] of parts.entries()) {
      if (Array.isArray(value)) throw this.withinArray('destination', parts, parts[i - 1] as string);
      value = getField(asDoc(value) ?? {}, part);
    }
  }

  private withinArray(role: string, parts: readonly string[], array: string): CommandError {
    return new CommandError(
      'BadValue',
      `The ${role} field cannot be an array element, '${parts.join('.')}' in doc with _id: ${describe(this.original._id)} has an array field called '${array}'`,
    );
  }
}

function put(container: Container, name: string, value: unknown): void {
  if (Array.isArray(container)) container[Number(name)] = value;
  else setField(container, name, value);
}

function copyOf<T extends Container>(container: T): T {
  if (Array.isArray(container)) return container.slice() as T;
  const copy: Doc = {};
  const doc = asDoc(container) as Doc;
  for (const name of Object.keys(doc)) setField(copy, name, doc[name]);
  return copy as T;
}
