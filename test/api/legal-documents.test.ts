import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { Client, invoiceFor } from '../support/client.ts';
import { type TestService, type TestTenant, withSharedService } from '../support/service.ts';

let service: TestService;
let tenant: TestTenant;
let client: Client;

withSharedService.beforeAll(async ({ service: shared }) => {
  service = shared;
  tenant = await service.tenant();
  client = new Client(service.url, tenant.secretKey);
});

const VERIFY = `query ($xml: String!) { verifyDocument(xml: $xml) {
  valid failed reason signingTime algorithm timeStamp { time } clearance { dgiId } certificate { subject fingerprint } covered { type number digest } } }`;
const WARNINGS =
  'query ($id: ID!, $secret: String) { invoice(id: $id, clientSecret: $secret) { number documents { xml { url } } warnings { code path message } } }';

/** A created invoice, after acceptance. */
async function accepted() {
  const created = await client.post('/v1/invoices', invoiceFor('001525713000085'));
  await expect
    .poll(async () => (await client.get(`/v1/invoices/${created.body.id}`)).body.status, { timeout: 50_000 })
    .toBe('accepted');
  return created.body as { id: string; client_secret: string };
}

describe('verifyDocument', () => {
  it('finds the service’s own document valid, and a changed one invalid', async () => {
    const { id } = await accepted();
    const { invoice } = (await client.graphql(WARNINGS, { id })).body.data;
    const xml = await (await fetch(invoice.documents.xml.url)).text();
    const own = await client.graphql(VERIFY, { xml });
    expect(own.body.data.verifyDocument).toMatchObject({
      valid: true,
      failed: null,
      reason: null,
      timeStamp: null,
      clearance: null,
      certificate: {
        subject: expect.stringContaining('Fatoura TEST'),
        fingerprint: expect.stringMatching(/^[0-9a-f]{64}$/),
      },
      covered: { type: 'Invoice', number: invoice.number },
    });
    const changed = await client.graphql(VERIFY, { xml: xml.replace(/(<cbc:PayableAmount[^>]*>)/, '$19') });
    expect(changed.body.data.verifyDocument).toMatchObject({
      valid: false,
      failed: 'digest',
      certificate: null,
      covered: null,
    });
  });

  it('refuses attacks: entity bombs, signature wrapping, other documents', async () => {
    const bomb = '<!DOCTYPE x [<!ENTITY a "aa"><!ENTITY b "&a;&a;">]><x>&b;</x>';
    for (const xml of [bomb, '<Invoice xmlns="urn:oasis:names:specification:ubl:schema:xsd:Invoice-2"/>', '', 'x']) {
      const { body } = await client.graphql(VERIFY, { xml });
      expect(body.data.verifyDocument).toMatchObject({ valid: false, failed: 'structure', reason: expect.any(String) });
    }
  });

  it('reports a document that would take too long as not checked', async () => {
    const nested = Array.from({ length: 25_000 }, (_, n) => `<a xmlns:p${n}="urn:${n}">`).join('');
    const { body } = await client.graphql(VERIFY, { xml: nested });
    expect(body.data.verifyDocument).toMatchObject({
      valid: false,
      failed: 'limits',
      reason: expect.stringContaining('too many namespaces'),
    });
  });

  it('needs a secret key', async () => {
    const { body } = await new Client(service.url, tenant.publishableKey).graphql(VERIFY, { xml: 'x' });
    expect(body.errors[0].extensions.code).toBe('insufficient_scope');
  });
});

describe('warnings', () => {
  it('are shown only to a secret key', async () => {
    const created = await client.post('/v1/invoices', invoiceFor('001525713000085'));
    const { id, client_secret: secret } = created.body;
    const { body } = await client.graphql(WARNINGS, { id });
    expect(
      body.data.invoice.warnings.map(({ code, path }: { code: string; path: string }) => `${code} ${path}`),
    ).toEqual(expect.arrayContaining(['ice_check_key customer.ice', 'customer_address_missing customer.address']));
    const publishable = new Client(service.url, tenant.publishableKey);
    const seen = await publishable.graphql(WARNINGS, { id, secret });
    expect(seen.body.data.invoice.warnings).toEqual([]);
  });
});

describe('a live invoice', () => {
  it('is never signed with the generated test certificate, and waits for another one', async () => {
    const { SPECIMEN_SELLER } = await import('../../src/domain/tenant/tenant.ts');
    const seller = await service.tenant(SPECIMEN_SELLER);
    const live = new Client(service.url, await service.liveKey(seller.id));
    const created = await live.post('/v1/invoices', invoiceFor('001525713000085'));
    expect(created.status).toBe(201);
    const read = async () => (await live.get(`/v1/invoices/${created.body.id}`)).body;
    await expect.poll(async () => (await read()).status, { timeout: 50_000 }).toBe('signing');
    // Whatever the number of runs: the settings may come back, and a rejection would be for good.
    await sleep(1500);
    expect(await read()).toMatchObject({ status: 'signing', rejection_reason: null, xml_url: null });
  });
});
