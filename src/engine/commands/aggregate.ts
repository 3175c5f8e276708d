import { Timestamp } from 'bson';
import { CommandError } from '../errors.ts';
import { compilePipeline, type PipelineEnv, runPipeline } from '../query/aggregate.ts';
import { asDoc, type Doc } from '../query/types.ts';
import { ChangeStream, type EventPipeline, type StreamOptions } from '../store/change-stream.ts';
import { freeStats, type PreparedQuery, prepareQuery, type Query } from '../store/read.ts';
import { encodeDocument } from '../wire/bson.ts';
import { checkCollation, checkFields } from './arguments.ts';
import type { Command, Context } from './command.ts';
import { cursorDoc, firstBatch, openCursor } from './cursors.ts';
import { checkUnplanned, hintOf } from './find.ts';

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
  run: (context) => {
    const { db, args } = context;
    checkCollation(args.body.collation);
    if (args.flag('explain'))
      throw new CommandError('FailedToParse', "use the explain command instead of aggregate's option 'explain'");
    if (args.asks('let'))
      throw new CommandError('NotImplemented', "aggregate's option 'let' is not supported by this server");
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
    const { source, rest } = aggregateSource(context, name, stages);
    const results = runPipeline(rest, source, pipelineEnv(context));
    return firstBatch(context, `${db}.${name}`, encoded(results), { batchSize });
  },
};

export interface AggregateSource {
  source: Iterable<Doc>;
  /** The stages that the query did not take over. */
  rest: Doc[];
  query: Query;
  prepared: PreparedQuery | undefined;
}

/** What a pipeline reads: leading `$match`, `$sort`, `$skip` and `$limit` become the query, so that they can use an index. */
export function aggregateSource(context: Context, name: string, stages: Doc[]): AggregateSource {
  const { store, db, args } = context;
  const query: Query = { filter: {}, sort: {}, skip: 0, limit: 0, hint: hintOf(args.body.hint) };
  let taken = 0;
  const match = asDoc(stages[taken]?.$match);
  if (match && Object.keys(stages[taken] as Doc).length === 1) {
    query.filter = match;
    taken++;
  }
  const sort = asDoc(stages[taken]?.$sort);
  if (sort && Object.values(sort).every((direction) => asDoc(direction) === undefined)) {
    query.sort = sort;
    taken++;
    const limit = Number(stages[taken]?.$limit);
    if (Number.isInteger(limit) && limit > 0) {
      query.limit = limit;
      taken++;
    }
  }
  const collection = store.catalog.find(db, name);
  if (!collection) {
    checkUnplanned(query);
    return { source: [], rest: stages.slice(taken), query, prepared: undefined };
  }
  const prepared = prepareQuery(store, collection, query);
  const matches = prepared.run({ ...freeStats(), deadline: context.deadline });
  return { source: decoded(matches), rest: stages.slice(taken), query, prepared };
}

function pipelineEnv(context: Context): PipelineEnv {
  const { store, db } = context;
  return {
    lookup: (name: string, filter: Doc): Iterable<Doc> => {
      const collection = store.catalog.find(db, name);
      if (!collection) return [];
      const query = { filter, sort: {}, skip: 0, limit: 0, hint: undefined };
      return decoded(prepareQuery(store, collection, query).run({ ...freeStats(), deadline: context.deadline }));
    },
  };
}

const STREAM_OPTIONS = [
  'fullDocument',
  'fullDocumentBeforeChange',
  'resumeAfter',
  'startAfter',
  'startAtOperationTime',
  'showExpandedEvents',
  'allChangesForCluster',
];
const STREAM_STAGES = ['$match', '$project', '$addFields', '$set', '$unset', '$replaceRoot', '$replaceWith', '$redact'];

function openStream(context: Context, stages: Doc[], batchSize: number | undefined): Doc {
  const { store, db, args } = context;
  const [first, ...rest] = stages as [Doc, ...Doc[]];
  const spec = asDoc(first.$changeStream);
  if (!spec) throw new CommandError('FailedToParse', 'the $changeStream stage must be specified as an object');
  for (const stage of rest) {
    const name = Object.keys(stage)[0] ?? '';
    if (!STREAM_STAGES.includes(name))
      throw new CommandError('IllegalOperation', `${name} is not permitted in a $changeStream pipeline`);
  }
  const name = args.body.aggregate;
  const all = spec.allChangesForCluster === true;
  if (all && db !== 'admin')
    throw new CommandError(
      'InvalidOptions',
      'A $changeStream with allChangesForCluster may only be opened on the admin database',
    );
  const scope = { db: all ? undefined : db, coll: typeof name === 'string' ? name : undefined };
  const ns = `${db}.${scope.coll ?? '$cmd.aggregate'}`;
  const compiled = compilePipeline(rest);
  const pipeline: EventPipeline | undefined =
    rest.length > 0 ? (events) => compiled(events, pipelineEnv(context)) : undefined;
  const stream = new ChangeStream(store, scope, streamOptions(spec), pipeline);
  const batch = batchSize === 0 ? { documents: [], end: false } : stream.next(batchSize ?? Number.MAX_SAFE_INTEGER);
  const cursor = openCursor(context, ns, stream, { batchSize });
  const reply = cursorDoc(ns, batch.end ? 0 : cursor.id, 'firstBatch', batch);
  if (batch.end) store.cursors.kill(cursor.id);
  return { cursor: { ...reply, postBatchResumeToken: stream.resumeToken() } };
}

function streamOptions(spec: Doc): StreamOptions {
  checkFields(spec, '$changeStream', STREAM_OPTIONS);
  const { fullDocument = 'default', fullDocumentBeforeChange = 'off', startAtOperationTime } = spec;
  if (fullDocument !== 'default' && fullDocument !== 'updateLookup') {
    throw new CommandError('NotImplemented', `fullDocument '${String(fullDocument)}' is not supported by this server`);
  }
  if (fullDocumentBeforeChange !== 'off') {
    throw new CommandError(
      'NotImplemented',
      `fullDocumentBeforeChange '${String(fullDocumentBeforeChange)}' is not supported by this server`,
    );
  }
  if (startAtOperationTime !== undefined && !(startAtOperationTime instanceof Timestamp)) {
    throw new CommandError('TypeMismatch', "BSON field '$changeStream.startAtOperationTime' must be a timestamp");
  }
  return {
    updateLookup: fullDocument === 'updateLookup',
    expanded: spec.showExpandedEvents === true,
    resumeAfter: asDoc(spec.resumeAfter),
    startAfter: asDoc(spec.startAfter),
    startAtOperationTime: startAtOperationTime as Timestamp | undefined,
  };
}

function* decoded(matches: Iterable<{ doc: Doc }>): Generator<Doc> {
  for (const { doc } of matches) yield doc;
}

function* encoded(docs: Iterable<Doc>): Generator<Uint8Array> {
  for (const doc of docs) yield encodeDocument(doc);
}
