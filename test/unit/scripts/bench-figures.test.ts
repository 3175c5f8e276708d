import { readdirSync, readFileSync } from 'node:fs';
import { expect, it } from 'vitest';

const FIGURES = readFileSync(new URL('../../../docs/figures.md', import.meta.url), 'utf8');
/** The tables that `npm run bench NAME -- --record` writes. */
const TABLES = [...FIGURES.matchAll(/^<!-- bench (\S+) -->\n([^<]*)<!-- end of \1 -->$/gm)];

it.each(TABLES.map(([, name = '', table = '']) => ({ name, table })))(
  'the table of the bench $name is of one run',
  ({ table }) => {
    const [, , ...rows] = table
      .trim()
      .split('\n')
      .map((row) => row.split('|').map((cell) => cell.trim()));
    expect(rows.length).toBeGreaterThan(0);
    const [[date, commit] = []] = rows.map((cells) => cells.slice(-3, -1));
    expect(date).toMatch(/^\d{4}-\d{2}-\d{2}$/);
    expect(commit).toMatch(/^[0-9a-f]{7}, \d+ repeats?(, noisy)?$/);
    expect(rows.map((cells) => cells.slice(-3, -1))).toEqual(rows.map(() => [date, commit]));
    const names = rows.map(([, what]) => what);
    expect(new Set(names).size).toBe(names.length);
  },
);

it('docs/figures.md has one place for each bench', () => {
  const benches = readdirSync(new URL('../../../scripts/bench', import.meta.url)).flatMap(
    (file) => /^(.+)\.bench\.ts$/.exec(file)?.[1] ?? [],
  );
  expect(TABLES.map(([, name]) => name).toSorted()).toEqual(benches.toSorted());
});
