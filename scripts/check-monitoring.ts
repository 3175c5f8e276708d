import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parser } from '@prometheus-io/lezer-promql';
import { parse as parseYaml } from 'yaml';
import { everyMetric, type MetricName } from './check/metric-names.ts';

/** Texts of the files for monitoring the service. */
export interface MonitoringFiles {
  /** deploy/prometheus/alerts.yml */
  readonly rules: string;
  /** deploy/grafana/fatoura.json */
  readonly dashboard: string;
  /** docs/runbook.md */
  readonly runbook: string;
  /** docs/metrics.md */
  readonly metrics: string;
}

interface Rule {
  readonly alert: string;
  readonly expr: string;
  readonly labels?: { readonly severity?: string };
  readonly annotations?: { readonly summary?: string; readonly runbook?: string };
}

interface Panel {
  readonly title: string;
  readonly panels?: readonly Panel[];
  readonly targets?: readonly { readonly expr: string }[];
}

/** The series that Prometheus itself records for a target. */
const OF_PROMETHEUS = ['up'];
const SEVERITIES = ['page', 'ticket'];

/**
 * Compares alert rules, dashboard, runbook and the list of metrics with one another and with the metrics of the
 * service.
 * @returns the problems
 */
export function checkMonitoring(files: MonitoringFiles, known: readonly MetricName[]): string[] {
  const series = new Set([...known.flatMap((each) => each.series), ...OF_PROMETHEUS]);
  const problems: string[] = [];

  function checkExpression(where: string, expression: string): void {
    const { isBroken, names } = readExpression(expression);
    if (isBroken) problems.push(`${where}: not valid PromQL: ${expression.trim()}`);
    for (const name of names) if (!series.has(name)) problems.push(`${where}: there is no metric ${name}`);
  }

  const { groups } = parseYaml(files.rules) as { readonly groups: readonly { readonly rules: readonly Rule[] }[] };
  const rules = groups.flatMap((group) => group.rules);
  for (const { alert, expr, labels, annotations } of rules) {
    checkExpression(alert, expr);
    if (!SEVERITIES.includes(labels?.severity ?? '')) problems.push(`${alert}: its severity must be page or ticket`);
    if (!annotations?.summary) problems.push(`${alert}: it has no summary`);
    if (annotations?.runbook !== `docs/runbook.md#${alert.toLowerCase()}`)
      problems.push(`${alert}: its runbook must be docs/runbook.md#${alert.toLowerCase()}`);
  }
  const sections = files.runbook
    .split(/^## /m)
    .slice(1)
    .map((text) => ({ name: text.slice(0, text.indexOf('\n')), text }));
  problems.push(
    ...differences(
      rules.map(({ alert }) => alert),
      sections.map(({ name }) => name),
      (name) => `${name}: docs/runbook.md has no section for it`,
      (name) => `docs/runbook.md: there is no alert ${name}`,
    ),
  );
  for (const { name, text } of sections)
    for (const part of ['Means', 'See', 'Do'])
      if (!text.includes(`- **${part}**:`)) problems.push(`docs/runbook.md: ${name} does not say "${part}"`);

  const { panels } = JSON.parse(files.dashboard) as { readonly panels: readonly Panel[] };
  for (const panel of panels.flatMap((each) => [each, ...(each.panels ?? [])]))
    for (const { expr } of panel.targets ?? [])
      checkExpression(`panel "${panel.title}"`, expr.replaceAll('$__rate_interval', '5m'));

  const own = known.map(({ name }) => name).filter((name) => name.startsWith('fatoura_'));
  const listed = [...files.metrics.matchAll(/^\| `(fatoura_\w+)`/gm)].map(([, name = '']) => name);
  problems.push(
    ...differences(
      own,
      listed,
      (name) => `docs/metrics.md does not list ${name}`,
      (name) => `docs/metrics.md: there is no metric ${name}`,
    ),
  );
  return problems;
}

/** Whether a PromQL expression has errors, and the metrics that it names. */
function readExpression(expression: string): { readonly isBroken: boolean; readonly names: readonly string[] } {
  const names: string[] = [];
  let isBroken = expression.trim() === '';
  parser.parse(expression).iterate({
    enter({ type, from, to }) {
      if (type.isError) isBroken = true;
      if (type.name === 'VectorSelector') {
        const [name] = /^[\w:]+/.exec(expression.slice(from, to)) ?? [];
        if (name) names.push(name);
      }
    },
  });
  return { isBroken, names };
}

/** Finds names that only one of two lists has, and names that a list has more than once. */
function differences(
  first: readonly string[],
  second: readonly string[],
  missing: (name: string) => string,
  extra: (name: string) => string,
): string[] {
  return [
    ...first.filter((name) => !second.includes(name)).map(missing),
    ...second.filter((name, index) => !first.includes(name) || second.indexOf(name) !== index).map(extra),
    ...first.filter((name, index) => first.indexOf(name) !== index).map((name) => `${name} is there twice`),
  ];
}

/** Reads the files of this project. */
export function projectMonitoring(): MonitoringFiles {
  const read = (path: string) => readFileSync(fileURLToPath(new URL(`../${path}`, import.meta.url)), 'utf8');
  return {
    rules: read('deploy/prometheus/alerts.yml'),
    dashboard: read('deploy/grafana/fatoura.json'),
    runbook: read('docs/runbook.md'),
    metrics: read('docs/metrics.md'),
  };
}

if (import.meta.main) {
  const problems = checkMonitoring(projectMonitoring(), await everyMetric());
  for (const problem of problems) console.log(problem);
  process.exitCode = problems.length > 0 ? 1 : 0;
}
