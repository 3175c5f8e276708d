import { expect, test } from 'vitest';
import type { Parts, Statements } from '../../../src/engine/commands/command.ts';
import { beginningOf, runSome } from '../../../src/engine/commands/statements.ts';
import { PAUSE, type Steps } from '../../../src/engine/query/pause.ts';

/** Statements whose search has one pause. */
function statementsOf(count: number): Statements {
  function* search(): Steps<Parts> {
    yield PAUSE;
    return { count: 1, begin: () => () => ({ counts: { n: 1 } }) };
  }
  return { count, isOrdered: true, counts: { n: 0 }, begin: () => search };
}

test('a search learns whether a pause would record what has run', () => {
  const asked: boolean[] = [];
  const search = (hasRun: boolean) => {
    asked.push(hasRun);
    return hasRun;
  };
  const statements = statementsOf(2);
  const paused = runSome(statements, beginningOf(statements), { search, write: () => false });
  expect(asked).toEqual([false, true]);
  expect(paused).toMatchObject({ done: 1, counts: { n: 1 } });
  const over = runSome(statements, paused, { search, write: () => false });
  expect(over).toMatchObject({ done: 2, counts: { n: 2 } });
});
