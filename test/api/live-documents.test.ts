import { createHash } from 'node:crypto';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { type Simulator, startSimulator } from '../../scripts/authority-simulator/simulator.ts';
import { SPECIMEN_SELLER } from '../../src/domain/tenant/tenant.ts';
import { Client, invoiceFor } from '../support/client.ts';
import { firstOf } from '../support/samples.ts';
import { startService, type TestService } from '../support/service.ts';

const WAIT = { timeout: 50_000, interval: 100 };

let simulator: Simulator;
let service: TestService;
let client: Client;

beforeAll(async () => {
  simulator = await startSimulator({ profile: 'synchronous' });
  service = await startService({ ...simulator.settings });
  const { id } = await service.tenant(SPECIMEN_SELLER);
  client = new Client(service.url, await service.liveKey(id));
});
afterAll(async () => {
  await service.close();
  await simulator.close();
});

const QUERY = `query ($id: ID!) {
  invoice(id: $id) {
    attention { reason }
    authorityAttempts { purpose outcome requestId message }
    documents { xml { url ready sha256 } signedXml { url sha256 } receipt { url ready } pdf { ready } }
  }
}`;

const read = async (id: string) => (await client.graphql(QUERY, { id })).body.data.invoice;
const bytesOf = async (url: string) => Buffer.from(await (await fetch(url)).arrayBuffer());
const sha256 = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex');

async function accepted(ice = '001525713000085'): Promise<string> {
  const { id } = (await client.post('/v1/invoices', invoiceFor(ice))).body;
  await vi.waitFor(async () => {
    expect((await client.get(`/v1/invoices/${id}`)).body.status).toBe('accepted');
  }, WAIT);
  return id;
}

it('the cleared document is the legal XML, beside what was sent and the verified receipt', async () => {
  const id = await accepted();
  await vi.waitFor(async () => expect((await read(id)).documents.pdf.ready).toBe(true), WAIT);
  const { documents, authorityAttempts } = await read(id);
  const [xml, sent, receipt] = await Promise.all(
    [documents.xml, documents.signedXml, documents.receipt].map(({ url }) => bytesOf(url)),
  );
  expect(String(xml)).toContain('<Clearance xmlns="urn:authority:clearance:1"');
  expect(sha256(sent!)).toBe(documents.signedXml.sha256);
  expect(String(sent)).not.toContain('Clearance');
  expect(sent!.equals((await simulator.control.document(id)) ?? Buffer.alloc(0))).toBe(true);
  expect(String(receipt)).toContain(`<Digest>${documents.signedXml.sha256}</Digest>`);
  expect((await client.get(`/v1/invoices/${id}`)).body.xml_url).toBe(documents.xml.url);
  const calls = authorityAttempts.map(({ purpose, outcome }: Record<string, string>) => `${purpose} ${outcome}`);
  expect(calls).toEqual(['submit accepted', 'receipt fetched', 'cleared fetched']);
  for (const { requestId } of authorityAttempts) expect(requestId).toMatch(/./);
});

it.each(firstOf(['signature', 'digest', 'id', 'status', 'signer']))(
  'a receipt with a wrong %s is never stored; a right one heals the invoice',
  async (what) => {
    const fault = simulator.control.addFault({ kind: 'wrong-receipt', what });
    try {
      const id = await accepted();
      await vi.waitFor(async () => expect((await read(id)).attention).toEqual({ reason: 'receipt_invalid' }), WAIT);
      const { documents, authorityAttempts } = await read(id);
      expect(documents).toMatchObject({ receipt: { ready: false }, pdf: { ready: false } });
      expect(authorityAttempts.map(({ outcome }: { outcome: string }) => outcome)).toContain('invalid');
      simulator.control.removeFault(fault);
      await service.app.store.db
        .collection<{ _id: string }>('invoices')
        .updateOne({ _id: id }, { $set: { 'work.dueAt': new Date() } });
      await vi.waitFor(async () => expect((await read(id)).documents.pdf.ready).toBe(true), WAIT);
      expect(await read(id)).toMatchObject({ attention: null, documents: { receipt: { ready: true } } });
    } finally {
      simulator.control.reset();
    }
  },
);

it('while the cleared document is missing, the XML is waited for; what was sent can be read', async () => {
  const fault = simulator.control.addFault({ kind: 'cleared-missing' });
  try {
    const id = await accepted();
    await vi.waitFor(async () => expect((await read(id)).documents.receipt.ready).toBe(true), WAIT);
    const { documents } = await read(id);
    expect(documents.xml.ready).toBe(false);
    expect((await fetch(documents.signedXml.url)).status).toBe(200);
    const waiting = fetch(documents.xml.url);
    simulator.control.removeFault(fault);
    const answer = await waiting;
    // On a busy machine the next attempt may come after the ten seconds.
    if (answer.status === 503) expect(answer.headers.get('retry-after')).toMatch(/^\d+$/);
    await vi.waitFor(async () => expect((await read(id)).documents.xml.ready).toBe(true), WAIT);
    expect(String(await bytesOf(documents.xml.url))).toContain('<Clearance ');
  } finally {
    simulator.control.reset();
  }
});
