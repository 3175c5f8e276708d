import { CommandError } from '../errors.ts';
import { compareValues } from './compare.ts';
import { type Expression, isNullish, namedOperands, type Operator, operandsOf, operator } from './expression-types.ts';
import { type Doc, isDoc, isTruthy } from './types.ts';

const comparison = (holds: (order: number) => unknown): Operator =>
  operator(2, 2, ([a, b]) => holds(compareValues(a, b)));

/** Operators for comparison across all types, logic, conditions, literals and variables. */
export const LOGIC: Readonly<Record<string, Operator>> = {
  $eq: comparison((order) => order === 0),
  $ne: comparison((order) => order !== 0),
  $gt: comparison((order) => order > 0),
  $gte: comparison((order) => order >= 0),
  $lt: comparison((order) => order < 0),
  $lte: comparison((order) => order <= 0),
  $cmp: comparison(Math.sign),
  $and: lazy((operands) => (environment) => operands.every((operand) => isTruthy(operand(environment)))),
  $or: lazy((operands) => (environment) => operands.some((operand) => isTruthy(operand(environment)))),
  $not: operator(1, 1, ([value]) => !isTruthy(value)),
  $ifNull: (operand, compile, name) => {
    const operands = operandsOf(operand, 2, Number.POSITIVE_INFINITY, name).map((spec) => compile(spec));
    return (environment) => {
      let value: unknown;
      for (const expression of operands) {
        value = expression(environment);
        if (!isNullish(value)) return value;
      }
      return value;
    };
  },
  $cond: (operand, compile, name) => {
    const [test, yes, no] = conditionParts(operand, name).map((spec) => compile(spec)) as [
      Expression,
      Expression,
      Expression,
    ];
    return (environment) => (isTruthy(test(environment)) ? yes : no)(environment);
  },
  $switch: (operand, compile, name) => {
    const { branches, default: otherwise, ...rest } = isDoc(operand) ? operand : ({ branches: undefined } as Doc);
    const unknown = Object.keys(rest)[0];
    if (unknown !== undefined) throw new CommandError(40067, `${name} found an unknown argument: ${unknown}`);
    if (!Array.isArray(branches)) throw new CommandError(40061, `${name} expected an array for 'branches'`);
    if (branches.length === 0) throw new CommandError(40068, `${name} requires at least one branch.`);
    const cases = branches.map((branch) => {
      const { case: test, then } = namedOperands(branch, name, ['case', 'then'], ['case', 'then'], 40062);
      return { test: compile(test), result: compile(then) };
    });
    const fallback = isDoc(operand) && Object.hasOwn(operand, 'default') ? compile(otherwise) : undefined;
    return (environment) => {
      const taken = cases.find(({ test }) => isTruthy(test(environment)))?.result ?? fallback;
      if (taken === undefined) {
        throw new CommandError(
          40066,
          `${name} could not find a matching branch for an input, and no default was specified.`,
        );
      }
      return taken(environment);
    };
  },
  $literal: (operand) => () => operand,
  $let: (operand, compile, name) => {
    const { vars, in: body } = namedOperands(operand, name, ['vars', 'in'], ['vars', 'in'], 16875);
    if (!isDoc(vars)) throw new CommandError(16876, `${name} needs an object of 'vars'`);
    const values = Object.keys(vars).map((variable): [string, Expression] => [
      checkedName(variable),
      compile(vars[variable]),
    ]);
    const inner = compile(body, Object.keys(vars));
    return (environment) => {
      const variables = { ...environment.variables };
      for (const [variable, value] of values) variables[variable] = value(environment);
      return inner({ ...environment, variables });
    };
  },
};

function lazy(make: (operands: Expression[]) => Expression): Operator {
  return (operand, compile) => make((Array.isArray(operand) ? operand : [operand]).map((spec) => compile(spec)));
}

function conditionParts(operand: unknown, name: string): unknown[] {
  if (!isDoc(operand)) return operandsOf(operand, 3, 3, name);
  const unknown = Object.keys(operand).find((field) => !['if', 'then', 'else'].includes(field));
  if (unknown !== undefined) throw new CommandError(17083, `Unrecognized parameter to ${name}: ${unknown}`);
  return (['if', 'then', 'else'] as const).map((field, i) => {
    if (!Object.hasOwn(operand, field)) throw new CommandError(17080 + i, `Missing '${field}' parameter to ${name}`);
    return operand[field];
  });
}

/**
 * Checks the name of a user variable.
 * @throws CommandError FailedToParse unless it starts with a lower-case letter.
 */
export function checkedName(name: string): string {
  if (!/^[a-z\u0080-\uffff][A-Za-z0-9_\u0080-\uffff]*$/.test(name) && name !== 'CURRENT') {
    throw new CommandError('FailedToParse', `'${name}' starts with an invalid character for a user variable name`);
  }
  return name;
}
