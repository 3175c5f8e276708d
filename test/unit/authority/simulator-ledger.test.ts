import { createHash } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { type Ledger, openLedger, type Received } from '../../../scripts/authority-simulator/ledger.ts';
import { skim } from '../../../scripts/authority-simulator/skim.ts';
import { signedDocument } from '../../support/authority-client.ts';

let folder: string;
let ledger: Ledger;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'ledger-'));
  ledger = await openLedger(folder);
});
afterEach(async () => {
  await ledger.close();
  await rm(folder, { recursive: true });
});

const digestOf = (document: Buffer) => createHash('sha256').update(document).digest('hex');

function receivedOf(id: string, document: Buffer): Received {
  const found = skim(document);
  return {
    id,
    digest: digestOf(document),
    receivedAt: 1,
    problems: [],
    warnings: [],
    dueAt: 1,
    silentUntil: 0,
    invoice: found && { seller: found.sellerIce, number: found.number },
  };
}

test('an invoice is known by its tags, also without an ICE of its customer', async () => {
  const document = await signedDocument({ number: '2026-000007' });
  const known = { kind: 'invoice', number: '2026-000007', sellerIce: '001234567000088' };
  expect(skim(document)).toEqual({ ...known, customerIce: '001525713000085' });
  const parts = String(document).split(/(?=<cac:PartyIdentification)|(?<=<\/cac:PartyIdentification>)/);
  expect(parts).toHaveLength(5);
  expect(skim(Buffer.from([parts[0], parts[1], parts[2], parts[4]].join('')))).toEqual({ ...known, customerIce: null });
  expect(skim(Buffer.from([parts[0], parts[2], parts[3], parts[4]].join('')))).toBeNull();
});

test('an entry takes a few kilobytes of memory, however long its document', async () => {
  setFlagsFromString('--expose-gc');
  const gc = runInNewContext('gc') as () => void;
  const template = String(await signedDocument({ number: 'NUMBER' }));
  const add = async (from: number, to: number) => {
    for (let n = from; n < to; n++) {
      const document = Buffer.from(template.replace('>NUMBER<', `>A number of its own ${n}<`));
      await ledger.receive(receivedOf(`inv_${n}`, document), document);
    }
  };
  await add(0, 100);
  gc();
  const before = process.memoryUsage().heapUsed;
  await add(100, 1_100);
  gc();
  const perEntry = (process.memoryUsage().heapUsed - before) / 1_000;
  expect(template.length).toBeGreaterThan(15_000);
  expect(perEntry).toBeLessThan(5_000);
});

test('what was written is read again: texts of any kind, decisions in their order, documents', async () => {
  const document = Buffer.from('<a>é\u2028</a>');
  const received = (id: string): Received => ({
    ...receivedOf(id, Buffer.concat([document, Buffer.from(id)])),
    invoice: { seller: '1', number: `n\u2028\r\n${id}` },
    warnings: [{ code: 'x', path: null, message: 'é\u2029"' }],
  });
  const [first, second] = [received('a'), received('b')];
  const entries = await Promise.all([ledger.receive(first, document), ledger.receive(second, Buffer.from('b'))]);
  const accepted = { status: 'accepted', problems: [], decidedAt: 5, dgiId: 'DGI-1' } as const;
  const rejected = { status: 'rejected', problems: first.warnings, decidedAt: 6, dgiId: null } as const;
  await Promise.all([ledger.decide(entries[1], accepted), ledger.decide(entries[0], rejected)]);
  await ledger.decide(entries[0], accepted);
  await ledger.keep(entries[1], 'receipt', Buffer.from('receipt'));
  expect(await ledger.countRefusal('c')).toBe(1);
  await ledger.close();

  ledger = await openLedger(folder);
  expect(ledger.decisions.map(({ received }) => received)).toEqual([second, first]);
  expect(ledger.decisions.map(({ decided, position }) => [decided, position])).toEqual([
    [accepted, 1],
    [rejected, 2],
  ]);
  const [b, a] = ledger.decisions;
  expect(await ledger.read(a!, 'document')).toEqual(document);
  expect(await ledger.read(a!, 'receipt')).toBeNull();
  expect(String(await ledger.read(b!, 'receipt'))).toBe('receipt');
  expect(ledger.byDgiId.get('DGI-1')).toBe(b);
  expect(ledger.ofInvoice({ seller: '1', number: 'n\u2028\r\na' })).toBe(a);
  expect(await ledger.countRefusal('c')).toBe(2);
  expect(ledger.doubled()).toEqual([]);
});

test('an entry that is there twice is told', async () => {
  const document = Buffer.from('x');
  await ledger.receive(receivedOf('a', document), document);
  await ledger.receive(receivedOf('a', document), document);
  expect(ledger.doubled()).toEqual(['a', digestOf(document)]);
});
