import { execFile } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { Browser, Page } from 'puppeteer-core';
import { afterAll, describe, expect, it } from 'vitest';
import { buildDashboard } from '../../scripts/build-dashboard.ts';
import { AMOUNT_TEXTS } from '../../src/dashboard/text/amounts.ts';
import { BROWSER_PATH } from '../support/browser.ts';
import { type Client, invoiceBody, invoiceFor } from '../support/client.ts';
import { firstOf, testLong } from '../support/samples.ts';
import { startService, type TestService } from '../support/service.ts';
import { withSharedBrowser } from '../support/shared-browser.ts';
import { expectAccessible, openWorkspacePage, PHONE } from '../support/workspace-page.ts';

if (BROWSER_PATH === null) console.warn('skipped: no Chromium for tests of pages (Debian: apt-get install chromium)');

const ACCEPTED = '001234567000089';
const REJECTED = '999000000000102';

describe.skipIf(BROWSER_PATH === null)('home, search and creation in a browser', () => {
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

  const hasCounts = (page: Page, counts: string) =>
    page.waitForFunction(
      (expected) =>
        [...document.querySelectorAll('.counts:first-of-type dd')].map((n) => n.textContent).join() === expected,
      { timeout: 50_000 },
      counts,
    );
  const pathOf = (page: Page) => page.url().slice(service.url.length);
  async function settled(client: Client, ice: string, name = 'Client'): Promise<string> {
    const { id } = (await client.post('/v1/invoices', { ...invoiceFor(ice), customer: { ice, name } })).body;
    await client.settled(id);
    return id;
  }

  it('home counts today’s invoices as they change, and says what needs attention', async () => {
    const { page, client, complaints, close } = await openWorkspacePage(service, browser);
    await page.waitForSelector('[data-connection=live]');
    await page.waitForSelector('.first-steps');
    await hasCounts(page, '0,0,0,0');
    await page.waitForFunction(() => document.querySelectorAll('.first-steps [data-done=true]').length === 1);
    await settled(client, ACCEPTED);
    const rejected = await settled(client, REJECTED);
    await hasCounts(page, '2,1,1,0');
    await page.waitForSelector(`.log a[href$="${rejected}"]`);
    await page.waitForFunction(() => document.querySelectorAll('.first-steps [data-done=true]').length === 3);
    // Nothing of a certificate that is valid for years; then one that ends.
    const ends = "main .attention::-p-xpath(self::*[normalize-space()='Fin du certificat de signature'])";
    expect(await page.$(ends)).toBeNull();
    const signers = service.app.store.db.collection<{ _id: string }>('installation');
    const told = { $set: { validTo: new Date(Date.now() + 20 * 86_400_000) } };
    await expect
      .poll(async () => (await signers.updateOne({ _id: 'certificate:platform' }, told)).matchedCount)
      .toBe(1);
    const url = 'https://dead.example.com/hook';
    const { id: endpoint } = (await client.post('/v1/webhook_endpoints', { url, events: ['invoice.accepted'] })).body;
    const failingSince = new Date(Date.now() - 45 * 60_000);
    const endpoints = service.app.store.db.collection<{ _id: string }>('webhook_endpoints');
    await endpoints.updateOne({ _id: endpoint }, { $set: { failingSince } });
    await page.reload();
    await page.waitForSelector(ends);
    // Nothing is delivered to an endpoint for 45 minutes.
    const dead = await page.waitForSelector("main ::-p-xpath(.//li[.//*[contains(@class, 'attention')]])");
    expect(await page.$eval('main', ({ innerText }) => innerText)).toContain('dead.example.com');
    expect(dead).not.toBeNull();
    // The number of rejected invoices leads to them.
    await page.locator('.counts:first-of-type [data-status=rejected] a').click();
    await page.waitForFunction(() => document.querySelectorAll('.rows tbody tr').length === 1);
    expect(pathOf(page)).toMatch(/status=rejected&from=\d{4}-\d\d-\d\d&until=\d{4}-\d\d-\d\d$/);
    expect(complaints).toEqual([]);
    await close();
  });

  it.each(firstOf(['fr', 'ar', 'en'] as const))(
    'home has the amounts of the month beside the last one, and what changed since the last look (%s)',
    async (language) => {
      const { page, client, tenant, person, complaints, close } = await openWorkspacePage(service, browser, {
        language,
      });
      const has = (row: string, ...expected: string[]) =>
        page.waitForFunction(
          (selector, texts) =>
            JSON.stringify([...document.querySelectorAll(selector)].map((cell) => cell.textContent)) === texts,
          { timeout: 20_000 },
          `.month-so-far [data-row=${row}] td`,
          JSON.stringify(expected),
        );
      const amount = (text: string) => (language === 'en' ? text.replace(',', '.') : text);
      await has('invoiced', '0', amount('0,00'), amount('0,00'), '–');
      await settled(client, ACCEPTED);
      await settled(client, REJECTED);
      // The first look is compared with the day before yesterday.
      await has('invoiced', '1', amount('120,00'), amount('0,00'), `+1 ${amount('120,00')}`);
      await has('rejected', '1', amount('120,00'), amount('0,00'), `+1 ${amount('120,00')}`);
      const balance = await page.$$eval('.amounts dd:not(.under)', (all) => all.map(({ textContent }) => textContent));
      expect(balance).toEqual([amount('100,00'), amount('20,00'), amount('120,00')]);
      const { sinceYesterday } = AMOUNT_TEXTS[language];
      const since = () => page.$eval('.month-so-far thead th:last-child', ({ textContent }) => textContent);
      expect(await since()).toBe(sinceYesterday);
      await expectAccessible(page);
      // An hour later, on a page that is opened anew: the one that is open keeps what it shows.
      const home = page.url();
      await page.goto(home.replace(/home$/, 'keys'));
      await page.waitForSelector('h1');
      await page.evaluate((key) => {
        const kept = JSON.parse(localStorage.getItem(key) ?? '');
        kept.latest.at = new Date(Date.now() - 3_600_000).toISOString();
        localStorage.setItem(key, JSON.stringify(kept));
      }, `look ${person.id} ${tenant.id} test`);
      await page.goto(home);
      await has('invoiced', '1', amount('120,00'), amount('0,00'), '–');
      expect(await since()).not.toBe(sinceYesterday);
      await settled(client, ACCEPTED);
      await has('invoiced', '2', amount('240,00'), amount('0,00'), `+1 ${amount('120,00')}`);
      await has('rejected', '1', amount('120,00'), amount('0,00'), '–');
      expect(complaints).toEqual([]);
      await close();
    },
  );

  it('home says that it cannot be read, and reads again when asked', async () => {
    const { page, close } = await openWorkspacePage(service, browser, { language: 'fr', open: 'home' });
    await hasCounts(page, '0,0,0,0');
    await page.locator('nav a[href$="/invoices"]').click();
    await page.waitForSelector('.filters');
    await page.setOfflineMode(true);
    await page.locator('nav a[href$="/home"]').click();
    await page.waitForSelector('.home .unreachable button');
    await page.setOfflineMode(false);
    await page.locator('.home .unreachable button').click();
    await hasCounts(page, '0,0,0,0');
    await page.waitForFunction(() => !document.querySelector('.unreachable'));
    await close();
  });

  it('documents are found by any part of them, and one by its number', async () => {
    const { page, client, complaints, close } = await openWorkspacePage(service, browser, { open: 'invoices' });
    const id = await settled(client, ACCEPTED, 'Société Bleue');
    await settled(client, ACCEPTED, 'Autre');
    const other = await client.post('/v1/invoices', {
      ...invoiceBody({ amount: 24_000 }),
      lines: [{ description: 'd', quantity: 2, unit_price: 10_000 }],
    });
    const { body } = await client.graphql('query ($id: ID!) { invoice(id: $id) { number } }', { id });
    await client.found(id, body.data.invoice.number);
    await client.found(other.body.id, '240,00');
    const search = async (text: string) => {
      await page.locator('[name=search]').fill(text);
      await page.locator('.search button').click();
    };
    await page.waitForFunction(() => document.querySelectorAll('.rows tbody tr').length === 3);
    await page.keyboard.press('/');
    await page.keyboard.type('BLEU soc');
    await page.keyboard.press('Enter');
    await page.waitForSelector('.match');
    await page.waitForFunction(() => document.querySelectorAll('.rows tbody tr').length === 1);
    expect(new URL(page.url()).searchParams.get('search')).toBe('BLEU soc');
    await page.reload();
    await page.waitForSelector('.match');
    await search('240,00');
    await page.waitForFunction(
      () =>
        document.querySelector('.rows tbody')?.textContent?.includes('240,00') &&
        document.querySelectorAll('.rows tbody tr').length === 1,
    );
    await search(body.data.invoice.number);
    await page.waitForFunction((end) => location.pathname.endsWith(end), {}, `/invoices/${id}`);
    expect(complaints).toEqual([]);
    await close();
  });

  testLong('the filtered list is exported, all pages of it', async () => {
    const { page, client, complaints, close } = await openWorkspacePage(service, browser, { open: 'invoices' });
    const made = await Promise.all(
      Array.from({ length: 120 }, () => client.post('/v1/invoices', invoiceFor(ACCEPTED))),
    );
    await settled(client, REJECTED);
    await Promise.all(made.map(({ body }) => client.settled(body.id)));
    const folder = mkdtempSync(join(tmpdir(), 'export-'));
    const session = await browser.target().createCDPSession();
    const { browserContextId } = page.browserContext() as unknown as { browserContextId?: string };
    const contextId = page.browserContext().id ?? browserContextId;
    await session.send('Browser.setDownloadBehavior', {
      behavior: 'allow',
      downloadPath: folder,
      ...(contextId !== undefined && { browserContextId: contextId }),
    });
    await page.locator('.filters a[href$="status=accepted"]').click();
    await page.waitForFunction(() => location.search === '?status=accepted');
    await page.locator('.export button').click();
    await page.waitForFunction(() => document.querySelector('.export [role=status]')?.textContent?.startsWith('120 '), {
      timeout: 50_000,
    });
    await expect.poll(() => readdirSync(folder).filter((name) => name.endsWith('.csv')).length).toBe(1);
    const [name = ''] = readdirSync(folder);
    const lines = readFileSync(join(folder, name), 'utf8').trimEnd().split('\r\n');
    expect(lines[0]).toMatch(/^\ufeffNuméro;/);
    expect(lines).toHaveLength(121);
    expect(new Set(lines.slice(1).map((line) => line.split(';').at(-1))).size).toBe(120);
    expect(lines[1]).toMatch(
      /^\d{4}-000\d{3};\d{4}-\d\d-\d\d;Acceptée;Client;'001234567000089;100,00;20,00;120,00;0,00;120,00;MAD;[^;]+;\d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC\+0;inv_/,
    );
    rmSync(folder, { recursive: true });
    expect(complaints).toEqual([]);
    await close();
  });

  it('a test invoice is created by the form, and the same by its command', async () => {
    const { page, client, tenant, complaints, close } = await openWorkspacePage(service, browser, {
      role: 'developer',
      language: 'en',
      open: 'invoices',
    });
    await page.locator('.head a').click();
    await page.waitForSelector('#scenario option:nth-child(2)');
    await page.select('#scenario', REJECTED);
    await page.locator('[name="unitPrice-1"]').fill('12,345');
    await page.locator('.creation [type=submit]').click();
    await page.waitForFunction(() => document.querySelector('.refusal:not(:empty)') !== null);
    await page.locator('[name="unitPrice-1"]').fill('99.99');
    await page.locator('[name=name]').fill("L'Étang $HOME");
    await page.waitForFunction(() => document.querySelector('.code')?.textContent?.includes('$HOME'));
    const command = await page.$eval('.code', ({ textContent }) => textContent ?? '');
    // Not synchronously: the service runs in this process.
    const { stdout } = await promisify(execFile)('sh', ['-c', command.replace('sk_test_…', tenant.secretKey)]);
    expect(JSON.parse(stdout)).toMatchObject({ amount: 11_999, customer: { name: "L'Étang $HOME", ice: REJECTED } });
    await page.locator('.creation [type=submit]').click();
    await page.waitForSelector('.status[data-status=rejected]', { timeout: 50_000 });
    // The seller is told what a seller can do, not to wait for the supplier.
    const told = await page.$eval('.status', ({ textContent }) => textContent ?? '');
    expect(told).toContain('issue a new invoice');
    expect(told).not.toContain('supplier');
    const id = pathOf(page).split('/').at(-1);
    expect((await client.get(`/v1/invoices/${id}`)).body).toMatchObject({ amount: 11_999, status: 'rejected' });
    // Developers create none in the live environment.
    await page.goto(`${service.url}/tenants/${tenant.id}/live/invoices/new`);
    await page.waitForFunction(() => document.querySelector('main h1')?.textContent === 'Page not found');
    expect(complaints).toEqual([]);
    await close();
  });

  testLong('the PDF of an invoice is shown in its page', async () => {
    const { page, client, tenant, complaints, close } = await openWorkspacePage(service, browser, { language: 'en' });
    const id = await settled(client, ACCEPTED);
    await page.goto(`${service.url}/tenants/${tenant.id}/test/invoices/${id}`);
    await page.waitForSelector('.viewer summary');
    const answered = page.waitForResponse((response) => response.url().includes(`/files/${id}/`), { timeout: 50_000 });
    await page.locator('.viewer summary').click();
    const response = await answered;
    expect([response.status(), response.headers()['content-type']]).toEqual([200, 'application/pdf']);
    await expectAccessible(page);
    expect(complaints).toEqual([]);
    await close();
  });

  testLong('failed requests of a program are found by their kind', async () => {
    const { page, client, complaints, close } = await openWorkspacePage(service, browser, { language: 'en' });
    const { headers } = await client.get('/v1/invoices?limit=0');
    await client.get('/v1/invoices');
    await page.locator('.sections a[href$="/requests"]').click();
    await page.waitForSelector('.requests h1');
    const refresh = () => page.locator('.requests .filters button').click();
    await expect
      .poll(
        async () => {
          await refresh();
          return page.$$eval('.row-link', (rows) => rows.length);
        },
        { interval: 500 },
      )
      .toBe(2);
    await page.locator('.log a').click();
    await page.waitForFunction(() => document.querySelectorAll('.row-link').length === 1);
    await page.locator('.row-link').click();
    await page.waitForSelector('.delivery');
    const shown = await page.$eval('.delivery', ({ textContent }) => textContent ?? '');
    expect(shown).toContain(headers.get('request-id'));
    expect(shown).toContain('invalid_request limit');
    await expectAccessible(page);
    expect(complaints).toEqual([]);
    await close();
  });

  it.each(firstOf(['ar', 'fr']))('violate no rule of accessibility and fit a phone: %s', async (language) => {
    const { page, client, complaints, close } = await openWorkspacePage(service, browser, { language, size: PHONE });
    await settled(client, ACCEPTED);
    await client.found(await settled(client, REJECTED, 'W'.repeat(200)), 'W'.repeat(200));
    await page.waitForSelector('.home .log li', { timeout: 50_000 });
    await expectAccessible(page);
    await page.locator('.sections a[href$="/invoices"]').click();
    await page.waitForSelector('.export');
    await page.locator('[name=search]').fill('W'.repeat(200));
    await page.locator('.search button').click();
    await page.waitForSelector('.match');
    await expectAccessible(page);
    await page.locator('.head a').click();
    await page.waitForSelector('.code');
    await expectAccessible(page);
    expect(complaints).toEqual([]);
    await close();
  });
});
