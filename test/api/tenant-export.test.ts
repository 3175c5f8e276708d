import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import {
  appendFile,
  type FileHandle,
  mkdtemp,
  open,
  readdir,
  readFile,
  rename,
  rm,
  stat,
  unlink,
  writeFile,
} from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { createExportFolder } from '../../src/adapters/tenant-folder/export-folder.ts';
import { verifyExport } from '../../src/adapters/tenant-folder/verify-export.ts';
import { recordsOf } from '../../src/app/tenant-data.ts';
import { newId } from '../../src/domain/ids.ts';
import { newCreationMoment } from '../../src/domain/order-key.ts';
import { documentFolder } from '../../src/domain/tenant-data/export-paths.ts';
import { exportTenant } from '../../src/domain/tenant-data/export-tenant.ts';
import { documentOf } from '../../src/storage/invoice-document.ts';
import { Client, invoiceBody } from '../support/client.ts';
import { pendingInvoice } from '../support/invoices.ts';
import { signedIn } from '../support/person.ts';
import { type Receiver, startReceiver } from '../support/receiver.ts';
import { STAND_IN_PDF, startService, type TestService, type TestTenant } from '../support/service.ts';

let service: TestService;
let receiver: Receiver;
let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'export-'));
  [service, receiver] = await Promise.all([startService({ ALLOW_INSECURE_WEBHOOKS: 'true' }), startReceiver()]);
  return async () => {
    await Promise.all([service.close(), receiver.close()]);
    await rm(folder, { recursive: true, force: true });
  };
});

let exports = 0;
async function exported(tenantId: string): Promise<string> {
  const to = join(folder, String(++exports));
  const target = await createExportFolder(to);
  const manifest = await exportTenant(recordsOf(service.app.store.db), tenantId, target, new Date());
  await target.close();
  expect(manifest).not.toBeNull();
  return to;
}

const read = (path: string, name: string) => readFile(join(path, name), 'utf8');
const linesOf = async (path: string, name: string) =>
  (await read(path, name))
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line));
const sha256 = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex');

/** A tenant with an invoice that was accepted, rendered and delivered. */
async function world(): Promise<{
  tenant: TestTenant;
  invoice: Record<string, string>;
  client: Client;
  email: string;
}> {
  const tenant = await service.tenant({ legalName: 'Atlas SARL' });
  const client = new Client(service.url, tenant.secretKey);
  const { email } = await signedIn(service, { memberships: [{ tenantId: tenant.id, role: 'owner' }] });
  await client.post('/v1/webhook_endpoints', { url: receiver.url, events: ['invoice.accepted'] });
  const { body } = await client.post('/v1/invoices', invoiceBody({ metadata: { order: '47\u2028 11' } }));
  const draft = 'mutation { createDraft(content: { amount: "120," }) { __typename } }';
  await client.graphql(draft);
  const invoice = await client.settled(body.id);
  // Made on demand.
  await fetch(invoice.pdf_url).then((answer) => answer.arrayBuffer());
  await expect.poll(() => receiver.received.some(({ event }) => event.data.id === body.id)).toBe(true);
  await expect
    .poll(() =>
      service.app.store.db.collection('webhook_deliveries').countDocuments({ tenantId: tenant.id, state: 'delivered' }),
    )
    .toBe(1);
  return { tenant, invoice, client, email };
}

describe('an export of a tenant', () => {
  it('has everything, in files whose digests the manifest vouches for, and no secret', async () => {
    const { tenant, invoice, email } = await world();
    const path = await exported(tenant.id);
    const manifest = await verifyExport(path);
    expect(manifest).toMatchObject({
      tenant: tenant.id,
      records: {
        'test/invoices.jsonl': 1,
        'test/deliveries.jsonl': 1,
        'test/endpoints.jsonl': 1,
        'live/invoices.jsonl': 0,
        'test/credit_notes.jsonl': 0,
        'live/credit_notes.jsonl': 0,
      },
    });
    const [line] = await linesOf(path, 'test/invoices.jsonl');
    const { details, ...answer } = line;
    const base = `test/documents/${details.number.slice(0, 4)}/${details.number}`;
    expect(answer).toEqual({ ...invoice, xml_url: `${base}/signed.xml`, pdf_url: `${base}/invoice.pdf` });
    expect(Object.keys(answer).slice(0, 3)).toEqual(['id', 'object', 'status']);
    const xml = Buffer.from(await (await fetch(String(invoice.xml_url))).arrayBuffer());
    expect(await readFile(join(path, answer.xml_url))).toEqual(xml);
    expect(await readFile(join(path, answer.pdf_url))).toEqual(STAND_IN_PDF);
    expect(details.documents).toContainEqual({
      kind: 'xml',
      path: answer.xml_url,
      sha256: sha256(xml),
      size: xml.length,
    });
    const [delivery] = await linesOf(path, 'test/deliveries.jsonl');
    expect(delivery).toMatchObject({ state: 'delivered', attempts: [{ status: 200, url: receiver.url }] });
    const [draft] = await linesOf(path, 'test/drafts.jsonl');
    expect(draft).toMatchObject({ id: expect.stringMatching(/^drf_/), version: 1, content: '{"amount":"120,"}' });
    const events = await linesOf(path, 'test/events.jsonl');
    expect(events.map(({ type }) => type)).toEqual(['invoice.accepted', 'invoice.transmitted', 'invoice.signing']);
    expect(events[0].body.data).toMatchObject({ id: invoice.id, xml_url: null, pdf_url: null });
    expect(JSON.parse(await read(path, 'members.json'))).toMatchObject([{ role: 'owner', person: { email } }]);
    expect(JSON.parse(await read(path, 'tenant.json'))).toMatchObject({
      id: tenant.id,
      profile: { legalName: 'Atlas SARL' },
    });
    expect((await linesOf(path, 'audit.jsonl')).map(({ action }) => action)).toContain('webhook_endpoint.created');
    const all = await readdir(path, { recursive: true, withFileTypes: true });
    const texts = all.filter((each) => each.isFile() && !each.name.endsWith('.pdf'));
    const text = (await Promise.all(texts.map((each) => read(each.parentPath, each.name)))).join('\n');
    const stored = await service.app.store.db.collection('tenants').findOne({ _id: tenant.id as never });
    const endpoint = await service.app.store.db.collection('webhook_endpoints').findOne({ tenantId: tenant.id });
    for (const secret of [tenant.secretKey, stored?.keys[0].hash, endpoint?.secrets[0].sealed, '/files/', 'whsec_'])
      expect(text).not.toContain(secret);
    expect((await stat(join(path, answer.xml_url))).mode & 0o777).toBe(0o600);
  });

  it('has the calls to the authority that the tenant sees in GraphQL', async () => {
    const { tenant, invoice, client } = await world();
    const query = `{ invoice(id: "${invoice.id}") {
      authorityAttempts { at purpose outcome message milliseconds requestId } } }`;
    const { authorityAttempts } = (await client.graphql(query)).body.data.invoice;
    const [{ details }] = await linesOf(await exported(tenant.id), 'test/invoices.jsonl');
    expect(authorityAttempts.length).toBeGreaterThan(0);
    // GraphQL shows whole seconds.
    const shown = details.authorityAttempts.map(({ at, ...each }: { at: string }) => ({
      at: `${at.slice(0, 19)}Z`,
      ...each,
    }));
    expect(shown).toEqual(authorityAttempts);
  });

  it('has each field that is stored of an invoice, a number of its own included', async () => {
    const tenant = await service.tenant();
    const client = new Client(service.url, tenant.secretKey);
    const input = {
      amount: 12000,
      currency: 'MAD',
      number: 'F-2026/7',
      terms: { dueDate: '2026-12-31' },
      customer: { ice: '001234567000062', name: 'Atlas SARL', email: 'compta@example.com' },
      lines: [{ description: 'Conseil', quantity: 1, unitPrice: 10000 }],
      withholding: { percent: 75, certificate: { number: 'ARF 117', date: '2026-10-05' } },
    };
    const query =
      'mutation ($input: CreateInvoiceInput!) { createInvoice(input: $input) { ... on CreateInvoicePayload { invoice { id } } } }';
    expect((await client.graphql(query, { input })).body.data.createInvoice.invoice.id).toMatch(/^inv_/);
    const [{ details }] = await linesOf(await exported(tenant.id), 'test/invoices.jsonl');
    expect(details).toMatchObject({
      ownNumber: 'F-2026/7',
      environment: 'test',
      awaitsCleared: false,
      customer: { email: 'compta@example.com' },
      terms: { dueDate: '2026-12-31' },
      withholding: { percent: 75, certificate: { number: 'ARF 117', date: '2026-10-05' } },
    });
  });

  it('is on the disk, every file and folder, before its manifest is there, and then the manifest', async () => {
    const { tenant } = await world();
    const [above, name] = [join(folder, 'new'), 'export'];
    const to = join(above, name);
    /** What was sent to the disk, by inode. */
    const [before, after] = [new Set<number>(), new Set<number>()];
    const any = await open(folder);
    const prototype = Object.getPrototypeOf(any) as FileHandle;
    await any.close();
    const { sync } = prototype;
    const spy = vi.spyOn(prototype, 'sync').mockImplementation(async function (this: FileHandle) {
      const { ino } = await this.stat();
      await sync.call(this);
      (existsSync(join(to, 'manifest.json')) ? after : before).add(ino);
    });
    onTestFinished(() => spy.mockRestore());
    const target = await createExportFolder(to);
    await exportTenant(recordsOf(service.app.store.db), tenant.id, target, new Date());
    await target.close();
    const inside = await readdir(to, { recursive: true });
    expect(inside.filter((path) => path.endsWith('signed.xml'))).toHaveLength(1);
    const inodes = async (paths: string[]) => Promise.all(paths.map(async (path) => (await stat(path)).ino));
    const all = [folder, above, to, ...inside.map((path) => join(to, path))];
    expect((await inodes(all)).filter((ino) => !before.has(ino))).toEqual([]);
    expect(await inodes([to])).toEqual([...after]);
  });

  it('is checked by sha256sum, too', async () => {
    const path = await exported((await service.tenant()).id);
    await promisify(execFile)('sha256sum', ['--check', '--quiet', '--strict', 'SHA256SUMS'], { cwd: path });
  });

  it('has all invoices where pages end, each once', async () => {
    const { id: tenantId } = await service.tenant();
    const invoices = Array.from({ length: 120 }, () => pendingInvoice({ tenantId, work: null }));
    const documents = invoices.map((invoice) => documentOf(invoice, newCreationMoment().order, null));
    await service.app.store.db.collection<{ _id: string }>('invoices').insertMany(documents);
    const lines = await linesOf(await exported(tenantId), 'test/invoices.jsonl');
    expect(lines.map(({ id }) => id)).toEqual(invoices.map(({ id }) => id).reverse());
  });

  it('has credit notes apart from invoices, each with what it corrects', async () => {
    const { id: tenantId } = await service.tenant();
    const original = { id: null, number: '2026-000001', issueDate: '2026-01-31', dgiId: null };
    const credit = { original, reason: 'return', note: null, rates: [], amount: 12_000 } as const;
    const own = { tenantId, work: null } as const;
    const [invoice, note] = [
      pendingInvoice(own),
      pendingInvoice({ ...own, id: newId('crn'), kind: 'credit_note', credit }),
    ];
    const documents = [invoice, note].map((each) => documentOf(each, newCreationMoment().order, null));
    await service.app.store.db.collection<{ _id: string }>('invoices').insertMany(documents);
    const path = await exported(tenantId);
    expect(await linesOf(path, 'test/invoices.jsonl')).toMatchObject([
      { id: invoice.id, object: 'invoice', details: { kind: 'invoice', credit: null } },
    ]);
    expect(await linesOf(path, 'test/credit_notes.jsonl')).toMatchObject([
      { id: note.id, object: 'credit_note', details: { kind: 'credit_note', credit } },
    ]);
  });

  it.each([
    ['a file was changed', (path: string) => appendFile(join(path, 'tenant.json'), ' '), /tenant\.json is damaged/],
    ['a file is missing', (path: string) => unlink(join(path, 'keys.json')), /keys\.json is missing/],
    ['a file was added', (path: string) => writeFile(join(path, 'live', 'x'), ''), /1 files that do not belong/],
    ['the list was changed', (path: string) => appendFile(join(path, 'SHA256SUMS'), 'x'), /SHA256SUMS is damaged/],
    ['it was interrupted', (path: string) => unlink(join(path, 'manifest.json')), /interrupted/],
    [
      'the manifest was changed',
      async (path: string) => {
        const text = await read(path, 'manifest.json');
        await writeFile(
          join(path, 'manifest.json'),
          text.replace('"test/invoices.jsonl": 0', '"test/invoices.jsonl": 1'),
        );
      },
      /test\/invoices\.jsonl has 0 records, and the manifest says 1/,
    ],
  ])('is refused when %s', async (_name, damage, message) => {
    const path = await exported((await service.tenant()).id);
    await damage(path);
    await expect(verifyExport(path)).rejects.toThrow(message);
  });

  it('follows no list out of its folder', async () => {
    const path = await exported((await service.tenant()).id);
    await rename(join(path, 'tenant.json'), join(folder, 'outside.json'));
    const list = (await read(path, 'SHA256SUMS')).replace(' tenant.json', ' ../outside.json');
    await writeFile(join(path, 'SHA256SUMS'), list);
    const manifest = JSON.parse(await read(path, 'manifest.json'));
    await writeFile(join(path, 'manifest.json'), JSON.stringify({ ...manifest, sums: sha256(Buffer.from(list)) }));
    await expect(verifyExport(path)).rejects.toThrow('SHA256SUMS has a wrong line');
  });

  it('is written to an empty folder only, and over no file', async () => {
    const path = await exported((await service.tenant()).id);
    await expect(createExportFolder(path)).rejects.toThrow(/is not empty/);
    const target = await createExportFolder(join(folder, 'names'));
    await target.write('a/b', []);
    await expect(target.write('a/b', [])).rejects.toThrow(/EEXIST/);
    for (const name of ['../x', '/x', 'a/../x', 'a//x', '.x', 'a/.x', 'a\\x', 'a\nx', '', 'a/'])
      await expect(target.write(name, [])).rejects.toThrow(/cannot have a file/);
    await target.close();
  });

  it('ends when a stored document is not what its invoice names', async () => {
    const { tenant, invoice } = await world();
    const { db } = service.app.store;
    const found = await db.collection<{ _id: string; xml: object }>('invoices').findOne({ _id: String(invoice.id) });
    const xml = { ...found?.xml, sha256: '0'.repeat(64) };
    await db.collection<{ _id: string }>('invoices').updateOne({ _id: String(invoice.id) }, { $set: { xml } });
    await expect(exported(tenant.id)).rejects.toThrow(/The bytes of xml of invoice inv_.* are damaged/);
    await expect(verifyExport(join(folder, String(exports)))).rejects.toThrow(/interrupted/);
  });

  it('gives every number a name that every disk can have, and no two the same', () => {
    const hostile = [
      '../../etc/passwd',
      '..',
      'CON',
      'a b',
      'A B',
      'a/b',
      'a\\b',
      '.x',
      'x. ',
      '\u0000',
      'é'.repeat(300),
      '',
    ];
    const names = hostile.map((ownNumber) => documentFolder(pendingInvoice({ ownNumber, number: ownNumber })));
    for (const name of names) {
      expect(name).toMatch(/^test\/documents\/\d{4}\/[A-Za-z0-9-]{0,60}_inv_[0-9a-f-]{36}$/);
    }
    const clash = ['FA-1', 'fa-1'].map((ownNumber) => documentFolder(pendingInvoice({ ownNumber })).toLowerCase());
    expect(new Set(clash).size).toBe(2);
    const series = documentFolder(pendingInvoice({ number: '2026-000123', ownNumber: null }));
    expect(series).toMatch(/^test\/documents\/\d{4}\/2026-000123$/);
  });
});
