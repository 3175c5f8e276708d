import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import { formatProfiles } from './fold-profiles.ts';
import { type Benchmark, type Machine, type RunOptions, runBenchmark } from './harness.ts';
import { recordOutcome } from './record.ts';
import { formatOutcome, observeCircumstances, writeOutcome } from './report.ts';

/** Exit codes. */
export const EXIT = { reliable: 0, failed: 1, usage: 2, noisy: 3 } as const;

const USAGE =
  'usage: npm run bench [NAME…] [-- --quick] [-- --repeats N] [-- --lines N] [-- --most N] [-- --profile | --record]';

/**
 * `npm run bench`: runs the named benchmarks of `folder` one after the other, or all of them. `documents` also selects
 * `documents-pdf`. Writes tables with `write` and one JSON file for each into `results`. With `--profile`, only our
 * side runs, and CPU profiles of its threads are written into a folder of `results`, with a table of their self times.
 * With `--record`, the bench's table in the document `figures` is replaced. Resolves to the exit code; a failure takes
 * precedence over noise.
 * @param options.machine replaces this machine in tests
 */
export async function bench(
  args: readonly string[],
  {
    folder,
    results,
    figures,
    write,
    machine,
  }: { folder: string; results: string; figures: string; write: (text: string) => void; machine?: Machine },
): Promise<number> {
  const known = readdirSync(folder)
    .filter((file) => file.endsWith('.bench.ts'))
    .map((file) => file.slice(0, -'.bench.ts'.length))
    .sort();
  const request = readArguments(args, known);
  if ('problem' in request) {
    write(`${request.problem}\n${USAGE}\nbenchmarks: ${known.join(', ') || 'none'}\n`);
    return EXIT.usage;
  }
  let exit: number = EXIT.reliable;
  for (const name of request.names) {
    try {
      const benchmark = await load(folder, name);
      const circumstances = observeCircumstances(folder);
      const profileFolder = request.profile ? join(results, `${name}-profile-${Date.now()}`) : null;
      const outcome = await runBenchmark(benchmark, { ...request.options, profileFolder, ...(machine && { machine }) });
      write(formatOutcome(outcome, circumstances));
      const task = { profile: request.profile, lines: request.options.lines ?? null };
      write(`written: ${writeOutcome(results, outcome, circumstances, task)}\n\n`);
      if (profileFolder !== null)
        write(`${formatProfiles(profileFolder) || `${name} writes no profiles\n`}written: ${profileFolder}\n\n`);
      if (request.record) writeFileSync(figures, recordOutcome(readFileSync(figures, 'utf8'), outcome, circumstances));
      if (outcome.noise.noisy && exit === EXIT.reliable) exit = EXIT.noisy;
    } catch (error) {
      write(`${name} FAILED: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n\n`);
      exit = EXIT.failed;
    }
  }
  return exit;
}

type Request =
  | { names: readonly string[]; options: RunOptions; profile: boolean; record: boolean }
  | { problem: string };

/** Options that take a whole number, and the highest one. */
const NUMBERS = { repeats: 9999, lines: 1000, most: 10_000_000 } as const;

function readArguments(args: readonly string[], known: readonly string[]): Request {
  try {
    const { values, positionals } = parseArgs({
      args: [...args],
      options: {
        quick: { type: 'boolean', default: false },
        profile: { type: 'boolean', default: false },
        record: { type: 'boolean', default: false },
        repeats: { type: 'string' },
        lines: { type: 'string' },
        most: { type: 'string' },
      },
      allowPositionals: true,
    });
    const meant = (name: string) => known.filter((each) => each === name || each.startsWith(`${name}-`));
    const unknown = positionals.find((name) => meant(name).length === 0);
    if (unknown !== undefined) return { problem: `no benchmark is called ${unknown}` };
    const options: RunOptions = { quick: values.quick };
    for (const [name, most] of Object.entries(NUMBERS)) {
      const text = values[name as keyof typeof NUMBERS];
      if (text === undefined) continue;
      if (!/^[1-9]\d{0,7}$/.test(text) || Number(text) > most)
        return { problem: `--${name} takes a number from 1 to ${most}, not ${text}` };
      options[name as keyof typeof NUMBERS] = Number(text);
    }
    if (values.profile && values.record) return { problem: 'a run with --profile cannot be recorded' };
    const names = positionals.length > 0 ? [...new Set(positionals.flatMap(meant))] : known;
    return { names, options, profile: values.profile, record: values.record };
  } catch (error) {
    return { problem: (error as Error).message };
  }
}

async function load(folder: string, name: string): Promise<Benchmark> {
  const file = join(folder, `${name}.bench.ts`);
  const { benchmark } = (await import(pathToFileURL(file).href)) as { benchmark?: Benchmark };
  if (benchmark?.name !== name) throw new Error(`${file} must export a benchmark named ${name}`);
  return benchmark;
}

if (import.meta.main) {
  process.exitCode = await bench(process.argv.slice(2), {
    folder: import.meta.dirname,
    results: fileURLToPath(new URL('../../bench-results/', import.meta.url)),
    figures: fileURLToPath(new URL('../../docs/figures.md', import.meta.url)),
    write: (text) => process.stdout.write(text),
  });
}
