import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { bench, EXIT } from '../../../scripts/bench/main.ts';

let folder: string;
let written: string[];
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'record-'));
  written = [];
  writeFileSync(
    join(folder, 'alpha.bench.ts'),
    `export const benchmark = {
      name: 'alpha', about: 'synthetic', answers: 'incomparable', repeats: 3, warmups: 0,
      sides: [
        { name: 'ours', run: () => ({ operations: 2000, seconds: 1, latencies: { read: [5] }, counts: { 'a|b': 2 } }) },
        { name: 'stock', run: () => ({ operations: 800, seconds: 1, latencies: { read: [10] }, counts: { 'a|b': 3 } }) },
      ],
    };`,
  );
  writeFileSync(
    join(folder, 'alone.bench.ts'),
    `export const benchmark = {
      name: 'alone', about: 'synthetic', answers: 'incomparable', repeats: 1, warmups: 0,
      sides: [{ name: 'ours', run: () => ({ operations: 12.345, seconds: 1 }) }],
    };`,
  );
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const figures = () => join(folder, 'figures.md');
const run = (...args: string[]) =>
  bench(args, {
    folder,
    results: join(folder, 'results'),
    figures: figures(),
    write: (text) => void written.push(text),
    machine: { collectGarbage: () => {}, calibrate: () => 10 },
  });
const today = new Date().toISOString().slice(0, 10);

it('--record replaces the table of the bench, and nothing else', async () => {
  const place = (name: string, table: string) =>
    `## ${name}\n\n<!-- bench ${name} -->\n\n${table}\n<!-- end of ${name} -->\n`;
  const others = place('alpha-2', '| of another |\n');
  writeFileSync(figures(), `Before.\n${place('alpha', '| old |\n')}${others}${place('alone', '')}After.\n`);
  expect(await run('alpha', '--record')).toBe(EXIT.reliable);
  expect(await run('alone', '--record', '--quick')).toBe(EXIT.reliable);
  const table = [
    '| what | ours | stock | ratio | date | commit |',
    '|---|---|---|---|---|---|',
    `| throughput | 2000/s | 800/s | 2.5 | ${today} | none, 3 repeats |`,
    `| read p50 | 5 ms | 10 ms | 2 | ${today} | none, 3 repeats |`,
    `| read p99 | 5 ms | 10 ms | 2 | ${today} | none, 3 repeats |`,
    `| a\\|b | 2 | 3 | 1.5 | ${today} | none, 3 repeats |\n`,
  ].join('\n');
  const alone = `| what | ours | date | commit |\n|---|---|---|---|\n| throughput | 12.3/s | ${today} | none, 3 repeats, quick |\n`;
  expect(readFileSync(figures(), 'utf8')).toBe(
    `Before.\n${place('alpha', table)}${others}${place('alone', alone)}After.\n`,
  );
});

it('a run without --record, and one of a bench that has no place, leave the document as it is', async () => {
  writeFileSync(figures(), '<!-- bench alpha -->\n');
  await run('alpha');
  expect(readFileSync(figures(), 'utf8')).toBe('<!-- bench alpha -->\n');
  expect(await run('alpha', '--record')).toBe(EXIT.failed);
  expect(written.join('')).toContain('docs/figures.md has no place for alpha');
  expect(readFileSync(figures(), 'utf8')).toBe('<!-- bench alpha -->\n');
  expect(await run('alpha', '--record', '--profile')).toBe(EXIT.usage);
});
