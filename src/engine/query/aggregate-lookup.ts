import { CommandError } from '../errors.ts';
import { environment, replaceAt } from './aggregate-stages.ts';
import type { Run, Stage, StageCompiler } from './aggregate-types.ts';
import { compileExpression, type Expression } from './expression.ts';
import { checkedName } from './expression-logic.ts';
import { MemoryBudget } from './memory-budget.ts';
import { splitPath } from './path.ts';
import { drained, gathered, PAUSE } from './pause.ts';
import { asDoc, type Doc, isDoc, setField, typeName } from './types.ts';

const fail = (code: number | 'FailedToParse', message: string): never => {
  throw new CommandError(code, message);
};

const LOOKUP_FIELDS = ['from', 'as', 'localField', 'foreignField', 'let', 'pipeline'];

/** `$lookup` with equal fields, with a pipeline and variables, or with both. */
export const lookup: StageCompiler = (operand, variables, compile) => {
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
  const [from, as] = [text('from'), splitPath(text('as'))];
  const byField = Object.hasOwn(spec, 'localField') || Object.hasOwn(spec, 'foreignField');
  const local = byField ? compileExpression(`$${text('localField')}`) : undefined;
  const foreignField = byField ? text('foreignField') : '';
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
      const conditions = [local && equalTo(foreignField, local(within)), leading].filter(isDoc);
      const found = run.env.lookup(from, conditions.length === 2 ? { $and: conditions } : (conditions[0] ?? {}));
      const innerRun: Run = { ...run, variables: { ...run.variables } };
      for (const [name, value] of bindings) innerRun.variables[name] = value(within);
      yield replaceAt(doc, as, yield* gathered(inner === undefined ? found : inner(found, innerRun)));
    }
  };
};

function letBindings(spec: unknown, variables: readonly string[]): [string, Expression][] {
  if (spec === undefined) return [];
  const doc = asDoc(spec) ?? fail('FailedToParse', "$lookup argument 'let' must be an object");
  return Object.keys(doc).map((name) => [checkedName(name), compileExpression(doc[name], variables)]);
}

/** A leading `$match` without variables becomes the query on the other collection. */
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
 * Equality in the sense of `$lookup`: any element of an array matches, missing counts as null, and a regular expression
 * equals only itself.
 */
function equalTo(field: string, value: unknown): Doc {
  if (!Array.isArray(value)) return { [field]: { $eq: value ?? null } };
  if (value.length === 0) return { $alwaysFalse: 1 };
  return { $or: value.map((element) => ({ [field]: { $eq: element ?? null } })) };
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
    const budget = new MemoryBudget('$facet');
    const documents: Doc[] = [];
    yield* drained(source, (doc) => {
      budget.take(doc);
      documents.push(doc);
    });
    const result: Doc = {};
    for (const [name, pipeline] of pipelines) setField(result, name, yield* gathered(pipeline(documents, run)));
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
