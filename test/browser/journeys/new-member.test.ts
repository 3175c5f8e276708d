import { fileURLToPath } from 'node:url';
import type { Browser } from 'puppeteer-core';
import { afterAll, describe, expect, it } from 'vitest';
import { buildDashboard } from '../../../scripts/build-dashboard.ts';
import { BROWSER_PATH } from '../../support/browser.ts';
import { HARD_WORDS } from '../../support/hard-words.ts';
import { chooseAt, pressAt, typeAt } from '../../support/keyboard.ts';
import { firstOf } from '../../support/samples.ts';
import { startService, type TestService } from '../../support/service.ts';
import { withSharedBrowser } from '../../support/shared-browser.ts';
import { expectAccessible, openWorkspacePage, PHONE } from '../../support/workspace-page.ts';

if (BROWSER_PATH === null) console.warn('skipped: no Chromium for tests of pages (Debian: apt-get install chromium)');

describe.skipIf(BROWSER_PATH === null)('a member joins and bills, by the keyboard, on a phone', () => {
  let service: TestService;
  let browser: Browser;

  withSharedBrowser.beforeAll(async ({ browser: shared }) => {
    await buildDashboard(fileURLToPath(new URL('../../..', import.meta.url)));
    browser = shared;
    service = await startService({ RATE_LIMIT_ADDRESS: '1000000' });
  });
  afterAll(() => service.close());

  it.each(firstOf(['fr', 'ar', 'en']))('%s', async (language) => {
    const owner = await openWorkspacePage(service, browser, { role: 'owner', language, size: PHONE });
    await pressAt(owner.page, '.sections a[href$="/people"]');
    await chooseAt(owner.page, '.new-endpoint select', 'biller');
    await expectAccessible(owner.page);
    await pressAt(owner.page, '.new-endpoint [type=submit]');
    await owner.page.waitForSelector('.secret code');
    await expectAccessible(owner.page);
    const link = await owner.page.$eval('.secret code', ({ textContent }) => textContent ?? '');

    const context = await browser.createBrowserContext();
    const page = await context.newPage();
    await page.setViewport(PHONE);
    const complaints: string[] = [];
    page.on('pageerror', (error) => complaints.push(String(error)));
    await page.goto(link.replace('/join#', `/join?lang=${language}#`));
    await page.waitForSelector('[name=chosenPassword]');
    await expectAccessible(page);
    await typeAt(page, '[name=name]', 'Nadia');
    await typeAt(page, '[name=email]', `nadia-${language}@example.com`);
    await typeAt(page, '[name=chosenPassword]', `${HARD_WORDS} 7`);
    await page.keyboard.press('Enter');
    await page.waitForSelector('.home h1');
    expect(page.url()).toContain(`/tenants/${owner.tenant.id}/test/home`);
    await pressAt(page, '.sections a[href$="/invoices"]');
    await pressAt(page, 'main a[href$="/invoices/new"]');
    await typeAt(page, '#name', 'Café de la Gare');
    await pressAt(page, '.creation [type=submit]');
    await page.waitForSelector('.status[data-status=accepted]', { timeout: 50_000 });
    await expectAccessible(page);
    const id = new URL(page.url()).pathname.split('/').at(-1);
    const { body } = await owner.client.graphql(`{ invoice(id: "${id}") { customer { name } } }`);
    expect(body.data.invoice.customer).toEqual({ name: 'Café de la Gare' });
    // What a member who bills may not do is not offered.
    expect(await page.$('.sections a[href$="/audit"]')).toBeNull();
    await owner.page.reload();
    await owner.page.waitForFunction(() => document.querySelector('.log')?.textContent?.includes('Nadia'));
    expect([...complaints, ...owner.complaints]).toEqual([]);
    await context.close();
    await owner.close();
  });
});
