import { Timestamp } from 'bson';
import { CommandError } from '../errors.ts';
import { compilePipeline } from '../query/aggregate.ts';
import { withoutPauses } from '../query/pause.ts';
import { asDoc, type Doc } from '../query/types.ts';
import { ChangeStream, type EventPipeline, type StreamOptions } from '../store/change-stream.ts';
import { checkFields, choiceIn } from './arguments.ts';
import type { Context } from './command.ts';
import { cursorDoc, openCursor } from './cursors.ts';
import { pipelineEnv } from './pipeline-source.ts';

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

/**
 * Runs an aggregate whose first stage is `$changeStream`: opens a stream on a collection, a database or the deployment.
 */
export function openStream(context: Context, stages: Doc[], batchSize: number | undefined): Doc {
  const { store, db, args } = context;
  const [first, ...rest] = stages as [Doc, ...Doc[]];
  const spec = asDoc(first.$changeStream);
  if (!spec) throw new CommandError('FailedToParse', 'the $changeStream stage must be specified as an object');
  const compiled = compilePipeline(rest, Object.keys(args.variables()));
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
  const types = typesOf(rest);
  const pipeline: EventPipeline | undefined =
    rest.length > 0 && !types ? (events) => withoutPauses(compiled(events, pipelineEnv(context))) : undefined;
  const stream = new ChangeStream(store, scope, { ...streamOptions(spec), types }, pipeline);
  const batch = batchSize === 0 ? { documents: [], end: false } : stream.next(batchSize ?? Number.MAX_SAFE_INTEGER);
  const cursor = openCursor(context, ns, stream, { batchSize });
  const reply = cursorDoc(ns, batch.end ? 0 : cursor.id, 'firstBatch', batch);
  if (batch.end) store.cursors.kill(cursor.id);
  return { cursor: { ...reply, postBatchResumeToken: stream.resumeToken() } };
}

/**
 * Returns the event types that the stages let through, if they are only `{$match: {operationType: {$in: […]}}}`. Events
 * of other types are then not created at all.
 */
function typesOf(stages: Doc[]): ReadonlySet<string> | undefined {
  const [stage, ...others] = stages;
  const filter = asDoc(stage?.$match);
  const condition = asDoc(filter?.operationType);
  const types = condition?.$in;
  const isOnly =
    others.length === 0 && [stage, filter, condition].every((each) => Object.keys(each ?? {}).length === 1);
  if (!isOnly || !Array.isArray(types) || !types.every((type) => typeof type === 'string')) return undefined;
  return new Set(types as string[]);
}

function streamOptions(spec: Doc): Omit<StreamOptions, 'types'> {
  checkFields(spec, '$changeStream', STREAM_OPTIONS);
  const { fullDocument = 'default', fullDocumentBeforeChange = 'off', startAtOperationTime } = spec;
  const after = choiceIn('$changeStream.fullDocument', fullDocument, [
    'default',
    'updateLookup',
    'whenAvailable',
    'required',
  ] as const);
  const before = choiceIn('$changeStream.fullDocumentBeforeChange', fullDocumentBeforeChange, [
    'off',
    'whenAvailable',
    'required',
  ] as const);
  if (startAtOperationTime !== undefined && !(startAtOperationTime instanceof Timestamp)) {
    throw new CommandError('TypeMismatch', "BSON field '$changeStream.startAtOperationTime' must be a timestamp");
  }
  return {
    fullDocument: after,
    fullDocumentBeforeChange: before,
    expanded: spec.showExpandedEvents === true,
    resumeAfter: asDoc(spec.resumeAfter),
    startAfter: asDoc(spec.startAfter),
    startAtOperationTime: startAtOperationTime as Timestamp | undefined,
  };
}
