import { fileURLToPath } from 'node:url';
import type { Browser } from 'puppeteer-core';
import { afterAll, describe, expect, it } from 'vitest';
import { buildDashboard } from '../../../scripts/build-dashboard.ts';
import { BROWSER_PATH } from '../../support/browser.ts';
import { invoiceBody } from '../../support/client.ts';
import { pressAt, typeAt } from '../../support/keyboard.ts';
import { firstOf } from '../../support/samples.ts';
import { startService, type TestService } from '../../support/service.ts';
import { withSharedBrowser } from '../../support/shared-browser.ts';
import { expectAccessible, openWorkspacePage, PHONE } from '../../support/workspace-page.ts';

if (BROWSER_PATH === null) console.warn('skipped: no Chromium for tests of pages (Debian: apt-get install chromium)');

describe.skipIf(BROWSER_PATH === null)('a rejected invoice is put right, by the keyboard, on a phone', () => {
  let service: TestService;
  let browser: Browser;

  withSharedBrowser.beforeAll(async ({ browser: shared }) => {
    await buildDashboard(fileURLToPath(new URL('../../..', import.meta.url)));
    browser = shared;
    service = await startService({ RATE_LIMIT_ADDRESS: '1000000' });
  });
  afterAll(() => service.close());

  it.each(firstOf(['fr', 'en', 'ar']))('%s', async (language) => {
    const opened = await openWorkspacePage(service, browser, { role: 'biller', language, size: PHONE });
    const { page, client, complaints, close } = opened;
    const customer = { ice: '999000000000102', name: 'Atlas Distribution' };
    const { id } = (await client.post('/v1/invoices', invoiceBody({ customer }))).body;
    expect((await client.settled(id)).status).toBe('rejected');

    // Home says it, and leads to it.
    const told = `[data-condition=invoices_rejected] .subjects a[href$="/invoices/${id}"]`;
    await page.waitForSelector(told);
    await expectAccessible(page);
    await pressAt(page, told);
    await page.waitForSelector('.status[data-status=rejected]');
    await expectAccessible(page);
    await pressAt(page, `a[href$="/${id}/replace"]`);
    await page.waitForSelector('#ice[aria-invalid=true]');
    await expectAccessible(page);
    await typeAt(page, '#ice', '001234567000089');
    await pressAt(page, '.creation [type=submit]');
    await page.waitForSelector('.status[data-status=accepted]', { timeout: 50_000 });
    const corrected = new URL(page.url()).pathname.split('/').at(-1);
    expect(corrected).toMatch(/^inv_/);
    const { body } = await client.graphql(
      `{ invoice(id: "${id}") { replacedBy { id status customer { ice name } } } }`,
    );
    expect(body.data.invoice.replacedBy).toEqual({
      id: corrected,
      status: 'accepted',
      customer: { ...customer, ice: '001234567000089' },
    });
    await pressAt(page, '.sections a[href$="/home"]');
    await page.waitForSelector('.conditions');
    expect(await page.$('[data-condition=invoices_rejected]')).toBeNull();
    expect(complaints).toEqual([]);
    await close();
  });
});
