import { Gauge, Histogram, type OpenMetricsContentType, Registry } from 'prom-client';
import { isSampled, traceIdOf } from '../domain/tracing.ts';

/** Records a duration. @param traceparent of a trace of this operation, if there is one */
export type Timing<Label extends string> = (
  labels: Readonly<Partial<Record<Label, string | number>>>,
  seconds: number,
  traceparent?: string | null,
) => void;

/** The registries in which this process keeps its metrics. */
export interface Instruments {
  readonly registers: Registry[];
  /** Whether the registers take exemplars; see {@link openMetricsRegistry}. */
  readonly exemplars: boolean;
}

export interface TimingOptions<Label extends string> extends Instruments {
  readonly name: string;
  readonly help: string;
  readonly labelNames: readonly Label[];
  /** Upper bounds of the histogram's buckets, seconds. */
  readonly buckets: readonly number[];
}

/**
 * Creates a histogram of durations. Where exemplars are enabled, each bucket names the last sampled trace that fell
 * into it.
 */
export function timing<Label extends string>({
  exemplars,
  labelNames,
  buckets,
  ...options
}: TimingOptions<Label>): Timing<Label> {
  const histogram = new Histogram<Label>({
    ...options,
    labelNames: [...labelNames],
    buckets: [...buckets],
    enableExemplars: exemplars,
  });
  if (!exemplars) return (labels, seconds) => histogram.observe(labels, seconds);
  return (labels, value, traceparent = null) => {
    const named = traceparent !== null && isSampled(traceparent);
    // The cast is needed because prom-client's types know only the metric's own labels.
    const exemplarLabels = (named ? { trace_id: traceIdOf(traceparent) } : {}) as typeof labels;
    histogram.observe({ labels, value, exemplarLabels });
  };
}

/** Opens a registry in the OpenMetrics format, which can show exemplars; Prometheus' own format cannot. */
export function openMetricsRegistry(): Registry {
  const registry = new Registry<OpenMetricsContentType>();
  registry.setContentType(Registry.OPENMETRICS_CONTENT_TYPE);
  // The two registry types differ only in their content type.
  return registry as unknown as Registry;
}

/**
 * Exposes a gauge that is read from the store at each exposition. It is equal in every process, and absent during an
 * outage of the store.
 */
export function storedGauge(registers: Registry[], name: string, help: string, read: () => Promise<number>): void {
  new Gauge({
    name,
    help,
    registers,
    async collect() {
      this.reset();
      const value = await read().catch(() => null);
      if (value === null) this.remove();
      else this.set(value);
    },
  });
}

/**
 * Shares a read among several gauges: all gauges of one exposition get the same result. Null during an outage of the
 * store.
 * @param read costs a query
 */
export function shared<Result>(read: () => Promise<Result>): () => Promise<Result | null> {
  let pending: Promise<Result | null> | null = null;
  return () => {
    pending ??= read()
      .catch(() => null)
      .finally(() => {
        pending = null;
      });
    return pending;
  };
}

/** Returns the age of the oldest waiting item, seconds; 0 if nothing waits. @param oldest when it began to wait */
export function ageOf(oldest: Date | null): number {
  return oldest === null ? 0 : Math.max(0, (Date.now() - oldest.getTime()) / 1000);
}
