import { fileURLToPath } from 'node:url';
import type { Browser, Page } from 'puppeteer-core';
import { afterAll, describe, expect, it } from 'vitest';
import { buildDashboard } from '../../scripts/build-dashboard.ts';
import { BROWSER_PATH } from '../support/browser.ts';
import { invoiceBody } from '../support/client.ts';
import { firstOf } from '../support/samples.ts';
import { startService, type TestService } from '../support/service.ts';
import { withSharedBrowser } from '../support/shared-browser.ts';
import { expectAccessible, openWorkspacePage } from '../support/workspace-page.ts';

if (BROWSER_PATH === null) console.warn('skipped: no Chromium for tests of pages (Debian: apt-get install chromium)');

const ATLAS = {
  ice: '001234567000062',
  name: 'Atlas Électricité',
  address: '12, rue Ibn Batouta, Casablanca',
  email: 'comptabilite@atlas.example',
};

describe.skipIf(BROWSER_PATH === null)('the customers of earlier invoices in the form of a new one', () => {
  let service: TestService;
  let browser: Browser;

  withSharedBrowser.beforeAll(async ({ browser: shared }) => {
    await buildDashboard(fileURLToPath(new URL('../..', import.meta.url)));
    browser = shared;
    service = await startService({ RATE_LIMIT_ADDRESS: '1000000' });
  });
  afterAll(() => service.close());

  const valuesOf = (page: Page) =>
    page.$$eval('#kind, #ice, #name, #address, #email, #taxNumber, #country', (fields) =>
      Object.fromEntries(fields.map((field) => [field.id, (field as HTMLInputElement).value])),
    );
  async function retype(page: Page, selector: string, text: string): Promise<void> {
    await page.locator(selector).click({ count: 3 });
    await page.keyboard.type(text);
  }

  it.each(firstOf(['ar', 'fr', 'en']))('are chosen by keyboard, and issued with terms (%s)', async (language) => {
    const { page, client, close } = await openWorkspacePage(service, browser, { open: 'home', language });
    await client.post('/v1/invoices', invoiceBody({ customer: ATLAS }));
    const input = {
      amount: 12_000,
      currency: 'MAD',
      lines: [{ description: 'Conseil', quantity: 1, unitPrice: 10_000 }],
      customer: {
        kind: 'foreign',
        country: 'FR',
        taxNumber: 'FR40303265045',
        name: 'Atlantique SA',
        address: 'Nantes',
      },
    };
    const creation = 'mutation ($input: CreateInvoiceInput!) { createInvoice(input: $input) { __typename } }';
    expect((await client.graphql(creation, { input })).body.data).toEqual({
      createInvoice: { __typename: 'CreateInvoicePayload' },
    });
    await page.goto(page.url().replace(/home$/, 'invoices/new'));
    await page.waitForSelector('#name');
    await retype(page, '#name', 'ATL');
    await page.waitForSelector('[role=option]');
    expect(await page.$eval('#name', (field) => field.getAttribute('aria-expanded'))).toBe('true');
    expect(await page.$$eval('[role=option]', (rows) => rows.map((row) => row.textContent))).toEqual([
      'Atlantique SA FR40303265045',
      `${ATLAS.name} ${ATLAS.ice}`,
    ]);
    await expectAccessible(page);
    // Up from the field is the last one.
    await page.keyboard.press('ArrowUp');
    expect(await page.$eval('[aria-selected=true]', (row) => row.id)).toBe('name-customers-1');
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    expect(await page.$('[role=option]')).toBeNull();
    expect(await valuesOf(page)).toEqual({
      kind: 'foreign',
      country: 'FR',
      taxNumber: 'FR40303265045',
      name: 'Atlantique SA',
      address: 'Nantes',
      email: '',
    });
    // Escape leaves what is typed.
    await retype(page, '#name', 'Atl');
    await page.waitForSelector('[role=option]');
    await page.keyboard.press('Escape');
    expect(await page.$('[role=option]')).toBeNull();
    expect((await valuesOf(page)).name).toBe('Atl');
    await page.select('#kind', 'company');
    await retype(page, '#ice', ATLAS.ice.slice(0, 6));
    await page.waitForSelector('[role=option]');
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    expect(await valuesOf(page)).toEqual({ kind: 'company', ...ATLAS });

    await page.select('#paymentMeans', 'cheque');
    await page.$eval('#dueDate', (field) => {
      (field as HTMLInputElement).value = '2020-01-01';
      field.dispatchEvent(new Event('input', { bubbles: true }));
    });
    await page.click('form button[type=submit]');
    await page.waitForSelector('#dueDate[aria-invalid=true]');
    const due = new Date(Date.now() + 30 * 86_400_000).toISOString().slice(0, 10);
    await page.$eval(
      '#dueDate',
      (field, day) => {
        (field as HTMLInputElement).value = day;
        field.dispatchEvent(new Event('input', { bubbles: true }));
      },
      due,
    );
    await page.click('form button[type=submit]');
    await page.waitForFunction(() => /\/invoices\/inv_/.test(location.pathname));
    const id = page.url().split('/').at(-1);
    const { body } = await client.graphql(
      `{ invoice(id: "${id}") { customer { ice name address email } terms { dueDate paymentMeans } } }`,
    );
    expect(body.data).toEqual({ invoice: { customer: ATLAS, terms: { dueDate: due, paymentMeans: 'cheque' } } });
    await close();
  });
});
