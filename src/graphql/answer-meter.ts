import {
  defaultFieldResolver,
  type FieldNode,
  type GraphQLField,
  type GraphQLNamedType,
  type GraphQLResolveInfo,
  type GraphQLSchema,
  getNamedType,
  isObjectType,
  Kind,
  type SelectionSetNode,
} from 'graphql';
import { answerTooLarge, TOO_MANY_BYTES } from '../domain/answer-bounds.ts';
import type { ServiceError } from '../domain/errors.ts';
import { takeTurn } from '../domain/event-loop-turns.ts';
import { isList } from './field-weights.ts';
import { definitionOf } from './limits.ts';

/** Counts the fields of one answer. Each list counts with its actual length, before its items are resolved. */
export interface AnswerMeter {
  /** The error that refuses the answer; null as long as it is within its limits. */
  readonly exceeded: ServiceError | null;
  /**
   * Reads a page of rows that may be large. The pages of one answer are read in sequence and share one limit in bytes.
   * @param read reads the page up to `maxBytes`, at least one row, and reports its bytes; default: the store's limit
   * @throws {ServiceError} invalid_request if the limit is used up
   */
  page<Page extends { readonly bytes: number }>(read: (maxBytes?: number) => Promise<Page>): Promise<Page>;
  /**
   * Returns the value of a list field: its items. The items of a long list are released over several turns of the event
   * loop. A list beyond the limit of fields is empty, because {@link exceeded} refuses the whole answer. An error here
   * would leave the promises of other items without a handler, in graphql-js and in graphql-jit, and their rejections
   * would end the process.
   */
  list(items: readonly unknown[], info: GraphQLResolveInfo): unknown;
}

/** Number of units for which one call of {@link takeTurn} waits, at most; a field of a list counts as one unit. */
const SLICE = 1000;

/** Creates a meter. @param maxBytes limit for all pages together, in bytes as stored; default: no limit */
export function createAnswerMeter(maxFields: number, maxBytes?: number): AnswerMeter {
  let fields = 0;
  let bytesLeft = maxBytes;
  let lastPage: Promise<unknown> = Promise.resolve();
  let exceeded: ServiceError | null = null;
  return {
    get exceeded() {
      return exceeded;
    },
    async page(read) {
      const before = lastPage;
      const page = before.then(async () => {
        if (bytesLeft === undefined) return read();
        if (bytesLeft <= 0) exceeded ??= answerTooLarge(TOO_MANY_BYTES);
        if (exceeded) throw exceeded;
        const found = await read(bytesLeft);
        bytesLeft -= found.bytes;
        return found;
      });
      lastPage = page.catch(() => undefined);
      return page;
    },
    list(items, info) {
      const each = fieldsAnItem(info);
      const units = items.length * each;
      fields += units;
      if (fields > maxFields) exceeded ??= answerTooLarge(`more than ${maxFields.toLocaleString('en')} fields`);
      if (exceeded) return [];
      if (units <= SLICE) {
        const turn = takeTurn(units);
        return turn ? turn.then(() => items) : items;
      }
      const length = Math.max(1, Math.floor(SLICE / each));
      let turn: Promise<void> | null = null;
      return items.map((item, index) => {
        if (index % length === 0) turn = takeTurn(Math.min(length, items.length - index) * each);
        return turn ? turn.then(() => item) : item;
      });
    },
  };
}

/** Reads a page with {@link AnswerMeter.page} if the context has a meter, otherwise directly. */
export async function readMetered<Page extends { readonly bytes: number }>(
  meter: AnswerMeter | undefined,
  read: (maxBytes?: number) => Promise<Page>,
): Promise<Page> {
  return meter ? meter.page(read) : read();
}

/**
 * Makes every list of the schema count in the context's meter, if there is one. Without a meter the lists resolve as
 * before. The types of introspection are graphql-js's own and shared by all schemas, so their lists are wrapped only
 * once.
 */
export function metered(schema: GraphQLSchema): GraphQLSchema {
  for (const type of Object.values(schema.getTypeMap())) {
    if (!isObjectType(type)) continue;
    for (const field of Object.values(type.getFields())) if (isList(field) && !counted.has(field)) meter(field);
  }
  return schema;
}

const counted = new WeakSet<object>();

function meter(field: GraphQLField<unknown, { readonly meter?: AnswerMeter | undefined } | undefined>): void {
  counted.add(field);
  const resolve = field.resolve ?? defaultFieldResolver;
  field.resolve = (source, args, context, info) => {
    const result = resolve(source, args, context, info);
    const counter = context?.meter;
    if (!counter) return result;
    const listed = (value: unknown) => (Array.isArray(value) ? counter.list(value, info) : value);
    return result instanceof Promise ? result.then(listed) : listed(result);
  };
}

const known = new WeakMap<FieldNode, number>();

/**
 * Maximum number of non-null levels of `__Type.ofType`: a type of this schema has at most three wrappers, `[Type!]!`.
 */
const WRAPPERS = 3;

/** Counts the fields of the answer for each item of a list, including the item. Nested lists are counted separately. */
function fieldsAnItem(info: GraphQLResolveInfo): number {
  const parent = getNamedType(info.returnType);
  let sum = 1;
  for (const node of info.fieldNodes) {
    if (!node.selectionSet) continue;
    let below = known.get(node);
    if (below === undefined) {
      below = fieldsOf(node.selectionSet, parent, info);
      known.set(node, below);
    }
    sum += below;
  }
  return sum;
}

function fieldsOf(
  { selections }: SelectionSetNode,
  parent: GraphQLNamedType | null | undefined,
  info: Pick<GraphQLResolveInfo, 'schema' | 'fragments'>,
  wrappers = WRAPPERS,
): number {
  let sum = 0;
  for (const selection of selections) {
    if (selection.kind === Kind.FIELD) {
      const field = definitionOf(info.schema, selection.name.value, parent ?? null);
      const left = parent?.name === '__Type' && selection.name.value === 'ofType' ? wrappers - 1 : wrappers;
      const goesOn = selection.selectionSet && field && !isList(field) && left >= 0;
      sum += 1 + (goesOn ? fieldsOf(selection.selectionSet, getNamedType(field.type), info, left) : 0);
      continue;
    }
    const part = selection.kind === Kind.INLINE_FRAGMENT ? selection : info.fragments[selection.name.value];
    if (!part) continue;
    const name = part.typeCondition?.name.value;
    sum += fieldsOf(part.selectionSet, name === undefined ? parent : info.schema.getType(name), info, wrappers);
  }
  return sum;
}
