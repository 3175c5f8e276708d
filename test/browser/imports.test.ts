import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Browser, Page } from 'puppeteer-core';
import readSpreadsheet from 'read-excel-file/node';
import { afterAll, describe, expect, it, onTestFinished } from 'vitest';
import { buildDashboard } from '../../scripts/build-dashboard.ts';
import { encoderOf } from '../../src/adapters/spreadsheet/encode-text.ts';
import { IMPORT_TEXTS } from '../../src/dashboard/text/imports.ts';
import { COLUMN_HEADERS, RESULT_COLUMNS } from '../../src/domain/imports/column-headers.ts';
import { TEMPLATE_TEXTS } from '../../src/text/import-template.ts';
import { BROWSER_PATH } from '../support/browser.ts';
import { firstOf } from '../support/samples.ts';
import { startService, type TestService } from '../support/service.ts';
import { withSharedBrowser } from '../support/shared-browser.ts';
import { workbookFile } from '../support/workbook-file.ts';
import { expectAccessible, openWorkspacePage, PHONE } from '../support/workspace-page.ts';

if (BROWSER_PATH === null) console.warn('skipped: no Chromium for tests of pages (Debian: apt-get install chromium)');

const ICE = '001234567000062';
const FIELDS = [
  'document',
  'customer.name',
  'customer.ice',
  'line.description',
  'line.quantity',
  'line.unitPrice',
  'line.taxRate',
] as const;

describe.skipIf(BROWSER_PATH === null)('the pages of imports', () => {
  let service: TestService;
  let browser: Browser;

  withSharedBrowser.beforeAll(async ({ browser: shared }) => {
    await buildDashboard(fileURLToPath(new URL('../..', import.meta.url)));
    browser = shared;
    service = await startService({ RATE_LIMIT_ADDRESS: '1000000' });
  });
  afterAll(() => service.close());

  /** A folder for files, into which the page downloads. */
  async function folderOf(page: Page): Promise<string> {
    const folder = mkdtempSync(join(tmpdir(), 'fatoura-imports-'));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const session = await page.createCDPSession();
    const { id: browserContextId } = page.browserContext();
    const into = { behavior: 'allow', downloadPath: folder } as const;
    await session.send('Browser.setDownloadBehavior', { ...into, ...(browserContextId && { browserContextId }) });
    return folder;
  }

  async function upload(page: Page, path: string, end = 'checked'): Promise<void> {
    const input = await page.waitForSelector('input[type=file]');
    await (input as unknown as { uploadFile(path: string): Promise<void> }).uploadFile(path);
    await page.waitForSelector(`[data-import=${end}]`);
  }

  async function saved(page: Page, folder: string, button: string, name: string): Promise<Buffer> {
    await page.click(button);
    await expect.poll(() => readdirSync(folder), { timeout: 30_000 }).toContain(name);
    return readFileSync(join(folder, name));
  }

  const textOf = (page: Page, selector: string) =>
    page.$eval(selector, ({ textContent }) => textContent?.replaceAll('\u00a0', ' '));
  const countsOf = (page: Page) =>
    page.$$eval('.verdict-counts [data-verdict]', (all) =>
      all.map((each) => [each.getAttribute('data-verdict'), each.querySelector('strong')?.textContent]),
    );

  it.each(firstOf(['ar', 'fr']))(
    'from the template to accepted invoices, and the file back, and never twice (%s)',
    async (language) => {
      const { page, complaints, close } = await openWorkspacePage(service, browser, {
        language,
        open: 'imports',
        ...(language === 'ar' && { size: PHONE }),
      });
      const folder = await folderOf(page);
      const words = IMPORT_TEXTS[language];
      await page.waitForSelector('.empty');
      await expectAccessible(page);
      const name = language === 'fr' ? 'modele-factures.xlsx' : 'modele-factures-ar.xlsx';
      const [template] = await readSpreadsheet(await saved(page, folder, `.actions [lang=${language}]`, name));
      expect(template?.sheet).toBe(TEMPLATE_TEXTS[language].invoices);
      expect(template?.data[0]).toContain(COLUMN_HEADERS['customer.ice'][language]);

      const header = FIELDS.map((field) => COLUMN_HEADERS[field][language]);
      const file = join(folder, 'novembre.xlsx');
      const rows = [
        header,
        ['A', 'Atlas SARL', ICE, 'Conseil', '2,5', '4000', '20'],
        ['A', '', '', 'Déplacement', '120', '2,50', '20'],
        ['B', 'Zénith', ICE, '=1+1', '1', '100', '20'],
        ['C', 'Rif', '1.23456E+14', 'Livres', '1', '50', '0'],
      ];
      const book = await workbookFile({ sheets: [{ name: TEMPLATE_TEXTS[language].invoices, rows }] });
      writeFileSync(file, book);
      await upload(page, file);
      expect(await countsOf(page)).toEqual([
        ['ready', words.counts(2)],
        ['faulty', words.counts(1)],
      ]);
      const problem = await page.waitForSelector('.problems li');
      expect(await problem?.evaluate(({ textContent }) => textContent)).toContain('C5');
      expect(await problem?.evaluate(({ textContent }) => textContent)).toContain('1.23456E+14');
      await page.click('.card > details > summary');
      expect(await textOf(page, '.facts')).toContain(TEMPLATE_TEXTS[language].invoices);
      await expectAccessible(page);

      // Only those that are to be corrected, then all; the button stays one click away.
      await page.click('.imported .filters a:nth-child(3)');
      await page.waitForFunction(() => document.querySelectorAll('.imported .log > li').length === 1);
      expect(new URL(page.url()).searchParams.get('only')).toBe('faulty');
      await page.click('.imported .filters a:first-child');
      await page.waitForFunction(() => document.querySelectorAll('.imported .log > li').length === 3);
      expect(await textOf(page, '.import-progress .primary')).toBe(words.issue(2));
      await page.click('.import-progress .primary');
      await page.waitForSelector('[data-import=done]');
      const accepted = words.outcome('2', '0', '0').replaceAll('\u00a0', ' ');
      await page.waitForFunction(
        (text) => document.querySelector('[data-outcome]')?.textContent?.replaceAll('\u00a0', ' ') === text,
        { timeout: 30_000 },
        accepted,
      );
      await page.waitForFunction(() => document.querySelectorAll('.imported [data-status=accepted]').length === 2);
      await expectAccessible(page);

      rmSync(file);
      const result = await saved(page, folder, '.imports .actions .secondary', 'novembre.xlsx');
      const [sheet] = await readSpreadsheet(result);
      const [heads, first, second, third, fourth] = sheet?.data ?? [];
      expect(heads?.slice(header.length)).toEqual(Object.values(RESULT_COLUMNS).map((texts) => texts[language]));
      const added = (row: readonly unknown[] | undefined) => row?.slice(header.length);
      expect(added(first)).toEqual([
        expect.stringMatching(/^\d{4}-00000[12]$/),
        expect.any(String),
        null,
        expect.any(String),
        expect.stringMatching(/^http/),
      ]);
      expect(added(second)).toEqual(Array(5).fill(null));
      expect(third?.[3]).toBe('=1+1');
      const faulty = expect.stringContaining(COLUMN_HEADERS['customer.ice'][language]);
      expect(added(fourth)).toEqual([null, expect.any(String), faulty, null, null]);

      // The file that came back, and the same file again, issue nothing more.
      for (const path of [file, file]) {
        await page.goto(page.url().replace(/imports\/.*/, 'imports'));
        await upload(page, path);
        expect(await countsOf(page)).toEqual([
          ['faulty', words.counts(1)],
          ['known', words.counts(2)],
        ]);
        expect(await page.$('.import-progress .primary')).toBeNull();
        writeFileSync(path, book);
      }
      expect(complaints).toEqual([]);
      await close();
    },
  );

  it('asks which column is which, keeps the answer, and says why a file cannot be read', async () => {
    const { page, complaints, close } = await openWorkspacePage(service, browser, { language: 'fr', open: 'imports' });
    const folder = await folderOf(page);
    const file = join(folder, 'ventes.csv');
    const text = 'Acheteur;Quoi;Nb;Combien;ICE;Vendeur\r\nالأطلس;خدمة;1;1 234,50;001234567000062;Amina\r\n';
    writeFileSync(file, encoderOf('windows-1256')(text));
    await upload(page, file);
    await page.waitForSelector('.mapping li');
    // The mapping is open, because a required column is missing.
    const select = async (header: string, field: string) => {
      const id = await page.$$eval(
        '.mapping li',
        (all, wanted) => all.find((each) => each.textContent?.includes(wanted))?.querySelector('select')?.id,
        header,
      );
      await page.select(`#${id}`, field);
    };
    await select('Acheteur', 'customer.name');
    await select('Quoi', 'line.description');
    await select('Nb', 'line.quantity');
    await select('Combien', 'line.unitPrice');
    await page.click('.imports details [type=submit]');
    await page.waitForSelector('.import-progress .primary');
    expect(await countsOf(page)).toEqual([['ready', IMPORT_TEXTS.fr.counts(1)]]);
    await page.waitForSelector('.imported .log li');
    expect(await textOf(page, '.imported .log')).toContain('الأطلس');
    expect(await textOf(page, '.unused')).toBe(`${IMPORT_TEXTS.fr.unusedColumns} Vendeur`.replaceAll('\u00a0', ' '));
    await page.click('.card > details > summary');
    const facts = await textOf(page, '.facts');
    for (const fact of ['windows-1256', ';', 'virgule']) expect(facts).toContain(fact);
    // A CSV file has no sheets.
    expect(facts).not.toContain(IMPORT_TEXTS.fr.facts.otherSheets);
    // Another file with these headers needs no answer.
    const list = page.url().replace(/imports\/.*/, 'imports');
    await page.goto(list);
    writeFileSync(file, encoderOf('windows-1256')(text.replace('1 234,50', '99,00')));
    await upload(page, file);
    expect(await countsOf(page)).toEqual([['ready', IMPORT_TEXTS.fr.counts(1)]]);
    // A column may be none, and customers without an ICE be private persons.
    await page.goto(list);
    writeFileSync(file, 'Client;Désignation;Prix unitaire HT;VAT\r\nAmina;Tapis;80,00;16,00\r\n');
    await upload(page, file);
    await page.waitForSelector('.mapping li');
    await select('VAT', '');
    await page.click('.imports details input[type=checkbox]');
    await page.click('.imports details [type=submit]');
    await page.waitForSelector('.import-progress .primary');
    expect(await countsOf(page)).toEqual([['ready', IMPORT_TEXTS.fr.counts(1)]]);
    await page.goto(list);
    writeFileSync(file, '<html><table><tr><td>1</td></tr></table></html>');
    await upload(page, file, 'unreadable');
    expect((await textOf(page, '.import-progress [role=alert]'))?.length).toBeGreaterThan(20);
    await expectAccessible(page);
    expect(complaints).toEqual([]);
    await close();
  });
});
