import { NO_TRACING, type Tracing } from '../domain/tracing.ts';
import type { Runtime } from './runtime.ts';

/** The tracing of this process. */
export interface ProcessTracing extends Tracing {
  /** Numbers of exported and lost spans; null if nothing is traced. */
  readonly counts: (() => { readonly exported: number; readonly lost: number }) | null;
}

/** Starts tracing if the settings name a collector. OpenTelemetry is loaded only then. */
export async function composeTracing({ config, log, closing }: Runtime): Promise<ProcessTracing> {
  if (config.tracing === null) return { ...NO_TRACING, counts: null };
  const { createOpenTelemetry } = await import('../adapters/tracing/opentelemetry.ts');
  const tracing = createOpenTelemetry(config.tracing, (err) =>
    err === null
      ? log.info('the collector takes spans again')
      : log.warn({ err }, 'the collector takes no spans; they are lost until it does'),
  );
  closing.add(tracing.close);
  return tracing;
}
