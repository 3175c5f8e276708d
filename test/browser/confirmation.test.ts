import { fileURLToPath } from 'node:url';
import type { Browser, Page } from 'puppeteer-core';
import { afterAll, describe, expect, it } from 'vitest';
import { buildDashboard } from '../../scripts/build-dashboard.ts';
import { PROOF_MS } from '../../src/domain/person/limits.ts';
import { SPECIMEN_SELLER } from '../../src/domain/tenant/tenant.ts';
import { BROWSER_PATH } from '../support/browser.ts';
import { firstOf } from '../support/samples.ts';
import { startTakingLive, type TestService } from '../support/service.ts';
import { withSharedBrowser } from '../support/shared-browser.ts';
import { expectAccessible, openWorkspacePage, PHONE } from '../support/workspace-page.ts';

if (BROWSER_PATH === null) console.warn('skipped: no Chromium for tests of pages (Debian: apt-get install chromium)');

// Pages that ask for the password before a live document is created.

describe.skipIf(BROWSER_PATH === null)('a live invoice by a person in a browser', () => {
  let service: TestService;
  let browser: Browser;

  withSharedBrowser.beforeAll(async ({ browser: shared }) => {
    await buildDashboard(fileURLToPath(new URL('../..', import.meta.url)));
    browser = shared;
    service = await startTakingLive({ RATE_LIMIT_ADDRESS: '1000000' });
  });
  afterAll(async () => {
    await service.close();
  });

  /** The form for a live invoice, filled in, in a session whose password was entered long ago. */
  async function filledIn(options: { language?: string; size?: object } = {}) {
    const opening = { ...options, role: 'biller', open: 'invoices', profile: SPECIMEN_SELLER } as const;
    const opened = await openWorkspacePage(service, browser, opening);
    const { page, tenant, person } = opened;
    const createdAt = new Date(Date.now() - PROOF_MS - 1000);
    await service.app.store.db.collection('person_sessions').updateMany({ userId: person.id }, { $set: { createdAt } });
    await page.goto(`${service.url}/tenants/${tenant.id}/live/invoices`);
    await page.locator('.head a').click();
    await page.waitForSelector('.creation h1');
    expect(await page.$('#scenario')).toBeNull();
    for (const [name, text] of [
      ['ice', '001234567000089'],
      ['name', 'Atlas'],
      ['description-1', 'Conseil'],
      ['unitPrice-1', '100,00'],
    ])
      await page.locator(`[name="${name}"]`).fill(`${text}`);
    const stored = () => service.app.store.db.collection('invoices').countDocuments({ tenantId: tenant.id });
    return { ...opened, stored };
  }
  const focused = (page: Page) => page.evaluate(() => document.activeElement?.getAttribute('name') ?? null);
  const submitFocused = (page: Page) => page.evaluate(() => document.activeElement?.matches('.creation [type=submit]'));

  it('is created once, after the password was entered by keyboard', async () => {
    const { page, person, complaints, stored, close } = await filledIn({ language: 'en' });
    expect(await page.$eval('.creation h1', ({ textContent }) => textContent)).toBe('New invoice');
    const keys: unknown[] = [];
    page.on('request', (request) => {
      const body = request.url().endsWith('/graphql') ? (request.postData() ?? '') : '';
      if (body.includes('CreateInvoice')) keys.push(JSON.parse(body).variables.idempotencyKey);
    });
    await page.focus('.creation [type=submit]');
    await page.keyboard.press('Enter');
    await page.waitForSelector('dialog[open] [name=password]');
    expect(await focused(page)).toBe('password');
    await page.keyboard.type('wrong');
    await page.keyboard.press('Enter');
    await page.waitForFunction(
      () => document.querySelector('dialog .refusal')?.textContent === 'The password is wrong.',
    );
    expect(await focused(page)).toBe('password');
    expect(await stored()).toBe(0);
    await page.$eval('[name=password]', (input) => (input as HTMLInputElement).select());
    await page.keyboard.type(person.password);
    await page.keyboard.press('Enter');
    await page.waitForFunction(() => /\/live\/invoices\/inv_/.test(location.pathname));
    expect(await page.$('dialog')).toBeNull();
    expect(await stored()).toBe(1);
    expect(keys).toEqual([expect.stringMatching(/^[0-9a-f]{32}$/), keys[0]]);
    // The browser itself reports the two refusals.
    expect(complaints.filter((text) => !/status of 40[13]/.test(text))).toEqual([]);
    await close();
  });

  it.each(firstOf(['ar', 'fr', 'en']))('is not created without it, and the page says why: %s', async (language) => {
    const { page, stored, close } = await filledIn({ language, size: PHONE });
    await page.focus('.creation [type=submit]');
    await page.keyboard.press('Enter');
    await page.waitForSelector('dialog[open] [name=password]');
    await expectAccessible(page);
    await page.keyboard.press('Escape');
    await page.waitForFunction(() => document.querySelector('dialog') === null);
    await page.waitForFunction(() =>
      [...document.querySelectorAll('.creation .refusal')].some(({ textContent }) => textContent !== ''),
    );
    expect(await submitFocused(page)).toBe(true);
    expect(await stored()).toBe(0);
    // It can be asked for again, and cancelled by the button.
    await page.keyboard.press('Enter');
    await page.locator('dialog[open] .actions button').click();
    await page.waitForFunction(() => document.querySelector('dialog') === null);
    expect(await stored()).toBe(0);
    await close();
  });
});
