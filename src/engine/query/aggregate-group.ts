import { Int32 } from 'bson';
import { type CodeName, CommandError } from '../errors.ts';
import { ACCUMULATORS, type Accumulator, keyText } from './accumulators.ts';
import { environment, sort } from './aggregate-stages.ts';
import type { Run, Stage, StageCompiler } from './aggregate-types.ts';
import { intOrLong } from './arithmetic.ts';
import { compareValues } from './compare.ts';
import { compileExpression, type Expression } from './expression.ts';
import { MemoryBudget } from './memory-budget.ts';
import { drained, PAUSE, Pace } from './pause.ts';
import { asDoc, type Doc, isDoc, setField, typeName, typeRank } from './types.ts';

const fail = (code: CodeName | number, message: string): never => {
  throw new CommandError(code, message);
};

interface OutputField {
  name: string;
  make: (budget: MemoryBudget) => Accumulator;
  operand: Expression;
}

export const group: StageCompiler = (operand, variables) => {
  const spec = asDoc(operand) ?? fail(15947, "a group's fields must be specified in an object");
  if (!Object.hasOwn(spec, '_id')) return fail(15955, 'a group specification must include an _id');
  const { _id, ...rest } = spec;
  return grouping(compileExpression(_id, variables), outputFields(rest, variables));
};

function outputFields(spec: Doc, variables: readonly string[]): OutputField[] {
  return Object.keys(spec).map((name) => {
    const accumulator = spec[name];
    if (name.includes('.')) return fail(40235, `The field name '${name}' cannot contain '.'`);
    if (name.startsWith('$')) return fail(40236, `The field name '${name}' cannot be an operator name`);
    if (!isDoc(accumulator)) return fail(40234, `The field '${name}' must be an accumulator object`);
    const [operator, ...others] = Object.keys(accumulator);
    if (operator === undefined || others.length > 0)
      return fail(40238, `The field '${name}' must specify one accumulator`);
    const argument = accumulator[operator];
    if (operator === '$count') {
      if (!isDoc(argument) || Object.keys(argument).length > 0)
        return fail('FailedToParse', '$count takes no arguments, i.e. $count:{}');
      return { name, make: ACCUMULATORS.$sum as OutputField['make'], operand: () => new Int32(1) };
    }
    const make = Object.hasOwn(ACCUMULATORS, operator) ? ACCUMULATORS[operator] : undefined;
    if (make === undefined) return fail(15952, `unknown group operator '${operator}'`);
    if (Array.isArray(argument) && argument.length !== 1)
      return fail(40237, `The ${operator} accumulator is a unary operator`);
    return { name, make, operand: compileExpression(Array.isArray(argument) ? argument[0] : argument, variables) };
  });
}

/** Groups by the value of an expression (missing counts as null). Groups come in the order of their first documents. */
function grouping(idOf: Expression, fields: OutputField[]): Stage {
  return function* (source, run) {
    const budget = new MemoryBudget('$group');
    const groups = new Map<string, { id: unknown; accumulators: Accumulator[] }>();
    const pace = new Pace();
    // Loops directly: a callback for each document through `drained` would cost a tenth of the speed.
    for (const doc of source) {
      if (doc === PAUSE || pace.isDue()) yield PAUSE;
      if (doc === PAUSE) continue;
      const within = environment(doc, run);
      const id = idOf(within) ?? null;
      const key = keyText(id);
      let found = groups.get(key);
      if (found === undefined) {
        budget.take({ id });
        found = { id, accumulators: fields.map(({ make }) => make(budget)) };
        groups.set(key, found);
      }
      for (let i = 0; i < fields.length; i += 1) {
        const { operand } = fields[i] as OutputField;
        (found.accumulators[i] as Accumulator).add(operand(within));
      }
    }
    for (const { id, accumulators } of groups.values()) {
      const result: Doc = { _id: id };
      for (const [i, { name }] of fields.entries()) setField(result, name, accumulators[i]?.result() ?? null);
      yield result;
    }
  };
}

export const count: StageCompiler = (operand) => {
  if (typeof operand !== 'string' || operand === '') return fail(40156, 'the count field must be a non-empty string');
  if (operand.startsWith('$')) return fail(40158, 'the count field cannot be a $-prefixed path');
  if (operand.includes('.')) return fail(40160, "the count field cannot contain '.'");
  return function* (source) {
    let total = 0;
    yield* drained(source, () => {
      total += 1;
    });
    if (total > 0) yield { [operand]: intOrLong(BigInt(total)) };
  };
};

export const sortByCount: StageCompiler = (operand, variables, compile) => {
  if (typeof operand === 'string' ? !operand.startsWith('$') : !isDoc(operand)) {
    return fail(40148, 'the sortByCount field must be defined as a $-prefixed path or an expression inside an object');
  }
  const grouped = group({ _id: operand, count: { $sum: new Int32(1) } }, variables, compile);
  const sorted = sort({ count: -1 }, variables, compile);
  return (source, run) => sorted(grouped(source, run), run);
};

export const bucket: StageCompiler = (operand, variables, compile) => {
  const spec = asDoc(operand) ?? fail(40201, 'Argument to $bucket stage must be an object');
  const unknown = Object.keys(spec).find((name) => !['groupBy', 'boundaries', 'default', 'output'].includes(name));
  if (unknown !== undefined) return fail(40197, `Unrecognized option to $bucket: ${unknown}.`);
  const { groupBy, boundaries, output = { count: { $sum: new Int32(1) } } } = spec;
  if (groupBy === undefined || boundaries === undefined)
    return fail(40198, "$bucket requires 'groupBy' and 'boundaries' to be specified.");
  if (!Array.isArray(boundaries)) return fail(40200, "The $bucket 'boundaries' field must be an array");
  if (boundaries.length < 2) return fail(40192, "The $bucket 'boundaries' field must have at least 2 values");
  boundaries.slice(1).forEach((bound, i) => {
    if (typeRank(bound) !== typeRank(boundaries[i]))
      fail(40193, "All values in the 'boundaries' option to $bucket must have the same type");
    if (compareValues(boundaries[i], bound) >= 0)
      fail(40194, "The 'boundaries' option to $bucket must be sorted in ascending order");
  });
  const hasDefault = Object.hasOwn(spec, 'default');
  const placeOf = compileExpression(groupBy, variables);
  const idOf: Expression = (within) => {
    const value = placeOf(within);
    const at = boundaries.findLastIndex((bound) => compareValues(bound, value ?? null) <= 0);
    if (at >= 0 && at < boundaries.length - 1) return boundaries[at];
    return hasDefault
      ? spec.default
      : fail(40066, '$switch could not find a matching branch for an input, and no default was specified.');
  };
  const grouped = grouping(
    idOf,
    outputFields(
      asDoc(output) ?? fail(40196, `The $bucket 'output' field must be an object, but found type: ${typeName(output)}`),
      variables,
    ),
  );
  const sorted = sort({ _id: 1 }, variables, compile);
  return (source, run: Run) => sorted(grouped(source, run), run);
};
