import { fileURLToPath } from 'node:url';
import type { Browser, Page } from 'puppeteer-core';
import { afterAll, describe, expect, it } from 'vitest';
import { buildDashboard } from '../../scripts/build-dashboard.ts';
import { violations } from '../support/accessibility.ts';
import { BROWSER_PATH } from '../support/browser.ts';
import { Client, invoiceBody } from '../support/client.ts';
import { invite } from '../support/person.ts';
import { firstOf } from '../support/samples.ts';
import { startService, type TestService } from '../support/service.ts';
import { withSharedBrowser } from '../support/shared-browser.ts';

if (BROWSER_PATH === null) console.warn('skipped: no Chromium for tests of pages (Debian: apt-get install chromium)');

const PASSWORD = 'correct horse battery';

describe.skipIf(BROWSER_PATH === null)('pages of operators in a browser', () => {
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

  const press = (page: Page, text: string, within = 'body') =>
    page.locator(`${within} ::-p-xpath(.//button[normalize-space()='${text}'])`).click();
  const says = (page: Page, text: string) =>
    page.waitForFunction((wanted) => document.querySelector('main')?.innerText.includes(wanted), {}, text);
  const confirm = async (page: Page) => {
    await page.locator('dialog .danger').click();
    await page.waitForFunction(() => document.querySelector('dialog') === null);
  };

  /** Whether the next dialog is open as soon as it is there: what a quick hand types before is lost. */
  const nextDialogIsOpen = (page: Page) =>
    page.evaluateHandle(() => {
      const shown = Promise.withResolvers<boolean>();
      new MutationObserver(() => {
        const dialog = document.querySelector('dialog');
        if (dialog) shown.resolve(dialog.open);
      }).observe(document.body, { childList: true, subtree: true });
      return { shown: shown.promise };
    });

  /** Somebody who is signed in, in a browser of the person's own. */
  async function signedIn(language: string, grants: Parameters<typeof invite>[1], width = 1280) {
    const context = await browser.createBrowserContext();
    const page = await context.newPage();
    await page.setViewport({ width, height: 844 });
    const complaints: string[] = [];
    page.on('pageerror', (error) => complaints.push(String(error)));
    page.on('console', (message) => complaints.push(message.text()));
    await page.goto(`${service.url}/join?lang=${language}#${await invite(service, grants)}`);
    await page.waitForSelector('[name=chosenPassword]');
    const email = `operator${language}${width}@example.com`;
    for (const [name, value] of Object.entries({ name: 'Amina', email, chosenPassword: PASSWORD }))
      await page.type(`[name=${name}]`, value);
    await page.keyboard.press('Enter');
    await page.waitForSelector(':is(.identity, .home) h1');
    return { page, complaints, close: () => context.close() };
  }

  it('make a tenant with a key, suspend it, and pause the authority, all of it recorded', async () => {
    const { page, complaints, close } = await signedIn('en', { isOperator: true });
    await page.locator('a[href="/ops"]').click();
    await says(page, 'Nothing needs attention.');
    await says(page, 'No live authority is configured');
    await says(page, 'Workers: 1');
    const next = await nextDialogIsOpen(page);
    await press(page, 'Stop every call');
    expect(await next.evaluate(({ shown }) => shown)).toBe(true);
    // It concerns all tenants: not without a question and a reason.
    await page.waitForSelector('dialog .danger:disabled');
    await page.type('dialog [name=reason]', 'maintenance');
    await confirm(page);
    await says(page, 'maintenance');
    await says(page, 'Paused: nothing is sent');
    expect(await page.$eval('main', ({ innerText }) => innerText)).not.toContain('No live authority');
    await press(page, 'Send again');
    await confirm(page);
    await says(page, 'No live authority is configured');
    await page.locator('a[href="/ops/entries"]').click();
    await says(page, 'Calls to the tax authority resumed');
    await says(page, 'maintenance');

    await page.locator('a[href="/ops/tenants"]').click();
    // Somebody without eyes is told of the new page.
    await page.waitForFunction(() => document.activeElement?.id === 'content');
    await page.locator('[name=name]').fill('Atlas');
    await press(page, 'Create a tenant');
    await says(page, 'Legal name, ICE');
    await page.locator('#legalName').fill('Atlas Conseil');
    await press(page, 'Save');
    await page.waitForFunction(() => !document.querySelector('main')?.innerText.includes('Missing: Legal name'));
    await press(page, 'New secret key (Test)');
    await page.waitForSelector('.secret code');
    const key = await page.$eval('.secret code', ({ textContent }) => textContent ?? '');
    const client = new Client(service.url, key);
    expect((await client.post('/v1/invoices', invoiceBody())).status).toBe(201);
    await press(page, 'I have stored it');
    await press(page, 'New secret key (Live)');
    await page.waitForFunction(() => document.querySelector('.refusal')?.textContent?.includes('DGI_URL'));
    await press(page, 'Suspend the tenant');
    await confirm(page);
    await says(page, 'Suspended');
    await expect.poll(async () => (await client.post('/v1/invoices', invoiceBody())).status).toBe(403);
    // The address has it all.
    await page.reload();
    await press(page, 'End the suspension');
    await confirm(page);
    await expect.poll(async () => (await client.post('/v1/invoices', invoiceBody())).status).toBe(201);
    await press(page, 'Revoke');
    await confirm(page);
    await expect.poll(async () => (await client.get('/v1/invoices')).status).toBe(401);
    await page.locator('a[href="/ops/tenants"]').click();
    await says(page, 'Atlas');
    // Browsers report each answer of 400 in their consoles.
    expect(complaints.filter((each) => !each.includes('400'))).toEqual([]);
    await close();
  });

  it.each(
    firstOf([
      ['ar', 390],
      ['fr', 390],
      ['en', 1280],
    ]),
  )('violate no rule of accessibility: %s, %d wide', async (language, width) => {
    const tenant = await service.tenant();
    const { page, close } = await signedIn(language, { isOperator: true }, width);
    for (const path of ['/ops', '/ops/tenants', `/ops/tenants/${tenant.id}`, '/ops/entries']) {
      await page.goto(service.url + path);
      await page.waitForSelector('main [aria-busy=false], main .part');
      for (const scheme of ['light', 'dark']) {
        await page.emulateMediaFeatures([{ name: 'prefers-color-scheme', value: scheme }]);
        expect(await violations(page)).toEqual([]);
      }
      expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(width);
    }
    await close();
  });

  it('lead somebody else to the form', async () => {
    const tenant = await service.tenant();
    const memberships = [{ tenantId: tenant.id, role: 'owner' as const }];
    const { page, close } = await signedIn('fr', { memberships }, 1024);
    await page.goto(`${service.url}/ops`);
    await page.waitForSelector('[name=password]');
    expect(new URL(page.url()).searchParams.get('next')).toBe('/ops');
    await close();
  });
});
