import { ObjectId } from 'bson';
import { CommandError } from '../errors.ts';
import { compileExpression, environmentOf } from '../query/expression.ts';
import { MemoryBudget } from '../query/memory-budget.ts';
import { drained, type Pausing, type Steps } from '../query/pause.ts';
import { asDoc, type Doc, getField, typeName } from '../query/types.ts';
import type { Collection } from '../store/catalog.ts';
import { firstMatch } from '../store/read.ts';
import { compileValidator, type Validate } from '../store/validator.ts';
import { type Change, compileChange, updateMatch } from '../store/write.ts';
import { decodeDocument, encodeDocument } from '../wire/bson.ts';
import { checkFields, choiceIn } from './arguments.ts';
import type { Context, Parts, StatementOutcome } from './command.ts';
import { single } from './statements.ts';

interface Target {
  db: string;
  name: string;
}

/** Returns the last stage of a pipeline if it is `$out` or `$merge`. */
export function outputStage(stages: unknown): Doc | undefined {
  const last = Array.isArray(stages) ? asDoc(stages.at(-1)) : undefined;
  return last && ('$out' in last || '$merge' in last) ? last : undefined;
}

/**
 * Reads the results of a pipeline, which the returned parts write: for `$merge` one part for each document, for `$out`
 * one for all.
 * @param reply the command's answer, returned by the last part
 */
export function* outputOf(context: Context, results: Pausing<Uint8Array>, stage: Doc, reply: Doc): Steps<Parts> {
  const partsOf = '$out' in stage ? replacing(context, stage.$out) : merging(context, stage.$merge);
  const budget = new MemoryBudget('$out' in stage ? '$out' : '$merge');
  const documents: Doc[] = [];
  yield* drained(results, (bytes) => {
    const doc = decodeDocument(bytes);
    budget.take(doc);
    documents.push(doc);
  });
  return partsOf(documents, { counts: {}, reply });
}

type Output = (documents: Doc[], end: StatementOutcome) => Parts;

/** Compiles `$out`: drops the collection and creates it again with the same options and indexes. */
function replacing(context: Context, operand: unknown): Output {
  const { db, name } = targetOf(context, operand, '$out', 16990);
  return (documents, end) =>
    single(() => {
      const { store } = context;
      const old = store.catalog.find(db, name);
      const indexes = old?.indexes.slice(1) ?? [];
      if (old) store.dropCollection(old);
      const made = store.createCollection(db, name, old?.options);
      for (const { spec } of indexes) store.catalog.addIndex(made, spec);
      const validate = validatorOf(context, made);
      for (const doc of documents) insert(context, made, doc, validate);
      return end;
    });
}

const MERGE_FIELDS = ['into', 'on', 'let', 'whenMatched', 'whenNotMatched'];
const MERGE_PIPELINE: Doc[] = [{ $replaceWith: { $mergeObjects: ['$$ROOT', '$$new'] } }];

/** Compiles `$merge`: matches documents by the fields `on`, which must have a unique index (error 51183). */
function merging(context: Context, operand: unknown): Output {
  const spec: Doc = typeof operand === 'string' ? { into: operand } : (asDoc(operand) ?? {});
  checkFields(spec, '$merge', MERGE_FIELDS);
  const { db, name } = targetOf(context, spec.into, '$merge', 51178);
  const on = (Array.isArray(spec.on) ? spec.on : [spec.on ?? '_id']).map(String);
  const whenMatched = spec.whenMatched ?? 'merge';
  const whenNotMatched = choiceIn('$merge.whenNotMatched', spec.whenNotMatched ?? 'insert', [
    'insert',
    'discard',
    'fail',
  ]);
  if (!Array.isArray(whenMatched))
    choiceIn('$merge.whenMatched', whenMatched, ['replace', 'keepExisting', 'merge', 'fail']);

  if (spec.let !== undefined && !Array.isArray(whenMatched))
    throw new CommandError(51199, "Cannot use 'let' variables with 'whenMatched' other than a pipeline");
  const bindings = Object.entries(asDoc(spec.let) ?? { new: '$$ROOT' }).map(
    ([variable, value]) => [variable, compileExpression(value)] as const,
  );
  return (documents, end) => ({
    count: documents.length + 1,
    begin() {
      const { store } = context;
      const target = store.catalog.find(db, name) ?? store.createCollection(db, name);
      checkJoin(target, on);
      const validate = validatorOf(context, target);
      return (index) => {
        const given = documents[index];
        if (!given) return end;
        const doc = on.includes('_id') ? withId(given) : given;
        const filter = Object.fromEntries(on.map((path) => [path, { $eq: joinValue(doc, path) }]));
        const query = { filter, sort: {}, skip: 0, limit: 1, hint: undefined };
        const match = firstMatch(store, target, query, context.deadline);
        if (!match) {
          if (whenNotMatched === 'insert') insert(context, target, doc, validate);
          else if (whenNotMatched === 'fail') throw noMatchingDocument();
        } else if (whenMatched === 'fail') insert(context, target, doc, validate);
        else if (whenMatched !== 'keepExisting') {
          const variables = Object.fromEntries(
            bindings.map(([variable, value]) => [variable, value(environmentOf(doc, new Date()))]),
          );
          updateMatch(store, target, changeOf(whenMatched, filter, doc, variables), match, validate);
        }
        return { counts: {} };
      };
    },
  });
}

function changeOf(whenMatched: unknown, filter: Doc, doc: Doc, variables: Doc): Change {
  if (whenMatched === 'replace') return compileChange(filter, doc, undefined, {});
  const pipeline = Array.isArray(whenMatched) ? (whenMatched as Doc[]) : MERGE_PIPELINE;
  return compileChange(filter, pipeline, undefined, variables);
}

/** The validator of a target; undefined if the command asks to skip validation. */
function validatorOf({ args }: Context, collection: Collection): Validate | undefined {
  return compileValidator(collection, args.flag('bypassDocumentValidation'));
}

function withId(doc: Doc): Doc {
  return doc._id === undefined ? { _id: new ObjectId(), ...doc } : doc;
}

function insert({ store }: Context, collection: Collection, given: Doc, validate: Validate | undefined): void {
  const doc = withId(given);
  store.documents.insert(collection, doc, encodeDocument(doc), validate);
}

function targetOf({ db }: Context, operand: unknown, stage: string, code: number): Target {
  if (typeof operand === 'string' && operand !== '') return { db, name: operand };
  const spec = asDoc(operand);
  if (spec) checkFields(spec, stage, ['db', 'coll']);
  const { db: otherDb = db, coll } = spec ?? {};
  if (typeof coll === 'string' && typeof otherDb === 'string') return { db: otherDb, name: coll };
  throw new CommandError(code, `${stage} only supports a string or object argument, but found ${typeName(operand)}`);
}

function checkJoin({ indexes }: Collection, on: string[]): void {
  const covers = indexes.some(
    ({ unique, partial, fields }) =>
      unique && !partial && fields.length === on.length && fields.every(([path]) => on.includes(path)),
  );
  if (!covers) throw new CommandError(51183, 'Cannot find index to verify that join fields will be unique');
}

function joinValue(doc: Doc, path: string): unknown {
  let value: unknown = doc;
  for (const part of path.split('.')) value = asDoc(value) && getField(value as Doc, part);
  if (value !== undefined && value !== null && !Array.isArray(value)) return value;
  throw new CommandError(51132, "$merge write error: 'on' field cannot be missing, null, undefined or an array");
}

function noMatchingDocument(): CommandError {
  return new CommandError(
    13113,
    '$merge could not find a matching document in the target collection for at least one document in the source collection',
  );
}
