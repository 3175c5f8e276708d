import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { cpus, loadavg, release, totalmem } from 'node:os';
import { join } from 'node:path';
import type { Outcome } from './harness.ts';
import { percent } from './noise.ts';
import { formatNumber, type Summary } from './statistics.ts';

/** The environment of a run. */
export interface Circumstances {
  /** ISO 8601, UTC. */
  date: string;
  /** Null outside a git work tree; `dirty` means that there are uncommitted changes. */
  commit: string | null;
  dirty: boolean;
  node: string;
  machine: { cpu: string; cores: number; memoryGiB: number; system: string; loadAverage: number[] };
}

/** The task of a run, apart from its repeats. A figure has another meaning with other values. */
interface Task {
  /** Whether the threads were profiled, which takes time from them. */
  profile: boolean;
  /** Lines of each invoice; null: the usual number. */
  lines: number | null;
}

/** A result as it is written. */
export type WrittenResult = Circumstances & Task & Outcome;

/** Reads the state of the machine and of the work tree in `folder`. Recorded figures are no change of it. */
export function observeCircumstances(folder: string): Circumstances {
  const processors = cpus();
  return {
    date: new Date().toISOString(),
    commit: git(folder, 'rev-parse', 'HEAD'),
    dirty: (git(folder, 'status', '--porcelain', '--', ':/', ':(top,exclude)docs/figures.md') ?? '') !== '',
    node: process.version,
    machine: {
      cpu: processors[0]?.model.trim() ?? 'unknown',
      cores: processors.length,
      memoryGiB: Math.round(totalmem() / 2 ** 27) / 8,
      system: `${process.platform} ${process.arch} ${release()}`,
      loadAverage: loadavg(),
    },
  };
}

function git(cwd: string, ...args: string[]): string | null {
  try {
    return execFileSync('git', args, { cwd, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim();
  } catch {
    return null;
  }
}

/** Writes `<name>-<timestamp>.json` into `folder` and returns the file's path. */
export function writeOutcome(folder: string, outcome: Outcome, circumstances: Circumstances, task: Task): string {
  mkdirSync(folder, { recursive: true });
  const timestamp = circumstances.date.replaceAll(/[-:]|\.\d+/g, '');
  const file = join(folder, `${outcome.name}-${timestamp}.json`);
  const result: WrittenResult = { ...circumstances, ...task, ...outcome };
  writeFileSync(file, `${JSON.stringify(result, null, 2)}\n`);
  return file;
}

/**
 * Formats the run as text: a table for each figure with the ratios below it, and NOISY with the reasons if it was
 * disturbed.
 */
export function formatOutcome(outcome: Outcome, { commit, dirty, node, machine }: Circumstances): string {
  const { name, about, repeats, warmups, figures, answers, noise } = outcome;
  const labels = figures.flatMap(({ name: figure, unit, sides, ratios }) => [
    `${figure}, ${unit}`,
    ...sides.map(({ side }) => `  ${side}`),
    ...ratios.map(({ peer }) => `  ours to ${peer}`),
  ]);
  const width = Math.max(...labels.map((label) => label.length));
  const row = (label: string, cells: readonly string[]): string =>
    [label.padEnd(width), ...cells.map((cell) => cell.padStart(9))].join(' ').trimEnd();
  const cells = ({ min, median, max, spread }: Summary): string[] => [
    ...[min, median, max].map(formatNumber),
    percent(spread),
  ];
  const lines = [
    `${name}: ${about}`,
    `${commit?.slice(0, 10) ?? 'no commit'}${dirty ? ' with uncommitted changes' : ''}, Node ${node}, ${machine.cores} × ${machine.cpu}, ` +
      `${repeats} repeats after ${warmups} warm-ups`,
    row('', ['minimum', 'median', 'maximum', 'spread']),
  ];
  for (const { name: figure, unit, sides, ratios } of figures) {
    lines.push(`${figure}, ${unit}`, ...sides.map((side) => row(`  ${side.side}`, cells(side))));
    lines.push(...ratios.map((ratio) => row(`  ours to ${ratio.peer}`, cells(ratio))));
  }
  lines.push(...geometricMeans(figures));
  if (figures.some(({ ratios }) => ratios.length > 0))
    lines.push('A ratio is how many times better ours is, computed for each repeat.');
  if (answers === 'equal') lines.push('All sides returned the same answers, byte for byte.');
  if (noise.noisy) lines.push(`NOISY: ${noise.reasons.join('; ')}. These figures are not reliable.`);
  return `${lines.join('\n')}\n`;
}

/**
 * Computes the geometric mean of the median ratios for each peer, without p99 values, which depend on a few samples.
 */
function geometricMeans(figures: Outcome['figures']): string[] {
  const counted = figures.filter(({ name }) => !name.endsWith(' p99'));
  const peers = counted[0]?.ratios.map(({ peer }) => peer) ?? [];
  if (counted.length < 2) return [];
  return peers.map((peer, n) => {
    const logarithms = counted.map(({ ratios }) => Math.log(ratios[n]?.median ?? Number.NaN));
    const mean = Math.exp(logarithms.reduce((sum, each) => sum + each, 0) / logarithms.length);
    return `Geometric mean of ours to ${peer} over ${counted.length} figures: ${formatNumber(mean)}`;
  });
}
