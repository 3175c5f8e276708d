import { CommandError } from '../errors.ts';
import type { StageCompiler } from './aggregate-types.ts';
import { MemoryBudget } from './memory-budget.ts';
import { drained } from './pause.ts';
import { asDoc, type Doc, wholeNumber } from './types.ts';

/** `$sample`: yields `size` documents in random order; every set of that size is equally likely. */
export const sample: StageCompiler = (operand) => {
  const spec = asDoc(operand);
  if (!spec) throw new CommandError(28745, 'the $sample stage specification must be an object');
  const unknown = Object.keys(spec).find((name) => name !== 'size');
  if (unknown !== undefined) throw new CommandError(28748, `unrecognized option to $sample: ${unknown}`);
  if (spec.size === undefined) throw new CommandError(28749, '$sample stage must specify a size');
  const size = Number(wholeNumber(spec.size) ?? -1n);
  if (size <= 0) throw new CommandError(28747, 'size argument to $sample must be a positive integer');
  return function* (source) {
    const budget = new MemoryBudget('$sample');
    const chosen: Doc[] = [];
    let seen = 0;
    yield* drained(source, (doc) => {
      seen++;
      if (chosen.length < size) {
        budget.take(doc);
        chosen.push(doc);
        return;
      }
      const place = Math.floor(Math.random() * seen);
      if (place >= size) return;
      budget.release(chosen[place] as Doc);
      budget.take(doc);
      chosen[place] = doc;
    });
    for (let left = chosen.length; left > 0; left--) {
      const [doc] = chosen.splice(Math.floor(Math.random() * left), 1);
      if (doc) yield doc;
    }
  };
};
