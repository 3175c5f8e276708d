import { fileURLToPath } from 'node:url';
import type { Browser, Page } from 'puppeteer-core';
import { afterAll, describe, expect, it } from 'vitest';
import { buildDashboard } from '../../scripts/build-dashboard.ts';
import { BROWSER_PATH } from '../support/browser.ts';
import { type Client, invoiceBody, invoiceFor } from '../support/client.ts';
import { testLong } from '../support/samples.ts';
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
    page.$eval(selector, ({ textContent }) =>
      (textContent ?? '')
        .replace(/[\u2066\u2069]/g, '')
        .replace(/\s+/g, ' ')
        .trim(),
    );
  const rowsOf = (page: Page) =>
    page.$$eval('.rows tbody tr', (rows) =>
      rows.map((row) => [...row.children].map(({ textContent }) => (textContent ?? '').replace(/\s+/g, ' ').trim())),
    );

  it('are rows of their own in the list, which a filter and the search find', async () => {
    const { page, client, tenant, complaints, close } = await open({ role: 'viewer', language: 'en' });
    const invoiceId = await acceptedInvoice(client);
    const note = await credited(client, invoiceId, { reason: 'return', lines: [{ line: 1, quantity: 2 }] });
    await page.waitForSelector('.rows .badge.kind');
    await expect.poll(async () => (await rowsOf(page))[0]?.[0]).toBe(`${note.number}Credit note`);
    const [first, second] = await rowsOf(page);
    expect(first?.at(-1)).toBe('−240.02 MAD');
    expect(second?.at(-1)).toBe('415.07 MAD');
    await page.select('.filters [name=kind]', 'invoice');
    await page.waitForFunction(() => document.querySelector('.rows') && !document.querySelector('.badge.kind'));
    expect(await rowsOf(page)).toHaveLength(1);
    await page.select('.filters [name=kind]', 'credit_note');
    await page.waitForSelector('.badge.kind');
    await page.waitForFunction(() => document.querySelectorAll('.rows tbody tr').length === 1);
    await expectAccessible(page);
    await client.found(note.id, note.number);
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

  const press = (page: Page, text: string) =>
    page.locator(`main ::-p-xpath(//*[self::button or self::a][normalize-space()="${text}"])`).click();
  const untilText = (page: Page, selector: string, text: string) =>
    page.waitForFunction(
      (where, expected) =>
        document
          .querySelector(where)
          ?.textContent?.replace(/[\u2066\u2069]/g, '')
          .replace(/\s+/g, ' ')
          .includes(expected),
      {},
      selector,
      text,
    );

  it('are created from an accepted invoice: some pieces, an amount, then the rest', async () => {
    const { page, client, tenant, complaints, close } = await open({ role: 'developer' });
    const invoiceId = await acceptedInvoice(client);
    const invoicePage = `${service.url}/tenants/${tenant.id}/test/invoices/${invoiceId}`;
    await page.goto(invoicePage);
    await page.waitForSelector('.credited');
    expect(await textOf(page, '.credited p')).toBe('0,00 MAD crédités sur 415,07 MAD');
    await press(page, 'Créer un avoir');
    await page.waitForSelector('.crediting form');
    await untilText(page, '.preview', 'Total TTC 415,07 MAD');
    // Too many pieces are refused at their field.
    await page.locator('[name=way][value=lines]').click();
    await untilText(page, '.preview .total', 'Indiquez ce qui est crédité.');
    await page.type('#line-1', '4');
    await untilText(page, '#line-1-fault', 'Indiquez un nombre entier de 1 à 3.');
    await expectAccessible(page);
    await page.select('#reason', 'return');
    await press(page, 'Émettre l’avoir');
    await untilText(page, '.preview', 'Corrigez les valeurs signalées.');
    await page.waitForFunction(() => document.activeElement?.id === 'line-1');
    await page.locator('#line-1').fill('2');
    await untilText(page, '.preview', '200,0240,00');
    await untilText(page, '.preview', 'Total TTC 240,02 MAD');
    await press(page, 'Émettre l’avoir');
    await page.waitForSelector('.status[data-status=accepted]', { timeout: 50_000 });
    expect(new URL(page.url()).pathname).toMatch(/\/invoices\/crn_/);
    expect(await textOf(page, '.summary')).toContain('240,02 MAD');
    // An amount at a rate.
    await page.goto(`${invoicePage}/credit`);
    await page.waitForSelector('.crediting form');
    await page.locator('[name=way][value=amounts]').click();
    expect(
      await page.$$eval('.figure .hint', (all) =>
        all.map(({ textContent }) => textContent?.replace(/[\u2066\u2069]/g, '').replace(/\s+/g, ' ')),
      ),
    ).toEqual(['Reste à créditer : 100,01 MAD', 'Reste à créditer : 50,03 MAD']);
    await page.type('#rate-10', '50,04');
    await untilText(page, '#rate-10-fault', 'is left of invoice');
    await page.locator('#rate-10').fill('10,04');
    await untilText(page, '.preview', 'Total TTC 11,04 MAD');
    await page.select('#reason', 'discount');
    await press(page, 'Émettre l’avoir');
    await page.waitForSelector('.status[data-status=accepted]', { timeout: 50_000 });
    // The rest, whose VAT makes the sum exact.
    await page.goto(invoicePage);
    await page.waitForSelector('.credited li');
    expect(await textOf(page, '.credited p')).toBe('251,06 MAD crédités sur 415,07 MAD');
    expect(await page.$$eval('.credited li', (all) => all.length)).toBe(2);
    await press(page, 'Créer un avoir');
    await untilText(page, '.preview', 'Total TTC 164,01 MAD');
    await page.select('#reason', 'other');
    await press(page, 'Émettre l’avoir');
    await page.waitForSelector('.status[data-status=accepted]', { timeout: 50_000 });
    await page.goto(invoicePage);
    await page.waitForSelector('.credited li:nth-child(3)');
    expect(await textOf(page, '.credited p')).toBe('415,07 MAD crédités sur 415,07 MAD');
    expect(await page.$('.credited a.primary')).toBe(null);
    await page.goto(`${invoicePage}/credit`);
    await untilText(page, '.crediting', 'Cette facture est entièrement créditée.');
    expect(await page.$('.crediting form')).toBe(null);
    expect(complaints).toEqual([]);
    await close();
  });

  testLong('are created with the keyboard alone, in Arabic on a phone', async () => {
    const { page, client, tenant, complaints, close } = await open({ role: 'biller', language: 'ar', size: PHONE });
    const invoiceId = await acceptedInvoice(client);
    await page.goto(`${service.url}/tenants/${tenant.id}/test/invoices/${invoiceId}/credit`);
    await page.waitForSelector('.crediting form');
    await page.focus('[name=way]:checked');
    await page.keyboard.press('ArrowDown');
    await page.waitForSelector('#line-1');
    await page.keyboard.press('Tab');
    await page.keyboard.type('1');
    await page.keyboard.press('Tab');
    await page.keyboard.type('1');
    await untilText(page, '.preview', '175,04');
    await expectAccessible(page);
    await page.keyboard.press('Tab');
    await page.keyboard.press('ArrowDown');
    expect(await page.$eval('#reason', (select) => (select as HTMLSelectElement).value)).not.toBe('');
    await page.keyboard.press('Tab');
    await page.keyboard.type('خطأ');
    await page.keyboard.press('Enter');
    await page.waitForSelector('.status[data-status=accepted]', { timeout: 50_000 });
    await expectAccessible(page);
    expect(await page.$eval('.details a', (link) => (link as HTMLAnchorElement).pathname.split('/').at(-1))).toBe(
      invoiceId,
    );
    expect(complaints).toEqual([]);
    await close();
  });

  it('one form creates one credit note, however often it is sent', async () => {
    const { page, client, tenant, close } = await open({ language: 'en' });
    const invoiceId = await acceptedInvoice(client);
    const invoicePage = `${service.url}/tenants/${tenant.id}/test/invoices/${invoiceId}`;
    await page.goto(`${invoicePage}/credit`);
    await page.waitForSelector('.crediting form');
    await page.locator('[name=way][value=lines]').click();
    await page.type('#line-1', '1');
    await page.select('#reason', 'return');
    // The first answer is lost on its way.
    const sent: string[] = [];
    await page.setRequestInterception(true);
    page.on('request', async (request) => {
      const text = request.postData() ?? '';
      if (!text.includes('mutation CreditInvoice')) return request.continue();
      sent.push(text);
      if (sent.length > 1) return request.continue();
      const cookie = (await page.browserContext().cookies()).map(({ name, value }) => `${name}=${value}`).join('; ');
      const headers = { ...request.headers(), cookie, origin: service.url };
      await fetch(request.url(), { method: 'POST', headers, body: text });
      return request.abort();
    });
    await press(page, 'Issue the credit note');
    await page.waitForFunction(() => document.querySelector('.crediting form > .refusal')?.textContent !== '');
    await press(page, 'Issue the credit note');
    await page.waitForSelector('.status[data-status]');
    expect(sent).toHaveLength(2);
    const { body } = await client.graphql(`{ invoice(id: "${invoiceId}") { creditNotes { nodes { amount } } } }`);
    expect(body.data.invoice.creditNotes.nodes).toEqual([{ amount: 12_001 }]);
    await close();
  });

  it('are not offered to viewers, nor for an invoice that is not accepted', async () => {
    const { page, client, tenant, close } = await open({ role: 'viewer', language: 'en' });
    const invoiceId = await acceptedInvoice(client);
    const pages = `${service.url}/tenants/${tenant.id}/test/invoices`;
    await page.goto(`${pages}/${invoiceId}`);
    await page.waitForSelector('.status[data-status=accepted]');
    expect(await page.$('.credited')).toBe(null);
    await page.goto(`${pages}/${invoiceId}/credit`);
    await untilText(page, 'h1', 'Page not found');
    const owner = await open({ language: 'en' });
    const { id } = (await owner.client.post('/v1/invoices', invoiceFor('999000000000102'))).body;
    await owner.client.settled(id);
    await owner.page.goto(`${service.url}/tenants/${owner.tenant.id}/test/invoices/${id}`);
    await owner.page.waitForSelector('.status[data-status=rejected]');
    expect(await owner.page.$('.credited')).toBe(null);
    await owner.page.goto(`${owner.page.url().split('?')[0]}/credit`);
    await untilText(owner.page, 'h1', 'Page not found');
    await owner.close();
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

  it('show on the customer’s page of their invoice what they credit of it, and nothing else', async () => {
    const { client, close } = await open({});
    const { id, client_secret: secret } = (await client.post('/v1/invoices', invoiceBody(INVOICE))).body;
    await client.settled(id);
    const note = await credited(client, id, { reason: 'return', lines: [{ line: 1, quantity: 2 }] });
    const page = await (await browser.createBrowserContext()).newPage();
    await page.setViewport(PHONE);
    const sentence = [
      ['fr', /Créditée en partie240,02 MAD \(\d+ \p{L}+ \d{4}\)/u],
      ['en', /Credited in part240\.02 MAD \(\d+ \p{L}+ \d{4}\)/u],
      ['ar', /مُلغاة جزئيا بإشعار دائن240,02 MAD \(\d+ \p{L}+ \d{4}\)/u],
    ] as const;
    for (const [language, expected] of sentence) {
      await page.goto('about:blank');
      await page.goto(`${service.url}/i/${id}?lang=${language}#${secret}`);
      await page.waitForSelector('.details');
      expect(await textOf(page, '.details')).toMatch(expected);
      await expectAccessible(page);
    }
    expect(await page.content()).not.toContain(note.id);
    await page.browserContext().close();
    await close();
  });
});
