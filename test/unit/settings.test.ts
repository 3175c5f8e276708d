import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { readConfig, SETTING_NAMES, SETTINGS } from '../../src/config.ts';
import { USUAL_RATES } from '../../src/domain/limits.ts';

it('an invalid setting is reported with its value and the allowed values', () => {
  const wrong = { PORT: '99999', LOG_LEVEL: 'verbose', WEBHOOK_RETENTION: 'never', WEBHOOK_RETRY_SCHEDULE: '0s;5m' };
  expect(() => readConfig(wrong)).toThrow(
    [
      "PORT must be a port number from 0 (any free port) to 65535, not '99999'",
      "WEBHOOK_RETRY_SCHEDULE must be durations separated by commas, such as 0s,1m,2h, not '0s;5m'",
      "WEBHOOK_RETENTION must be a duration of at least 1d, such as 30d, not 'never'",
      "LOG_LEVEL must be one of trace, debug, info, warn, error, fatal, silent, not 'verbose'",
    ].join('\n'),
  );
  expect(() => readConfig({ WEBHOOK_RETENTION: '23h' })).toThrow("of at least 1d, such as 30d, not '23h'");
  expect(readConfig({ WEBHOOK_RETENTION: '2d' }).webhookRetention).toBe(172_800_000);
  for (const wrongTime of ['10', '-1s', '2h'])
    expect(() => readConfig({ SHUTDOWN_GRACE: wrongTime })).toThrow(`at most 1h, not '${wrongTime}'`);
  expect(readConfig({ SHUTDOWN_DELAY: '500ms' }).shutdown).toEqual({ delayMs: 500, graceMs: 10_000 });
});

it('the rates that the documentation states are the defaults', () => {
  expect(readConfig({}).rateLimits).toMatchObject(USUAL_RATES);
});

it('values that may contain a secret are not shown', () => {
  const secrets = {
    MASTER_KEY: 'hidden',
    MONGODB_URL: 'http://u:hidden@host',
    SMTP_URL: 'http://u:hidden@host',
    TSA_URL: 'ftp://u:hidden@host',
    SIGNING_PKCS11: 'token=T;pin-value=hidden',
    OTEL_EXPORTER_OTLP_HEADERS: 'hidden',
  };
  expect(() => readConfig(secrets)).toThrow(/^MONGODB_URL must be .*\nMASTER_KEY must be .*\nSIGNING_PKCS11 must be /);
  expect(() => readConfig(secrets)).not.toThrow('hidden');
});

it('traces need an endpoint, and follow the settings of OpenTelemetry’s specification', () => {
  const endpoint = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector:4318/' };
  expect(readConfig({ OTEL_SERVICE_NAME: 'x' }).tracing).toBeNull();
  for (const off of [{ OTEL_SDK_DISABLED: 'true' }, { OTEL_TRACES_EXPORTER: 'none' }])
    expect(readConfig({ ...endpoint, ...off }).tracing).toBeNull();
  expect(readConfig(endpoint).tracing).toMatchObject({
    endpoint: 'http://collector:4318/v1/traces',
    protocol: 'http/protobuf',
    timeoutMs: 10_000,
    headers: {},
    resource: { 'service.name': 'fatoura' },
  });
  const given = {
    ...endpoint,
    OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'https://traces.example/in',
    OTEL_EXPORTER_OTLP_HEADERS: 'api-key=a%20b, x=1',
    OTEL_TRACES_SAMPLER: 'traceidratio',
    OTEL_TRACES_SAMPLER_ARG: '0.25',
    OTEL_SERVICE_NAME: 'api',
    OTEL_RESOURCE_ATTRIBUTES: 'service.name=other,deployment.environment.name=test',
  };
  expect(readConfig(given).tracing).toMatchObject({
    endpoint: 'https://traces.example/in',
    headers: { 'api-key': 'a b', x: '1' },
    sampler: { root: 'traceidratio', ratio: 0.25, parentBased: false },
    resource: { 'service.name': 'api', 'deployment.environment.name': 'test' },
  });
  expect(() => readConfig({ ...endpoint, OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc', OTEL_TRACES_SAMPLER_ARG: '1' })).toThrow(
    "OTEL_EXPORTER_OTLP_PROTOCOL must be http/protobuf or http/json, not 'grpc'\nOTEL_TRACES_SAMPLER_ARG requires",
  );
});

it('METRICS_PORT is for workers', () => {
  const worker = { MONGODB_URL: 'mongodb://host', MASTER_KEY: '0'.repeat(64), ROLE: 'worker', METRICS_PORT: '9464' };
  expect(readConfig(worker).metricsPort).toBe(9464);
  expect(() => readConfig({ METRICS_PORT: '9464' })).toThrow('METRICS_PORT is for ROLE=worker');
});

describe('the table of settings in docs/operations.md', () => {
  const text = readFileSync(new URL('../../docs/operations.md', import.meta.url), 'utf8');
  const [, section = ''] = /^## Settings\n(.*?)^## /ms.exec(text) ?? [];
  const rows = [...section.matchAll(/^\| (`[^|]+) \| ([^|]+) \|/gm)].flatMap(([, cell = '', defaults = '']) => {
    const names = [...cell.matchAll(/`([A-Z0-9_]+)`/g)].map(([, name = '']) => name);
    const values = names.length === 1 ? [defaults] : defaults.split(', ');
    return names.map((name, index) => [name, (values[index] ?? values[0] ?? '').replaceAll('`', '')] as const);
  });

  it('has each setting, and no other', () => {
    expect(SETTING_NAMES.length).toBeGreaterThan(30);
    expect(rows.map(([name]) => name).toSorted()).toEqual(SETTING_NAMES.toSorted());
  });

  it('has the defaults', () => {
    const withDefault = Object.entries(SETTINGS.shape).filter(([, schema]) => schema instanceof z.ZodDefault);
    expect(withDefault.length).toBeGreaterThan(20);
    const stated = Object.fromEntries(rows);
    for (const [name, schema] of withDefault) {
      const usual = schema.parse(undefined);
      const isEmpty = typeof usual === 'object' && Object.keys(usual).length === 0;
      expect(isEmpty ? stated[name] : schema.parse(stated[name]), name).toEqual(isEmpty ? 'none' : usual);
    }
  });
});

it('idle connections stay open for longer than a balancer keeps them: Google’s 600 s behind a proxy', () => {
  const kept = (settings: Record<string, string>) => readConfig(settings).keepAliveMs;
  expect(kept({})).toBe(75_000);
  expect(kept({ TRUST_PROXY: '1' })).toBe(620_000);
  expect(kept({ TRUST_PROXY: '1', KEEP_ALIVE_TIMEOUT: '65s' })).toBe(65_000);
  expect(() => kept({ KEEP_ALIVE_TIMEOUT: '10ms' })).toThrow('KEEP_ALIVE_TIMEOUT');
  expect(() => kept({ KEEP_ALIVE_TIMEOUT: '0s' })).toThrow('at least 1s');
});

it.each(['PUBLIC_URL', 'SANDBOX_URL'])('%s is scheme and host alone', (name) => {
  const read = (url: string) => readConfig({ PUBLIC_URL: 'https://live.example.ma', [name]: url });
  for (const url of [
    'https://x.ma/path',
    'https://x.ma?a=b',
    'https://x.ma/#a',
    'https://user:pw@x.ma',
    'https://u@x.ma',
  ])
    expect(() => read(url), url).toThrow(new RegExp(`^${name} must be scheme and host alone, such as https://`));
  expect(() => read('https://user:pw@x.ma')).not.toThrow(/pw/);
  for (const url of ['https://x.ma', 'https://x.ma/', 'http://[::1]:3000'])
    expect(JSON.stringify(read(url))).toContain(url.replace(/\/$/, ''));
});
