import type { Browser } from 'puppeteer-core';
import { afterAll, describe, expect, it } from 'vitest';
import { BROWSER_PATH } from '../support/browser.ts';
import { startService, type TestService } from '../support/service.ts';
import { withSharedBrowser } from '../support/shared-browser.ts';
import { expectAccessible, openWorkspacePage, PHONE } from '../support/workspace-page.ts';

if (BROWSER_PATH === null) console.warn('skipped: no Chromium for tests of pages (Debian: apt-get install chromium)');

describe.skipIf(BROWSER_PATH === null)('the settings of a tenant in a browser', () => {
  let service: TestService;
  let browser: Browser;
  withSharedBrowser.beforeAll(async ({ browser: shared }) => {
    browser = shared;
    service = await startService({ RATE_LIMIT_ADDRESS: '1000000' });
  });
  afterAll(async () => {
    await service?.close();
  });

  it('an owner changes the profile, sees it on a sample invoice before, and finds the change in the audit log', async () => {
    const { page, tenant, complaints, close } = await openWorkspacePage(service, browser, { open: 'settings' });
    await page.waitForSelector('#legalName');
    // Profile, certificate and authority are missing. Node's data decides whether Morocco's time is known for a year.
    const todo = () => page.$$eval('.first-steps li', (rows) => rows.map((row) => row.getAttribute('data-done')));
    await expect.poll(todo).toEqual(['false', 'false', 'false', 'true', expect.stringMatching(/^(true|false)$/)]);
    await page.locator('#legalName').fill('Atlas Conseil');
    await page.locator('#capital').fill('250 000,50');
    await page.waitForFunction(() =>
      document.querySelector('.settings [role=status]')?.textContent?.includes('non enreg'),
    );
    await page.locator('.viewer summary').click();
    await page.waitForSelector('.viewer iframe[src^="blob:"]');
    expect((await service.app.tenants.find(tenant.id))?.profile.legalName).not.toBe('Atlas Conseil');
    await expectAccessible(page);
    await page.locator('.settings button[type=submit]').click();
    await page.waitForFunction(() =>
      document.querySelector('.settings [role=status]')?.textContent?.startsWith('Enregistré'),
    );
    const stored = (await service.app.tenants.find(tenant.id))?.profile;
    expect(stored).toMatchObject({ legalName: 'Atlas Conseil', capital: 25_000_050 });

    await page.locator('#bankAccount').fill('123');
    await page.locator('.settings button[type=submit]').click();
    await page.waitForFunction(() => /bankAccount/.test(document.querySelector('form .refusal')?.textContent ?? ''));

    await page.locator('.sections a[href$="/audit"]').click();
    await page.waitForSelector('.audit .delivery');
    const rows = await page.$$eval('.audit .delivery summary', (all) => all.map((row) => row.textContent ?? ''));
    expect(rows[0]).toContain('Profil du vendeur modifié');
    expect(rows[0]).toContain('Amina');
    await page.locator('.audit .delivery summary').click();
    const first = await page.$eval('.audit .delivery', (row) => row.textContent ?? '');
    expect(first).toContain('legalName, capital');
    await expectAccessible(page);
    await page.locator('.audit .facts a').click();
    await page.waitForFunction(() => location.search.startsWith('?actor=per_'));
    await page.waitForSelector('.audit .delivery');
    expect(complaints).toEqual([]);
    await close();
  });

  it('somebody else sees the profile and cannot change it, on a phone and in Arabic', async () => {
    const viewer = { role: 'viewer', language: 'ar', size: PHONE, open: 'settings' } as const;
    const { page, complaints, close } = await openWorkspacePage(service, browser, viewer);
    await page.waitForSelector('#legalName');
    expect(await page.$eval('.settings fieldset', (fields) => (fields as HTMLFieldSetElement).disabled)).toBe(true);
    expect(await page.$('.settings button[type=submit], .settings .viewer')).toBeNull();
    expect(await page.$('.sections a[href$="/audit"]')).toBeNull();
    await expectAccessible(page);
    expect(complaints).toEqual([]);
    await close();
  });
});
