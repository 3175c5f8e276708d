import type { LookupAddress } from 'node:dns';
import { createServer, type Server } from 'node:net';
import { networkInterfaces } from 'node:os';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createWebhookSender, type WebhookHttpSender } from '../../../src/adapters/webhook-http/webhook-sender.ts';

// A server listens on every address of this machine, private ones included. No URL of a tenant may reach it.
let listener: Server;
let port: number;
let reached = 0;
const asked: string[] = [];
let sender: WebhookHttpSender;

/** The addresses that the test names resolve to. */
const NAMES: Readonly<Record<string, readonly string[][]>> = {
  'loopback.example': [['127.0.0.1']],
  'loopback6.example': [['::1']],
  'private.example': [['10.0.0.5']],
  'metadata.example': [['169.254.169.254']],
  'mapped.example': [['::ffff:127.0.0.1']],
  'nat64.example': [['64:ff9b::7f00:1']],
  'sixtofour.example': [['2002:7f00:1::1']],
  'teredo.example': [['2001:0:7f00:1::1']],
  'ula.example': [['fd00:ec2::254']],
  'unspecified.example': [['0.0.0.0']],
  'mixed.example': [['93.184.215.14', '127.0.0.1']],
  'rebinding.example': [['127.0.0.1'], ['93.184.215.14']],
};

beforeAll(async () => {
  listener = createServer((socket) => {
    reached++;
    socket.on('error', () => undefined);
    socket.destroy();
  });
  await new Promise<void>((resolve) => listener.listen(0, '::', resolve));
  port = (listener.address() as { port: number }).port;
  const turns = new Map<string, number>();
  sender = createWebhookSender({
    allowInsecure: false,
    resolve(host, done) {
      asked.push(host);
      const name = host.replace(/\.$/, '');
      const turn = turns.get(name) ?? 0;
      turns.set(name, turn + 1);
      const answers = NAMES[name] ?? [['127.0.0.1']];
      const addresses = answers[turn % answers.length] ?? [];
      done(
        null,
        addresses.map((address): LookupAddress => ({ address, family: address.includes(':') ? 6 : 4 })),
      );
    },
  });
});
afterAll(async () => {
  await sender.close();
  await new Promise((resolve) => listener.close(resolve));
});

const HOSTS = [
  // Literal addresses in all notations that the URL parser accepts.
  '127.0.0.1',
  '127.0.0.1.',
  '127.1',
  '127.0.1',
  '2130706433',
  '0x7f000001',
  '0x7f.1',
  '0177.0.0.1',
  '017700000001',
  '①②⑦.⓪.⓪.①',
  '１２７.０.０.１',
  '127。0。0。1',
  '%31%32%37.0.0.1',
  '0.0.0.0',
  '0',
  '10.0.0.1',
  '172.16.0.1',
  '192.168.0.1',
  '100.64.0.1',
  '169.254.169.254',
  '168.63.129.16',
  '224.0.0.1',
  '255.255.255.255',
  '[::1]',
  '[::]',
  '[0:0:0:0:0:0:0:1]',
  '[::ffff:127.0.0.1]',
  '[::ffff:7f00:1]',
  '[::127.0.0.1]',
  '[64:ff9b::127.0.0.1]',
  '[64:ff9b:1::7f00:1]',
  '[2002:7f00:1::]',
  '[2001:0:7f00:1::]',
  '[fe80::1]',
  '[fc00::1]',
  '[fd00:ec2::254]',
  '[ff02::1]',
  '[2001:db8::1]',
  // Host names that resolve to such addresses.
  'localhost',
  'localhost.',
  'LOCALHOST',
  ...Object.keys(NAMES),
  'loopback.example.',
];

describe('an address that is not public is refused, and nothing reaches a listener there', () => {
  it.each(HOSTS)('https://%s', async (host) => {
    const result = await sender.send({ url: `https://${host}:${port}/hook`, headers: {}, body: '{}' });
    expect(result).toMatchObject({ status: null, failure: { code: 'refused_address' } });
    expect(reached).toBe(0);
  });

  it("this machine's own addresses are refused", async () => {
    const own = Object.values(networkInterfaces()).flatMap((each) => each ?? []);
    for (const { address } of own.filter(({ address: each }) => !each.startsWith('fe80'))) {
      const host = address.includes(':') ? `[${address}]` : address;
      const { failure } = await sender.send({ url: `https://${host}:${port}/`, headers: {}, body: '{}' });
      expect(failure?.code, address).toBe('refused_address');
    }
    expect(reached).toBe(0);
  });

  it.each([
    'http://93.184.215.14/',
    'ftp://93.184.215.14/',
    'https://93.184.215.14:22/',
    'file:///etc/passwd',
    'nothing',
  ])('%s: its scheme or port is refused', async (url) => {
    const { failure } = await sender.send({ url, headers: {}, body: '{}' });
    expect(failure?.code).toBe('refused_address');
  });

  it('names are resolved for each connection, and the checked addresses are the ones connected to', () => {
    expect(HOSTS.length).toBeGreaterThanOrEqual(30);
    expect(asked).toContain('rebinding.example');
    expect(asked).not.toContain('127.0.0.1');
  });
});
