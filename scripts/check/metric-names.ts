import { createMetrics } from '../../src/app/metrics.ts';

const never = () => Promise.reject(new Error('there is no store'));
const certificates = () => [];
const state = () => ({
  clockOffsetMs: null,
  token: { endsInMs: 0, renewals: 0, failures: 0 } as never,
});

/** The name of a metric, and its series. */
export interface MetricName {
  readonly name: string;
  readonly help: string;
  /** The names used in expressions: a histogram has three. */
  readonly series: readonly string[];
}

/** Returns every metric that a process can have, with and without a live authority and traces. */
export async function everyMetric(): Promise<MetricName[]> {
  const metrics = createMetrics();
  metrics.observed({ needingAttention: never, backlog: never, idleCount: never } as never);
  metrics.differences({ count: never });
  metrics.transmission({ read: never });
  metrics.workers({ count: async () => 0 });
  metrics.stranded(never);
  metrics.authority({ authority: { state }, certificates });
  metrics.webhooks({ backlog: never });
  metrics.connections(() => ({ open: 0, inUse: 0, waiting: 0, failures: 0, max: 0 }));
  metrics.spans(() => ({ exported: 0, lost: 0 }));
  metrics.claims(() => null);
  metrics.streams(() => 0);
  const { text } = await metrics.exposition();
  return [...text.matchAll(/^# HELP (\S+) (.*)\n# TYPE \S+ (\S+)$/gm)].map(([, name = '', help = '', type]) => ({
    name,
    help,
    series: type === 'histogram' ? ['_bucket', '_sum', '_count'].map((suffix) => name + suffix) : [name],
  }));
}
