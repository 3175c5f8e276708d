import { CommandError } from '../errors.ts';
import { compilePipeline } from './aggregate.ts';
import { identical } from './compare.ts';
import { describeChange } from './document-diff.ts';
import { withoutPauses } from './pause.ts';
import { type Doc, isDoc } from './types.ts';
import type { Updater } from './update-types.ts';

const ALLOWED = ['$addFields', '$set', '$project', '$unset', '$replaceRoot', '$replaceWith'];

const lookup = (): never => {
  throw new CommandError('InvalidOptions', 'an update cannot read other collections');
};

/**
 * Compiles an update by a pipeline, whose result is the new document. It keeps the `_id` even if the pipeline removes
 * it.
 * @throws CommandError InvalidOptions for a stage that is not allowed in updates; the result throws ImmutableField for
 * a different `_id`.
 */
export function compilePipelineUpdate(stages: readonly Doc[], variables: Doc): Updater {
  for (const stage of stages) {
    const name = isDoc(stage) ? Object.keys(stage)[0] : undefined;
    if (name !== undefined && !ALLOWED.includes(name)) {
      throw new CommandError('InvalidOptions', `${name} is not allowed to be used within an update`);
    }
  }
  const pipeline = compilePipeline(stages, Object.keys(variables));
  return (before, context) => {
    const [result = {}] = withoutPauses(pipeline([before], { lookup, variables, now: context.now ?? new Date() }));
    const doc = withId(before._id, result);
    return { doc, changed: !identical(before, doc), description: describeChange(before, doc) };
  };
}

function withId(id: unknown, doc: Doc): Doc {
  if (id === undefined) return doc;
  if (!Object.hasOwn(doc, '_id')) return { _id: id, ...doc };
  if (identical(id, doc._id)) return doc;
  throw new CommandError(
    'ImmutableField',
    "Performing an update on the path '_id' would modify the immutable field '_id'",
  );
}
