import type { Browser, Page } from 'puppeteer-core';
import { describe, expect, it } from 'vitest';
import { BROWSER_PATH } from '../support/browser.ts';
import { invoiceBody } from '../support/client.ts';
import { testLong } from '../support/samples.ts';
import { type TestService, withSharedService } from '../support/service.ts';
import { withSharedBrowser } from '../support/shared-browser.ts';
import { openWorkspacePage } from '../support/workspace-page.ts';

if (BROWSER_PATH === null) console.warn('skipped: no Chromium for tests of pages (Debian: apt-get install chromium)');

describe.skipIf(BROWSER_PATH === null)('GraphiQL in a browser', () => {
  let service: TestService;
  let browser: Browser;

  withSharedBrowser.beforeAll(({ browser: shared }) => {
    browser = shared;
  });
  withSharedService.beforeAll(async ({ service: shared }) => {
    service = shared;
  });

  /** What is answered to the tab of this name, once it holds these texts; the editor renders the first lines only. */
  async function answerOf(page: Page, tab: string, ...texts: string[]): Promise<string> {
    // A click that comes while the page is still being made may be lost.
    await page.waitForFunction(
      (name) => {
        const active = document.querySelector('.graphiql-tab-active, .graphiql-tab[aria-selected=true]');
        const editor = document.querySelector('.graphiql-query-editor .view-lines');
        if (active?.textContent?.includes(name)) return editor?.textContent?.includes(name);
        const tabs = [...document.querySelectorAll<HTMLElement>('.graphiql-tab-button')];
        tabs.find((each) => each.textContent?.includes(name))?.click();
        return false;
      },
      { timeout: 50_000, polling: 200 },
      tab,
    );
    await page.locator('.graphiql-execute-button').click();
    const found = await page.waitForFunction(
      (parts) => {
        const shown = (document.querySelector('.graphiql-response')?.textContent ?? '').replaceAll('\u00a0', ' ');
        return parts.every((part) => shown.includes(part)) ? shown : null;
      },
      { timeout: 50_000 },
      texts,
    );
    return (await found.jsonValue()) ?? '';
  }

  it('uses the session of somebody who comes from the dashboard, for that tenant and environment', async () => {
    const { page, tenant, client, close } = await openWorkspacePage(service, browser, {
      language: 'en',
      open: 'requests',
    });
    await client.post('/v1/invoices', invoiceBody());
    const opened = new Promise<Page>((resolve) => page.once('popup', (popup) => resolve(popup as Page)));
    await page.locator('a[href^="/graphql?"]').click();
    const graphiql = await opened;
    expect(new URL(graphiql.url()).search).toBe(`?tenant=${tenant.id}&environment=test`);
    await answerOf(graphiql, 'Invoices', '"invoices"', '"status"');
    await close();
  });

  testLong('asks for a key where nobody is signed in, and says why', async () => {
    const context = await browser.createBrowserContext();
    const page = await context.newPage();
    await page.goto(`${service.url}/graphql?tenant=ten_1&environment=test`);
    await page.waitForFunction(() => document.querySelector('#ask output')?.textContent === 'Nobody is signed in.');
    await context.close();
  });

  it('asks for a key, then runs what it shows first, with nothing from elsewhere', async () => {
    const { secretKey } = await service.tenant();
    const page = await (await browser.createBrowserContext()).newPage();
    await page.setViewport({ width: 1280, height: 1000 });
    const foreign: string[] = [];
    const asked: (string | undefined)[] = [];
    // What the page's own policy forbids is told there.
    const complaints: string[] = [];
    page.on(
      'console',
      (message) => message.text().includes('Content Security Policy') && complaints.push(message.text()),
    );
    page.on('pageerror', (error) => complaints.push(String(error)));
    await page.setRequestInterception(true);
    page.on('request', async (request) => {
      if (!/^(data|blob):/.test(request.url()) && !request.url().startsWith(service.url)) foreign.push(request.url());
      if (request.method() === 'POST') asked.push(request.headers().authorization);
      await request.continue();
    });
    await page.goto(`${service.url}/graphql`, { waitUntil: 'load' });
    await page.waitForSelector('#key', { timeout: 50_000, visible: true });
    expect([asked, await page.$('.graphiql-execute-button')]).toEqual([[], null]);
    await page.type('#key', 'sk_test_wrong\n');
    await page.waitForFunction(
      () => document.querySelector('#ask output')?.textContent?.includes('This API key is not known.'),
      { timeout: 50_000 },
    );
    expect(asked).toEqual(['Bearer sk_test_wrong']);
    await page.$eval('#key', (input) => {
      (input as HTMLInputElement).value = '';
    });
    await page.type('#key', `${secretKey}\n`);
    await page.waitForSelector('.graphiql-execute-button', { timeout: 50_000 });
    expect(await page.$('#ask')).toBeNull();
    // Twice: nothing that the page shows stands in the way of its second run, or of the guides' examples.
    for (let run = 0; run < 2; run++)
      expect(await answerOf(page, 'CreateInvoice', 'clientSecret', '"status": ')).toContain('"status": "pending"');
    expect(await answerOf(page, 'Invoices', 'nodes', '"name": ')).toContain('Atlas Distribution SARL');
    expect(new Set(asked.slice(1))).toEqual(new Set([`Bearer ${secretKey}`]));
    // The browser keeps the tabs, and no key.
    expect(await page.evaluate(() => JSON.stringify({ ...localStorage, ...sessionStorage }))).not.toContain(secretKey);
    expect({ foreign, complaints }).toEqual({ foreign: [], complaints: [] });
  });
});
