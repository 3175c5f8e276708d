import { beforeAll, expect, it } from 'vitest';
import { everyMetric, type MetricName } from '../../../scripts/check/metric-names.ts';
import { checkMonitoring, type MonitoringFiles, projectMonitoring } from '../../../scripts/check-monitoring.ts';

const files = projectMonitoring();
let known: MetricName[];

beforeAll(async () => {
  known = await everyMetric();
});

const problems = (changed: Partial<MonitoringFiles>) => checkMonitoring({ ...files, ...changed }, known);

it('finds nothing in this project, which has the metrics of every part', () => {
  expect(problems({})).toEqual([]);
  expect(known.flatMap(({ series }) => series)).toEqual(
    expect.arrayContaining([
      'fatoura_http_request_duration_seconds_bucket',
      'fatoura_invoice_oldest_due_seconds',
      'fatoura_authority_stranded',
      'fatoura_spans_total',
      'nodejs_eventloop_lag_p99_seconds',
    ]),
  );
});

it.each<[string, (text: MonitoringFiles) => Partial<MonitoringFiles>, string]>([
  [
    'a metric of a rule that does not exist',
    ({ rules }) => ({ rules: rules.replace('max(fatoura_authority_paused)', 'max(fatoura_authority_pause)') }),
    'FatouraAuthorityPaused: there is no metric fatoura_authority_pause',
  ],
  [
    'a histogram without the ending of a series',
    ({ rules }) => ({
      rules: rules.replace('fatoura_authority_call_duration_seconds_bucket', 'fatoura_authority_call_duration_seconds'),
    }),
    'FatouraAuthoritySlow: there is no metric fatoura_authority_call_duration_seconds',
  ],
  [
    'a rule that is not PromQL',
    ({ rules }) => ({
      rules: rules.replace('expr: max(fatoura_authority_paused) > 0', 'expr: max(fatoura_authority_paused > 0'),
    }),
    'FatouraAuthorityPaused: not valid PromQL: max(fatoura_authority_paused > 0',
  ],
  [
    'a severity that nobody routes',
    ({ rules }) => ({ rules: rules.replace('{ severity: page }', '{ severity: critical }') }),
    'FatouraDown: its severity must be page or ticket',
  ],
  [
    'an alert without a section',
    ({ runbook }) => ({ runbook: runbook.replace('## FatouraPdfsLate', '## FatouraPdfs') }),
    'FatouraPdfsLate: docs/runbook.md has no section for it',
  ],
  [
    'a section without an alert',
    ({ runbook }) => ({ runbook: `${runbook}\n## FatouraGone\n\n- **Means**: x\n- **See**: x\n- **Do**: x\n` }),
    'docs/runbook.md: there is no alert FatouraGone',
  ],
  [
    'a section that does not say what to do',
    ({ runbook }) => ({ runbook: runbook.replace(/- \*\*Do\*\*: `authority resume`.*\n/, '') }),
    'docs/runbook.md: FatouraAuthorityPaused does not say "Do"',
  ],
  [
    'a metric of a panel that does not exist',
    ({ dashboard }) => ({ dashboard: dashboard.replace('fatoura_event_streams', 'fatoura_streams') }),
    'panel "Open event streams": there is no metric fatoura_streams',
  ],
  [
    'a metric that is not listed',
    ({ metrics }) => ({ metrics: metrics.replace('| `fatoura_thread_tasks`', '| fatoura_thread_tasks') }),
    'docs/metrics.md does not list fatoura_thread_tasks',
  ],
])('finds %s', (_, change, problem) => {
  expect(problems(change(files))).toContain(problem);
});
