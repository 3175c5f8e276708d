import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Browser, Page } from 'puppeteer-core';
import { afterAll, describe, expect, it, onTestFinished } from 'vitest';
import { buildDashboard } from '../../../scripts/build-dashboard.ts';
import { moroccanDate } from '../../../src/domain/morocco/time.ts';
import { BROWSER_PATH } from '../../support/browser.ts';
import { type Client, invoiceBody } from '../../support/client.ts';
import { pressAt } from '../../support/keyboard.ts';
import { firstOf } from '../../support/samples.ts';
import { startService, type TestService } from '../../support/service.ts';
import { withSharedBrowser } from '../../support/shared-browser.ts';
import { readSheet } from '../../support/spreadsheet.ts';
import { expectAccessible, openWorkspacePage, PHONE } from '../../support/workspace-page.ts';
import { sha256Of, unzipped } from '../../support/zip.ts';

if (BROWSER_PATH === null) console.warn('skipped: no Chromium for tests of pages (Debian: apt-get install chromium)');

const SALES = [
  [10_000, 20],
  [12_345, 10],
  [99, 20],
  [5000, 0],
] as const;
const REJECTED_ICE = '999000000000102';

describe.skipIf(BROWSER_PATH === null)('an accountant closes the month, by the keyboard, on a phone', () => {
  let service: TestService;
  let browser: Browser;

  withSharedBrowser.beforeAll(async ({ browser: shared }) => {
    await buildDashboard(fileURLToPath(new URL('../../..', import.meta.url)));
    browser = shared;
    service = await startService({ RATE_LIMIT_ADDRESS: '1000000' });
  });
  afterAll(() => service.close());

  /** Issues invoices, one of which is rejected, and a credit note of the first one. @returns the ids of all accepted */
  async function issue(client: Client): Promise<string[]> {
    const made = [];
    for (const [unit_price, tax_rate] of SALES) {
      const lines = [{ description: 'Vente', quantity: 3, unit_price, tax_rate }];
      const amount = 3 * unit_price + Math.round((3 * unit_price * tax_rate) / 100);
      made.push((await client.post('/v1/invoices', invoiceBody({ amount, lines }))).body.id as string);
    }
    const customer = { ice: REJECTED_ICE, name: 'Inconnue' };
    const { id: rejected } = (await client.post('/v1/invoices', invoiceBody({ customer }))).body;
    for (const id of [...made, rejected]) await client.settled(id);
    const credit = `mutation { creditInvoice(invoiceId: "${made[0]}", input: { reason: return, amounts: [{ taxRate: 20, net: 700 }] }) {
      ... on CreditInvoicePayload { creditNote { id } } } }`;
    const { creditNote } = (await client.graphql(credit)).body.data.creditInvoice;
    const status = `{ creditNote(id: "${creditNote.id}") { status } }`;
    await expect.poll(async () => (await client.graphql(status)).body.data.creditNote.status).toBe('accepted');
    return [...made, creditNote.id];
  }

  /** What the API says that was accepted, summed without the service's sums: net and VAT in centimes. */
  async function summed(client: Client): Promise<{ net: number; tax: number; digests: string[] }> {
    const fields = 'totals { subtotal taxTotal } documents { xml { url sha256 } pdf { url } }';
    const query = `{ fiscalDocuments(first: 20, status: accepted) { nodes {
      __typename ... on Invoice { ${fields} } ... on CreditNote { ${fields} } } } }`;
    const { data, errors } = (await client.graphql(query)).body;
    expect(errors).toBeUndefined();
    const digests: string[] = [];
    let [net, tax] = [0, 0];
    for (const { __typename, totals, documents } of data.fiscalDocuments.nodes) {
      const sign = __typename === 'CreditNote' ? -1 : 1;
      net += sign * totals.subtotal;
      tax += sign * totals.taxTotal;
      for (const { url } of [documents.xml, documents.pdf]) {
        const answer = await fetch(url);
        expect(answer.status).toBe(200);
        digests.push(sha256Of(new Uint8Array(await answer.arrayBuffer())));
      }
      expect(digests).toContain(documents.xml.sha256);
    }
    return { net, tax, digests };
  }

  async function saveTo(page: Page, folder: string): Promise<void> {
    const session = await page.createCDPSession();
    const { id: browserContextId } = page.browserContext();
    await session.send('Browser.setDownloadBehavior', {
      behavior: 'allow',
      downloadPath: folder,
      ...(browserContextId !== undefined && { browserContextId }),
    });
  }

  it.each(firstOf(['ar', 'en', 'fr']))('%s', async (language) => {
    const folder = mkdtempSync(join(tmpdir(), 'fatoura-month-'));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const month = moroccanDate(new Date()).slice(0, 7);
    const { page, client, complaints, close } = await openWorkspacePage(service, browser, {
      role: 'viewer',
      language,
      size: PHONE,
    });
    await saveTo(page, folder);
    const ids = await issue(client);
    const { net, tax, digests: expected } = await summed(client);
    expect(net).toBe(3 * (10_000 + 12_345 + 99 + 5000) - 700);

    await pressAt(page, '.sections a[href$="/periods"]');
    // The sums follow the documents by a second or two; the page follows the sums.
    const digitsOf = (centimes: number) => String(centimes).padStart(3, '0');
    const shown = async () =>
      page.$$eval('[data-row=balance] td', (cells) => cells.map(({ textContent }) => textContent?.replace(/\D/g, '')));
    await page.waitForSelector('[data-row=balance]');
    await expect
      .poll(shown, { timeout: 30_000 })
      .toEqual([String(ids.length), ...[net, tax, net + tax, 0].map(digitsOf)]);
    await expectAccessible(page);

    const saved = async (nth: number, name: string) => {
      await pressAt(page, `.period-files button:nth-of-type(${nth})`);
      await expect.poll(() => readdirSync(folder), { timeout: 50_000 }).toContain(name);
      return readFileSync(join(folder, name));
    };
    const { rows } = await readSheet(new Uint8Array(await saved(1, `declaration-${month}.xlsx`)).buffer);
    // A heading, the documents and their sums.
    expect(rows).toHaveLength(ids.length + 2);
    expect(rows.at(-1)).toEqual(expect.arrayContaining([net / 100, tax / 100, (net + tax) / 100]));
    const found = await unzipped(await saved(3, `documents-${month}.zip`));
    const digests = [...found].filter(([path]) => !path.endsWith('manifest.csv')).map(([, bytes]) => sha256Of(bytes));
    expect(digests.toSorted()).toEqual(expected.toSorted());
    expect(digests).toHaveLength(2 * ids.length);
    const manifest = found.get(`${month}/manifest.csv`)?.toString() ?? '';
    for (const digest of digests) expect(manifest).toContain(digest);
    expect(complaints).toEqual([]);
    await close();
  });
});
