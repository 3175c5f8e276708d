import { fileURLToPath } from 'node:url';
import type { Browser, Page } from 'puppeteer-core';
import { afterAll, describe, expect, it } from 'vitest';
import { buildDashboard } from '../../scripts/build-dashboard.ts';
import { BROWSER_PATH } from '../support/browser.ts';
import { startService, type TestService } from '../support/service.ts';
import { withSharedBrowser } from '../support/shared-browser.ts';
import { expectAccessible, openWorkspacePage } from '../support/workspace-page.ts';

if (BROWSER_PATH === null) console.warn('skipped: no Chromium for tests of pages (Debian: apt-get install chromium)');

describe.skipIf(BROWSER_PATH === null)('the form of an invoice', () => {
  let service: TestService;
  let browser: Browser;

  withSharedBrowser.beforeAll(async ({ browser: shared }) => {
    await buildDashboard(fileURLToPath(new URL('../..', import.meta.url)));
    browser = shared;
    service = await startService({ RATE_LIMIT_ADDRESS: '1000000' });
  });
  afterAll(() => service.close());

  async function type(page: Page, selector: string, text: string): Promise<void> {
    await page.locator(selector).click({ count: 3 });
    await page.keyboard.type(text);
  }

  it('issues an invoice to a customer abroad, of a line with its exemption', async () => {
    const { page, client, close } = await openWorkspacePage(service, browser, { open: 'invoices/new' });
    await page.waitForSelector('#kind');
    await page.select('#kind', 'person');
    expect(await page.$('#ice')).toBeNull();
    await page.select('#kind', 'foreign');
    expect(await page.$eval('#country option[value=FR]', (option) => option.textContent)).toBe('France');
    await page.select('#country', 'FR');
    await type(page, '#taxNumber', 'FR40303265045');
    expect(await page.$('#exemption-1')).toBeNull();
    await type(page, '#taxRate-1', '0');
    await page.waitForSelector('#exemption-1');
    await page.select('#exemption-1', 'suspension');
    await type(page, '#certificateNumber-1', 'AC 7');
    await type(page, '#certificateDate-1', '2026-02-03');
    await expectAccessible(page);
    await page.locator('button[type=submit].primary').click();
    await page.waitForFunction(() => /\/invoices\/inv_/.test(location.pathname));
    const id = new URL(page.url()).pathname.split('/').at(-1);
    const { body } = await client.graphql(
      `{ invoice(id: "${id}") { customer { kind ice country taxNumber } lines { exemption { code certificate { number date } } } } }`,
    );
    expect(body.data.invoice).toEqual({
      customer: { kind: 'foreign', ice: null, country: 'FR', taxNumber: 'FR40303265045' },
      lines: [{ exemption: { code: 'suspension', certificate: { number: 'AC 7', date: '2026-02-03' } } }],
    });
    await close();
  });
});
