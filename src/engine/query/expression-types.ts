import { type CodeName, CommandError } from '../errors.ts';
import type { Doc } from './types.ts';

/** The input of an expression: the document, the time and the variables. */
export interface Environment {
  root: unknown;
  now: Date;
  variables: Doc;
  /** Bytes that the expressions have allocated for this document: see `countAllocation`. */
  allocated: { bytes: number };
}

/** A compiled expression; undefined stands for a missing value. */
export type Expression = (environment: Environment) => unknown;

/** Compiles an operand; `variables` are additional variable names that the operator defines. */
export type Compile = (spec: unknown, variables?: readonly string[]) => Expression;

/** Compiles an operator together with its operand. */
export type Operator = (operand: unknown, compile: Compile, name: string) => Expression;

/**
 * Makes an operator that evaluates all of its operands, `minimum` to `maximum` of them. A single operand may be given
 * without an array.
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
 * Makes an operator on any number of operands, evaluated in order. It returns null at the first operand that is null or
 * missing, and does not evaluate the others.
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

/** Checks the number of an operator's operands, and returns them. */
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

/** Whether a value is null or missing. Most operators return null for it. */
export function isNullish(value: unknown): value is null | undefined {
  return value === null || value === undefined;
}

/**
 * Returns the fields of an operand, which must be a document.
 * @throws CommandError with `code` for any other operand, an unknown field, or a missing required field.
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

/**
 * Converts milliseconds since the epoch to a date.
 * @throws CommandError Overflow if it is outside the range of JS dates.
 */
export function dateAt(milliseconds: number): Date {
  const date = new Date(milliseconds);
  if (Number.isNaN(date.getTime())) throw new CommandError('Overflow', `date out of range: ${milliseconds}`);
  return date;
}

/** Maximum number of bytes that expressions may allocate for one document. */
const MAX_ALLOCATED_BYTES = 256 * 1024 * 1024;
/** Bytes counted for an array slot. */
export const SLOT_BYTES = 8;
/** Bytes counted for a value that an array slot refers to. */
export const VALUE_BYTES = 32;

/**
 * Counts bytes that an expression is about to allocate or has allocated.
 * @throws CommandError ExceededMemoryLimit beyond `MAX_ALLOCATED_BYTES`.
 */
export function countAllocation({ allocated }: Environment, bytes: number, name: string): void {
  allocated.bytes += bytes;
  if (allocated.bytes <= MAX_ALLOCATED_BYTES) return;
  throw new CommandError(
    'ExceededMemoryLimit',
    `${name} would use too much memory and cannot spill to disk. Memory limit: ${MAX_ALLOCATED_BYTES} bytes`,
  );
}

/** The environment with one more variable. */
export function withVariable(environment: Environment, name: string, value: unknown): Environment {
  return { ...environment, variables: { ...environment.variables, [name]: value } };
}
