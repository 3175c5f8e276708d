import { fileURLToPath } from 'node:url';
import type { Browser, Page } from 'puppeteer-core';
import { afterAll, describe, expect, it } from 'vitest';
import { buildDashboard } from '../../scripts/build-dashboard.ts';
import { BROWSER_PATH } from '../support/browser.ts';
import { type Client, invoiceBody } from '../support/client.ts';
import { startService, type TestService } from '../support/service.ts';
import { withSharedBrowser } from '../support/shared-browser.ts';
import { DESKTOP, expectAccessible, openWorkspacePage, PHONE } from '../support/workspace-page.ts';

if (BROWSER_PATH === null) console.warn('skipped: no Chromium for tests of pages (Debian: apt-get install chromium)');

/** An invoice of 3 × 100.01 at 20 % and 1 × 50.03 at 10 %. */
const INVOICE = {
  amount: 41_507,
  lines: [
    { description: 'Conseil', quantity: 3, unit_price: 10_001, tax_rate: 20 },
    { description: 'Livre', quantity: 1, unit_price: 5_003, tax_rate: 10 },
  ],
};

describe.skipIf(BROWSER_PATH === null)('credit notes in the pages of a signed-in person', () => {
  let service: TestService;
  let browser: Browser;

  withSharedBrowser.beforeAll(async ({ browser: shared }) => {
    await buildDashboard(fileURLToPath(new URL('../..', import.meta.url)));
    browser = shared;
    service = await startService({ RATE_LIMIT_ADDRESS: '1000000', ALLOW_INSECURE_WEBHOOKS: 'true' });
  });
  afterAll(async () => {
    await service.close();
  });

  const open = (given: Parameters<typeof openWorkspacePage>[2]) =>
    openWorkspacePage(service, browser, { open: 'invoices', ...given });

  async function acceptedInvoice(client: Client): Promise<string> {
    const { id } = (await client.post('/v1/invoices', invoiceBody(INVOICE))).body;
    expect((await client.settled(id)).status).toBe('accepted');
    return id;
  }

  /** Credits an invoice and waits until the credit note is accepted. */
  async function credited(client: Client, invoiceId: string, input: object) {
    const { body } = await client.graphql(
      `mutation ($id: ID!, $input: CreditInvoiceInput!) { creditInvoice(invoiceId: $id, input: $input) {
        ... on CreditInvoicePayload { clientSecret creditNote { id } } } }`,
      { id: invoiceId, input },
    );
    const { creditNote, clientSecret } = body.data.creditInvoice;
    const read = `{ creditNote(id: "${creditNote.id}") { status number } }`;
    const noteOf = async () => (await client.graphql(read)).body.data.creditNote;
    await expect.poll(async () => (await noteOf()).status, { timeout: 30_000 }).toBe('accepted');
    return { id: creditNote.id as string, clientSecret: clientSecret as string, number: (await noteOf()).number };
  }

  const textOf = (page: Page, selector: string) =>
    page.$eval(selector, ({ textContent }) => (textContent ?? '').replace(/\s+/g, ' ').trim());
  const rowsOf = (page: Page) =>
    page.$$eval('.rows tbody tr', (rows) =>
      rows.map((row) => [...row.children].map(({ textContent }) => (textContent ?? '').replace(/\s+/g, ' ').trim())),
    );

  it('are rows of their own in the list, which a filter and the search find', async () => {
    const { page, client, tenant, complaints, close } = await open({ role: 'viewer', language: 'en' });
    const invoiceId = await acceptedInvoice(client);
    const note = await credited(client, invoiceId, { reason: 'return', lines: [{ line: 1, quantity: 2 }] });
    await page.waitForSelector('.rows .badge.kind');
    const [first, second] = await rowsOf(page);
    expect(first?.[0]).toBe(`${note.number}Credit note`);
    expect(first?.at(-1)).toBe('−240.02 MAD');
    expect(second?.at(-1)).toBe('415.07 MAD');
    await page.locator('.filters a[href$="kind=invoice"]').click();
    await page.waitForFunction(() => !document.querySelector('.badge.kind'));
    expect(await rowsOf(page)).toHaveLength(1);
    await page.locator('.filters a[href$="kind=credit_note"]').click();
    await page.waitForSelector('.badge.kind');
    expect(await rowsOf(page)).toHaveLength(1);
    await expectAccessible(page);
    await page.type('[name=search]', note.number);
    await page.keyboard.press('Enter');
    await page.waitForSelector('.status[data-status=accepted]');
    expect(page.url()).toBe(`${service.url}/tenants/${tenant.id}/test/invoices/${note.id}`);
    expect(complaints).toEqual([]);
    await close();
  });

  it('have the page of a document, which names the invoice and the reason, also on a phone', async () => {
    const { page, client, tenant, complaints, close } = await open({ role: 'viewer', language: 'fr', size: PHONE });
    const invoiceId = await acceptedInvoice(client);
    const note = await credited(client, invoiceId, {
      reason: 'discount',
      note: 'Fin de série',
      amounts: [{ taxRate: 10, net: 1004 }],
    });
    await page.goto(`${service.url}/tenants/${tenant.id}/test/invoices/${note.id}`);
    await page.waitForSelector('.status[data-status=accepted]');
    expect(await textOf(page, 'h1')).toBe(`Avoir ${note.number}`);
    expect(await textOf(page, '.summary')).toContain('11,04 MADMontant en votre faveur');
    const details = await textOf(page, '.details');
    expect(details).toContain('Remise accordée après facturation');
    expect(details).toContain('Fin de série');
    expect(await page.$$eval('.documents a', (links) => links.length)).toBe(3);
    await expectAccessible(page);
    await page.locator('.details a').click();
    await page.waitForFunction((id) => location.pathname.endsWith(id), {}, invoiceId);
    expect(complaints).toEqual([]);
    await close();
  });

  it('are followed to their end by customers, with the client_secret of their own', async () => {
    const tenant = await open({});
    const invoiceId = await acceptedInvoice(tenant.client);
    const { id, clientSecret } = await credited(tenant.client, invoiceId, { reason: 'error' });
    const page = await (await browser.createBrowserContext()).newPage();
    await page.setViewport(DESKTOP);
    await page.goto(`${service.url}/i/${id}?lang=en#${clientSecret}`);
    await page.waitForSelector('.status[data-status=accepted]');
    expect(await textOf(page, 'h1')).toMatch(/^Credit note AV-/);
    expect(await textOf(page, '.details')).toContain('Original invoice');
    expect(await page.$('.details a')).toBe(null);
    await page.browserContext().close();
    await tenant.close();
  });
});
