import { z } from 'zod';
import type { TracingSettings } from '../domain/tracing.ts';
import { has, type Rule, type Settings } from './values.ts';

// The settings OTEL_*: traces by OpenTelemetry, under the names and with the meanings of its specification.

const address = z.url({ protocol: /^https?$/, error: 'must be an http(s) URL' });
const protocol = z.enum(['http/protobuf', 'http/json'], { error: 'must be http/protobuf or http/json' });
/** Milliseconds, or a number of spans. */
const whole = z.coerce.number({ error: 'must be a whole number' }).int({ error: 'must be a whole number' }).positive();
const SAMPLERS = {
  always_on: { root: 'always_on', parentBased: false },
  always_off: { root: 'always_off', parentBased: false },
  traceidratio: { root: 'traceidratio', parentBased: false },
  parentbased_always_on: { root: 'always_on', parentBased: true },
  parentbased_always_off: { root: 'always_off', parentBased: true },
  parentbased_traceidratio: { root: 'traceidratio', parentBased: true },
} as const;
type SamplerName = keyof typeof SAMPLERS;
const SAMPLER_NAMES = Object.keys(SAMPLERS) as [SamplerName, ...SamplerName[]];

/** `a=1,b=two%20words`, as W3C Baggage writes them. */
const pairs = z.string().transform((text, context): Record<string, string> => {
  const entries = text.split(',').filter((part) => part.trim() !== '');
  try {
    return Object.fromEntries(
      entries.map((part) => {
        const [, name, value] = /^\s*([^\s=]+)\s*=\s*(.*?)\s*$/.exec(part) ?? [];
        if (name === undefined || value === undefined) throw new Error(part);
        return [name, decodeURIComponent(value)];
      }),
    );
  } catch {
    context.addIssue({ code: 'custom', message: 'must be name=value pairs separated by commas' });
    return {};
  }
});

/** The settings and their values. */
export const TELEMETRY_SETTINGS = {
  OTEL_SDK_DISABLED: z.stringbool({ error: 'must be true or false' }).default(false),
  OTEL_TRACES_EXPORTER: z.enum(['otlp', 'none'], { error: 'must be otlp or none' }).default('otlp'),
  OTEL_EXPORTER_OTLP_ENDPOINT: address.optional(),
  OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: address.optional(),
  OTEL_EXPORTER_OTLP_PROTOCOL: protocol.optional(),
  OTEL_EXPORTER_OTLP_TRACES_PROTOCOL: protocol.optional(),
  OTEL_EXPORTER_OTLP_HEADERS: pairs.default({}),
  OTEL_EXPORTER_OTLP_TRACES_HEADERS: pairs.default({}),
  OTEL_EXPORTER_OTLP_TIMEOUT: whole.optional(),
  OTEL_EXPORTER_OTLP_TRACES_TIMEOUT: whole.optional(),
  OTEL_TRACES_SAMPLER: z
    .enum(SAMPLER_NAMES, { error: `must be one of ${SAMPLER_NAMES.join(', ')}` })
    .default('parentbased_always_on'),
  OTEL_TRACES_SAMPLER_ARG: z.coerce
    .number({ error: 'must be a number from 0 to 1' })
    .min(0, { error: 'must be a number from 0 to 1' })
    .max(1, { error: 'must be a number from 0 to 1' })
    .default(1),
  OTEL_SERVICE_NAME: z.string().optional(),
  OTEL_RESOURCE_ATTRIBUTES: pairs.default({}),
  OTEL_BSP_SCHEDULE_DELAY: whole.default(5000),
  OTEL_BSP_MAX_QUEUE_SIZE: whole.default(2048),
  OTEL_BSP_MAX_EXPORT_BATCH_SIZE: whole.default(512),
  OTEL_BSP_EXPORT_TIMEOUT: whole.default(30_000),
};

/** The rules between these settings. */
export const TELEMETRY_RULES: readonly Rule[] = [
  [
    'OTEL_TRACES_SAMPLER_ARG',
    (env: Settings) => has(env, 'OTEL_TRACES_SAMPLER_ARG') && !env.OTEL_TRACES_SAMPLER?.endsWith('traceidratio'),
    'requires OTEL_TRACES_SAMPLER to be traceidratio or parentbased_traceidratio',
  ],
];

/** @returns null if nothing is traced: without an endpoint, or if it is switched off */
export function tracingOf(data: z.output<z.ZodObject<typeof TELEMETRY_SETTINGS>>): TracingSettings | null {
  const endpoint =
    data.OTEL_EXPORTER_OTLP_TRACES_ENDPOINT ??
    (data.OTEL_EXPORTER_OTLP_ENDPOINT && `${data.OTEL_EXPORTER_OTLP_ENDPOINT.replace(/\/+$/, '')}/v1/traces`);
  if (endpoint === undefined || data.OTEL_SDK_DISABLED || data.OTEL_TRACES_EXPORTER === 'none') return null;
  const { OTEL_SERVICE_NAME: name, OTEL_RESOURCE_ATTRIBUTES: attributes } = data;
  return {
    endpoint,
    protocol: data.OTEL_EXPORTER_OTLP_TRACES_PROTOCOL ?? data.OTEL_EXPORTER_OTLP_PROTOCOL ?? 'http/protobuf',
    headers: { ...data.OTEL_EXPORTER_OTLP_HEADERS, ...data.OTEL_EXPORTER_OTLP_TRACES_HEADERS },
    timeoutMs: data.OTEL_EXPORTER_OTLP_TRACES_TIMEOUT ?? data.OTEL_EXPORTER_OTLP_TIMEOUT ?? 10_000,
    sampler: { ...SAMPLERS[data.OTEL_TRACES_SAMPLER], ratio: data.OTEL_TRACES_SAMPLER_ARG },
    resource: { 'service.name': 'fatoura', ...attributes, ...(name !== undefined && { 'service.name': name }) },
    batch: {
      delayMs: data.OTEL_BSP_SCHEDULE_DELAY,
      maxQueue: data.OTEL_BSP_MAX_QUEUE_SIZE,
      maxBatch: data.OTEL_BSP_MAX_EXPORT_BATCH_SIZE,
      timeoutMs: data.OTEL_BSP_EXPORT_TIMEOUT,
    },
  };
}
