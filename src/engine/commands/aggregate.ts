import { CommandError } from '../errors.ts';
import { runPipeline } from '../query/aggregate.ts';
import type { Doc } from '../query/types.ts';
import { encodeDocument } from '../wire/bson.ts';
import { checkCollation, checkFields } from './arguments.ts';
import type { Command, Context } from './command.ts';
import { firstBatch } from './cursors.ts';
import { countingAnswer, documents, pipelineEnv, pipelineSource } from './pipeline-source.ts';
import { openStream } from './watch.ts';

export const AGGREGATE_OPTIONS = [
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
  run: (context) => {
    const { db, args } = context;
    checkCollation(args.body.collation);
    if (args.flag('explain'))
      throw new CommandError('FailedToParse', "use the explain command instead of aggregate's option 'explain'");
    const cursor = args.document('cursor');
    if (!cursor)
      throw new CommandError(
        'FailedToParse',
        "The 'cursor' option is required, except for aggregate with the explain argument",
      );
    checkFields(cursor, 'aggregate.cursor', ['batchSize']);
    const batchSize = cursor.batchSize === undefined ? undefined : Number(cursor.batchSize);
    const stages = args.documents('pipeline');
    if (stages[0] && '$changeStream' in stages[0]) return openStream(context, stages, batchSize);
    const name = args.body.aggregate;
    if (typeof name !== 'string') {
      throw new CommandError('InvalidNamespace', '{aggregate: 1} is served for change streams only');
    }
    return firstBatch(context, `${db}.${name}`, results(context, name, stages), { batchSize });
  },
};

function results(context: Context, name: string, stages: Doc[]): Iterable<Uint8Array> {
  const counted = countingAnswer(context, name, stages);
  if (counted) return counted.map(encodeDocument);
  const { matches, rest } = pipelineSource(context, name, stages);
  if (rest.length === 0) return mapped(matches, (match) => match.bytes);
  return mapped(runPipeline(rest, documents(matches), pipelineEnv(context)), encodeDocument);
}

function* mapped<A, B>(items: Iterable<A>, change: (item: A) => B): Generator<B> {
  for (const item of items) yield change(item);
}
