import type { CommandStartedEvent, Document } from 'mongodb';
import type { Placement } from '../../src/storage/collection-rule-types.ts';
import type { Store } from '../../src/storage/connect.ts';

/**
 * What mongos would do with a statement: send it to the shards of its key, to the one shard that has the whole
 * collection, or to all shards; or refuse it, as mongos up to 7.0 does with a change of one document without the key.
 */
export interface Routed {
  readonly route: 'targeted' | 'whole' | 'scattered' | 'refused';
  /**
   * Number of values of the shard key that a targeted statement names, and so the maximum number of its shards.
   * Otherwise 0.
   */
  readonly keys: number;
  /** E.g. `find invoices by environment, tenantId`: the command, the collection, the fields of its filter. */
  readonly statement: string;
}

/** A condition's restriction of a shard key: one value, a list with this number of values, or a range. */
type Bound = 'one' | number | 'range';

/** A statement of a command. `single`: it changes one document. `whole`: mongos must find its exact shard. */
interface Statement {
  readonly verb: string;
  readonly filter: Document;
  readonly kind: 'read' | 'many' | 'single' | 'whole' | 'insert';
}

/** Commands that neither read nor change documents by a filter, or that continue such a command. */
const OTHERS = new Set([
  'getMore',
  'killCursors',
  'commitTransaction',
  'abortTransaction',
  'endSessions',
  'ping',
  'hello',
  'create',
  'createIndexes',
  'listIndexes',
  'listCollections',
  'collMod',
  'dropDatabase',
]);

/** Returns how a command's statements would be routed; empty if it has no filter. */
export function routesOf(
  { commandName, command }: Pick<CommandStartedEvent, 'commandName' | 'command'>,
  placements: Readonly<Record<string, Placement>>,
): Routed[] {
  if (OTHERS.has(commandName)) return [];
  const collection = String(command[commandName]);
  const placement = placements[collection];
  return statementsOf(commandName, command).map(({ verb, filter, kind }) => {
    const fields = Object.keys(filter).sort().join(', ');
    const statement = `${verb} ${collection}${kind === 'insert' ? '' : ` by ${fields || 'nothing'}`}`;
    if (placement === undefined)
      return { route: 'refused', keys: 0, statement: `${statement}: the collection has no placement` };
    const route = 'whole' in placement ? 'whole' : routeOf(kind, filter, Object.entries(placement.key));
    return typeof route === 'number' ? { route: 'targeted', keys: route, statement } : { route, keys: 0, statement };
  });
}

/** Returns the route of a statement and, if it is targeted, the number of shard key values that it names. */
function routeOf(
  kind: Statement['kind'],
  filter: Document,
  key: [string, 1 | 'hashed'][],
): Exclude<Routed['route'], 'targeted'> | number {
  if (kind === 'insert') return key.every(([field]) => filter[field] !== undefined) ? 1 : 'refused';
  const bounds = key.map(([field]) => boundOf(filter, field));
  if (kind === 'read' || kind === 'many') {
    const [first = null] = bounds;
    const isUseless = first === null || (first === 'range' && key[0]?.[1] === 'hashed');
    return isUseless ? 'scattered' : valuesOf(first);
  }
  if (bounds.every((bound) => bound === 'one')) return 1;
  return kind === 'single' && boundOf(filter, '_id') === 'one' ? 'scattered' : 'refused';
}

function boundOf(filter: Document, field: string): Bound | null {
  const own = field in filter ? boundOfCondition(filter[field]) : null;
  if (own !== null) return own;
  for (const each of filter.$and ?? []) {
    const bound = boundOf(each, field);
    if (bound !== null) return bound;
  }
  const branches: Document[] = filter.$or ?? [];
  const bounds = branches.map((each) => boundOf(each, field)).filter((bound) => bound !== null);
  if (bounds.length === 0 || bounds.length < branches.length) return null;
  return bounds.includes('range') ? 'range' : bounds.reduce<number>((sum, bound) => sum + valuesOf(bound), 0);
}

/** Counts a range of a ranged key as one value, because its documents are adjacent. */
function valuesOf(bound: Bound): number {
  return typeof bound === 'number' ? bound : 1;
}

function boundOfCondition(condition: unknown): Bound | null {
  const operators = Object.keys(Object(condition)).filter((name) => name.startsWith('$'));
  if (operators.length === 0 || operators.includes('$eq')) return 'one';
  if (operators.includes('$in')) return (condition as { $in: readonly unknown[] }).$in.length;
  const isBetween = operators.some((name) => /^\$gte?$/.test(name)) && operators.some((name) => /^\$lte?$/.test(name));
  return isBetween ? 'range' : null;
}

function statementsOf(name: string, command: Document): Statement[] {
  switch (name) {
    case 'find':
      return [{ verb: name, filter: command.filter ?? {}, kind: 'read' }];
    case 'count':
      return [{ verb: name, filter: command.query ?? {}, kind: 'read' }];
    case 'aggregate': {
      // mongos follows the changes of all shards with one stream.
      if (command.pipeline[0]?.$changeStream) return [];
      return [{ verb: name, filter: command.pipeline[0]?.$match ?? {}, kind: 'read' }];
    }
    case 'findAndModify':
      return [{ verb: name, filter: command.query, kind: 'whole' }];
    case 'update':
      return command.updates.map(({ q, multi, upsert }: Document) => {
        const kind = upsert ? 'whole' : multi ? 'many' : 'single';
        return { verb: multi ? 'updateMany' : 'updateOne', filter: q, kind };
      });
    case 'delete':
      return command.deletes.map(({ q, limit }: Document) => ({
        verb: limit === 1 ? 'deleteOne' : 'deleteMany',
        filter: q,
        kind: limit === 1 ? 'single' : 'many',
      }));
    case 'insert':
      return command.documents.map((document: Document) => ({ verb: name, filter: document, kind: 'insert' }));
    default:
      throw new Error(`it is not known how mongos routes the command ${name}`);
  }
}

/**
 * Watches the commands of a client.
 * @param store connected with `monitorCommands`
 * @returns a function that returns how the statements since its last call would be routed
 */
export function watchRoutes({ client }: Pick<Store, 'client'>, placements: Readonly<Record<string, Placement>>) {
  const seen: Pick<CommandStartedEvent, 'commandName' | 'command'>[] = [];
  client.on('commandStarted', (event) => seen.push(event));
  return (): Routed[] => seen.splice(0).flatMap((event) => routesOf(event, placements));
}

/**
 * Whether shards that know only their own documents keep an index unique. They do if its fields start with those of the
 * shard key, in any direction, hashed or not.
 */
export function staysUnique(index: Readonly<Record<string, unknown>>, placement: Placement): boolean {
  if ('whole' in placement) return true;
  const fields = Object.keys(index);
  return Object.keys(placement.key).every((field, place) => fields[place] === field);
}
