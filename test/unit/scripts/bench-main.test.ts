import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { Machine } from '../../../scripts/bench/harness.ts';
import { bench, EXIT } from '../../../scripts/bench/main.ts';

/** Source of a benchmark module whose peer measures the given throughput in each repeat. */
const module = (name: string, peer: string, answers = 'incomparable'): string => `
  let calls = 0;
  export const benchmark = {
    name: '${name}', about: 'synthetic sides', answers: '${answers}', repeats: 5, warmups: 0,
    sides: [
      { name: 'fatoura', run: () => ({ operations: 200, seconds: 1, answer: 'same' }) },
      { name: 'stock', run: () => { const call = calls++; return { operations: ${peer}, seconds: 1, answer: 'same' }; } },
    ],
  };`;

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'bench-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

interface Ran {
  readonly exit: number;
  readonly output: string;
  readonly files: readonly string[];
}

/** A machine without noise. */
const CALM: Machine = { collectGarbage: () => {}, calibrate: () => 10 };

const run = (...args: string[]): Promise<Ran> => runOn(CALM, ...args);

/** @param machine undefined for the real one */
async function runOn(machine: Machine | undefined, ...args: string[]): Promise<Ran> {
  const written: string[] = [];
  const results = join(folder, 'results');
  const write = (text: string) => void written.push(text);
  const exit = await bench(args, {
    folder,
    results,
    figures: join(folder, 'figures.md'),
    write,
    ...(machine && { machine }),
  });
  const files = readdirSync(folder).includes('results') ? readdirSync(results) : [];
  return { exit, output: written.join(''), files: files.map((file) => join(results, file)) };
}
const write = (name: string, text: string): void => writeFileSync(join(folder, `${name}.bench.ts`), text);

it('prints the table and writes the figures as JSON', async () => {
  write('alpha', module('alpha', '100', 'equal'));
  const { exit, output, files } = await runOn(undefined, 'alpha');
  // The machine that runs this test may be busy, so its calibration decides between these two.
  expect([EXIT.reliable, EXIT.noisy]).toContain(exit);
  expect(output).toMatch(/^alpha: synthetic sides$/m);
  expect(output).toMatch(/^ {2}fatoura +200 +200 +200 +0 %$/m);
  expect(output).toMatch(/^ {2}stock +100 +100 +100 +0 %$/m);
  expect(output).toMatch(/^ {2}ours to stock +2 +2 +2 +0 %$/m);
  expect(output).toContain('the same answers, byte for byte');
  expect(files).toEqual([expect.stringMatching(/alpha-\d{8}T\d{6}Z\.json$/)]);
  const json = JSON.parse(readFileSync(files[0] as string, 'utf8'));
  expect(json).toMatchObject({
    name: 'alpha',
    node: process.version,
    commit: null,
    machine: { cores: expect.any(Number), cpu: expect.any(String) },
    figures: [{ name: 'throughput', ratios: [{ peer: 'stock', median: 2 }] }],
    noise: { noisy: exit === EXIT.noisy },
  });
});

it('reports NOISY, with its own exit code and a flag in the JSON', async () => {
  write('wild', module('wild', '[100, 300, 50, 200, 80][call]'));
  const { exit, output, files } = await run('wild');
  expect(exit).toBe(EXIT.noisy);
  expect(output).toMatch(/^NOISY: .*stock, throughput, varies by \d+ %/m);
  expect(JSON.parse(readFileSync(files[0] as string, 'utf8')).noise.noisy).toBe(true);
});

it('runs all without a name; a failure takes precedence over noise', async () => {
  write('broken', `export const benchmark = { name: 'another' };`);
  write('wild', module('wild', '[100, 300, 50, 200, 80][call]'));
  const { exit, output, files } = await run();
  expect(exit).toBe(EXIT.failed);
  expect(output).toMatch(/^broken FAILED: .*must export a benchmark named broken/m);
  expect(output).toMatch(/^NOISY: /m);
  expect(files).toHaveLength(1);
});

it('a name prefix selects all benchmarks of that group', async () => {
  for (const name of ['alpha-one', 'alpha-two', 'alphabet']) write(name, module(name, '100'));
  const { output } = await run('alpha', '--quick');
  expect(output).toMatch(/^alpha-one: /m);
  expect(output).toMatch(/^alpha-two: /m);
  expect(output).not.toMatch(/^alphabet: /m);
});

it.each([
  [['beta'], 'no benchmark is called beta'],
  [['--repeats', '0'], '--repeats takes a number'],
  [['--repeats', 'x'], '--repeats takes a number'],
  [['--most', '0'], '--most takes a number from 1 to 10000000'],
  [['--lines', '1001'], '--lines takes a number from 1 to 1000'],
  [['--fast'], "Unknown option '--fast'"],
])('prints the usage when called with %j', async (args, problem) => {
  write('alpha', module('alpha', '100'));
  const { exit, output, files } = await run(...args);
  expect(exit).toBe(EXIT.usage);
  expect(output).toContain(problem);
  expect(output).toContain('benchmarks: alpha');
  expect(files).toEqual([]);
});

it('a group name selects all its benchmarks, and none runs twice', async () => {
  for (const name of ['alpha', 'alpha-beta', 'alphabet']) write(name, module(name, '100'));
  const { output } = await run('alpha', 'alpha-beta', '--quick');
  expect(output.match(/^[\w-]+: synthetic sides$/gm)).toEqual([
    'alpha: synthetic sides',
    'alpha-beta: synthetic sides',
  ]);
});

it('passes --quick and --repeats to the benchmark', async () => {
  write('alpha', module('alpha', '100'));
  const { output } = await run('alpha', '--quick', '--repeats', '4');
  expect(output).toMatch(/4 repeats after 1 warm-ups/);
});

it('passes --lines to the sides', async () => {
  const side = `{ name: 'ours', run: ({ lines }) => ({ counts: { lines } }) }`;
  write(
    'alpha',
    `export const benchmark = { name: 'alpha', about: 'lines', answers: 'incomparable', sides: [${side}] };`,
  );
  expect((await run('alpha', '--quick')).output).toMatch(/^ {2}ours +5 +5 +5/m);
  const { output, files } = await run('alpha', '--quick', '--lines', '40');
  expect(output).toMatch(/^ {2}ours +40 +40 +40/m);
  expect(JSON.parse(readFileSync(files.toSorted().at(-1) as string, 'utf8'))).toMatchObject({
    profile: false,
    lines: 40,
  });
});

it('--profile runs our side alone, once, and tells where the profiles are', async () => {
  write('alpha', module('alpha', '100'));
  const { output, files } = await run('alpha', '--profile');
  expect(output).toMatch(/1 repeats after 0 warm-ups/);
  expect(output).toMatch(/^ {2}fatoura +200/m);
  expect(output).not.toContain('stock');
  expect(output).toContain('alpha writes no profiles');
  expect(JSON.parse(readFileSync(files[0] as string, 'utf8'))).toMatchObject({ profile: true, lines: null });
});
