import { randomUUID } from 'node:crypto';
import { expect } from 'vitest';
import { IMPORT_LIMITS } from '../../src/domain/imports/limits.ts';
import { MAX_IMPORT_MIB } from '../../src/domain/limits.ts';
import { Client } from '../support/client.ts';
import { csvOf, HEADERS, ICE, readImport, row, START, sendFile, started, until, uploaded } from '../support/imports.ts';
import { signedIn } from '../support/person.ts';
import { type TestService, withSharedService } from '../support/service.ts';

const REMAP = `mutation ($id: ID!, $columns: [ImportColumnInput!]!, $privateCustomers: Boolean) {
  remapImport(id: $id, columns: $columns, privateCustomers: $privateCustomers) {
  ... on RemapImportPayload { import { id } } ... on Error { code message } } }`;
const DISCARD =
  'mutation ($id: ID!) { discardImport(id: $id) { ... on DiscardImportPayload { id } ... on Error { code message } } }';

async function newTenant(service: TestService) {
  const tenant = await service.tenant();
  const client = new Client(service.url, tenant.secretKey);
  return {
    ...tenant,
    client,
    send: (content: string, name?: string) => uploaded(client, service.url, tenant.secretKey, content, name),
    invoices: async () => (await client.graphql('{ invoices(first: 100) { nodes { id } } }')).body.data.invoices.nodes,
    result: (id: string) =>
      fetch(`${service.url}/imports/${id}/result`, { headers: { Authorization: `Bearer ${tenant.secretKey}` } }),
  };
}

const verdicts = (imported: { invoices: { nodes: { verdict: string }[] } }) =>
  imported.invoices.nodes.map(({ verdict }) => verdict);

withSharedService(
  'a file is checked first, and then issued; one bad row stops only its invoice',
  async ({ service }) => {
    const tenant = await newTenant(service);
    const file = csvOf([row('F-1'), row('F-2', { ice: '12345' }), row('', { price: '1 234,50' }), row('F-4')]);
    const checked = await tenant.send(file);

    expect(checked).toMatchObject({
      status: 'checked',
      reading: { format: 'csv', encoding: 'utf-8', separator: ';', decimalSign: ',', language: 'fr', rows: 4 },
      counts: { invoices: 4, ready: 3, faulty: 1, known: 0, issued: 0 },
    });
    expect(verdicts(checked)).toEqual(['ready', 'faulty', 'ready', 'ready']);
    const [first, faulty, third] = checked.invoices.nodes;
    expect(first).toMatchObject({
      number: 'F-1',
      customerName: 'Atlas SARL',
      amount: 24_000,
      firstRow: 2,
      invoice: null,
    });
    expect(third.amount).toBe(296_280);
    expect(faulty.problems).toEqual([
      expect.objectContaining({ row: 3, column: 'C', header: 'ICE du client', value: '12345', param: 'customer.ice' }),
    ]);
    expect(await tenant.invoices()).toEqual([]);

    const settled = await started(tenant.client, checked.id);
    expect(settled).toMatchObject({ status: 'done', counts: { ready: 0, issued: 3, faulty: 1, accepted: 3 } });
    expect(settled.invoices.nodes.map((each: { invoice: unknown }) => each.invoice)).toEqual([
      expect.objectContaining({ number: 'F-1', status: 'accepted', amount: 24_000 }),
      null,
      expect.objectContaining({ status: 'accepted', amount: 296_280 }),
      expect.objectContaining({ number: 'F-4' }),
    ]);
    expect(await tenant.invoices()).toHaveLength(3);
    // A repeated start changes nothing.
    expect((await tenant.client.graphql(START, { id: checked.id })).body.data.startImport.import.status).toBe('done');

    const result = await tenant.result(checked.id);
    expect(result.headers.get('content-disposition')).toBe('attachment; filename="ventes.csv"');
    const [headers, ...lines] = (await result.text()).trim().split('\r\n');
    expect(headers).toContain('Statut (Fatoura)');
    expect(lines[0]).toMatch(/;F-1;Acceptée;.*;https?:.*\.pdf$/);
    expect(lines[1]).toMatch(/À corriger;.*ICE du client/);
  },
);

withSharedService(
  'the same file again issues nothing, a corrected one only what was corrected',
  async ({ service }) => {
    const tenant = await newTenant(service);
    const same = row('', { name: 'Comptant' });
    const rows = [row('F-1'), same, same, row('F-2', { price: 'abc' })];
    await started(tenant.client, (await tenant.send(csvOf(rows))).id);
    const before = await tenant.invoices();
    expect(before).toHaveLength(3);

    const again = await tenant.send(csvOf(rows));
    expect(verdicts(again)).toEqual(['known', 'known', 'known', 'faulty']);
    expect(again.invoices.nodes[0].invoice).toMatchObject({ number: 'F-1', status: 'accepted' });

    // Corrected, and with rows in another order and one more sale that is equal to two earlier ones.
    const corrected = await tenant.send(csvOf([row('F-2'), same, row('F-1'), same, same]));
    expect(verdicts(corrected)).toEqual(['ready', 'known', 'known', 'known', 'ready']);
    await started(tenant.client, corrected.id);
    expect(await tenant.invoices()).toHaveLength(5);

    const otherwise = await tenant.send(csvOf([row('F-1', { price: '101,00' }), row('F-9')]));
    expect(verdicts(otherwise)).toEqual(['faulty', 'ready']);
    const [issued] = otherwise.invoices.nodes;
    expect(issued.problems).toMatchObject([{ row: 2, column: 'A', value: 'F-1', code: 'number_issued_otherwise' }]);
    expect(issued.invoice).toMatchObject({ number: 'F-1', amount: 24_000 });
  },
);

withSharedService(
  'an invoice that cannot be issued any more is refused, and the others are issued',
  async ({ service }) => {
    const tenant = await newTenant(service);
    const { id } = await tenant.send(csvOf([row('F-1'), row('F-2')]));
    const taken = { number: 'F-1', amount: 12_000, currency: 'MAD', customer: { ice: ICE, name: 'N' } };
    const lines = [{ description: 'L', quantity: 1, unitPrice: 10_000, taxRate: 20 }];
    const create = `mutation ($input: CreateInvoiceInput!) { createInvoice(input: $input) { __typename } }`;
    const made = await tenant.client.graphql(create, { input: { ...taken, lines } });
    expect(made.body.data.createInvoice.__typename).toBe('CreateInvoicePayload');

    const settled = await started(tenant.client, id);
    expect(verdicts(settled)).toEqual(['refused', 'issued']);
    expect(settled.invoices.nodes[0].problems).toMatchObject([{ row: 2, code: 'duplicate_number' }]);
  },
);

withSharedService(
  'columns that a person chooses are kept for the next file with these headers',
  async ({ service }) => {
    const tenant = await newTenant(service);
    const headers = 'Pièce;Qui;Quoi;Combien;Prix unitaire HT';
    const file = (number: string) => csvOf([[number, 'Atlas', 'Stylos', 2, '10,00']], headers);
    const first = await tenant.send(file('A-1'));
    expect(first.status).toBe('checked');
    expect(first.reading.missing).toContain('customer.name');
    expect(first.counts.invoices).toBe(0);

    const fields: Record<string, string> = { Qui: 'customer.name', Quoi: 'line.description', Combien: 'line.quantity' };
    const { columns } = first.reading as { columns: { key: string; header: string }[] };
    const chosen = columns.flatMap(({ key, header }) => (fields[header] ? [{ key, field: fields[header] }] : []));
    const unknown = [{ key: 'nothing', field: 'customer.name' }];
    const refused = await tenant.client.graphql(REMAP, { id: first.id, columns: unknown });
    expect(refused.body.data.remapImport.code).toBe('invalid_request');
    const { remapImport } = (await tenant.client.graphql(REMAP, { id: first.id, columns: chosen })).body.data;
    expect(remapImport.import.id).toBe(first.id);
    const remapped = await until(tenant.client, first.id, ({ status }) => status === 'checked');
    // Who has seen the verdicts of before does not start others.
    const before = `mutation { startImport(id: "${first.id}", round: 1) { ... on Error { code param } } }`;
    const late = (await tenant.client.graphql(before)).body.data.startImport;
    expect(late).toEqual({ code: 'import_not_checked', param: 'round' });
    expect(remapped.reading.missing).toEqual([]);
    expect(remapped.counts.invoices).toBe(1);

    const second = await tenant.send(file('A-2'));
    expect(second.reading.missing).toEqual([]);
    expect(second.counts.invoices).toBe(1);
  },
);

withSharedService(
  'what is said of columns that may be two things, and of customers, is kept; what is not said stays open',
  async ({ service }) => {
    const tenant = await newTenant(service);
    const headers = 'Client;Désignation;Prix unitaire HT;Taux de TVA;Remise;N°';
    const file = csvOf([['Amina', 'Tapis', '200,00', 20, 10, 1]], headers);
    const remap = async (id: string, columns: object[], privateCustomers: boolean | null = null) => {
      await tenant.client.graphql(REMAP, { id, columns, privateCustomers });
      return until(tenant.client, id, ({ status }) => status === 'checked');
    };
    const { id, reading } = await tenant.send(file);
    expect(reading.missing).toEqual(['line.discount.percent', 'number']);
    const one = await remap(id, [{ key: 'numero', field: null }]);
    expect(one.reading.missing).toEqual(['line.discount.percent']);
    const both = await remap(id, [{ key: 'remise', field: 'line.discount.percent' }]);
    expect(both).toMatchObject({ reading: { missing: [] }, counts: { faulty: 1 } });
    const whole = await remap(id, [], true);
    expect(whole).toMatchObject({ counts: { ready: 1 }, invoices: { nodes: [{ amount: 21_600 }] } });
    // For later files with these headers, too, until it is taken back.
    const next = await tenant.send(file.replace('Amina', 'Omar'));
    expect(next).toMatchObject({ reading: { missing: [] }, counts: { ready: 1 } });
    expect(await remap(next.id, [], false)).toMatchObject({ counts: { ready: 0, faulty: 1 } });
  },
);

withSharedService('an import is its tenant’s own, and those who only read start nothing', async ({ service }) => {
  const tenant = await newTenant(service);
  const other = await newTenant(service);
  const { id } = await tenant.send(csvOf([row('F-1')]));

  await expect(readImport(other.client, id)).rejects.toThrow(/There is no import/);
  for (const mutation of [START, DISCARD])
    expect(Object.values((await other.client.graphql(mutation, { id })).body.data)).toMatchObject([
      { code: 'resource_not_found' },
    ]);
  expect((await other.result(id)).status).toBe(404);
  expect((await sendFile(service.url, tenant.publishableKey, 'a')).status).toBe(403);
  expect((await sendFile(service.url, 'sk_test_unknown', 'a')).status).toBe(401);
  const sendAs = async (role: 'viewer' | 'biller') => {
    const { browser } = await signedIn(service, { memberships: [{ tenantId: tenant.id, role }] });
    const headers = browser.credential(tenant.id);
    return (await fetch(`${service.url}/imports?name=a.csv`, { method: 'POST', headers, body: csvOf([row('F-2')]) }))
      .status;
  };
  expect(await sendAs('viewer')).toBe(403);
  expect(await sendAs('biller')).toBe(201);
  expect((await readImport(tenant.client, id)).counts.ready).toBe(1);
});

withSharedService('a file that cannot be taken is refused with its reason', async ({ service }) => {
  const { secretKey, ...tenant } = await newTenant(service);
  const send = (query: string, body: string | Uint8Array = 'a', headers = {}) =>
    fetch(`${service.url}/imports${query}`, {
      method: 'POST',
      headers: { Authorization: `Bearer ${secretKey}`, ...headers },
      body: body as BodyInit,
    });
  expect((await send('')).status).toBe(400);
  expect((await send('?name=a.csv&other=1')).status).toBe(400);
  expect((await send('?name=a.csv&language=de')).status).toBe(400);
  expect((await send('?name=a%00.csv')).status).toBe(400);
  expect((await send('?name=a.csv', 'a', { 'Content-Encoding': 'gzip' })).status).toBe(415);
  const large = await send('?name=a.csv', new Uint8Array(IMPORT_LIMITS.fileBytes + 1));
  expect(large.status).toBe(413);
  expect(((await large.json()) as { error: { message: string } }).error.message).toContain('20 MiB');

  const broken = await tenant.send('PK\u0003\u0004 not a workbook', 'a.xlsx');
  expect(broken).toMatchObject({ status: 'unreadable', reading: null, counts: { invoices: 0 } });
  expect(broken.failure.message).not.toBe('');
  expect((await tenant.client.graphql(START, { id: broken.id })).body.data.startImport.code).toBe('import_not_checked');
  expect((await tenant.result(broken.id)).status).toBe(409);
  expect((await tenant.client.graphql(DISCARD, { id: broken.id })).body.data.discardImport.id).toBe(broken.id);
  expect((await tenant.result(broken.id)).status).toBe(404);
  expect((await tenant.result(`imp_${randomUUID()}`)).status).toBe(404);
});

withSharedService(
  'a row that was issued is never issued again, however its file is read later',
  async ({ service }) => {
    const tenant = await newTenant(service);
    const headers = `${HEADERS};Machin`;
    const file = csvOf([[...row(''), 'C-1']], headers);
    await started(tenant.client, (await tenant.send(file)).id);
    const again = await tenant.send(file);
    expect(again.invoices.nodes).toMatchObject([{ verdict: 'known', warnings: [] }]);
    const [{ invoice }] = again.invoices.nodes;

    const machin = again.reading.columns.find((column: { header: string }) => column.header === 'Machin');
    const columns = [{ key: machin.key, field: 'references.order' }];
    await tenant.client.graphql(REMAP, { id: again.id, columns });
    const remapped = await until(tenant.client, again.id, ({ status }) => status === 'checked');
    expect(remapped.invoices.nodes).toMatchObject([
      { verdict: 'faulty', problems: [{ code: 'row_issued_otherwise' }] },
    ]);
    expect(remapped.invoices.nodes[0].problems[0].message).toContain(invoice.number);

    // So it is when it comes back, without the number of the other invoice; an equal sale of another month is named.
    const returned = await (await tenant.result(again.id)).text();
    expect(returned.split(invoice.number)).toHaveLength(2);
    expect(verdicts(await tenant.send(returned))).toEqual(['faulty']);
    const other = await tenant.send(csvOf([[...row(''), '30/11/2026']], `${HEADERS};Remarque`));
    expect(other.invoices.nodes).toMatchObject([{ verdict: 'known', warnings: [{ code: 'equal_sale' }] }]);
    expect(other.invoices.nodes[0].warnings[0].message).toContain(invoice.number);
    expect(await tenant.invoices()).toHaveLength(1);
  },
);

withSharedService(
  'the files of a tenant’s imports have a limit together, and none is stored beyond it',
  async ({ service }) => {
    const tenant = await newTenant(service);
    const { id } = await tenant.send(csvOf([row('F-1')]));
    // biome-ignore lint/suspicious/noExplicitAny: any stored document
    const stored = (name: string) => service.app.store.db.collection<any>(name);
    await stored('imports').updateOne({ _id: id }, { $set: { 'file.size': MAX_IMPORT_MIB * 1024 * 1024 } });
    const refused = await sendFile(service.url, tenant.secretKey, csvOf([row('F-2')]));
    expect([refused.status, (await refused.json()).error]).toEqual([
      422,
      expect.objectContaining({ code: 'import_limit_reached', message: expect.stringContaining('500 MiB') }),
    ]);
    expect(await stored('import_files').countDocuments({ tenantId: tenant.id })).toBe(1);
  },
);

withSharedService('a row that two imports have found ready is issued by one of them', async ({ service }) => {
  const tenant = await newTenant(service);
  const file = (header: string) =>
    csvOf(
      [
        [...row(''), 'B-1'],
        [...row('', { price: '7,00' }), 'B-2'],
      ],
      `${HEADERS};${header}`,
    );
  const first = await tenant.send(file('Bordereau'));
  const second = await tenant.send(file('Bon de commande'));
  expect([verdicts(first), verdicts(second)]).toEqual([
    ['ready', 'ready'],
    ['ready', 'ready'],
  ]);
  // What the file says is understood otherwise: their invoices have other ids.
  const both = await Promise.all([started(tenant.client, first.id), started(tenant.client, second.id)]);
  expect(await tenant.invoices()).toHaveLength(2);
  const all = both.flatMap((each) => verdicts(each)).sort();
  expect(all).toEqual(['issued', 'issued', 'known', 'known']);
  // Once more, under a third name.
  expect(verdicts(await tenant.send(file('Remarque interne')))).not.toContain('ready');
});

withSharedService('the sale of a rejected invoice that was replaced is known', async ({ service }) => {
  const tenant = await newTenant(service);
  const file = csvOf([row('')]);
  const settled = await started(tenant.client, (await tenant.send(file)).id);
  const _id = settled.invoices.nodes[0].invoice.id;
  // biome-ignore lint/suspicious/noExplicitAny: any stored document
  const stored = service.app.store.db.collection<any>('invoices');
  await stored.updateOne({ _id }, { $set: { status: 'rejected' } });
  expect(verdicts(await tenant.send(file))).toEqual(['ready']);
  const replacedBy = { invoiceId: 'inv_other', at: new Date(), version: 1 };
  await stored.updateOne({ _id }, { $set: { replacedBy } });
  expect(verdicts(await tenant.send(file))).toEqual(['known']);
});
