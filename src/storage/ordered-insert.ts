import type { Collection, Db } from 'mongodb';
import { createGroup, type GroupOptions, type Outcome } from '../domain/kit/group.ts';
import { orderAfter } from '../domain/order-key.ts';
import { isDuplicateKey } from './duplicate-key.ts';
import { insertInOrder } from './insert-each.ts';
import { createListTurns, type ListTurn, type PlanTurn } from './list-turns.ts';

/** A row of a list whose pages are read by its order key. */
export interface OrderedRow {
  _id: string;
  order: string;
}

export interface OrderedInsertOptions<Row>
  extends Partial<Pick<GroupOptions<Row>, 'maxItems' | 'maxWeight' | 'weightOf'>> {
  /** Returns the list of a row, a text made of the row's owner. */
  readonly listOf: (row: Row) => string;
  /** Returns the row with a higher key. Default: changes only the key. */
  readonly raise?: (row: Row, order: string) => Row;
  /** Returns the row completed with the highest key before it. Not called when that key is unknown. */
  readonly follow?: (row: Row, after: string) => Row;
  /** Whether `writeApart` writes a row, after the others. Default: no row. */
  readonly isApart?: (row: Row) => boolean;
  /**
   * Writes the rows that {@link isApart} selects, in order. The outcome {@link TurnOver} means that a row was not
   * written and needs another turn.
   * @param canBegin whether there is still time to begin a write
   */
  readonly writeApart?: (rows: readonly Row[], canBegin: () => boolean) => Promise<Outcome<null>[]>;
}

/** Default maximum number of rows in a command. */
const MAX_ROWS = 1000;

/** Thrown when a row was not written because another process may already have the next turn. */
export class TurnOver extends Error {
  override readonly name = 'TurnOver';
}

/** Rows of a list, each with the row that is stored for it in this turn, under its key in this turn. */
interface Placed<Row> {
  readonly rows: ReadonlyMap<Row, Row>;
  readonly last: Row;
}

/**
 * Returns a function that inserts rows so that a list shows them in the order of their keys: once a reader has seen a
 * row, no row with a lower key appears (docs/decisions/0022). A row gets a higher key if a row with a higher key than
 * its own is already stored. Waiting rows of all lists are written as one group (docs/decisions/0048), except those of
 * a list at which another process has its turn; these wait separately.
 * @returns resolves to the row as it is stored; rejects with a duplicate key error if the id exists
 */
export function createOrderedInsert<Row extends OrderedRow>(
  db: Db,
  collection: Collection<Row>,
  {
    listOf,
    raise = (row, order) => ({ ...row, order }),
    follow = (row) => row,
    isApart = () => false,
    writeApart,
    ...limits
  }: OrderedInsertOptions<Row>,
): (row: Row) => Promise<Row> {
  const group = { maxItems: MAX_ROWS, ...limits };
  const turns = createListTurns(db, collection);
  /**
   * Groups of the lists that have their own group: other processes write to them too, or they have rows written apart.
   */
  const alone = new Map<string, (row: Row) => Promise<Row>>();
  /** The lists of the common group that is being written. */
  let common: { readonly lists: ReadonlySet<string>; readonly done: Promise<unknown> } | null = null;
  const together = createGroup<Row, Row>((rows) => writeTogether(rows), group);

  function addAlone(row: Row): Promise<Row> {
    const list = listOf(row);
    const onIdle = () => void alone.delete(list);
    const add = alone.get(list) ?? createGroup<Row, Row>((rows) => writeAlone(list, rows), { ...group, onIdle });
    alone.set(list, add);
    return add(row);
  }

  async function writeTogether(rows: readonly Row[]): Promise<Outcome<Row>[]> {
    const mine = rows.filter((row) => !alone.has(listOf(row)));
    const writing = writeOwn(mine).catch(
      (error: unknown) => new Map(mine.map((row): [Row, Outcome<Row>] => [row, { error }])),
    );
    common = { lists: new Set(mine.map(listOf)), done: writing };
    const outcomes = await writing;
    common = null;
    // The result may be a promise, so that the group does not wait for rows that must wait for another process.
    return rows.map((row) => outcomes.get(row) ?? { result: addAlone(row) as unknown as Row });
  }

  /** Writes the rows of lists at which this process had the last turn. */
  async function writeOwn(rows: readonly Row[]): Promise<Map<Row, Outcome<Row>>> {
    const placed = new Map<string, Placed<Row>>();
    const plans = new Map<string, PlanTurn>();
    for (const [list, each] of Map.groupBy(rows, listOf))
      plans.set(list, (top) => {
        const places = place(each, top);
        placed.set(list, places);
        return { top: places.last.order, last: places.last._id };
      });
    const taken = await turns.takeMany(plans);
    if (![...taken.values()].every((turn) => turn.canBegin())) {
      for (const turn of taken.values()) turn.end(false);
      return new Map();
    }
    const all = [...taken.keys()].flatMap((list) => [...(placed.get(list) as Placed<Row>).rows]);
    const written = await insertInOrder(
      collection,
      all.map(([, row]) => row),
    );
    const outcomes = new Map(all.map(([row, stored], index) => [row, outcomeOf(written[index], stored)] as const));
    for (const [list, turn] of taken) endTurn(turn, placed.get(list) as Placed<Row>, outcomes);
    return outcomes;
  }

  async function writeAlone(list: string, rows: readonly Row[]): Promise<Outcome<Row>[]> {
    if (common?.lists.has(list)) await common.done;
    const outcomes = new Map<Row, Outcome<Row>>();
    for (let rest = rows; rest.length > 0; rest = rows.filter((row) => !outcomes.has(row))) {
      let placed = null as Placed<Row> | null;
      const turn = await turns.take(list, (top) => {
        placed = place(rest, top);
        return { top: placed.last.order, last: placed.last._id };
      });
      if (placed === null) throw new Error('a turn was taken without its plan');
      for (const [row, outcome] of await writeInTurn(turn, placed)) outcomes.set(row, outcome);
      endTurn(turn, placed, outcomes);
    }
    return rows.map((row) => outcomes.get(row) as Outcome<Row>);
  }

  /** @returns the outcomes of the rows that were written or failed; the others need another turn */
  async function writeInTurn({ canBegin }: ListTurn, { rows }: Placed<Row>): Promise<Map<Row, Outcome<Row>>> {
    const outcomes = new Map<Row, Outcome<Row>>();
    const { true: apart = [], false: others = [] } = Object.groupBy(rows, ([row]) => `${isApart(row)}`);
    for (const [each, write] of [
      [others, (stored: Row[]) => insertInOrder(collection, stored)],
      [apart, (stored: Row[]) => writeApart?.(stored, canBegin) ?? []],
    ] as const) {
      if (each.length === 0 || !canBegin()) continue;
      const written = await write(each.map(([, stored]) => stored));
      for (const [index, [row, stored]] of each.entries()) {
        const outcome = outcomeOf(written[index], stored);
        if (!('error' in outcome && outcome.error instanceof TurnOver)) outcomes.set(row, outcome);
      }
    }
    return outcomes;
  }

  function endTurn(turn: ListTurn, { rows, last }: Placed<Row>, outcomes: ReadonlyMap<Row, Outcome<Row>>): void {
    const [row] = [...rows].find(([, stored]) => stored === last) ?? [];
    const outcome = row && outcomes.get(row);
    turn.end(outcome !== undefined && 'result' in outcome);
  }

  /** Gives the rows keys above `top`, in the order in which they are written. */
  function place(rows: readonly Row[], top: string): Placed<Row> {
    const inOrder = rows.toSorted(
      (a, b) => Number(isApart(a)) - Number(isApart(b)) || (a.order < b.order ? -1 : Number(a.order > b.order)),
    );
    const placed = new Map<Row, Row>();
    let highest = top;
    let last = rows[0] as Row;
    for (const row of inOrder) {
      last = row.order > highest ? row : raise(row, orderAfter(highest));
      if (highest !== '') last = follow(last, highest);
      highest = last.order;
      placed.set(row, last);
    }
    return { rows: placed, last };
  }

  return (row) => (isApart(row) || alone.has(listOf(row)) ? addAlone(row) : together(row));
}

/** Inserts the rows whose `_id` does not exist yet. @returns the inserted rows, as they are stored */
export async function insertNewInOrder<Row extends OrderedRow>(
  insert: (row: Row) => Promise<Row>,
  rows: readonly Row[],
): Promise<Row[]> {
  const outcomes = await Promise.allSettled(rows.map(insert));
  for (const each of outcomes) if (each.status === 'rejected' && !isDuplicateKey(each.reason)) throw each.reason;
  return outcomes.flatMap((each) => (each.status === 'fulfilled' ? [each.value] : []));
}

function outcomeOf<Row>(outcome: Outcome<null> | undefined, stored: Row): Outcome<Row> {
  if (outcome && 'result' in outcome) return { result: stored };
  return outcome ?? { error: new Error('a row has no outcome') };
}
