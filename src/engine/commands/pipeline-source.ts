import { otherCollections, type PipelineEnv } from '../query/aggregate.ts';
import { isNumber } from '../query/numbers.ts';
import { mapped, type Pause, type Pausing, type Steps } from '../query/pause.ts';
import { asDoc, type Doc, isDoc } from '../query/types.ts';
import { countMatches, type Match, newReadStats, prepareQuery, type Query } from '../store/read.ts';
import type { Arguments } from './arguments.ts';
import type { Context } from './command.ts';
import { hintOf, validateQuery } from './find.ts';

export interface PipelineSource {
  query: Query;
  /** The documents of the query, in its order. */
  matches: Pausing<Match>;
  /** The stages that are not part of the query. */
  rest: Doc[];
}

/**
 * Prepares the source of a pipeline. Leading `$match`, `$sort`, `$skip` and `$limit` stages become a query, so that
 * they can use an index.
 */
export function pipelineSource(context: Context, name: string, stages: Doc[]): PipelineSource {
  const { query, rest } = leadingQuery(stages, context.args);
  const collection = context.store.catalog.find(context.db, name);
  if (collection) return { query, matches: read(context, name, query), rest };
  validateQuery(query);
  return { query, matches: [], rest };
}

/**
 * Computes the result of a pipeline that only counts its matches, as the driver's `countDocuments` sends it: `{$group:
 * {_id: 1, n: {$sum: 1}}}`. Undefined for any other pipeline.
 */
export function countResult(context: Context, name: string, stages: Doc[]): Pausing<Doc> | undefined {
  const { query, rest } = leadingQuery(stages, context.args);
  const [stage, ...others] = rest;
  const group = asDoc(stage?.$group);
  if (!stage || !group || others.length > 0 || Object.keys(stage).length !== 1) return undefined;
  const { _id: id, ...fields } = group;
  const [[field, accumulator] = [undefined, undefined], ...more] = Object.entries(fields);
  if (field === undefined || /^\$|\./.test(field) || more.length > 0 || !isConstant(id) || !isSumOfOnes(accumulator))
    return undefined;
  const collection = context.store.catalog.find(context.db, name);
  return collection && counted(countMatches(context.store, collection, query, context.deadline), id, field);
}

function* counted(counting: Steps<number>, id: unknown, field: string): Generator<Doc | Pause> {
  const n = yield* counting;
  if (n > 0) yield { _id: id, [field]: n };
}

/** Gives `$lookup` and similar stages access to other collections of the database, and records these in the context. */
export function pipelineEnv(context: Context): PipelineEnv {
  const { store, db, args } = context;
  const reads = new Set<number>();
  for (const name of otherCollections(args.body.pipeline)) {
    const collection = store.catalog.get(`${db}.${name}`);
    if (collection) reads.add(collection.id);
  }
  context.alsoReads = reads;
  return {
    variables: args.variables(),
    lookup: (name, filter) => {
      const collection = store.catalog.find(db, name);
      if (!collection) return [];
      reads.add(collection.id);
      return mapped(read(context, name, { filter, sort: {}, skip: 0, limit: 0, hint: undefined }), documentOf);
    },
  };
}

export function documentOf({ doc }: Match): Doc {
  return doc;
}

function read({ store, db, deadline }: Context, name: string, query: Query): Pausing<Match> {
  const collection = store.catalog.find(db, name);
  return collection ? prepareQuery(store, collection, query).run({ ...newReadStats(), deadline }) : [];
}

function leadingQuery(stages: Doc[], args: Arguments): { query: Query; rest: Doc[] } {
  const query: Query = {
    filter: {},
    sort: {},
    skip: 0,
    limit: 0,
    hint: hintOf(args.body.hint),
    variables: args.variables(),
    allowDiskUse: args.body.allowDiskUse !== false,
  };
  let taken = 0;
  /** The operand of the next stage, if that stage has this name. */
  const next = (name: string): unknown => {
    const stage = stages[taken] ?? {};
    return Object.keys(stage).length === 1 ? stage[name] : undefined;
  };
  const match = asDoc(next('$match'));
  if (match) {
    query.filter = match;
    taken++;
  }
  const sort = asDoc(next('$sort'));
  if (sort && Object.keys(sort).length > 0 && !Object.values(sort).some(isDoc)) {
    query.sort = sort;
    taken++;
  }
  const skip = count(next('$skip'));
  if (skip !== undefined) {
    query.skip = skip;
    taken++;
  }
  const limit = count(next('$limit'));
  if (limit !== undefined && limit > 0) {
    query.limit = limit;
    taken++;
  }
  return { query, rest: stages.slice(taken) };
}

/**
 * Parses the operand as a number of documents; undefined if it is invalid, so that the stage itself reports the error.
 */
function count(operand: unknown): number | undefined {
  const value = isNumber(operand) ? Number(operand) : Number.NaN;
  return Number.isSafeInteger(value) && value >= 0 ? value : undefined;
}

function isConstant(id: unknown): boolean {
  return id === null || (typeof id !== 'string' && Number.isFinite(Number(id)) && !Array.isArray(id));
}

function isSumOfOnes(accumulator: unknown): boolean {
  const sum = asDoc(accumulator);
  return sum !== undefined && Object.keys(sum).length === 1 && isNumber(sum.$sum) && Number(sum.$sum) === 1;
}
