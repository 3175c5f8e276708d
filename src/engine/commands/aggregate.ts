import { CommandError } from '../errors.ts';
import { runPipeline } from '../query/aggregate.ts';
import { mapped, type Pausing, type Steps } from '../query/pause.ts';
import { asDoc, type Doc } from '../query/types.ts';
import { encodeDocument } from '../wire/bson.ts';
import { checkCollation } from './arguments.ts';
import type { Command, Context, Parts } from './command.ts';
import { cursorDoc, firstBatch } from './cursors.ts';
import { outputOf, outputStage } from './output.ts';
import { countResult, documentOf, pipelineEnv, pipelineSource } from './pipeline-source.ts';
import { sourceDocuments } from './source-stages.ts';
import { onlyStatement } from './statements.ts';
import { openStream } from './watch.ts';

const AGGREGATE_OPTIONS = [
  'pipeline',
  'cursor',
  'explain',
  'allowDiskUse',
  'hint',
  'let',
  'collation',
  'bypassDocumentValidation',
];

export const aggregate: Command = {
  options: AGGREGATE_OPTIONS,
  transactional: true,
  readsSnapshots: true,
  writes: ({ args: { body } }) => outputStage(body.pipeline) !== undefined && !isStream(body.pipeline),
  statements: (context) => onlyStatement(() => written(context)),
  run: (context) => {
    const { stages, batchSize, ns } = checked(context);
    if (isStream(stages)) return openStream(context, stages, batchSize);
    const output = outputStage(stages);
    if (!output) return firstBatch(context, ns, results(context, stages), { batchSize });
    const [stage] = Object.keys(output);
    throw new CommandError('OperationNotSupportedInTransaction', `Stage not supported in transactions: ${stage}`);
  },
};

/** Runs a pipeline that writes its results (`$out`, `$merge`). */
function* written(context: Context): Steps<Parts> {
  const { stages, ns } = checked(context);
  if (context.args.document('readConcern')?.level === 'linearizable')
    throw new CommandError(
      'InvalidOptions',
      'a pipeline that writes cannot be run with readConcern level linearizable',
    );
  const reply = { cursor: cursorDoc(ns, 0, 'firstBatch', { documents: [], end: true }) };
  return yield* outputOf(context, results(context, stages.slice(0, -1)), stages.at(-1) as Doc, reply);
}

function isStream(stages: unknown): boolean {
  const first = Array.isArray(stages) ? asDoc(stages[0]) : undefined;
  return first !== undefined && '$changeStream' in first;
}

/** Validates the arguments, except for the content of the stages. */
function checked({ db, args }: Context): { stages: Doc[]; batchSize: number | undefined; ns: string } {
  const stages = args.documents('pipeline');
  if (!comparesNoTexts(stages)) checkCollation(args.body.collation);
  if (args.flag('explain'))
    throw new CommandError(
      'FailedToParse',
      "aggregate's option 'explain' is not supported by this server: use the explain command",
    );
  if (!args.document('cursor'))
    throw new CommandError(
      'FailedToParse',
      "The 'cursor' option is required, except for aggregate with the explain argument",
    );
  const batchSize = args.cursorBatchSize();
  const name = args.body.aggregate;
  return { stages, batchSize, ns: `${db}.${typeof name === 'string' ? name : '$cmd.aggregate'}` };
}

/** Whether the collation cannot affect the result, as for a change stream without further stages. */
function comparesNoTexts(stages: readonly Doc[]): boolean {
  return stages.length === 1 && stages[0] !== undefined && '$changeStream' in stages[0];
}

function results(context: Context, stages: Doc[]): Pausing<Uint8Array> {
  const source = sourceDocuments(context, stages[0]);
  if (source) return mapped(runPipeline(stages.slice(1), source, pipelineEnv(context)), encodeDocument);
  const name = context.args.collection();
  const counted = countResult(context, name, stages);
  if (counted) return mapped(counted, encodeDocument);
  const { matches, rest } = pipelineSource(context, name, stages);
  if (rest.length === 0) return mapped(matches, (match) => match.bytes);
  return mapped(runPipeline(rest, mapped(matches, documentOf), pipelineEnv(context)), encodeDocument);
}
