import {
  type Context,
  type Span as OtelSpan,
  ROOT_CONTEXT,
  SpanKind,
  SpanStatusCode,
  TraceFlags,
  type Tracer,
  trace,
} from '@opentelemetry/api';
import { OTLPTraceExporter as JsonExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { OTLPTraceExporter as ProtobufExporter } from '@opentelemetry/exporter-trace-otlp-proto';
import { resourceFromAttributes } from '@opentelemetry/resources';
import {
  AlwaysOffSampler,
  AlwaysOnSampler,
  BatchSpanProcessor,
  ParentBasedSampler,
  type Sampler,
  type SpanExporter,
  TraceIdRatioBasedSampler,
  TracerProvider,
} from '@opentelemetry/sdk-trace';
import { isSampled, type Span, type SpanAttributes, type Tracing, type TracingSettings } from '../../domain/tracing.ts';

const KINDS = { server: SpanKind.SERVER, client: SpanKind.CLIENT, internal: SpanKind.INTERNAL } as const;

/**
 * Creates tracing with OpenTelemetry's SDK, with batches exported by OTLP over HTTP. Sets no global of the SDK, so that
 * several services in one process share nothing.
 * @param report called with the failure when the collector begins to refuse spans, and with null when it accepts them
 * again
 */
export function createOpenTelemetry(settings: TracingSettings, report: (failure: Error | null) => void) {
  const counts = { exported: 0, lost: 0 };
  const { delayMs, maxQueue, maxBatch, timeoutMs } = settings.batch;
  const processor = new BatchSpanProcessor({
    exporter: counted(exporterOf(settings), counts, report),
    scheduledDelayMillis: delayMs,
    maxQueueSize: maxQueue,
    exportTimeoutMillis: timeoutMs,
    maxExportBatchSize: Math.min(maxBatch, maxQueue),
  });
  const provider = new TracerProvider({
    resource: resourceFromAttributes(settings.resource),
    sampler: samplerOf(settings.sampler),
    spanProcessors: [processor],
  });
  const tracer: Tracer = provider.getTracer('fatoura');
  const begin: Tracing['begin'] = (name, { kind, parent, attributes = {} }) => {
    const above = parent === null ? ROOT_CONTEXT : contextOf(parent);
    return spanOf(tracer.startSpan(name, { kind: KINDS[kind], attributes, root: parent === null }, above));
  };
  return {
    begin,
    /** Returns how many spans were exported, and how many were lost because the collector did not accept them. */
    counts: (): { readonly exported: number; readonly lost: number } => ({ ...counts }),
    /** Exports the remaining spans. Never rejects. */
    close: (): Promise<void> => provider.shutdown().catch(() => undefined),
  };
}

/** Returns the context of a remote span. @param traceparent version 00 */
function contextOf(traceparent: string): Context {
  return trace.setSpanContext(ROOT_CONTEXT, {
    traceId: traceparent.slice(3, 35),
    spanId: traceparent.slice(36, 52),
    traceFlags: isSampled(traceparent) ? TraceFlags.SAMPLED : TraceFlags.NONE,
    isRemote: true,
  });
}

function spanOf(span: OtelSpan): Span {
  const { traceId, spanId, traceFlags } = span.spanContext();
  return {
    traceparent: `00-${traceId}-${spanId}-0${traceFlags & TraceFlags.SAMPLED}`,
    rename: (name) => void span.updateName(name),
    set: (attributes: SpanAttributes) => void span.setAttributes({ ...attributes }),
    fail: (kind) => void span.setAttribute('error.type', kind).setStatus({ code: SpanStatusCode.ERROR }),
    end: () => span.end(),
  };
}

function samplerOf({ root, ratio, parentBased }: TracingSettings['sampler']): Sampler {
  const chosen = {
    always_on: () => new AlwaysOnSampler(),
    always_off: () => new AlwaysOffSampler(),
    traceidratio: () => new TraceIdRatioBasedSampler(ratio),
  }[root]();
  return parentBased ? new ParentBasedSampler({ root: chosen }) : chosen;
}

function exporterOf({ endpoint, protocol, headers, timeoutMs }: TracingSettings): SpanExporter {
  const Exporter = protocol === 'http/json' ? JsonExporter : ProtobufExporter;
  return new Exporter({ url: endpoint, headers: { Accept: '*/*', ...headers }, timeoutMillis: timeoutMs });
}

/**
 * Wraps the exporter to count spans, and to report the first failure after a success and the first success after a
 * failure.
 */
function counted(
  inner: SpanExporter,
  counts: { exported: number; lost: number },
  report: (failure: Error | null) => void,
): SpanExporter {
  let isFailing = false;
  return {
    export(spans, done) {
      inner.export(spans, (result) => {
        const hasFailed = result.code !== 0;
        counts[hasFailed ? 'lost' : 'exported'] += spans.length;
        if (hasFailed !== isFailing) report(hasFailed ? (result.error ?? new Error('no answer')) : null);
        isFailing = hasFailed;
        done(result);
      });
    },
    forceFlush: () => inner.forceFlush?.() ?? Promise.resolve(),
    shutdown: () => inner.shutdown(),
  };
}
