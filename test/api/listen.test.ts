import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { afterAll, afterEach, expect, it, vi } from 'vitest';
import { commandParts } from '../../src/app/command-parts.ts';
import { COMMANDS } from '../../src/cli/commands.ts';
import { runCommandLine } from '../../src/cli/run.ts';
import { readConfig } from '../../src/config.ts';
import { Client, invoiceBody } from '../support/client.ts';
import { type CommandLine, startCommandLine } from '../support/command-line.ts';
import { type Receiver, startReceiver, verifies } from '../support/receiver.ts';
import { recordingTerminal } from '../support/recording-terminal.ts';
import { type TestService, type TestTenant, withSharedService } from '../support/service.ts';
import { holdSilentPort } from '../support/silent-port.ts';

// These tests start processes, which share the machine with other tests.
vi.setConfig({ testTimeout: 240_000 });

let service: TestService;
let receiver: Receiver;
let tenant: TestTenant;
let client: Client;
const running: CommandLine[] = [];

withSharedService.beforeAll(async ({ service: shared }) => {
  service = shared;
  receiver = await startReceiver();
  tenant = await service.tenant();
  client = new Client(service.url, tenant.secretKey);
});
afterEach(async () => {
  for (const child of running.splice(0)) {
    if (child.exitCode !== null) continue;
    const exited = once(child, 'exit');
    child.kill('SIGKILL');
    await exited;
  }
});
afterAll(async () => {
  await receiver.close();
});

function cli(...args: string[]) {
  return cliWith({}, ...args);
}

function cliWith(environment: Record<string, string>, ...args: string[]) {
  const child = startCommandLine(args, environment);
  running.push(child);
  const output = { text: '' };
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (chunk) => {
      output.text += chunk;
    });
  }
  return { child, output };
}

const seen = () => receiver.received.map(({ event }) => event);

it('forwards events in order and signed, including test events and resends', async () => {
  const secret = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;
  const access = ['--url', service.url, '--key', tenant.secretKey];
  const { child, output } = cli(
    'listen',
    ...access,
    '--forward-to',
    `${new URL(receiver.url).host}/hook`,
    '--secret',
    secret,
  );
  await expect.poll(() => output.text, { timeout: 100_000 }).toContain('Listening.');

  const { body: created } = await client.post('/v1/invoices', invoiceBody());
  await expect.poll(() => seen().length, { timeout: 100_000 }).toBe(3);
  expect(seen().map(({ type }) => type)).toEqual(['invoice.signing', 'invoice.transmitted', 'invoice.accepted']);
  expect(seen().every(({ data }) => data.id === created.id)).toBe(true);
  for (const delivery of receiver.received) {
    expect(verifies(delivery, secret)).toBe(true);
    expect(delivery.headers).toMatchObject({ 'user-agent': 'Fatoura-Webhooks/1', 'fatoura-environment': 'test' });
    expect(delivery.headers).not.toHaveProperty('fatoura-trigger');
    expect(delivery.headers).not.toHaveProperty('sec-fetch-mode');
  }

  const triggered = cliWith({ FATOURA_KEY: tenant.secretKey }, 'trigger', 'invoice.rejected', '--url', service.url);
  const [code] = await once(triggered.child, 'close');
  expect({ code, text: triggered.output.text }).toEqual({ code: 0, text: expect.stringContaining('none subscribes') });
  await expect.poll(() => seen()[3], { timeout: 100_000 }).toMatchObject({ type: 'invoice.rejected' });

  const again = 'mutation ($id: ID!) { resendWebhookEvent(eventId: $id) { __typename } }';
  expect((await client.graphql(again, { id: seen()[0].id })).body.errors).toBeUndefined();
  await expect.poll(() => seen()[4]?.id, { timeout: 100_000 }).toBe(seen()[0].id);
  for (const { headers } of receiver.received.slice(3)) expect(headers).toMatchObject({ 'fatoura-trigger': 'manual' });

  child.kill('SIGINT');
  const [exit] = await once(child, 'close');
  expect(exit).toBe(130);
  expect(seen()).toHaveLength(5);
  expect(output.text).toMatch(/invoice\.accepted {2}evt_\S+ {2}→ {2}200/);
});

it('resumes after a broken connection without loss or duplicates', async () => {
  const line = await breakableLine(service.url);
  receiver.received.length = 0;
  const { output } = cli('listen', '--url', line.url, '--key', tenant.secretKey, '--forward-to', receiver.url);
  await expect.poll(() => output.text, { timeout: 100_000 }).toContain('Listening.');
  const invoices = [(await client.post('/v1/invoices', invoiceBody())).body.id];
  await expect.poll(() => seen().length, { timeout: 100_000 }).toBe(3);
  line.breakOff();
  invoices.push((await client.post('/v1/invoices', invoiceBody())).body.id);
  await client.settled(invoices[1]);
  await expect.poll(() => output.text, { timeout: 100_000 }).toContain(`The connection to ${line.url} is lost`);
  line.mend();
  await expect.poll(() => seen().length, { timeout: 100_000 }).toBe(6);
  invoices.push((await client.post('/v1/invoices', invoiceBody())).body.id);
  await expect.poll(() => seen().length, { timeout: 100_000 }).toBe(9);
  expect(seen().map(({ data }) => data.id)).toEqual(invoices.flatMap((id) => [id, id, id]));
  expect(new Set(seen().map(({ id }) => id)).size).toBe(9);
  line.close();
});

it('reports the address that cannot be reached, and the reason', async () => {
  const silent = await holdSilentPort();
  const url = `http://127.0.0.1:${silent.port}`;
  const reason = `${url} cannot be reached (connect ECONNREFUSED 127.0.0.1:${silent.port})`;
  const { output } = cli('listen', '--url', url, '--key', tenant.secretKey, '--forward-to', receiver.url);
  await expect.poll(() => output.text, { timeout: 100_000 }).toContain(`${reason}; retrying…`);
  const triggered = cli('trigger', 'invoice.accepted', '--url', url, '--key', tenant.secretKey);
  const [code] = await once(triggered.child, 'close');
  expect({ code, text: triggered.output.text }).toEqual({ code: 1, text: `${reason}.\n` });
  silent.release();
});

/** A proxy to the service that breaks its connections on demand. */
async function breakableLine(url: string) {
  const { hostname, port } = new URL(url);
  const sockets = new Set<Socket>();
  let broken = false;
  const server = createServer((near) => {
    near.on('error', () => undefined).on('close', () => sockets.delete(near));
    if (broken) return near.destroy();
    const far = connect(Number(port), hostname);
    far.on('error', () => undefined).on('close', () => sockets.delete(far));
    sockets.add(near).add(far);
    near.pipe(far).pipe(near);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const cut = () => {
    for (const socket of sockets) socket.destroy();
  };
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    breakOff() {
      broken = true;
      cut();
    },
    mend() {
      broken = false;
    },
    close() {
      cut();
      server.close();
    },
  };
}

it.each([
  [['listen', '--forward-to', 'ftp://x', '--key', 'sk_test_x'], 2],
  [['listen', '--forward-to', 'http://localhost:1', '--key', 'pk_test_x'], 2],
  [['listen', '--forward-to', 'http://localhost:1'], 2],
  [['trigger', 'invoice.accepted', '--url', 'fatoura.example', '--key', 'sk_test_x'], 2],
  [['trigger', 'invoice.paid', '--key', 'sk_test_x'], 2],
])('%s exits with %i', async (args, expected) => {
  const { terminal } = recordingTerminal();
  const context = { terminal, config: () => readConfig({}), environmentKey: () => null, parts: commandParts };
  expect(await runCommandLine(args, COMMANDS, context)).toBe(expected);
});
