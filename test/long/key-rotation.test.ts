import { once } from 'node:events';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { randomNumbers } from '../../scripts/random-numbers.ts';
import { type DoomedServer, doomedServer } from '../support/chaos-server.ts';
import { Client, invoiceBody } from '../support/client.ts';
import { startCommandLine } from '../support/command-line.ts';
import { type Receiver, startReceiver, verifies } from '../support/receiver.ts';

// Processes of the service and of the command line: rotations are killed at random moments, two run at once, and the service
// is killed and started between them. Then the keys of the data are rotated with the real times.

const KILLS = 25;
const SEED = 19;

let folder: string;
let receiver: Receiver;
let server: DoomedServer;
const settings = () => ({ DATA_DIR: folder, LOG_LEVEL: 'error' });

beforeAll(async () => {
  [folder, receiver] = await Promise.all([mkdtemp(join(tmpdir(), 'rotation-')), startReceiver()]);
  const limits = { RATE_LIMIT_SECRET: '1000000', RATE_LIMIT_ADDRESS: '1000000' };
  server = doomedServer({ ...settings(), ...limits, ALLOW_INSECURE_WEBHOOKS: 'true' });
  await server.start();
});
afterAll(async () => {
  await server?.kill();
  await receiver?.close();
  await rm(folder, { recursive: true, force: true, maxRetries: 3 });
});

/** Runs a command; `killAfterMs` kills it. @returns its exit code, null if it was killed, and what it printed */
async function cli(args: readonly string[], killAfterMs: number | null = null) {
  const child = startCommandLine(args, settings());
  let [out, err] = ['', ''];
  child.stdout.setEncoding('utf8').on('data', (text) => {
    out += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text) => {
    err += text;
  });
  const timer = killAfterMs === null ? null : setTimeout(() => child.kill('SIGKILL'), killAfterMs);
  const [code] = await once(child, 'close');
  if (timer) clearTimeout(timer);
  return { code: code as number | null, out, err };
}

it(`${KILLS} rotations that are killed at any moment lose no key, and what was given out stays valid until its key ends`, async () => {
  const random = randomNumbers(SEED);
  const key = server.secretKey();
  const client = async () => new Client(await server.url(), key);
  const first = await client();
  const endpoint = await first.post('/v1/webhook_endpoints', { url: receiver.url, events: ['invoice.accepted'] });
  const created = await first.post('/v1/invoices', invoiceBody());
  const { xml_url: xmlUrl } = await first.settled(created.body.id);
  const given = async () => {
    const url = await server.url();
    const [invoice, document] = await Promise.all([
      new Client(url, created.body.client_secret).get(`/v1/invoices/${created.body.id}`),
      fetch(url + new URL(xmlUrl).pathname),
    ]);
    return [invoice.status, document.status];
  };

  // How long a whole one takes, so that the kills fall into all of it.
  const began = Date.now();
  expect((await cli(['master-key', 'rotate'])).code).toBe(0);
  let wholeMs = Date.now() - began;
  let [killed, done, both] = [0, 0, 0];
  const keys = new Set<string>();
  for (let i = 0; i < KILLS; i++) {
    // Most of the time is the start of Node: the last third is the rotation.
    const start = Date.now();
    const { code } = await cli(['master-key', 'rotate'], wholeMs * (0.5 + 0.7 * random()));
    if (code === null) killed++;
    else {
      done++;
      // The machine may be quicker now than it was for the first.
      wholeMs = Date.now() - start;
    }
    both += (await readdir(folder)).includes('master.key.next') ? 1 : 0;
    expect(await given()).toEqual([200, 200]);
    if (i % 5 === 4) {
      await server.kill();
      await server.start();
      expect(await given()).toEqual([200, 200]);
    }
    keys.add(await readFile(join(folder, 'master.key'), 'utf8'));
  }
  // Two at once: one may be refused, and neither breaks the other.
  const codes = (await Promise.all([1, 2, 3].map(() => cli(['master-key', 'rotate'])))).map(({ code }) => code);
  expect(codes).toContain(0);
  expect((await cli(['master-key', 'rotate'])).code).toBe(0);
  console.log(
    `${killed} of ${KILLS} were killed, ${done} were whole, ${both} left two files, ${keys.size} keys followed one another (seed ${SEED})`,
  );
  expect(killed).toBeGreaterThan(KILLS / 5);
  await server.kill();
  await server.start();
  expect(await given()).toEqual([200, 200]);

  const rotated = await cli(['data-keys', 'rotate', '--earlier-end-in', '10m', '--json']);
  expect([rotated.code, rotated.err]).toEqual([0, '']);
  const fresh = JSON.parse(rotated.out).keys.at(-1) as { key: number; used_from: string };
  expect((await cli(['data-keys', 'rotate'])).err).toContain(`there is a new key already, ${fresh.key}`);
  const used = new Date(fresh.used_from).getTime() - Date.now();
  expect(used).toBeGreaterThan(30_000);
  await sleep(used + 1000);
  const [later] = [await client()];
  const second = await later.post('/v1/invoices', invoiceBody());
  expect((await later.settled(created.body.id)).xml_url).not.toBe(xmlUrl);
  expect(await given()).toEqual([200, 200]);

  const resealing = await Promise.all([cli(['data-keys', 'reseal'], wholeMs), cli(['data-keys', 'reseal'])]);
  expect(resealing[1]).toMatchObject({ code: 0, out: expect.stringContaining('1 endpoints') });
  expect(await cli(['data-keys', 'reseal'])).toMatchObject({
    code: 0,
    out: '1 endpoints: 0 secrets were sealed anew.\n',
  });
  expect((await cli(['data-keys', 'end', '1', '--in', '0m'])).code).toBe(0);
  await expect.poll(given).toEqual([401, 404]);
  expect((await cli(['data-keys', 'end', '1', '--in', 'never'])).code).toBe(0);
  await expect.poll(given).toEqual([200, 200]);
  expect((await cli(['data-keys', 'list'])).out).toMatch(/Sealed by the master key [0-9a-f]{8}\./);

  const delivered = (id: string) => receiver.received.find(({ event }) => event.data.id === id);
  await expect.poll(() => delivered(second.body.id)).toBeDefined();
  for (const delivery of receiver.received) expect(verifies(delivery, endpoint.body.secret, delivery.at)).toBe(true);
  await server.stop();
  expect(await cli(['check'])).toMatchObject({ code: 0 });
  expect(server.seen.complaints).toEqual([]);
});
