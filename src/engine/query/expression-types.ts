import { type CodeName, CommandError } from '../errors.ts';
import type { Doc } from './types.ts';

/** What an expression is evaluated in. */
export interface Environment {
  root: unknown;
  now: Date;
  variables: Doc;
  /** What evaluating on this document has made so far, in bytes: see `spend`. */
  made: { bytes: number };
}

/** A compiled expression; undefined is MongoDB's missing. */
export type Expression = (environment: Environment) => unknown;

/** Compiles an operand, with further variables where the operator brings some. */
export type Compile = (spec: unknown, variables?: readonly string[]) => Expression;

/** Compiles an operator with its operand. */
export type Operator = (operand: unknown, compile: Compile, name: string) => Expression;

/**
 * An operator on values: `minimum` to `maximum` operands, all of them evaluated; a single one may be given without a list.
 * @throws CommandError 16020 or 28667 for another number of operands.
 */
export function operator(
  minimum: number,
  maximum: number,
  evaluate: (values: readonly unknown[], name: string, environment: Environment) => unknown,
): Operator {
  return (operand, compile, name) => {
    const operands = operandsOf(operand, minimum, maximum, name).map((spec) => compile(spec));
    const [first, second] = operands;
    if (operands.length === 1 && first !== undefined) {
      return (environment) => evaluate([first(environment)], name, environment);
    }
    if (operands.length === 2 && first !== undefined && second !== undefined) {
      return (environment) => evaluate([first(environment), second(environment)], name, environment);
    }
    return (environment) =>
      evaluate(
        operands.map((expression) => expression(environment)),
        name,
        environment,
      );
  };
}

/**
 * An operator on any number of operands, taken in order: the first that is null or missing makes it null, and those after it are not
 * evaluated.
 */
export function folding<T>(
  start: () => T,
  step: (sofar: T, value: unknown, name: string) => T,
  finish: (sofar: T) => unknown,
): Operator {
  return (operand, compile, name) => {
    const operands = (Array.isArray(operand) ? operand : [operand]).map((spec) => compile(spec));
    return (environment) => {
      let sofar = start();
      for (const expression of operands) {
        const value = expression(environment);
        if (isNullish(value)) return null;
        sofar = step(sofar, value, name);
      }
      return finish(sofar);
    };
  };
}

/** The operands of an operator, as many as it takes. */
export function operandsOf(operand: unknown, minimum: number, maximum: number, name: string): unknown[] {
  const operands = Array.isArray(operand) ? operand : [operand];
  const count = operands.length;
  if (count >= minimum && count <= maximum) return operands;
  if (minimum === maximum) {
    throw new CommandError(16020, `Expression ${name} takes exactly ${minimum} arguments. ${count} were passed in.`);
  }
  throw new CommandError(
    28667,
    maximum === Number.POSITIVE_INFINITY
      ? `Expression ${name} takes at least ${minimum} arguments, but ${count} were passed in.`
      : `Expression ${name} takes at least ${minimum} arguments, and at most ${maximum}, but ${count} were passed in.`,
  );
}

/** Whether a value is null or missing, which most operators answer with null. */
export function isNullish(value: unknown): value is null | undefined {
  return value === null || value === undefined;
}

/**
 * The fields of an operand that must be a document of known fields.
 * @throws CommandError with `code` for another operand, an unknown field, or a required one that is absent.
 */
export function namedOperands(
  operand: unknown,
  name: string,
  fields: readonly string[],
  required: readonly string[],
  code: CodeName | number = 'FailedToParse',
): Doc {
  if (typeof operand !== 'object' || operand === null || Array.isArray(operand)) {
    throw new CommandError(code, `${name} only supports an object as its argument`);
  }
  const doc = operand as Doc;
  const unknown = Object.keys(doc).find((field) => !fields.includes(field));
  if (unknown !== undefined) throw new CommandError(code, `Unrecognized argument to ${name}: ${unknown}`);
  const absent = required.find((field) => !Object.hasOwn(doc, field));
  if (absent !== undefined) throw new CommandError(code, `Missing '${absent}' parameter to ${name}`);
  return doc;
}

/** The date at so many milliseconds of the epoch. @throws CommandError Overflow beyond what a date of this engine can hold. */
export function dateAt(milliseconds: number): Date {
  const date = new Date(milliseconds);
  if (Number.isNaN(date.getTime())) throw new CommandError('Overflow', `date out of range: ${milliseconds}`);
  return date;
}

/** Bytes that expressions on one document may make. */
const MADE_BYTES = 256 * 1024 * 1024;
/** What a place in an array costs, and a value of its own beside it. */
export const PLACE_BYTES = 8;
export const VALUE_BYTES = 32;

/** Counts what an expression makes, before or as it is made. @throws CommandError ExceededMemoryLimit beyond the bound. */
export function spend({ made }: Environment, bytes: number, name: string): void {
  made.bytes += bytes;
  if (made.bytes <= MADE_BYTES) return;
  throw new CommandError(
    'ExceededMemoryLimit',
    `${name} would use too much memory and cannot spill to disk. Memory limit: ${MADE_BYTES} bytes`,
  );
}

/** An environment with one more variable. */
export function withVariable(environment: Environment, name: string, value: unknown): Environment {
  return { ...environment, variables: { ...environment.variables, [name]: value } };
}
