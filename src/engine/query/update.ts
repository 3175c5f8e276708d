import { CommandError } from '../errors.ts';
import { compileArrayFilters } from './array-filters.ts';
import { identical } from './compare.ts';
import { describe } from './describe.ts';
import { type Doc, setField } from './types.ts';
import { applyModifications } from './update-apply.ts';
import { parseModifications } from './update-parse.ts';
import { compilePipelineUpdate } from './update-pipeline.ts';
import type { UpdateContext, UpdateResult, Updater } from './update-types.ts';

export type { UpdateDescription, UpdateResult, Updater } from './update-types.ts';
export { upsertBase } from './upsert.ts';

/** Whether an update is a replacement document: not a pipeline, and its first field is not an operator. */
export function isReplacement(update: Doc | readonly Doc[]): boolean {
  return !Array.isArray(update) && Object.keys(update)[0]?.startsWith('$') !== true;
}

export interface UpdateOptions {
  arrayFilters?: unknown;
  /** The values of the command's `let`, for update pipelines. */
  variables?: Doc | undefined;
}

/**
 * Compiles an update: operators, a replacement document, or a pipeline. The result returns the new document without
 * modifying the old one; `changed` is false if both have the same BSON encoding. A replacement keeps the `_id`, and its
 * description is empty.
 * @throws CommandError FailedToParse, BadValue, ConflictingUpdateOperators and others for an invalid update; the result
 * throws ImmutableField for a changed `_id`, and PathNotViable, TypeMismatch… for an update that does not fit the
 * document.
 */
export function compileUpdate(update: Doc | readonly Doc[], options: UpdateOptions = {}): Updater {
  const filters = compileArrayFilters(options.arrayFilters ?? []);
  if (Array.isArray(update)) {
    if (filters.size > 0)
      throw new CommandError('FailedToParse', 'arrayFilters may not be specified for pipeline-style updates');
    return compilePipelineUpdate(update as readonly Doc[], options.variables ?? {});
  }
  if (isReplacement(update as Doc)) {
    if (filters.size > 0)
      throw new CommandError('FailedToParse', 'Cannot specify arrayFilters with replacement-style updates');
    return replacement(update as Doc);
  }
  const modifications = parseModifications(update as Doc, filters);
  return (doc, context) => guardId(doc, applyModifications(doc, modifications, filters, context), context);
}

function guardId(before: Doc, result: UpdateResult, context: UpdateContext): UpdateResult {
  if (!result.changed) return result;
  if (before._id !== undefined && !identical(before._id, result.doc._id)) {
    throw new CommandError(
      'ImmutableField',
      "Performing an update on the path '_id' would modify the immutable field '_id'",
    );
  }
  if (context.insert && before._id === undefined && result.doc._id !== undefined)
    result.doc = idFirst(result.doc._id, result.doc);
  return result;
}

function replacement(update: Doc): Updater {
  const operator = Object.keys(update).find((name) => name.startsWith('$'));
  if (operator !== undefined) {
    throw new CommandError(
      'DollarPrefixedFieldName',
      `The dollar ($) prefixed field '${operator}' in '${operator}' is not allowed in the context of an update's replacement document. Consider using an aggregation pipeline with $replaceWith.`,
    );
  }
  return (before) => {
    const id = before._id === undefined ? update._id : before._id;
    if (update._id !== undefined && !identical(id, update._id)) {
      throw new CommandError(
        'ImmutableField',
        `After applying the update, the (immutable) field '_id' was found to have been altered to _id: ${describe(update._id)}`,
      );
    }
    const doc = id === undefined ? { ...update } : idFirst(id, update);
    const description = { updatedFields: {}, removedFields: [], truncatedArrays: [] };
    return { doc, changed: !identical(before, doc), description };
  };
}

function idFirst(id: unknown, rest: Doc): Doc {
  const doc: Doc = { _id: id };
  for (const name of Object.keys(rest)) if (name !== '_id') setField(doc, name, rest[name]);
  return doc;
}
