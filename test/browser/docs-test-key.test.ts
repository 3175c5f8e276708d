import { fileURLToPath } from 'node:url';
import type { Browser, HTTPRequest, Page } from 'puppeteer-core';
import { describe, expect, it } from 'vitest';
import { buildDashboard } from '../../scripts/build-dashboard.ts';
import { buildDocs } from '../../scripts/build-docs.ts';
import { BROWSER_PATH } from '../support/browser.ts';
import { Client } from '../support/client.ts';
import { passwordOf, signedIn } from '../support/person.ts';
import { type TestService, withSharedService } from '../support/service.ts';
import { withSharedBrowser } from '../support/shared-browser.ts';
import { expectAccessible, openWorkspacePage } from '../support/workspace-page.ts';

if (BROWSER_PATH === null) console.warn('skipped: no Chromium for tests of pages (Debian: apt-get install chromium)');

const isCreation = (request: HTTPRequest) => request.postData()?.includes('createApiKey') ?? false;

describe.skipIf(BROWSER_PATH === null)('a test key in the guides', () => {
  let service: TestService;
  let browser: Browser;
  withSharedBrowser.beforeAll(async ({ browser: shared }) => {
    browser = shared;
    const root = fileURLToPath(new URL('../..', import.meta.url));
    await buildDashboard(root);
    await buildDocs(root);
  });
  withSharedService.beforeAll(({ service: shared }) => {
    service = shared;
  });

  const code = (page: Page) =>
    page.$$eval('article pre code', (all) => all.map(({ textContent }) => textContent).join('\n'));
  const press = (page: Page, text: string) => page.locator(`.key button ::-p-text(${text})`).click();
  const requests = (page: Page) => {
    const paths: string[] = [];
    page.on('request', (request) => paths.push(new URL(request.url()).pathname));
    return paths;
  };

  it('is made when it is asked for, is in this page only, and is gone when the page is left', async () => {
    const { page, client, complaints, close } = await openWorkspacePage(service, browser, { role: 'developer' });
    await page.goto('about:blank');
    const asked = requests(page);
    await page.goto(`${service.url}/docs/quick-start`);
    await page.waitForSelector('.key button');
    expect(asked.filter((path) => !/^\/docs/.test(path))).toEqual([]);
    expect(await code(page)).toContain('sk_test_…');
    await press(page, 'Show the examples');
    await page.waitForSelector('.key select');
    await expectAccessible(page);
    const keysOf = async () =>
      (await client.post('/graphql', { query: '{ apiKeys { name kind revokedAt } }' })).body.data
        .apiKeys as readonly Readonly<Record<string, unknown>>[];
    const before = await keysOf();
    // Twice at once, as by a double click.
    await page.$eval('.key select + button', (button) => {
      for (let nth = 0; nth < 2; nth++) (button as HTMLElement).click();
    });
    await page.waitForFunction(() => /KEY=sk_test_[\w-]/.test(document.querySelector('article')?.textContent ?? ''));
    if (process.env.SCREENSHOTS) await page.screenshot({ path: `${process.env.SCREENSHOTS}/guides-key.png` });
    const shown = await code(page);
    expect(shown).not.toMatch(/sk_test_…|\$KEY/);
    const key = /sk_test_[\w-]+/.exec(shown)?.[0] ?? '';
    expect((await new Client(service.url, key).get('/v1/invoices')).status).toBe(200);
    expect(await keysOf()).toHaveLength(before.length + 1);
    const ofThisPage = async () =>
      (await keysOf())
        .filter(({ name }) => String(name).startsWith('Documentation: '))
        .map(({ revokedAt }) => revokedAt);
    expect(await ofThisPage()).toEqual([null]);
    const kept = await page.evaluate(() =>
      JSON.stringify([{ ...localStorage }, { ...sessionStorage }, document.cookie, location.href, history.state]),
    );
    expect(kept).not.toContain(key);

    await page.goto(`${service.url}/docs/idempotency`);
    await page.goBack();
    await page.waitForSelector('.key button');
    expect(await page.content()).not.toContain(key);

    // Another key replaces it.
    await press(page, 'Show the examples');
    await press(page, 'Make a test key');
    await page.waitForFunction(() => /KEY=sk_test_[\w-]/.test(document.querySelector('article')?.textContent ?? ''));
    expect(await ofThisPage()).toEqual([null, expect.any(String)]);
    await expect.poll(async () => (await new Client(service.url, key).get('/v1/invoices')).status).toBe(401);
    expect(complaints).toEqual([]);
    await close();
  });

  it('replaces the former one only once there is another, also where the tenant has as many as it may have', async () => {
    const { page, client, tenant, close } = await openWorkspacePage(service, browser, { role: 'developer' });
    const make = async () => {
      await page.goto(`${service.url}/docs/quick-start`);
      await press(page, 'Show the examples');
      await press(page, 'Make a test key');
    };
    const keyOf = async () => {
      await page.waitForFunction(() => /KEY=sk_test_[\w-]/.test(document.querySelector('article')?.textContent ?? ''));
      return /sk_test_[\w-]+/.exec(await code(page))?.[0] ?? '';
    };
    const statusOf = async (key: string) => (await new Client(service.url, key).get('/v1/invoices')).status;
    await make();
    const first = await keyOf();
    // The service does not answer the creation.
    await page.setRequestInterception(true);
    page.on('request', (request) => void (isCreation(request) ? request.abort() : request.continue()));
    await make();
    await page.waitForFunction(() => !document.querySelector('.key select') && document.querySelector('.key p'));
    await page.setRequestInterception(false);
    page.removeAllListeners('request');
    expect(await statusOf(first)).toBe(200);

    const { body } = await client.post('/graphql', { query: '{ apiKeys { revokedAt } }' });
    const valid = body.data.apiKeys.filter(({ revokedAt }: { revokedAt: unknown }) => revokedAt === null);
    for (let count = valid.length; count < 50; count++)
      await service.app.manageKeys.create(tenant.id, 'secret', 'test');
    await make();
    const second = await keyOf();
    expect(second).not.toBe(first);
    expect(await statusOf(second)).toBe(200);
    await expect.poll(() => statusOf(first)).toBe(401);
    await close();
  });

  it('is not made for who may not make one, and the reader is told so', async () => {
    const { page, close } = await openWorkspacePage(service, browser, { role: 'viewer' });
    await page.goto(`${service.url}/docs/fr/quick-start`);
    await press(page, 'Montrer les exemples');
    await press(page, 'Créer une clé de test');
    await page.waitForFunction(() => document.querySelector('.key p')?.textContent !== '');
    await page.waitForFunction(() => !document.querySelector('.key select'));
    expect(await page.$eval('.key p', ({ textContent }) => textContent)).toMatch(/role|right|may/i);
    expect(await code(page)).toContain('sk_test_…');
    await close();
  });

  it('leads who is not signed in to the form, and from there back to the guide', async () => {
    const { id: tenantId } = await service.tenant();
    const { email } = await signedIn(service, { memberships: [{ tenantId, role: 'developer' }] });
    const page = await (await browser.createBrowserContext()).newPage();
    const guide = `${service.url}/docs/fr/quick-start#2-la-suivre`;
    await page.goto(guide);
    await press(page, 'Montrer les exemples');
    await Promise.all([page.waitForNavigation(), page.locator('.key a').click()]);
    expect(new URL(page.url()).pathname).toBe('/sign-in');
    await page.locator('input[type=email]').fill(email);
    await page.locator('input[type=password]').fill(passwordOf(email));
    await Promise.all([page.waitForNavigation(), page.keyboard.press('Enter')]);
    expect(page.url()).toBe(guide);
    await press(page, 'Montrer les exemples');
    await page.waitForSelector('.key select');
    await page.browserContext().close();
  });

  it('is offered only where an example has one', async () => {
    const page = await (await browser.createBrowserContext()).newPage();
    await page.goto(`${service.url}/docs/corrections-for-accountants`);
    await page.waitForSelector('.find:not([hidden])');
    expect(await page.$('.key')).toBeNull();
    await page.browserContext().close();
  });
});
