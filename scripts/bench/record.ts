import type { Figure, Outcome, Unit } from './harness.ts';
import type { Circumstances } from './report.ts';
import { formatNumber } from './statistics.ts';

/**
 * Replaces the table of a bench in docs/figures.md, which stands between two comments: `<!-- bench NAME -->` and
 * `<!-- end of NAME -->`. A row has the medians of all repeats.
 * @returns the changed document
 * @throws Error if the document has no place for the bench
 */
export function recordOutcome(document: string, outcome: Outcome, circumstances: Circumstances): string {
  const [begin, end] = [`<!-- bench ${outcome.name} -->\n`, `<!-- end of ${outcome.name} -->`];
  const from = document.indexOf(begin) + begin.length;
  const to = document.indexOf(end, from);
  if (from < begin.length || to < 0)
    throw new Error(`docs/figures.md has no place for ${outcome.name}: ${begin.trim()} ${end}`);
  return `${document.slice(0, from)}\n${tableOf(outcome, circumstances)}\n${document.slice(to)}`;
}

function tableOf({ figures, repeats, quick, noise }: Outcome, { date, commit, dirty }: Circumstances): string {
  const sides = figures[0]?.sides.map(({ side }) => side) ?? [];
  const hasPeers = sides.length > 1;
  const conditions = [
    `${commit?.slice(0, 7) ?? 'none'}${dirty ? ' with changes' : ''}`,
    `${repeats} repeat${repeats === 1 ? '' : 's'}`,
    ...(quick ? ['quick'] : []),
    ...(noise.noisy ? ['noisy'] : []),
  ];
  const rows = figures.map((figure) => [
    figure.name,
    ...figure.sides.map(({ median }) => quantity(median, figure.unit)),
    ...(hasPeers ? [ratiosOf(figure)] : []),
    date.slice(0, 10),
    conditions.join(', '),
  ]);
  const head = ['what', ...sides, ...(hasPeers ? ['ratio'] : []), 'date', 'commit'];
  const [first = '', ...others] = [head, ...rows].map((cells) => `| ${cells.map(escaped).join(' | ')} |\n`);
  return `${first}${'|---'.repeat(head.length)}|\n${others.join('')}`;
}

const ratiosOf = ({ ratios }: Figure) => ratios.map(({ median }) => formatNumber(median)).join(' / ');

function quantity(value: number, unit: Unit): string {
  return `${formatNumber(value)}${unit === 'ops/s' ? '/s' : unit === 'ms' ? ' ms' : ''}`;
}

const escaped = (cell: string) => cell.replaceAll('|', '\\|');
