import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { createOpenTelemetry } from '../../../src/adapters/tracing/opentelemetry.ts';
import { readConfig } from '../../../src/config.ts';
import { isSampled } from '../../../src/domain/tracing.ts';
import { packagesLoadedBy } from '../../support/loaded-packages.ts';

let collector: Server;
let status = 200;
let received: {
  readonly type: string | undefined;
  readonly accept: string | undefined;
  readonly key: unknown;
  readonly bytes: number;
}[] = [];

beforeAll(async () => {
  collector = createServer(async (request, response) => {
    const bytes = Buffer.concat(await Array.fromAsync(request)).length;
    const { accept } = request.headers;
    received.push({ type: request.headers['content-type'], accept, key: request.headers['api-key'], bytes });
    response.writeHead(status).end();
  });
  await new Promise<void>((resolve) => collector.listen(0, '127.0.0.1', resolve));
});
afterAll(() => collector.close());
beforeEach(() => {
  received = [];
  status = 200;
});

it('is loaded only where traces are on', async () => {
  const app = new URL('../../../src/app/app.ts', import.meta.url).href;
  const loaded = await packagesLoadedBy(`await import(${JSON.stringify(app)});`);
  expect(loaded).toContain('prom-client');
  expect(loaded.filter((name) => /^@opentelemetry\/(?!api$)/.test(name))).toEqual([]);
});

/** The adapter as these settings make it, and what it reports. */
function opened(settings: Record<string, string> = {}) {
  const { port } = collector.address() as AddressInfo;
  const { tracing } = readConfig({
    OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${port}`,
    OTEL_BSP_SCHEDULE_DELAY: '5',
    ...settings,
  });
  if (tracing === null) throw new Error('nothing is traced');
  const reports: (string | null)[] = [];
  const adapter = createOpenTelemetry(tracing, (failure) => reports.push(failure === null ? null : failure.name));
  const one = () => {
    const span = adapter.begin('one', { kind: 'internal', parent: null });
    span?.end();
    return span?.traceparent ?? '';
  };
  return { adapter, reports, one };
}

it('exports as protobuf with the given headers, and the rest when it closes', async () => {
  const { adapter, one } = opened({ OTEL_EXPORTER_OTLP_HEADERS: 'api-key=k', OTEL_BSP_SCHEDULE_DELAY: '60000' });
  one();
  await adapter.close();
  expect(received).toEqual([{ type: 'application/x-protobuf', accept: '*/*', key: 'k', bytes: expect.any(Number) }]);
  expect(adapter.counts()).toEqual({ exported: 1, lost: 0 });
});

it('reports once that the collector refuses, and once that it does not any more; what it refuses is lost', async () => {
  const { adapter, reports, one } = opened();
  status = 400;
  for (const lost of [1, 2]) {
    one();
    await expect.poll(() => adapter.counts().lost).toBe(lost);
  }
  status = 200;
  one();
  await expect.poll(() => adapter.counts().exported).toBe(1);
  expect(reports).toEqual([expect.any(String), null]);
  await adapter.close();
});

it('keeps no more than the queue and a batch under way hold', async () => {
  const { adapter, one } = opened({ OTEL_BSP_MAX_QUEUE_SIZE: '10', OTEL_BSP_SCHEDULE_DELAY: '60000' });
  for (let i = 0; i < 1000; i++) one();
  await adapter.close();
  expect(adapter.counts()).toEqual({ exported: 20, lost: 0 });
});

it.each([
  ['always_on', [true, true]],
  ['always_off', [false, false]],
  ['parentbased_always_off', [true, false]],
  ['parentbased_always_on', [true, false]],
])('with the sampler %s, spans below a recorded and an unrecorded one are recorded: %j', async (sampler, recorded) => {
  const { adapter } = opened({ OTEL_TRACES_SAMPLER: sampler });
  const below = (flag: number) => {
    const parent = `00-${'a'.repeat(32)}-${'b'.repeat(16)}-0${flag}`;
    const span = adapter.begin('one', { kind: 'server', parent });
    expect(span?.traceparent.slice(3, 35)).toBe('a'.repeat(32));
    return isSampled(span?.traceparent ?? '');
  };
  expect([below(1), below(0)]).toEqual(recorded);
  await adapter.close();
});

it('records about the given share of new traces', async () => {
  const { adapter, one } = opened({ OTEL_TRACES_SAMPLER: 'parentbased_traceidratio', OTEL_TRACES_SAMPLER_ARG: '0.2' });
  const share = Array.from({ length: 4000 }, one).filter(isSampled).length / 4000;
  expect(share).toBeGreaterThan(0.15);
  expect(share).toBeLessThan(0.25);
  await adapter.close();
});
