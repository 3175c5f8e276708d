import { Histogram, type OpenMetricsContentType, Registry } from 'prom-client';
import { isSampled, traceIdOf } from '../domain/tracing.ts';

/** Observes a duration. @param traceparent of a trace that shows it, if there is one */
export type Timing<Label extends string> = (
  labels: Readonly<Partial<Record<Label, string | number>>>,
  seconds: number,
  traceparent?: string | null,
) => void;

export interface TimingOptions<Label extends string> {
  readonly name: string;
  readonly help: string;
  readonly labelNames: readonly Label[];
  /** Seconds. */
  readonly buckets: readonly number[];
  readonly registers: Registry[];
  /** Whether the registers take exemplars; see {@link openMetricsRegistry}. */
  readonly exemplars: boolean;
}

/** A histogram of durations. Where exemplars are taken, each bucket names the last sampled trace in it. */
export function timing<Label extends string>({
  exemplars,
  labelNames,
  buckets,
  ...options
}: TimingOptions<Label>): Timing<Label> {
  const histogram = new Histogram<Label>({
    ...options,
    ...{ labelNames: [...labelNames], buckets: [...buckets], enableExemplars: exemplars },
  });
  if (!exemplars) return (labels, seconds) => histogram.observe(labels, seconds);
  return (labels, value, traceparent = null) => {
    const named = traceparent !== null && isSampled(traceparent);
    // The types of prom-client know the names of the metric's own labels only.
    const exemplarLabels = (named ? { trace_id: traceIdOf(traceparent) } : {}) as typeof labels;
    histogram.observe({ labels, value, exemplarLabels });
  };
}

/** A registry that shows exemplars: in Prometheus' own format there are none. */
export function openMetricsRegistry(): Registry {
  const registry = new Registry<OpenMetricsContentType>();
  registry.setContentType(Registry.OPENMETRICS_CONTENT_TYPE);
  // Their types differ in the text of the content type only.
  return registry as unknown as Registry;
}
