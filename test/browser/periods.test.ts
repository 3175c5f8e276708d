import { fileURLToPath } from 'node:url';
import type { Browser, Page } from 'puppeteer-core';
import { afterAll, describe, expect, it } from 'vitest';
import { buildDashboard } from '../../scripts/build-dashboard.ts';
import { BROWSER_PATH } from '../support/browser.ts';
import { invoiceBody } from '../support/client.ts';
import { startService, type TestService } from '../support/service.ts';
import { withSharedBrowser } from '../support/shared-browser.ts';
import { expectAccessible, openWorkspacePage } from '../support/workspace-page.ts';

if (BROWSER_PATH === null) console.warn('skipped: no Chromium for tests of pages (Debian: apt-get install chromium)');

const UNKNOWN_ICE = '000000000000000';

describe.skipIf(BROWSER_PATH === null)('the page of a period', () => {
  let service: TestService;
  let browser: Browser;

  withSharedBrowser.beforeAll(async ({ browser: shared }) => {
    await buildDashboard(fileURLToPath(new URL('../..', import.meta.url)));
    browser = shared;
    service = await startService({ RATE_LIMIT_ADDRESS: '1000000' });
  });
  afterAll(() => service.close());

  const rowOf = (page: Page, id: string) =>
    page.$$eval(`[data-row="${id}"] td`, (cells) => cells.map((cell) => cell.textContent?.replaceAll('\u00a0', ' ')));
  const shown = (page: Page, id: string, wanted: readonly string[]) =>
    page.waitForFunction(
      (selector, texts) => {
        const cells = [...document.querySelectorAll(selector)].map((cell) => cell.textContent);
        return JSON.stringify(cells.map((text) => text?.replaceAll('\u00a0', ' '))) === JSON.stringify(texts);
      },
      {},
      `[data-row="${id}"] td`,
      wanted,
    );

  it.each(['fr', 'ar', 'en'] as const)(
    'has the sums of what was decided, beside the one before (%s)',
    async (language) => {
      const size = language === 'ar' ? { width: 390, height: 844, isMobile: true, hasTouch: true } : undefined;
      const { page, client, close } = await openWorkspacePage(service, browser, { language, ...(size && { size }) });
      const lines = [
        { description: 'Conseil', quantity: 1, unit_price: 10_000, tax_rate: 20 },
        { description: 'Livres', quantity: 1, unit_price: 5000, tax_rate: 0 },
      ];
      const created = await client.post('/v1/invoices', invoiceBody({ amount: 17_000, lines }));
      const { id } = created.body as { id: string };
      expect((await client.settled(id)).status).toBe('accepted');
      const credit = `mutation { creditInvoice(invoiceId: "${id}", input: { reason: return, amounts: [{ taxRate: 20, net: 1000 }] }) {
      ... on CreditInvoicePayload { creditNote { id } } } }`;
      expect((await client.graphql(credit)).body.errors).toBeUndefined();
      const href = page.url().replace(/home$/, 'periods');
      await page.goto(href);
      const decimal = language === 'en' ? (text: string) => text.replace(',', '.') : (text: string) => text;
      const amounts = (...texts: string[]) => texts.map(decimal);
      await shown(page, 'invoiced', ['1', ...amounts('150,00', '20,00', '170,00', '0,00')]);
      await shown(page, 'credited', ['1', ...amounts('10,00', '2,00', '12,00', '0,00')]);
      expect(await rowOf(page, 'balance')).toEqual(['2', ...amounts('140,00', '18,00', '158,00', '0,00')]);
      expect(await rowOf(page, '20')).toEqual(amounts('90,00', '18,00', '0,00'));
      expect(await rowOf(page, '0')).toEqual(amounts('50,00', '0,00', '0,00'));
      expect(await page.$('[data-row="14"]')).toBeNull();
      await expectAccessible(page);
      // A new document changes the sums without a reload.
      const customer = { ice: UNKNOWN_ICE, name: 'Inconnue SARL' };
      await client.post('/v1/invoices', invoiceBody({ customer }));
      await page.waitForFunction(() => document.querySelector('[data-row="open"] td')?.textContent === '0');
      // To the quarter and the year, and to the list behind a sum.
      await page.click('.filters nav:first-child a:nth-child(2)');
      await page.waitForFunction(() => /periods\/\d{4}-Q\d$/.test(location.pathname));
      await shown(page, 'credited', ['1', ...amounts('10,00', '2,00', '12,00', '0,00')]);
      await page.click('.filters nav:first-child a:nth-child(3)');
      await page.waitForFunction(() => /periods\/\d{4}$/.test(location.pathname));
      await shown(page, 'credited', ['1', ...amounts('10,00', '2,00', '12,00', '0,00')]);
      await page.click('[data-row="credited"] a');
      await page.waitForSelector('.row-link');
      expect(await page.$$eval('.row-link', (rows) => rows.length)).toBe(1);
      await page.goto(`${href}/2026-13`);
      await page.waitForSelector('main h1');
      expect(await page.$('[data-row]')).toBeNull();
      await close();
    },
  );
});
