import { fileURLToPath } from 'node:url';
import type { Browser, Page } from 'puppeteer-core';
import { afterAll, describe, expect, it } from 'vitest';
import { buildDashboard } from '../../scripts/build-dashboard.ts';
import { BROWSER_PATH } from '../support/browser.ts';
import { type Client, invoiceBody } from '../support/client.ts';
import { startService, type TestService } from '../support/service.ts';
import { withSharedBrowser } from '../support/shared-browser.ts';
import { expectAccessible, openWorkspacePage, PHONE } from '../support/workspace-page.ts';

if (BROWSER_PATH === null) console.warn('skipped: no Chromium for tests of pages (Debian: apt-get install chromium)');

const REJECTING = '999000000000102';
const ORDINARY = '001234567000089';

describe.skipIf(BROWSER_PATH === null)('an invoice is corrected in the pages of a signed-in person', () => {
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

  async function decided(client: Client, ice: string): Promise<string> {
    const customer = { ice, name: 'Atlas Distribution', address: '12, rue Ibn Batouta, Casablanca' };
    const lines = [
      { description: 'Conseil', quantity: 3, unit_price: 10_001, tax_rate: 20 },
      { description: 'Livre', quantity: 1, unit_price: 5_003, tax_rate: 10 },
    ];
    const terms = { payment_means: 'cheque' };
    const body = invoiceBody({ amount: 41_507, customer, lines, terms, metadata: { order: '42' } });
    const { id } = (await client.post('/v1/invoices', body)).body;
    await client.settled(id);
    return id;
  }

  const press = (page: Page, selector: string) => page.locator(selector).click();
  const typedIn = (page: Page, selector: string) =>
    page.$eval(selector, (element) => (element as HTMLInputElement).value);

  async function type(page: Page, selector: string, text: string): Promise<void> {
    await page.locator(selector).click({ count: 3 });
    await page.keyboard.type(text);
  }

  /** What is said of a field to those who see it and to those who hear it. */
  const faultAt = (page: Page, id: string) =>
    page.$eval(`#${id}`, (input) => ({
      invalid: input.getAttribute('aria-invalid'),
      text: document.getElementById(input.getAttribute('aria-describedby') ?? '')?.textContent ?? null,
    }));

  it('a rejected one: nothing is typed again, two clicks and the correction', async () => {
    const { page, client, tenant, complaints, close } = await open({ role: 'biller', language: 'fr' });
    const id = await decided(client, REJECTING);
    await page.goto(`${service.url}/tenants/${tenant.id}/test/invoices/${id}`);
    await press(page, `a[href$="/${id}/replace"]`);
    await page.waitForSelector('.creation form');
    expect(await faultAt(page, 'ice')).toEqual({
      invalid: 'true',
      text: expect.stringMatching(/^L’ICE 999000000000102 du client/),
    });
    expect(await page.$eval('.findings', ({ textContent }) => textContent)).not.toContain('999000000000102');
    expect(await typedIn(page, '#description-1')).toBe('Conseil');
    expect(await typedIn(page, '#unitPrice-2')).toBe('50,03');
    await expectAccessible(page);
    // What the service refuses is beside its field, too.
    await type(page, '#quantity-2', '1,2345');
    await press(page, '.creation form [type=submit]');
    await page.waitForFunction(() => document.activeElement?.id === 'quantity-2');
    expect(await faultAt(page, 'quantity-2')).toEqual({
      invalid: 'true',
      text: 'Cette valeur n’est pas valable.',
    });
    await expectAccessible(page);
    await type(page, '#quantity-2', '1');
    await type(page, '#ice', ORDINARY);
    expect(await faultAt(page, 'ice')).toMatchObject({ invalid: 'false' });
    await press(page, '.creation form [type=submit]');
    await page.waitForSelector('.status[data-status=accepted]', { timeout: 50_000 });
    const corrected = page.url().split('/').at(-1) ?? '';
    expect(corrected).not.toBe(id);
    await page.waitForSelector(`.details a[href$="/${id}"]`);
    const { body } = await client.graphql(`{ invoice(id: "${corrected}") { amount metadata
      customer { ice address } terms { paymentMeans } replaces { id creditNoteId } } }`);
    expect(body.data.invoice).toEqual({
      amount: 41_507,
      metadata: { order: '42' },
      customer: { ice: ORDINARY, address: '12, rue Ibn Batouta, Casablanca' },
      terms: { paymentMeans: 'cheque' },
      replaces: { id, creditNoteId: null },
    });
    expect(complaints).toEqual([]);
    await close();
  });

  it('an accepted one, on a phone: the credit note first, then the corrected invoice', async () => {
    const { page, client, tenant, complaints, close } = await open({ language: 'ar', size: PHONE });
    const id = await decided(client, ORDINARY);
    await page.goto(`${service.url}/tenants/${tenant.id}/test/invoices/${id}`);
    await page.waitForSelector(`a[href$="/${id}/replace"]`);
    await expectAccessible(page);
    await press(page, `a[href$="/${id}/replace"]`);
    await page.waitForSelector('.creation form');
    await expectAccessible(page);
    await type(page, '#quantity-1', '2');
    await type(page, '#number', 'F-2026-7');
    await press(page, '.creation form [type=submit]');
    await page.waitForSelector('.status[data-status=accepted]', { timeout: 50_000 });
    const { body } = await client.graphql(
      `{ invoice(id: "${id}") { creditedAmount replacedBy { amount status number } } }`,
    );
    expect(body.data.invoice).toEqual({
      creditedAmount: 41_507,
      replacedBy: { amount: 29_505, status: 'accepted', number: 'F-2026-7' },
    });
    await page.goto(`${service.url}/tenants/${tenant.id}/test/invoices/${id}`);
    await page.waitForSelector('[aria-labelledby=replaced] a');
    expect(await page.$(`a[href$="/${id}/replace"]`)).toBe(null);
    await expectAccessible(page);
    expect(complaints).toEqual([]);
    await close();
  });

  it('is not offered to viewers', async () => {
    const { page, client, tenant, close } = await open({ role: 'viewer', language: 'en' });
    const id = await decided(client, REJECTING);
    await page.goto(`${service.url}/tenants/${tenant.id}/test/invoices/${id}`);
    await page.waitForSelector('.status[data-status=rejected]');
    expect(await page.$(`a[href$="/replace"]`)).toBe(null);
    await page.goto(`${service.url}/tenants/${tenant.id}/test/invoices/${id}/replace`);
    await page.waitForFunction(() => document.querySelector('main h1')?.textContent?.includes('Page not found'));
    expect(await page.$$eval('main', (frames) => frames.length)).toBe(1);
    await close();
  });
});
