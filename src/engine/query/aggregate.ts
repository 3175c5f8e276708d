import { CommandError } from '../errors.ts';
import { graphLookup } from './aggregate-graph.ts';
import { bucket, count, group, sortByCount } from './aggregate-group.ts';
import { facet, lookup, lookupBefore, unionWith } from './aggregate-lookup.ts';
import { sample } from './aggregate-sample.ts';
import {
  addFields,
  limit,
  match,
  project,
  replaceRoot,
  replaceWith,
  skip,
  sort,
  sorting,
  unset,
  unwind,
} from './aggregate-stages.ts';
import type { CompileStages, PipelineEnv, Stage, StageCompiler } from './aggregate-types.ts';
import { isNumber, toDouble } from './numbers.ts';
import type { Pausing } from './pause.ts';
import { asDoc, type Doc, isDoc } from './types.ts';

export type { PipelineEnv } from './aggregate-types.ts';

const STAGES: Readonly<Record<string, StageCompiler>> = {
  $addFields: addFields,
  $bucket: bucket,
  $count: count,
  $facet: facet,
  $graphLookup: graphLookup,
  $group: group,
  $limit: limit,
  $lookup: lookup,
  $match: match,
  $project: project,
  $replaceRoot: replaceRoot,
  $replaceWith: replaceWith,
  $sample: sample,
  $set: addFields,
  $skip: skip,
  $sort: sort,
  $sortByCount: sortByCount,
  $unionWith: unionWith,
  $unset: unset,
  $unwind: unwind,
};

/** Stages that the aggregate command itself runs at the start of a pipeline. */
const FIRST_ONLY = new Set(['$collStats', '$currentOp', '$documents', '$listLocalSessions', '$listSearchIndexes']);

/** MongoDB stages that this engine does not support. */
const UNSUPPORTED = new Set([
  '$bucketAuto',
  '$changeStream',
  '$changeStreamSplitLargeEvent',
  '$densify',
  '$fill',
  '$geoNear',
  '$indexStats',
  '$listSessions',
  '$planCacheStats',
  '$redact',
  '$search',
  '$setWindowFields',
]);

/**
 * Runs a pipeline. The stages are compiled immediately, which may throw their errors. The documents are processed when
 * the result is read, one at a time except in blocking stages (`$sort`, `$group`…).
 * @throws CommandError 40324 for an unknown stage, 40323 for a stage without exactly one field, and the codes of the
 * stages.
 */
export function runPipeline(stages: readonly Doc[], source: Pausing<Doc>, env: PipelineEnv): Pausing<Doc> {
  return compilePipeline(stages, Object.keys(env.variables ?? {}))(source, env);
}

/**
 * Compiles a pipeline that can run on several sources. `variables` are the names of the variables that its environment
 * will contain.
 */
export function compilePipeline(
  stages: readonly Doc[],
  variables: readonly string[] = [],
): (source: Pausing<Doc>, env: PipelineEnv) => Pausing<Doc> {
  const stage = compileStages(stages, variables, 'pipeline');
  return (source, env) => stage(source, { env, now: env.now ?? new Date(), variables: env.variables ?? {} });
}

const compileStages: CompileStages = (stages, variables, owner) => {
  if (!Array.isArray(stages)) throw new CommandError('TypeMismatch', `${owner} must be specified as an array`);
  const compiled = stages.map((stage: unknown, i): Stage => {
    if (!isDoc(stage)) throw new CommandError('TypeMismatch', "Each element of the 'pipeline' array must be an object");
    const [name, ...others] = Object.keys(stage);
    if (name === undefined || others.length > 0) {
      throw new CommandError(40323, 'A pipeline stage specification object must contain exactly one field.');
    }
    const next = stages[i + 1];
    if (name === '$sort' && isDoc(next)) return sorting(stage.$sort, limitOf(next.$limit));
    if (name === '$lookup' && isDoc(next)) return lookupBefore(next, stage.$lookup, variables, compileStages);
    const compiler = Object.hasOwn(STAGES, name) ? STAGES[name] : undefined;
    if (compiler !== undefined) return compiler(stage[name], variables, compileStages);
    if (FIRST_ONLY.has(name)) throw new CommandError(40602, `${name} is only valid as the first stage in a pipeline.`);
    if (name === '$out' || name === '$merge')
      throw new CommandError(40601, `${name} can only be the final stage in the pipeline`);
    if (UNSUPPORTED.has(name))
      throw new CommandError('NotImplemented', `the stage ${name} is not supported by this server`);
    throw new CommandError(40324, `Unrecognized pipeline stage name: '${name}'`);
  });
  return (source, run) => compiled.reduce((documents, stage) => stage(documents, run), source);
};

/** The names of the collections that the stages read in addition to the pipeline's own. */
export function otherCollections(stages: unknown): string[] {
  if (Array.isArray(stages)) return stages.flatMap(otherCollections);
  if (!isDoc(stages)) return [];
  return Object.entries(stages).flatMap(([name, operand]) => {
    const spec = asDoc(operand) ?? { coll: operand };
    const from = name === '$unionWith' ? spec.coll : name === '$lookup' || name === '$graphLookup' ? spec.from : [];
    return [...(typeof from === 'string' ? [from] : []), ...otherCollections(operand)];
  });
}

/** The operand of a `$limit` as a number. The stage itself validates it. */
function limitOf(limit: unknown): number {
  const most = isNumber(limit) ? toDouble(limit) : 0;
  return most > 0 ? most : Number.POSITIVE_INFINITY;
}
