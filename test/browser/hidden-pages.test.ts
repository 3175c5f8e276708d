import { fileURLToPath } from 'node:url';
import type { Browser, BrowserContext, Page } from 'puppeteer-core';
import { describe, expect, it } from 'vitest';
import { buildDashboard } from '../../scripts/build-dashboard.ts';
import { BROWSER_PATH } from '../support/browser.ts';
import { Client, invoiceFor } from '../support/client.ts';
import { holdDecision, SLOW_CUSTOMER } from '../support/held-decision.ts';
import { testLong } from '../support/samples.ts';
import { type TestService, withSharedService } from '../support/service.ts';
import { withSharedBrowser } from '../support/shared-browser.ts';
import { openWorkspacePage } from '../support/workspace-page.ts';

if (BROWSER_PATH === null) console.warn('skipped: no Chromium for tests of pages (Debian: apt-get install chromium)');

const ACCEPTED = '001234567000089';

/** A page that `hide` makes one that nobody sees. A browser without a screen shows all of its tabs. */
async function newPage(context: BrowserContext): Promise<Page> {
  const page = await context.newPage();
  await page.evaluateOnNewDocument(() => {
    const state = { hidden: false };
    Object.defineProperty(document, 'hidden', { get: () => state.hidden });
    Object.assign(window, {
      hide(hidden: boolean) {
        state.hidden = hidden;
        document.dispatchEvent(new Event('visibilitychange'));
      },
    });
  });
  return page;
}

const hide = (page: Page, hidden = true) =>
  page.evaluate((is) => (window as unknown as { hide(hidden: boolean): void }).hide(is), hidden);

describe.skipIf(BROWSER_PATH === null)('more tabs than a browser opens connections over HTTP/1.1', () => {
  let service: TestService;
  let browser: Browser;

  withSharedBrowser.beforeAll(({ browser: shared }) => {
    browser = shared;
  });
  withSharedService.beforeAll(async ({ service: shared }) => {
    await buildDashboard(fileURLToPath(new URL('../..', import.meta.url)));
    service = shared;
  });

  it('customer pages beside each other share a stream; one that nobody sees has none, and catches up', async () => {
    const client = new Client(service.url, (await service.tenant()).secretKey);
    const context = await browser.createBrowserContext();
    const open = async () => {
      const { body } = await client.post('/v1/invoices', invoiceFor(SLOW_CUSTOMER));
      const decide = await holdDecision(service, body.id);
      const page = await newPage(context);
      await page.goto(`${service.url}/i/${body.id}#${body.client_secret}`, { timeout: 30_000 });
      await page.waitForSelector('[data-status]');
      return { page, id: body.id as string, decide };
    };
    const state = (page: Page) => page.$eval('[data-connection]', (shown) => (shown as HTMLElement).dataset.connection);
    const waiting: Page[] = [];
    for (let tab = 0; tab < 7; tab++) waiting.push((await open()).page);
    for (const page of waiting) await expect.poll(() => state(page)).toBe('live');
    const { page: late, id, decide } = await open();
    await expect.poll(() => service.app.listeners()).toBe(8);
    for (const page of [...waiting, late]) await hide(page);
    await expect.poll(() => service.app.listeners()).toBe(0);
    await decide();
    await client.settled(id);
    await hide(late, false);
    await late.waitForSelector('[data-status=accepted]');
    await hide(waiting[3] as Page, false);
    await expect.poll(() => service.app.listeners()).toBe(1);
    await context.close();
  });

  testLong('consoles that nobody sees have no stream, and show later what they missed', async () => {
    const { page: first, client, close } = await openWorkspacePage(service, browser, { open: 'console' });
    const address = first.url();
    const context = first.browserContext();
    await first.close();
    const consoles: Page[] = [];
    for (let tab = 0; tab < 7; tab++) {
      const page = await newPage(context);
      await page.goto(address, { timeout: 30_000 });
      await page.waitForFunction(() => Boolean(document.querySelector('.filters [role=status]')?.textContent), {
        timeout: 20_000,
      });
      consoles.push(page);
      if (tab < 6) await hide(page);
    }
    const { id } = (await client.post('/v1/invoices', invoiceFor(ACCEPTED))).body;
    await client.settled(id);
    const events = (page: Page) => page.$$eval('details.delivery summary code', (codes) => codes.length);
    await expect.poll(() => events(consoles[6] as Page)).toBe(3);
    expect(await events(consoles[0] as Page)).toBe(0);
    await hide(consoles[6] as Page);
    await hide(consoles[0] as Page, false);
    await expect.poll(() => events(consoles[0] as Page)).toBe(3);
    await close();
  });
});
