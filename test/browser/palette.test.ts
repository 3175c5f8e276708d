import { fileURLToPath } from 'node:url';
import type { Browser, Page } from 'puppeteer-core';
import { afterAll, describe, expect, it } from 'vitest';
import { buildDashboard } from '../../scripts/build-dashboard.ts';
import { BROWSER_PATH } from '../support/browser.ts';
import { invoiceBody } from '../support/client.ts';
import { firstOf } from '../support/samples.ts';
import { startService, type TestService } from '../support/service.ts';
import { withSharedBrowser } from '../support/shared-browser.ts';
import { expectAccessible, openWorkspacePage, PHONE } from '../support/workspace-page.ts';

if (BROWSER_PATH === null) console.warn('skipped: no Chromium for tests of pages (Debian: apt-get install chromium)');

describe.skipIf(BROWSER_PATH === null)('the palette in a browser', () => {
  let service: TestService;
  let browser: Browser;

  withSharedBrowser.beforeAll(async ({ browser: shared }) => {
    await buildDashboard(fileURLToPath(new URL('../..', import.meta.url)));
    browser = shared;
    service = await startService({ RATE_LIMIT_ADDRESS: '1000000' });
  });
  afterAll(async () => {
    await service.close();
  });

  const options = (page: Page) =>
    page.$$eval('.palette [role=option]', (all) => all.map(({ textContent }) => textContent ?? ''));
  async function open(page: Page, key = 'k'): Promise<void> {
    await page.keyboard.down('Control');
    await page.keyboard.press(key as 'k');
    await page.keyboard.up('Control');
    await page.waitForSelector('.palette[open]');
  }

  it.each(firstOf(['ar', 'fr', 'en']))('finds documents, pages and actions by keyboard alone: %s', async (language) => {
    const { page, client, tenant, complaints, close } = await openWorkspacePage(service, browser, {
      language,
      ...(language === 'ar' && { size: PHONE }),
      open: 'keys',
    });
    const customer = { ice: '001234567000089', name: 'Coopérative Zâafrane' };
    const { id } = (await client.post('/v1/invoices', invoiceBody({ customer }))).body;
    await page.waitForSelector('.palette-open');
    await client.found(id, 'zaafrane');
    await open(page);
    await expect.poll(async () => (await options(page)).length).toBeGreaterThan(5);
    await expectAccessible(page);
    await page.keyboard.type('zaaf');
    await expect.poll(async () => (await options(page))[0]).toContain('Coopérative Zâafrane');
    await expectAccessible(page);
    // The field names the chosen entry to a screen reader, and keeps the focus.
    const active = () =>
      page.evaluate(() => {
        const field = document.activeElement;
        const named = document.getElementById(field?.getAttribute('aria-activedescendant') ?? '');
        return [field?.getAttribute('role'), named?.getAttribute('aria-selected')];
      });
    expect(await active()).toEqual(['combobox', 'true']);
    await page.keyboard.press('ArrowDown');
    expect(await active()).toEqual(['combobox', 'true']);
    await page.keyboard.press('ArrowUp');
    await page.keyboard.press('Enter');
    await page.waitForFunction((end) => location.pathname.endsWith(end), {}, `/invoices/${id}`);
    await page.waitForFunction(() => !document.querySelector('.palette'));
    // No list with a search is on this page, so the stroke opens the palette, too.
    await page.keyboard.press('/');
    await page.waitForSelector('.palette[open]');
    await page.keyboard.press('Escape');
    await page.waitForFunction(() => !document.querySelector('.palette'));
    await open(page);
    await page.keyboard.type('zaafrane absent');
    await expect.poll(async () => (await options(page)).length).toBe(1);
    await page.keyboard.press('Enter');
    await page.waitForFunction(() => new URLSearchParams(location.search).get('search') === 'zaafrane absent');
    expect(page.url()).toContain(`/tenants/${tenant.id}/test/invoices?`);
    await page.waitForSelector('.match');
    await page.keyboard.press('/');
    expect(await page.evaluate(() => document.activeElement?.id)).toBe('search');
    expect(complaints).toEqual([]);
    await close();
  });
});
