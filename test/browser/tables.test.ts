import { fileURLToPath } from 'node:url';
import type { Browser, Page } from 'puppeteer-core';
import { afterAll, describe, expect, it } from 'vitest';
import { storeDone } from '../../scripts/bench/stored-invoices.ts';
import { buildDashboard } from '../../scripts/build-dashboard.ts';
import { BROWSER_PATH } from '../support/browser.ts';
import { firstOf } from '../support/samples.ts';
import { startService, type TestService } from '../support/service.ts';
import { withSharedBrowser } from '../support/shared-browser.ts';
import { expectAccessible, openWorkspacePage, PHONE } from '../support/workspace-page.ts';

if (BROWSER_PATH === null) console.warn('skipped: no Chromium for tests of pages (Debian: apt-get install chromium)');

describe.skipIf(BROWSER_PATH === null)('tables in a browser', () => {
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

  /** Opens the list of a tenant with 60 invoices. */
  async function openList(language: string, size: object) {
    const opened = await openWorkspacePage(service, browser, { language, size, open: 'invoices' });
    const tenant = await service.app.tenants.find(opened.tenant.id);
    if (!tenant) throw new Error('the tenant is missing');
    const owner = { kind: 'secret', keyId: 'key_samples', tenant, environment: 'test' } as const;
    await storeDone(service.app.store.db, owner, { count: 60, lines: 1, overMs: 86_400_000 });
    await opened.page.reload();
    await opened.page.waitForSelector('.row-link');
    return opened;
  }

  const focusedRow = (page: Page) =>
    page.evaluate(() => [...document.querySelectorAll('.row-link')].indexOf(document.activeElement as Element));
  const count = (page: Page) => page.$$eval('.row-link', (links) => links.length);

  it.each(firstOf(['fr', 'ar', 'en']))(
    'have 15 rows on a screen, are read by keyboard, and keep their place: %s',
    async (language) => {
      const { page, complaints, close } = await openList(language, { width: 1280, height: 800 });
      const onScreen = await page.$$eval(
        '.data-rows tbody tr',
        (rows) => rows.filter((row) => row.getBoundingClientRect().bottom <= innerHeight).length,
      );
      expect(onScreen).toBeGreaterThanOrEqual(15);
      const heights = await page.$$eval('.data-rows tbody tr', (rows) => rows.map((row) => row.clientHeight));
      expect(Math.max(...heights)).toBeLessThan(40);
      // Names of either script begin where their column does.
      const sides = await page.$$eval('.data-rows .wide bdi', (all) =>
        all.map((each) => getComputedStyle(each).textAlign),
      );
      expect([...new Set(sides)]).toEqual([language === 'ar' ? 'right' : 'left']);
      await expectAccessible(page);

      await page.locator('.sizes a:nth-child(2)').click();
      await page.waitForFunction(() => document.querySelectorAll('.row-link').length === 50);
      for (const key of ['j', 'j', 'j', 'k'] as const) await page.keyboard.press(key);
      expect(await focusedRow(page)).toBe(1);
      for (let nth = 0; nth < 39; nth++) await page.keyboard.press('j');
      const [address, top] = await page.evaluate(() => [location.href, scrollY] as const);
      expect(top).toBeGreaterThan(0);
      await page.keyboard.press('Enter');
      await page.waitForSelector('.status');
      await page.goBack();
      await page.waitForSelector('.row-link');
      expect(await page.evaluate(() => [location.href, scrollY])).toEqual([address, top]);
      expect(await focusedRow(page)).toBe(40);
      await page.reload();
      await page.waitForSelector('.row-link');
      expect(await count(page)).toBe(50);

      const numbers = () => page.$$eval('.row-link', (links) => links.map(({ textContent }) => textContent));
      const newest = await numbers();
      await page.locator('.data-rows th:nth-child(4) a').click();
      await page.waitForSelector('.data-rows th[aria-sort=ascending]');
      await page.waitForSelector('.row-link');
      expect((await numbers()).slice(10)).toEqual(newest.toReversed().slice(0, 40));
      await page.locator('.data-rows thead th:last-child a').click();
      await page.waitForFunction(() => location.search.endsWith('sort=amount_descending'));
      await page.waitForSelector('.row-link');
      await expectAccessible(page);

      // The whole row is its link; letters that are typed move nothing.
      await page.focus('[type=date]');
      await page.keyboard.press('j');
      expect(await focusedRow(page)).toBe(-1);
      await page.locator('.data-rows tbody tr:nth-child(3) td:last-child').click();
      await page.waitForSelector('.part');
      expect(complaints).toEqual([]);
      await close();
    },
  );

  it('show the chosen columns, also after a reload, and are cards on a phone', async () => {
    const { page, complaints, close } = await openList('ar', PHONE);
    await expectAccessible(page);
    const columns = () => page.$$eval('.data-rows thead th', (names) => names.length);
    const before = await columns();
    await page.locator('.column-choice summary').click();
    await page.locator('.column-choice label:nth-of-type(2) input').click();
    await page.waitForFunction((n) => document.querySelectorAll('.data-rows thead th').length === n, {}, before + 1);
    await expectAccessible(page);
    await page.reload();
    await page.waitForSelector('.row-link');
    expect(await columns()).toBe(before + 1);
    expect(complaints).toEqual([]);
    await close();
  });

  it('say that they cannot be read, and read again when asked', async () => {
    const { page, close } = await openList('fr', { width: 1280, height: 800 });
    await page.setOfflineMode(true);
    await page.locator('.filters a[href$="status=accepted"]').click();
    await page.waitForSelector('.unreachable button');
    await page.setOfflineMode(false);
    await page.locator('.unreachable button').click();
    await page.waitForSelector('.row-link');
    await close();
  });
});
