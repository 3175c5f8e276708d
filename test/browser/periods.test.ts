import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Browser, Page } from 'puppeteer-core';
import { afterAll, describe, expect, it } from 'vitest';
import { storeDone } from '../../scripts/bench/stored-invoices.ts';
import { buildDashboard } from '../../scripts/build-dashboard.ts';
import { NUMBER_TEXTS } from '../../src/dashboard/text/numbers.ts';
import { PERIOD_EXPORT_TEXTS, PERIOD_FILES } from '../../src/dashboard/text/period-exports.ts';
import { moroccanDate } from '../../src/domain/morocco/time.ts';
import { type NumberDocument, seriesKey } from '../../src/storage/invoice-numbers.ts';
import { DECLARATION_LABELS } from '../../src/text/declaration-labels.ts';
import { BROWSER_PATH } from '../support/browser.ts';
import { invoiceBody } from '../support/client.ts';
import { firstOf } from '../support/samples.ts';
import { startService, type TestService } from '../support/service.ts';
import { withSharedBrowser } from '../support/shared-browser.ts';
import { readSheet } from '../support/spreadsheet.ts';
import { expectAccessible, openWorkspacePage } from '../support/workspace-page.ts';
import { unzipped } from '../support/zip.ts';

if (BROWSER_PATH === null) console.warn('skipped: no Chromium for tests of pages (Debian: apt-get install chromium)');

const UNKNOWN_ICE = '000000000000000';

describe.skipIf(BROWSER_PATH === null)('the page of a period', () => {
  let service: TestService;
  let browser: Browser;

  withSharedBrowser.beforeAll(async ({ browser: shared }) => {
    await buildDashboard(fileURLToPath(new URL('../..', import.meta.url)));
    browser = shared;
    service = await startService({ RATE_LIMIT_ADDRESS: '1000000' });
  });
  afterAll(() => service.close());

  const rowOf = (page: Page, id: string) =>
    page.$$eval(`[data-row="${id}"] td`, (cells) => cells.map((cell) => cell.textContent?.replaceAll('\u00a0', ' ')));
  const shown = (page: Page, id: string, wanted: readonly string[]) =>
    page.waitForFunction(
      (selector, texts) => {
        const cells = [...document.querySelectorAll(selector)].map((cell) => cell.textContent);
        return JSON.stringify(cells.map((text) => text?.replaceAll('\u00a0', ' '))) === JSON.stringify(texts);
      },
      {},
      `[data-row="${id}"] td`,
      wanted,
    );

  it.each(firstOf(['fr', 'ar', 'en']))(
    'has the sums of what was decided, beside the one before (%s)',
    async (language) => {
      const size = language === 'ar' ? { width: 390, height: 844, isMobile: true, hasTouch: true } : undefined;
      const { page, client, close } = await openWorkspacePage(service, browser, { language, ...(size && { size }) });
      const lines = [
        { description: 'Conseil', quantity: 1, unit_price: 10_000, tax_rate: 20 },
        { description: 'Livres', quantity: 1, unit_price: 5000, tax_rate: 0 },
      ];
      const created = await client.post('/v1/invoices', invoiceBody({ amount: 17_000, lines }));
      const { id } = created.body as { id: string };
      expect((await client.settled(id)).status).toBe('accepted');
      const credit = `mutation { creditInvoice(invoiceId: "${id}", input: { reason: return, amounts: [{ taxRate: 20, net: 1000 }] }) {
      ... on CreditInvoicePayload { creditNote { id } } } }`;
      expect((await client.graphql(credit)).body.errors).toBeUndefined();
      const href = page.url().replace(/home$/, 'periods');
      await page.goto(href);
      const decimal = language === 'en' ? (text: string) => text.replace(',', '.') : (text: string) => text;
      const amounts = (...texts: string[]) => texts.map(decimal);
      await shown(page, 'invoiced', ['1', ...amounts('150,00', '20,00', '170,00', '0,00')]);
      await shown(page, 'credited', ['1', ...amounts('10,00', '2,00', '12,00', '0,00')]);
      expect(await rowOf(page, 'balance')).toEqual(['2', ...amounts('140,00', '18,00', '158,00', '0,00')]);
      expect(await rowOf(page, '20')).toEqual(amounts('90,00', '18,00', '0,00'));
      expect(await rowOf(page, '0')).toEqual(amounts('50,00', '0,00', '0,00'));
      expect(await page.$('[data-row="14"]')).toBeNull();
      // What became of each number, and that none is missing.
      const ledger = await page.waitForFunction(() => {
        const rows = [...document.querySelectorAll('.ledger tbody tr:has(.row-link)')];
        return rows.length === 2 && rows.map((row) => row.textContent?.replaceAll('\u00a0', ' '));
      });
      const year = new Date().getFullYear();
      const { partlyCredited, credits, noGap } = NUMBER_TEXTS[language];
      const [first, note] = (await ledger.jsonValue()) || [];
      expect(first).toContain(`${year}-000001`);
      expect(first).toContain(`${partlyCredited} AV-${year}-000001`);
      expect(note).toContain(`${credits} ${year}-000001`);
      const series = await page.$$eval('.ledger [data-series]', (texts) => texts.map(({ textContent }) => textContent));
      expect(series).toHaveLength(2);
      for (const text of series) expect(text).toContain(noGap);
      await expectAccessible(page);
      // A new document changes the sums without a reload.
      const customer = { ice: UNKNOWN_ICE, name: 'Inconnue SARL' };
      await client.post('/v1/invoices', invoiceBody({ customer }));
      await page.waitForFunction(() => document.querySelector('[data-row="open"] td')?.textContent === '0');
      // To the quarter and the year, and to the list behind a sum.
      await page.click('.filters nav:first-child a:nth-child(2)');
      await page.waitForFunction(() => /periods\/\d{4}-Q\d$/.test(location.pathname));
      await shown(page, 'credited', ['1', ...amounts('10,00', '2,00', '12,00', '0,00')]);
      await page.click('.filters nav:first-child a:nth-child(3)');
      await page.waitForFunction(() => /periods\/\d{4}$/.test(location.pathname));
      await shown(page, 'credited', ['1', ...amounts('10,00', '2,00', '12,00', '0,00')]);
      await page.click('[data-row="credited"] a');
      await page.waitForSelector('.invoices .row-link');
      expect(await page.$$eval('.row-link', (rows) => rows.length)).toBe(1);
      const totals = await page.waitForSelector('.list-totals');
      const sums = await totals?.$$eval('bdi', (all) => all.map(({ textContent }) => textContent));
      expect(sums).toEqual(amounts('−10,00', '−2,00', '−12,00'));
      await page.goto(`${href.replace(/periods$/, 'invoices')}?sort=number`);
      await page.waitForSelector('.invoices [aria-sort=ascending]');
      await page.waitForSelector('.invoices .row-link');
      const numbers = await page.$$eval('.row-link bdi', (all) => all.map(({ textContent }) => textContent));
      expect(numbers.slice(0, 1).concat(numbers.slice(-1))).toEqual([`${year}-000001`, `AV-${year}-000001`]);
      await page.goto(`${href}/2026-13`);
      await page.waitForSelector('main h1');
      expect(await page.$('[data-row]')).toBeNull();
      await close();
    },
  );

  it('shows the numbers page by page, with the gap, and leads from a number to its invoice', async () => {
    const { page, tenant, complaints, close } = await openWorkspacePage(service, browser, { language: 'fr' });
    const found = await service.app.tenants.find(tenant.id);
    if (!found) throw new Error('the tenant is missing');
    const owner = { tenantId: tenant.id, environment: 'test' } as const;
    const { db } = service.app.store;
    const by = { kind: 'secret', keyId: 'key_samples', tenant: found, environment: 'test' } as const;
    const ids = await storeDone(db, by, { count: 40, lines: 1 });
    const name = moroccanDate(new Date()).slice(0, 4);
    const key = (serial: number) => seriesKey(owner, { name, serial });
    const lost = { _id: key(45), invoiceId: 'lost', lostFrom: 41 };
    const numbers = db.collection<NumberDocument>('invoice_numbers');
    await numbers.insertMany([...ids.map((invoiceId, n) => ({ _id: key(n + 1), invoiceId })), lost]);
    await page.goto(page.url().replace(/home$/, `periods/${name}`));
    await page.waitForSelector('.ledger .pages a');
    const numbersShown = () => page.$$eval('.ledger tbody th', (cells) => cells.map(({ textContent }) => textContent));
    expect(await numbersShown()).toHaveLength(25);
    const { lost: why, without } = NUMBER_TEXTS.fr;
    expect(await page.$eval('.ledger [data-series]', ({ textContent }) => textContent)).toContain('sans document');
    await page.click('.ledger .pages a');
    await page.waitForFunction(() => document.querySelectorAll('.ledger tbody th').length === 16);
    expect((await numbersShown()).at(-1)).toBe(`${name}-000041 – 000045`);
    const last = await page.$eval('.ledger tbody tr:last-child', ({ textContent }) => textContent);
    expect(last).toContain(without);
    expect(last).toContain(why);
    await expectAccessible(page);
    await page.click('.ledger .pages a');
    await page.waitForFunction(() => document.querySelectorAll('.ledger tbody th').length === 25);
    await page.click('.ledger .row-link');
    await page.waitForFunction((id) => location.pathname.endsWith(id), {}, ids[0] as string);
    expect(complaints).toEqual([]);
    await close();
  });

  it.each(firstOf(['fr', 'ar', 'en']))(
    'gives the files of the month, after a failed connection, too (%s)',
    async (language) => {
      const folder = mkdtempSync(join(tmpdir(), 'fatoura-period-'));
      const month = moroccanDate(new Date()).slice(0, 7);
      const { page, client, complaints, close } = await openWorkspacePage(service, browser, {
        language,
        open: `periods/${month}`,
      });
      const session = await page.createCDPSession();
      const { id: browserContextId } = page.browserContext();
      await session.send('Browser.setDownloadBehavior', {
        behavior: 'allow',
        downloadPath: folder,
        ...(browserContextId !== undefined && { browserContextId }),
      });
      const { id } = (await client.post('/v1/invoices', invoiceBody())).body as { id: string };
      const { xml_url: xml } = await client.settled(id);
      const texts = PERIOD_EXPORT_TEXTS[language];
      const [sheet, csv, zip] = await page.$$('.period-files button');
      expect(await page.$$eval('.period-files button', (all) => all.map(({ textContent }) => textContent))).toEqual(
        PERIOD_FILES.map((file) => texts.files[file]),
      );
      const saved = async (button: typeof sheet, name: string) => {
        // By keyboard.
        await button?.focus();
        await page.keyboard.press('Enter');
        await expect.poll(() => readdirSync(folder), { timeout: 50_000 }).toContain(name);
        await page.waitForFunction(
          (text) => document.querySelector('.period-files [role=status]')?.textContent === text,
          {},
          texts.saved,
        );
        return readFileSync(join(folder, name));
      };
      const { rows } = await readSheet(new Uint8Array(await saved(sheet, `declaration-${month}.xlsx`)).buffer);
      expect(rows.map(([first]) => first)).toEqual([
        DECLARATION_LABELS[language].number,
        expect.stringMatching(/^\d{4}-000001$/),
        DECLARATION_LABELS[language].sums,
      ]);
      const text = (await saved(csv, `declaration-${month}.csv`)).toString();
      expect(text).toContain(DECLARATION_LABELS[language].date);
      expect(text).toContain(DECLARATION_LABELS[language].kinds.invoice);
      // The first connection fails.
      let attempts = 0;
      await page.setRequestInterception(true);
      page.on('request', (request) => {
        const isFirst = request.url().endsWith('documents.zip') && attempts++ === 0;
        void (isFirst ? request.abort('connectionreset') : request.continue());
      });
      const files = await unzipped(await saved(zip, `documents-${month}.zip`));
      expect(attempts).toBe(2);
      const path = `${month}/facture-${month.slice(0, 4)}-000001`;
      expect([...files.keys()]).toEqual([`${path}.xml`, `${path}.pdf`, `${month}/manifest.csv`]);
      expect(files.get(`${path}.xml`)?.toString()).toBe(await (await fetch(xml)).text());
      expect(complaints.filter((each) => !each.includes('ERR_CONNECTION_RESET'))).toEqual([]);
      await close();
      rmSync(folder, { recursive: true });
    },
  );
});
