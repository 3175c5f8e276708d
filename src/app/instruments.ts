import { Gauge, Histogram, type OpenMetricsContentType, Registry } from 'prom-client';
import { isSampled, traceIdOf } from '../domain/tracing.ts';

/** Observes a duration. @param traceparent of a trace that shows it, if there is one */
export type Timing<Label extends string> = (
  labels: Readonly<Partial<Record<Label, string | number>>>,
  seconds: number,
  traceparent?: string | null,
) => void;

/** Where the metrics of a process are kept. */
export interface Instruments {
  readonly registers: Registry[];
  /** Whether the registers take exemplars; see {@link openMetricsRegistry}. */
  readonly exemplars: boolean;
}

export interface TimingOptions<Label extends string> extends Instruments {
  readonly name: string;
  readonly help: string;
  readonly labelNames: readonly Label[];
  /** Seconds. */
  readonly buckets: readonly number[];
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
    labelNames: [...labelNames],
    buckets: [...buckets],
    enableExemplars: exemplars,
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

/** Read from the store at each exposition: equal in every process, and absent during an outage of the store. */
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
 * A read that several gauges share: those of one exposition get the same answer. Null during an outage of the store.
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

/** The age of what waits since then, seconds; 0 if nothing waits. */
export function ageOf(oldest: Date | null): number {
  return oldest === null ? 0 : Math.max(0, (Date.now() - oldest.getTime()) / 1000);
}
