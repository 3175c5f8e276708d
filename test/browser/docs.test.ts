import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import type { Browser } from 'puppeteer-core';
import { describe, expect, it } from 'vitest';
import { ERRORS } from '../../src/domain/error-codes.ts';
import { MAGIC_ICES } from '../../src/domain/invoice/test-scenarios.ts';
import { BROWSER_PATH } from '../support/browser.ts';
import { firstOf } from '../support/samples.ts';
import { type TestService, withSharedService } from '../support/service.ts';
import { withSharedBrowser } from '../support/shared-browser.ts';

if (BROWSER_PATH === null) console.warn('skipped: no Chromium for tests of pages (Debian: apt-get install chromium)');

describe.skipIf(BROWSER_PATH === null)('/docs/interactive in a browser', () => {
  let service: TestService;
  let browser: Browser;

  withSharedBrowser.beforeAll(({ browser: shared }) => {
    browser = shared;
  });
  withSharedService.beforeAll(async ({ service: shared }) => {
    service = shared;
  });

  it('begins with what a newcomer needs: commands that work as they stand, then every code of errors', async () => {
    const { secretKey } = await service.tenant();
    const page = await (await browser.createBrowserContext()).newPage();
    await page.goto(`${service.url}/docs/interactive`, { waitUntil: 'load' });
    const { sections, commands, rows } = await page.evaluate(() => ({
      sections: [...document.querySelectorAll('main [id]')].map(({ id }) => id).slice(0, 3),
      commands: [...document.querySelectorAll('#quick-start pre')].map((each) => each.textContent ?? ''),
      rows: [...document.querySelectorAll('#errors tbody tr')].map((row) =>
        [...(row as HTMLTableRowElement).cells].map((cell) => cell.textContent ?? ''),
      ),
    }));
    await page.close();
    expect(sections).toEqual(['quick-start', 'errors', 'rules']);
    for (const [code, { status }] of Object.entries(ERRORS)) {
      const [, statuses, meaning, remedy] = rows.find(([name]) => name === code) ?? [];
      expect([code, statuses?.split(', ')[0]]).toEqual([code, String(status)]);
      expect([meaning, remedy]).toEqual([expect.stringMatching(/\w{3}.*\.$/), expect.stringMatching(/\w{3}.*\.$/)]);
    }

    expect(commands.length).toBe(5);
    let id = '';
    const answers: string[] = [];
    for (const command of commands) {
      const filled = command.replace('sk_test_…', secretKey).replace('inv_…', id);
      const env = { ...process.env, KEY: secretKey, ID: id };
      const { stdout } = await promisify(execFile)('sh', ['-c', filled], { env, timeout: 50_000 });
      answers.push(stdout);
      id ||= JSON.parse(stdout).id;
    }
    const [created, stream, read, list, endpoint] = answers;
    expect(JSON.parse(created!)).toMatchObject({ object: 'invoice', status: 'pending' });
    expect(stream).toContain('"status":"accepted"');
    expect(JSON.parse(read!)).toMatchObject({ id, status: 'accepted', pdf_url: expect.any(String) });
    expect(JSON.parse(list!).data).toMatchObject([{ id }]);
    expect(JSON.parse(endpoint!)).toMatchObject({ object: 'webhook_endpoint', active: true });
  });

  it.each(firstOf([390, 1280]))('needs no sideways scrolling at %i pixels, with an operation open', async (width) => {
    const page = await (await browser.createBrowserContext()).newPage();
    await page.setViewport({ width, height: 844, isMobile: width < 500 });
    await page.goto(`${service.url}/docs/interactive`, { waitUntil: 'load' });
    await page.waitForSelector('.opblock', { timeout: 50_000 });
    const shot = async (name: string) => {
      if (process.env.SCREENSHOTS)
        await page.screenshot({ path: `${process.env.SCREENSHOTS}/${name}-${width}.png`, fullPage: true });
    };
    const beyond = () =>
      page.evaluate(() => {
        const edge = document.documentElement.clientWidth;
        const scrolls = (one: Element | null): boolean =>
          one !== null && (/auto|scroll|hidden/.test(getComputedStyle(one).overflowX) || scrolls(one.parentElement));
        const wide = [...document.querySelectorAll('main *')].filter(
          (one) => one.getBoundingClientRect().right > edge + 1 && !scrolls(one),
        );
        return [document.documentElement.scrollWidth <= edge, ...wide.map((one) => `${one.tagName} ${one.className}`)];
      });
    expect(await beyond()).toEqual([true]);
    const ices = await page.$$eval('#test-environment td code', (all) => all.map((one) => one.getClientRects().length));
    expect(ices).toEqual(Object.keys(MAGIC_ICES).map(() => 1));
    await shot('docs');
    await page.locator('#operations-Invoices-createInvoice .opblock-summary-control').click();
    await page.waitForSelector('#operations-Invoices-createInvoice .responses-table');
    expect(await beyond()).toEqual([true]);
    await shot('docs-open');
    await page.close();
  });

  it('shows every operation and the magic ICEs, from its own origin alone, within its policy, and tries a call out', async () => {
    const { secretKey } = await service.tenant();
    const page = await (await browser.createBrowserContext()).newPage();
    await page.setViewport({ width: 1280, height: 1600 });
    const wrong: string[] = [];
    const foreign: string[] = [];
    page.on('request', (request) => {
      if (!request.url().startsWith(service.url) && !request.url().startsWith('data:')) foreign.push(request.url());
    });
    page.on('requestfailed', (request) => wrong.push(`failed ${request.url()}`));
    page.on('pageerror', (error) => wrong.push(String(error)));
    page.on('console', (message) => message.type() === 'error' && wrong.push(message.text()));
    await page.goto(`${service.url}/docs/interactive`, { waitUntil: 'load' });
    await page.waitForSelector('.opblock', { timeout: 50_000 });
    const text = await page.evaluate(() => document.body.innerText);
    for (const ice of Object.keys(MAGIC_ICES)) expect(text).toContain(ice);
    expect(text).toContain('timingSafeEqual');
    const operations = await page.$$eval('.opblock-summary-path', (each) => each.map((one) => one.textContent));
    expect(new Set(operations)).toEqual(
      new Set([
        '/v1/invoices',
        '/v1/invoices/{id}',
        '/v1/invoices/{id}/stream',
        '/v1/webhook_endpoints',
        '/v1/webhook_endpoints/{id}',
        'invoiceEvent',
      ]),
    );
    if (process.env.SCREENSHOTS) await page.screenshot({ path: `${process.env.SCREENSHOTS}/docs.png` });

    // Locators wait until the page, which redraws itself, holds an element still.
    await page.locator('button.authorize').click();
    await page.locator('.auth-container input').fill(secretKey);
    await page.locator('.auth-btn-wrapper button.authorize').click();
    await page.locator('.btn-done').click();
    await page.locator('#operations-Invoices-listInvoices .opblock-summary-control').click();
    await page.locator('#operations-Invoices-listInvoices .execute').click();
    await page.waitForSelector('#operations-Invoices-listInvoices .live-responses-table', { timeout: 50_000 });
    const answered = await page.$eval(
      '#operations-Invoices-listInvoices .live-responses-table',
      (one) => one.textContent,
    );
    expect(answered).toContain('"has_more": false');
    if (process.env.SCREENSHOTS) await page.screenshot({ path: `${process.env.SCREENSHOTS}/docs-tried.png` });

    // Nothing is kept: neither in the browser nor by a page opened anew.
    const kept = await page.evaluate(() => JSON.stringify([localStorage, sessionStorage, document.cookie]));
    expect(kept).not.toContain('sk_test_');
    expect([foreign, wrong]).toEqual([[], []]);
  });
});
