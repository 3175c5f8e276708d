import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Browser, Page } from 'puppeteer-core';
import { afterAll, describe, expect, it } from 'vitest';
import { buildDashboard } from '../../scripts/build-dashboard.ts';
import { createPdfRenderer } from '../../src/adapters/pdf/pdf-renderer.ts';
import { softwareKey } from '../../src/adapters/signing-key/software-key.ts';
import { makeTestIdentity } from '../../src/adapters/signing-key/test-certificate.ts';
import { createSignedRenderer } from '../../src/app/signed-renderer.ts';
import { moroccanDate, moroccanZone } from '../../src/domain/morocco/time.ts';
import { FORMATS } from '../../src/text/document-format.ts';
import { BROWSER_PATH } from '../support/browser.ts';
import { invoiceBody } from '../support/client.ts';
import { startService, type TestService } from '../support/service.ts';
import { withSharedBrowser } from '../support/shared-browser.ts';
import { hasTool } from '../support/tools.ts';
import { openWorkspacePage } from '../support/workspace-page.ts';
import { CHROMIUM_CACHE, textOfPages } from '../unit/pdf/support.ts';

if (BROWSER_PATH === null) console.warn('skipped: no Chromium for tests of pages (Debian: apt-get install chromium)');

describe.skipIf(BROWSER_PATH === null)('the day and the time of an invoice', () => {
  let service: TestService;
  let browser: Browser;
  let folder: string;

  withSharedBrowser.beforeAll(async ({ browser: shared }) => {
    await buildDashboard(fileURLToPath(new URL('../..', import.meta.url)));
    const key = softwareKey(await makeTestIdentity(new Date(Date.now() - 86_400_000)), true);
    const renderer = createSignedRenderer(createPdfRenderer({ cacheDir: CHROMIUM_CACHE }), () => key);
    await renderer.warm();
    browser = shared;
    service = await startService({}, renderer);
    folder = mkdtempSync(join(tmpdir(), 'one-clock-'));
  }, 120_000);
  afterAll(async () => {
    await service.close();
    rmSync(folder, { recursive: true, force: true });
  });

  /** From the next page on: a machine in Tokyo, whose data does not know that Morocco stays at UTC+0. */
  async function onAnotherClock(page: Page): Promise<void> {
    await page.emulateTimezone('Asia/Tokyo');
    await page.evaluateOnNewDocument(() => {
      Intl.DateTimeFormat = new Proxy(Intl.DateTimeFormat, {
        construct: (target, [locale, options]) =>
          new target(
            locale,
            options?.timeZone === 'Africa/Casablanca' ? { ...options, timeZone: 'Etc/GMT-1' } : options,
          ),
      });
    });
    await page.reload();
  }

  async function textOfPdf(url: string): Promise<string> {
    let answer = await fetch(url);
    while (answer.status === 503) answer = await fetch(url);
    const text = textOfPages(new Uint8Array(await answer.arrayBuffer())).join(' ');
    return text.replaceAll(/\s+/g, ' ');
  }

  async function exported(page: Page): Promise<string> {
    const session = await page.createCDPSession();
    const { id } = page.browserContext();
    await session.send('Browser.setDownloadBehavior', {
      behavior: 'allow',
      downloadPath: folder,
      ...(id !== undefined && { browserContextId: id }),
    });
    await page.locator('.export button').click();
    const files = () => readdirSync(folder).filter((name) => name.endsWith('.csv'));
    await expect.poll(() => files().length, { timeout: 50_000 }).toBe(1);
    return readFileSync(join(folder, files()[0] ?? ''), 'utf8');
  }

  it('is the same in its PDF, its pages, its mail, an export and its verification, whatever the reader’s clock', async () => {
    const { page, client, tenant, close } = await openWorkspacePage(service, browser, { open: 'invoices' });
    const customer = { ice: '001234567000089', name: 'Client', email: 'client@example.com' };
    const { id } = (await client.post('/v1/invoices', invoiceBody({ customer }))).body;
    const invoice = await client.settled(id);
    const [created, accepted] = [new Date(invoice.created_at), new Date(invoice.updated_at)];
    const zone = moroccanZone(accepted);
    const time = new Date(accepted.getTime() + Number(zone.slice(4)) * 3_600_000).toISOString().slice(11, 19);
    const moment = FORMATS.fr.moment(accepted);
    expect(moment).toMatch(new RegExp(`^\\d+ \\S+ \\d{4} à ${time} \\(${zone.replace('+', '\\+')}\\)$`));

    await onAnotherClock(page);
    const row = `main tbody time[datetime^="${invoice.created_at.slice(0, 19)}"]`;
    await page.waitForSelector(row);
    expect(await page.$eval(row, (shown) => shown.textContent)).toBe(FORMATS.fr.longDate(moroccanDate(created)));
    const csv = await exported(page);
    expect(readdirSync(folder)).toEqual([`fatoura-test-${moroccanDate(new Date())}.csv`]);
    expect(csv).toContain(`;${moroccanDate(created)};Acceptée;Client;'001234567000089;`);
    expect(csv).toMatch(new RegExp(`;${moroccanDate(created)} \\d\\d:\\d\\d:\\d\\d UTC\\+\\d;${id}\\r\\n$`));

    await page.goto(`${service.url}/tenants/${tenant.id}/test/invoices/${id}`);
    await page.waitForSelector('.steps li:last-child time');
    const step = await page.$eval('.steps li:last-child time', (shown) => shown.textContent);
    expect(step).toMatch(new RegExp(`^\\d+ \\S+ \\d{4}, ${time} \\(${zone.replace('+', '\\+')}\\)$`));

    const verification = await (await fetch(`${service.url}/verify/${id}?lang=fr`)).text();
    expect(verification).toContain(moment);
    expect(verification).toContain(FORMATS.fr.longDate(moroccanDate(created)));
    if (hasTool('pdftotext')) expect(await textOfPdf(invoice.pdf_url)).toContain(`Acceptée le ${moment}`);
    const outbox = join(service.dataDir, 'outbox');
    const mails = () => readdirSync(outbox).map((file) => readFileSync(join(outbox, file), 'utf8'));
    // The file exists before it is written.
    await expect
      .poll(() => mails().map(decoded).join(), { timeout: 50_000 })
      .toContain(FORMATS.fr.longDate(moroccanDate(created)));
    expect(mails()).toHaveLength(1);
    await close();
  }, 120_000);
});

/** A mail with its quoted-printable texts as they are. */
function decoded(mail: string): string {
  const octets = mail
    .replaceAll('=\r\n', '')
    .replaceAll(/=([0-9A-F]{2})/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
  return Buffer.from(octets, 'latin1').toString();
}
