import { fileURLToPath } from 'node:url';
import type { Browser, HTTPRequest, Page } from 'puppeteer-core';
import { afterAll, describe, expect, it } from 'vitest';
import { buildDashboard } from '../../scripts/build-dashboard.ts';
import { BROWSER_PATH, startBrowser, WHOLE_BROWSER_PATH } from '../support/browser.ts';
import { type TestService, withSharedService } from '../support/service.ts';
import { expectAccessible, openWorkspacePage } from '../support/workspace-page.ts';

if (BROWSER_PATH === null) console.warn('skipped: no Chromium for tests of pages (Debian: apt-get install chromium)');

/**
 * The Chromium of the npm package remembers an import that failed, as long as the page is open: it gets the page by a
 * reload, after a click.
 */
const remembersFailure = WHOLE_BROWSER_PATH === null;

const PART = /\/assets\/requests-page-.*\.js$/;

describe.skipIf(BROWSER_PATH === null)('a page whose files cannot be loaded', () => {
  let service: TestService;
  let browser: Browser;

  withSharedService.beforeAll(async ({ service: shared }) => {
    await buildDashboard(fileURLToPath(new URL('../..', import.meta.url)));
    service = shared;
    browser = await startBrowser(WHOLE_BROWSER_PATH ?? BROWSER_PATH);
  });
  afterAll(async () => {
    await browser.close();
  });

  /** Answers requests for which `fault` has something to say; the others go to the service. */
  async function intercept(page: Page, fault: (request: HTTPRequest) => 'cut' | 'gone' | null): Promise<void> {
    await page.setCacheEnabled(false);
    await page.setRequestInterception(true);
    page.on('request', (request) => {
      const found = fault(request);
      if (found === 'cut') void request.abort('internetdisconnected');
      else if (found === 'gone') void request.respond({ status: 404, contentType: 'application/json', body: '{}' });
      else void request.continue();
    });
  }
  const titleOf = (page: Page) => page.$eval('main h1', (title) => title.textContent);
  /** It may have been loaded without the click. */
  const retry = (page: Page) => page.click('.notice button').catch(() => {});
  const open = (page: Page) => page.locator('.sections a[href$="/requests"]').click();

  it('is offered again, in its language, and loaded where it is once the network is back', async () => {
    const { page, close } = await openWorkspacePage(service, browser, { language: 'fr' });
    let isCut = true;
    await intercept(page, () => (isCut ? 'cut' : null));
    await page.evaluate(() => Object.assign(window, { stayed: true }));
    await open(page);
    await page.waitForSelector('.notice button');
    expect(await titleOf(page)).toBe('La page n’a pas pu être chargée');
    await expectAccessible(page);
    await page.locator('.notice button').click();
    await page.waitForFunction(() => document.querySelector('.notice .refusal')?.textContent?.includes('injoignable'));
    isCut = false;
    await retry(page);
    await page.waitForSelector('.requests');
    expect(await page.evaluate(() => 'stayed' in window)).toBe(!remembersFailure);
    // Shown at once from then on.
    await page.locator('.sections a[href$="/keys"]').click();
    await page.waitForFunction(() => !document.querySelector('.requests'));
    await open(page);
    await page.waitForSelector('.requests');
    await close();
  });

  it.skipIf(remembersFailure)('is loaded without a click after a short interruption', async () => {
    const { page, close } = await openWorkspacePage(service, browser, { language: 'ar' });
    await page.setOfflineMode(true);
    await open(page);
    await page.waitForSelector('.notice button');
    expect(await titleOf(page)).toBe('تعذر تحميل هذه الصفحة');
    await page.setOfflineMode(false);
    await page.waitForSelector('.requests');
    await close();
  });

  it('comes from the new version at the same address after a deployment', async () => {
    const { page, tenant, close } = await openWorkspacePage(service, browser, { language: 'en' });
    let isNew = false;
    await intercept(page, (request) => {
      // The page of the new version names the new files.
      if (request.isNavigationRequest()) isNew = true;
      return PART.test(request.url()) && !isNew ? 'gone' : null;
    });
    await open(page);
    await page.waitForSelector('.notice button');
    expect(await titleOf(page)).toBe('This page could not be loaded');
    await Promise.all([page.waitForNavigation(), page.locator('.notice button').click()]);
    await page.waitForSelector('.requests');
    expect(page.url()).toBe(`${service.url}/tenants/${tenant.id}/test/requests`);
    await close();
  });

  it('has a frame of its own where there is none yet', async () => {
    const page = await (await browser.createBrowserContext()).newPage();
    let isCut = true;
    await intercept(page, (request) => (isCut && /\/assets\/sign-in-page-/.test(request.url()) ? 'cut' : null));
    await page.goto(`${service.url}/sign-in?lang=en`);
    await page.waitForSelector('.frame .notice button');
    isCut = false;
    await retry(page);
    await page.waitForSelector('[name=password]');
    await page.close();
  });
});
