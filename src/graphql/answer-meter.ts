import {
  defaultFieldResolver,
  type GraphQLField,
  type GraphQLResolveInfo,
  type GraphQLSchema,
  isObjectType,
} from 'graphql';
import { answerTooLarge, READ_BYTES, TOO_MANY_BYTES } from '../domain/answer-bounds.ts';
import { takeTurn } from '../domain/event-loop-turns.ts';
import { fieldsAnItem, isList } from './selected-fields.ts';

/** Memory of a field of an answer without its text, bytes. */
const BYTES_A_FIELD = 200;

/** The limits of one answer. */
export interface MeterBounds {
  /** Maximum number of fields. */
  readonly fields: number;
  /** Maximum number of bytes of all rows that are searched, as stored. */
  readonly reads: number;
  /** Bytes that the answer may take in memory before it needs a place among the large operations. */
  readonly free: number;
  /** Whether the answer waits for a place before it begins. */
  readonly waits: boolean;
}

const most = Number.POSITIVE_INFINITY;
export const UNLIMITED: MeterBounds = { fields: most, reads: most, free: most, waits: false };

/** Replaces the result of a search that is only awaited, so that its promise keeps no rows in memory. */
const forget = (): void => undefined;

/**
 * Counts the fields and the memory of one answer: stored rows, fields and text. When the answer is refused, its
 * operation is abandoned: calls of the meter then never settle. If they rejected instead, an error would be made for
 * each field, and in lists, graphql-js and graphql-jit would leave rejected promises without a handler, which end the
 * process.
 */
export interface AnswerMeter {
  /**
   * Makes the answer.
   * @throws {ServiceError} invalid_request if it exceeds its limits; 503 if it needs a place and none was free in time
   */
  run<Answer>(make: () => Promise<Answer> | Answer): Promise<Answer>;
  /**
   * Counts memory that is about to be taken, and waits for a place if the answer becomes large. Fields that are
   * selected side by side are all counted before any of them begins.
   */
  hold(bytes: number): Promise<void>;
  /**
   * Searches for rows. The searches of one answer run in sequence and share its limit of bytes.
   * @param mostBytes maximum size of the rows; the answer waits for a place if it could become large
   * @param search reads rows up to `maxBytes`, at least one, and reports their bytes
   */
  search<Rows extends { readonly bytes: number }>(
    mostBytes: number,
    search: (maxBytes: number) => Promise<Rows>,
  ): Promise<Rows>;
  /**
   * Returns the value of a list field: its items, counted before they are resolved. The items of a long list are
   * released over several turns of the event loop.
   */
  list(items: readonly unknown[], info: GraphQLResolveInfo): unknown;
}

/**
 * Creates a meter.
 * @param takePlace waits for a place while the answer holds this many bytes in memory, and returns the function that
 *   releases the place; rejects with a `ServiceError` (503) if no place becomes free in time
 */
export function createAnswerMeter(
  bounds: MeterBounds,
  takePlace: (heldBytes: number) => Promise<() => void>,
): AnswerMeter {
  /**
   * The state of the answer: `small` takes at most `bounds.free`, `waiting` waits for a place, `placed` has one, `over`
   * was refused. Work that takes memory continues only in the states `small` and `placed`.
   */
  let state: 'small' | 'waiting' | 'placed' | 'over' = 'small';
  let [fields, searched] = [0, 0];
  /** Counted bytes, and the part of them that is in memory. */
  let [counted, held] = [0, 0];
  let place: Promise<() => void> | null = null;
  let lastSearch: Promise<unknown> = Promise.resolve();
  /** Settles when the store has answered the search that is running, if any, and its rows are counted. */
  let reading: Promise<unknown> = Promise.resolve();
  const refused = Promise.withResolvers<never>();
  const never = new Promise<never>(() => undefined);

  const isOver = (): boolean => state === 'over';

  /** Whether work that takes `more` bytes, besides the counted ones, may begin. */
  function fits(more = 0): boolean {
    return state === 'placed' || (state === 'small' && counted + more <= bounds.free);
  }

  function refuse(error: unknown): Promise<never> {
    state = 'over';
    refused.reject(error);
    return never;
  }

  /** Waits for the place. Meanwhile the answer loads nothing: a search that is running ends first. */
  async function enter(): Promise<void> {
    if (isOver()) await never;
    state = 'waiting';
    place ??= reading.then(() => (isOver() ? never : takePlace(held)));
    await place.catch(refuse);
    if (isOver()) await never;
    state = 'placed';
  }

  /** Begins work that takes memory as soon as the answer may take `more` bytes besides the counted ones. */
  async function begin<Begun>(load: () => Begun | Promise<Begun>, more = 0): Promise<Begun> {
    while (!fits(more)) await enter();
    return load();
  }

  async function searchNext<Rows extends { readonly bytes: number }>(
    mostBytes: number,
    search: (maxBytes: number) => Promise<Rows>,
  ): Promise<Rows> {
    const left = bounds.reads - searched;
    if (left <= 0) return refuse(answerTooLarge(TOO_MANY_BYTES));
    const read = () => {
      const rows = search(Math.min(left, READ_BYTES)).then((found) => {
        searched += found.bytes;
        counted += found.bytes;
        held += found.bytes;
        return found;
      });
      reading = rows.then(forget, forget);
      return rows;
    };
    // Twice the rows: as stored, and as part of the answer.
    return begin(read, 2 * mostBytes);
  }

  return {
    async run(make) {
      const made = bounds.waits ? enter().then(make) : Promise.try(make);
      try {
        return await Promise.race([made, refused.promise]);
      } finally {
        state = 'over';
        place?.then(
          (leave) => leave(),
          () => undefined,
        );
      }
    },
    async hold(bytes) {
      counted += bytes;
      await null;
      return begin(() => {
        held += bytes;
      });
    },
    search(mostBytes, search) {
      const rows = lastSearch.then(() => searchNext(mostBytes, search));
      lastSearch = rows.then(forget, forget);
      return rows;
    },
    list(items, info) {
      const each = fieldsAnItem(info);
      const units = items.length * each;
      fields += units;
      counted += units * BYTES_A_FIELD;
      if (fields > bounds.fields)
        return refuse(answerTooLarge(`more than ${bounds.fields.toLocaleString('en')} fields`));
      const release = () => {
        held += units * BYTES_A_FIELD;
        return inTurns(items, each);
      };
      return fits() ? release() : begin(release);
    },
  };
}

/** Number of units for which one call of {@link takeTurn} waits, at most; a field of a list counts as one unit. */
const SLICE = 1000;

/** Releases the items of a list over several turns of the event loop. @param each units of an item */
function inTurns(items: readonly unknown[], each: number): unknown {
  const units = items.length * each;
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
}

/** Searches with {@link AnswerMeter.search} if the context has a meter, otherwise directly. */
export async function searchMetered<Rows extends { readonly bytes: number }>(
  meter: AnswerMeter | undefined,
  mostBytes: number,
  search: (maxBytes: number) => Promise<Rows>,
): Promise<Rows> {
  return meter ? meter.search(mostBytes, search) : search(READ_BYTES);
}

/**
 * Makes every list of the schema count in the context's meter, if there is one. Without a meter the lists resolve as
 * before. The types of introspection are graphql-js's own and shared by all schemas, so their lists are wrapped only
 * once.
 */
export function metered(schema: GraphQLSchema): GraphQLSchema {
  for (const type of Object.values(schema.getTypeMap())) {
    if (!isObjectType(type)) continue;
    for (const field of Object.values(type.getFields())) if (isList(field) && !wrapped.has(field)) meter(field);
  }
  return schema;
}

const wrapped = new WeakSet<object>();

function meter(field: GraphQLField<unknown, { readonly meter?: AnswerMeter | undefined } | undefined>): void {
  wrapped.add(field);
  const resolve = field.resolve ?? defaultFieldResolver;
  field.resolve = (source, args, context, info) => {
    const result = resolve(source, args, context, info);
    const counter = context?.meter;
    if (!counter) return result;
    const listed = (value: unknown) => (Array.isArray(value) ? counter.list(value, info) : value);
    return result instanceof Promise ? result.then(listed) : listed(result);
  };
}
