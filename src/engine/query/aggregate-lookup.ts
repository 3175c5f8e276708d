import { CommandError } from '../errors.ts';
import { checkedParts, environment, replaceAt } from './aggregate-stages.ts';
import type { CompileStages, Run, Stage, StageCompiler } from './aggregate-types.ts';
import { compileExpression, type Expression } from './expression.ts';
import { checkedName } from './expression-logic.ts';
import { isOperatorDoc } from './filter-parse.ts';
import { DocumentBudget, MemoryBudget } from './memory-budget.ts';
import { isIndex } from './path.ts';
import { drained, PAUSE, type Pause, type Pausing, type Steps } from './pause.ts';
import { asDoc, type Doc, getField, isDoc, RANK, setField, typeName, typeRank } from './types.ts';

const fail = (code: number | 'FailedToParse', message: string): never => {
  throw new CommandError(code, message);
};

const LOOKUP_FIELDS = ['from', 'as', 'localField', 'foreignField', 'let', 'pipeline'];

/** Compiles a `$lookup` by equal fields, with a pipeline and variables, or with both. */
export const lookup: StageCompiler = (operand, variables, compile) => lookingUp(operand, variables, compile, false);

/**
 * Compiles a `$lookup`. If an `$unwind` of its result follows, each found document is yielded by itself, so that
 * together they may exceed the size of a document, as in MongoDB.
 * @param next the stage that follows
 */
export function lookupBefore(next: Doc, operand: unknown, variables: readonly string[], compile: CompileStages): Stage {
  const unwind = typeof next.$unwind === 'string' ? { path: next.$unwind } : (asDoc(next.$unwind) ?? {});
  const takesApart = unwind.path === `$${asDoc(operand)?.as}` && unwind.includeArrayIndex === undefined;
  return lookingUp(operand, variables, compile, takesApart);
}

function lookingUp(operand: unknown, variables: readonly string[], compile: CompileStages, inParts: boolean): Stage {
  const spec = asDoc(operand) ?? fail('FailedToParse', 'the $lookup stage specification must be an object');
  const unknown = Object.keys(spec).find((name) => !LOOKUP_FIELDS.includes(name));
  if (unknown !== undefined) return fail('FailedToParse', `unknown argument to $lookup: ${unknown}`);
  const text = (name: string): string => {
    const value = spec[name];
    if (value === undefined) return fail('FailedToParse', `must specify '${name}' field for a $lookup`);
    return typeof value === 'string' && value !== ''
      ? value
      : fail('FailedToParse', `$lookup argument '${name}' must be a string, is type ${typeName(value)}`);
  };
  const [from, as] = [text('from'), checkedParts(text('as'))];
  const byField = Object.hasOwn(spec, 'localField') || Object.hasOwn(spec, 'foreignField');
  const local = byField ? checkedParts(text('localField')) : undefined;
  const foreignField = byField ? checkedParts(text('foreignField')).join('.') : '';
  if (!byField && spec.pipeline === undefined) {
    return fail(
      'FailedToParse',
      "$lookup requires either 'pipeline' or both 'localField' and 'foreignField' to be specified",
    );
  }
  if (spec.let !== undefined && spec.pipeline === undefined) {
    return fail('FailedToParse', "$lookup with a 'let' argument must also specify 'pipeline'");
  }
  const bindings = letBindings(spec.let, variables);
  const { filter: leading, rest } = leadingMatch(spec.pipeline);
  const inner: Stage | undefined =
    spec.pipeline === undefined
      ? undefined
      : compile(rest, [...variables, ...bindings.map(([name]) => name)], "'pipeline'");
  return function* (source, run) {
    for (const doc of source) {
      if (doc === PAUSE) {
        yield PAUSE;
        continue;
      }
      const within = environment(doc, run);
      const conditions = [local && joining(foreignField, [...valuesAt(doc, local)]), leading].filter(isDoc);
      const found = run.env.lookup(from, conditions.length === 2 ? { $and: conditions } : (conditions[0] ?? {}));
      const innerRun: Run = { ...run, variables: { ...run.variables } };
      for (const [name, value] of bindings) innerRun.variables[name] = value(within);
      const joined = inner === undefined ? found : inner(found, innerRun);
      if (inParts) {
        yield* inArrays(joined, (array) => replaceAt(doc, as, array));
        continue;
      }
      const budget = new DocumentBudget(4568, `Total size of documents in ${from} matching pipeline's $lookup stage`);
      budget.take(doc);
      yield replaceAt(doc, as, yield* gatheredWithin(budget, joined));
    }
  };
}

/**
 * Yields the result of `made` for each document, as an array with this document only. Without documents, yields the
 * result for an empty array.
 */
function* inArrays(documents: Pausing<Doc>, made: (array: Doc[]) => Doc): Generator<Doc | Pause> {
  let isEmpty = true;
  for (const doc of documents) {
    yield doc === PAUSE ? PAUSE : made([doc]);
    if (doc !== PAUSE) isEmpty = false;
  }
  if (isEmpty) yield made([]);
}

function* gatheredWithin(budget: MemoryBudget, documents: Pausing<Doc>): Steps<Doc[]> {
  const kept: Doc[] = [];
  yield* drained(documents, (doc) => {
    budget.take(doc);
    kept.push(doc);
  });
  return kept;
}

function letBindings(spec: unknown, variables: readonly string[]): [string, Expression][] {
  if (spec === undefined) return [];
  const doc = asDoc(spec) ?? fail('FailedToParse', "$lookup argument 'let' must be an object");
  return Object.keys(doc).map((name) => [checkedName(name), compileExpression(doc[name], variables)]);
}

/** Splits off a leading `$match` without `$expr`, which becomes the filter of the query on the other collection. */
function leadingMatch(pipeline: unknown): { filter?: Doc; rest: unknown } {
  if (!Array.isArray(pipeline)) return { rest: pipeline };
  const [first] = pipeline;
  if (!isDoc(first) || Object.keys(first).length !== 1 || !isDoc(first.$match)) return { rest: pipeline };
  return hasExpression(first.$match) ? { rest: pipeline } : { filter: first.$match, rest: pipeline.slice(1) };
}

function hasExpression(filter: unknown): boolean {
  if (Array.isArray(filter)) return filter.some(hasExpression);
  return isDoc(filter) && Object.entries(filter).some(([name, value]) => name === '$expr' || hasExpression(value));
}

/**
 * Yields the values of `localField`. The rules differ from those of expressions and of filters: in an array, a number
 * selects the element at that position, and any other name is looked up in each document. For an array at the end of
 * the path, yields each element.
 */
function* valuesAt(doc: Doc, parts: readonly string[]): Generator<unknown> {
  let value = getField(doc, parts[0] as string);
  let at = 1;
  while (Array.isArray(value) && at < parts.length && isIndex(parts[at] as string)) value = value[Number(parts[at++])];
  const values = Array.isArray(value) ? value : [value];
  if (at === parts.length) yield* values.filter((each) => each !== undefined);
  else for (const inner of values.map(asDoc)) if (inner !== undefined) yield* valuesAt(inner, parts.slice(at));
}

/**
 * The filter of a join: the field equals any of the values, or null if there are none. A regular expression equals only
 * itself.
 */
function joining(field: string, values: readonly unknown[]): Doc {
  if (values.length < 2) return { [field]: { $eq: values[0] ?? null } };
  // An `$in` with a regular expression would also match strings, and `$in` refuses documents that look like operators.
  const isPlain = (value: unknown): boolean => typeRank(value) !== RANK.regex && !isOperatorDoc(value);
  if (values.every(isPlain)) return { [field]: { $in: values } };
  return { $or: values.map((value) => ({ [field]: { $eq: value } })) };
}

export const facet: StageCompiler = (operand, variables, compile) => {
  const spec = asDoc(operand);
  if (spec === undefined || Object.keys(spec).length === 0)
    return fail(40169, 'the $facet specification must be a non-empty object');
  const pipelines = Object.keys(spec).map((name): [string, Stage] => {
    if (name.startsWith('$') || name.includes('.')) return fail(40170, `the $facet field name is not valid: ${name}`);
    const stages = spec[name];
    if (!Array.isArray(stages))
      return fail(40170, `arguments to $facet must be arrays, ${name} is type ${typeName(stages)}`);
    const forbidden = stages
      .flatMap((stage) => Object.keys(asDoc(stage) ?? {}))
      .find((stage) => stage === '$facet' || stage === '$out' || stage === '$merge');
    if (forbidden !== undefined) return fail(40600, `${forbidden} is not allowed to be used within a $facet stage`);
    return [name, compile(stages, variables, name)];
  });
  return function* (source, run) {
    const documents = yield* gatheredWithin(new MemoryBudget('$facet'), source);
    const budget = new DocumentBudget(4031700, 'document constructed by $facet');
    const result: Doc = {};
    for (const [name, pipeline] of pipelines)
      setField(result, name, yield* gatheredWithin(budget, pipeline(documents, run)));
    yield result;
  };
};

export const unionWith: StageCompiler = (operand, variables, compile) => {
  const spec = typeof operand === 'string' ? { coll: operand } : asDoc(operand);
  const unknown = Object.keys(spec ?? {}).find((name) => name !== 'coll' && name !== 'pipeline');
  if (unknown !== undefined) return fail(40415, `BSON field '$unionWith.${unknown}' is an unknown field.`);
  const { coll, pipeline = [] } = (spec ?? {}) as Doc;
  if (typeof coll !== 'string')
    return fail('FailedToParse', 'the $unionWith stage specification must be an object or string');
  const inner = compile(pipeline, variables, "'pipeline'");
  return function* (source, run) {
    yield* source;
    yield* inner(run.env.lookup(coll, {}), run);
  };
};
