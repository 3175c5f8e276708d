import { fileURLToPath } from 'node:url';
import type { Browser, Page } from 'puppeteer-core';
import { describe, expect, it } from 'vitest';
import { buildDashboard } from '../../scripts/build-dashboard.ts';
import { BROWSER_PATH } from '../support/browser.ts';
import { firstOf, testLong } from '../support/samples.ts';
import { type TestService, withSharedService } from '../support/service.ts';
import { withSharedBrowser } from '../support/shared-browser.ts';
import { expectAccessible, openWorkspacePage, PHONE } from '../support/workspace-page.ts';

if (BROWSER_PATH === null) console.warn('skipped: no Chromium for tests of pages (Debian: apt-get install chromium)');

describe.skipIf(BROWSER_PATH === null)('refusals in a browser', () => {
  let service: TestService;
  let browser: Browser;

  withSharedBrowser.beforeAll(({ browser: shared }) => {
    browser = shared;
  });
  withSharedService.beforeAll(async ({ service: shared }) => {
    await buildDashboard(fileURLToPath(new URL('../..', import.meta.url)));
    service = shared;
  });

  const refusalOf = (page: Page) =>
    page.$eval('.refusal', (refusal) => {
      const message = refusal.querySelector('[lang=en][dir=ltr]')?.textContent ?? '';
      return [refusal.textContent?.replace(message, '').trim(), message];
    });

  it.each(
    firstOf([
      ['fr', 'C’est la dernière clé secrète valable\u00a0: créez-en d’abord une autre.'],
      ['ar', 'هذا آخر مفتاح سري صالح: أنشئوا مفتاحا آخر أولا.'],
      ['en', ''],
    ]),
  )('in %s say what is wrong in that language, and end when something else succeeds', async (language, sentence) => {
    const { page, close } = await openWorkspacePage(service, browser, { language, open: 'keys' });
    await page.waitForSelector('.log li');
    await page.$$eval('.log li', (rows) => {
      const secret = rows.find((row) => row.textContent?.includes('sk_test_'));
      // The last button revokes the key.
      [...(secret?.querySelectorAll<HTMLButtonElement>('.row-actions .quiet') ?? [])].at(-1)?.click();
    });
    await page.locator('dialog .danger').click();
    await page.waitForSelector('.refusal:not(:empty)');
    expect(await refusalOf(page)).toEqual([
      sentence,
      expect.stringMatching(/ is the last valid secret key of the test/),
    ]);
    await expectAccessible(page);
    await page.locator('.actions .secondary').click();
    await page.waitForFunction(() => document.querySelector('.refusal')?.textContent === '');
    await close();
  });

  testLong('leave room for the hint of the search on a phone', async () => {
    const { page, close } = await openWorkspacePage(service, browser, { language: 'fr', size: PHONE });
    await page.goto(page.url().replace(/home$/, 'invoices'));
    await page.waitForSelector('#search-hint');
    const hint = await page.$eval('#search-hint', ({ textContent, scrollWidth, clientWidth }) => ({
      text: textContent,
      isWhole: scrollWidth <= clientWidth,
    }));
    expect(hint).toEqual({ text: expect.stringMatching(/^Client.*métadonnée$/), isWhole: true });
    expect(await page.$eval('#search', (input) => input.getAttribute('aria-describedby'))).toBe('search-hint');
    await expectAccessible(page);
    await close();
  });
});
