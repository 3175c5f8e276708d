import { Long } from 'bson';
import { CommandError } from '../errors.ts';
import { environment, replaceAt } from './aggregate-stages.ts';
import type { StageCompiler } from './aggregate-types.ts';
import { compileExpression } from './expression.ts';
import { encodeKey } from './keys.ts';
import { MemoryBudget } from './memory-budget.ts';
import { splitPath } from './path.ts';
import { drained, PAUSE } from './pause.ts';
import { asDoc, type Doc, isDoc, setField, wholeNumber } from './types.ts';

const FIELDS = [
  'from',
  'startWith',
  'connectFromField',
  'connectToField',
  'as',
  'maxDepth',
  'depthField',
  'restrictSearchWithMatch',
];

/** `$graphLookup`: collects every reachable document once, with its distance in `depthField` if requested. */
export const graphLookup: StageCompiler = (operand, variables) => {
  const spec = asDoc(operand) ?? fail('FailedToParse', 'the $graphLookup stage specification must be an object');
  const unknown = Object.keys(spec).find((name) => !FIELDS.includes(name));
  if (unknown !== undefined) return fail(40104, `Unknown argument to $graphLookup: ${unknown}`);
  const [from, connectTo, as] = [text(spec, 'from'), text(spec, 'connectToField'), splitPath(text(spec, 'as'))];
  const startWith = compileExpression(spec.startWith ?? fail(40105, missing('startWith')), variables);
  const connectFrom = compileExpression(`$${text(spec, 'connectFromField')}`);
  const maxDepth = spec.maxDepth === undefined ? Number.POSITIVE_INFINITY : Number(wholeNumber(spec.maxDepth) ?? -1n);
  if (maxDepth < 0) return fail(40101, '$graphLookup requires a nonnegative maxDepth');
  const depthField = spec.depthField === undefined ? undefined : text(spec, 'depthField');
  const restriction = spec.restrictSearchWithMatch;
  if (restriction !== undefined && !isDoc(restriction))
    return fail(40185, '$graphLookup restrictSearchWithMatch must be an object');
  return function* (source, run) {
    for (const doc of source) {
      if (doc === PAUSE) {
        yield PAUSE;
        continue;
      }
      const budget = new MemoryBudget('$graphLookup');
      const found = new Map<string, Doc>();
      const asked = new Set<string>();
      let frontier = valuesOf(startWith(environment(doc, run)) ?? null);
      for (let depth = 0; depth <= maxDepth; depth++) {
        const values = frontier.filter((value) => isNew(asked, value));
        if (values.length === 0) break;
        frontier = [];
        const filter = { [connectTo]: { $in: values } };
        yield* drained(run.env.lookup(from, restriction ? { $and: [filter, restriction] } : filter), (reached) => {
          const id = keyOf(reached._id);
          if (found.has(id)) return;
          budget.take(reached);
          found.set(id, depthField === undefined ? reached : withDepth(reached, depthField, depth));
          frontier.push(...valuesOf(connectFrom(environment(reached, run))));
        });
      }
      yield replaceAt(doc, as, [...found.values()]);
    }
  };
};

function withDepth(doc: Doc, field: string, depth: number): Doc {
  const copy = { ...doc };
  setField(copy, field, Long.fromNumber(depth));
  return copy;
}

function valuesOf(value: unknown): unknown[] {
  if (value === undefined) return [];
  return Array.isArray(value) ? value.flat() : [value];
}

function isNew(asked: Set<string>, value: unknown): boolean {
  const key = keyOf(value);
  if (asked.has(key)) return false;
  asked.add(key);
  return true;
}

function keyOf(value: unknown): string {
  return Buffer.from(encodeKey([value], [1])).toString('latin1');
}

function text(spec: Doc, name: string): string {
  const value = spec[name];
  if (typeof value === 'string' && value !== '') return value;
  return value === undefined
    ? fail(40105, missing(name))
    : fail(40103, `expected a string as the value of $graphLookup's ${name}`);
}

function missing(name: string): string {
  return `$graphLookup requires '${name}' to be specified`;
}

function fail(code: number | 'FailedToParse', message: string): never {
  throw new CommandError(code, message);
}
