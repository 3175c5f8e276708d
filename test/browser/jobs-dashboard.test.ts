import type { Browser, Page } from 'puppeteer-core';
import { afterAll, describe, expect, it } from 'vitest';
import { JOBS_COLLECTION } from '../../src/jobs/job-documents.ts';
import { BROWSER_PATH } from '../support/browser.ts';
import { Client, invoiceFor } from '../support/client.ts';
import { signedIn } from '../support/person.ts';
import { startService, type TestService } from '../support/service.ts';
import { withSharedBrowser } from '../support/shared-browser.ts';

if (BROWSER_PATH === null) console.warn('skipped: no Chromium for tests of pages (Debian: apt-get install chromium)');

describe.skipIf(BROWSER_PATH === null)('/ops/jobs in a browser', () => {
  let service: TestService;
  let browser: Browser;

  withSharedBrowser.beforeAll(async ({ browser: shared }) => {
    service = await startService();
    browser = shared;
  });
  afterAll(async () => {
    await service.close();
  });

  it('shows the waiting job of an invoice, with every asset, to the operator', async () => {
    const { secretKey } = await service.tenant();
    const client = new Client(service.url, secretKey);
    // Decided after 10 s: its job waits, and is made to wait for as long as the page takes.
    const { body } = await client.post('/v1/invoices', invoiceFor('999000000000393'));
    const jobs = service.app.store.db.collection(JOBS_COLLECTION);
    const job = { name: 'invoice.decide', 'data.invoiceId': body.id };
    const nextRunAt = new Date(Date.now() + 3_600_000);
    await expect.poll(async () => (await jobs.updateOne(job, { $set: { nextRunAt } })).matchedCount).toBe(1);
    expect((await client.get(`/v1/invoices/${body.id}`)).body.status).toBe('transmitted');

    const page = await (await browser.createBrowserContext()).newPage();
    await page.setViewport({ width: 1280, height: 800 });
    const failed: string[] = [];
    page.on(
      'response',
      (response) => response.status() >= 400 && failed.push(`${response.status()} ${response.url()}`),
    );
    page.on('requestfailed', (request) => failed.push(`failed ${request.url()}`));
    page.on('pageerror', (error) => failed.push(String(error)));
    await page.authenticate({ username: 'operator', password: service.app.firstStart.operatorPassword ?? '' });
    await page.goto(`${service.url}/ops/jobs`, { waitUntil: 'load' });
    expect(page.url()).toBe(`${service.url}/ops/jobs/`);
    await page.waitForFunction(() => document.body.innerText.includes('invoice.decide'), { timeout: 50_000 });
    if (process.env.SCREENSHOTS) await page.screenshot({ path: `${process.env.SCREENSHOTS}/jobs-dashboard.png` });
    // A browser asks once without the credential, and for an icon of its own accord.
    expect(failed.filter((each) => !each.startsWith('401') && !each.endsWith('/favicon.ico'))).toEqual([]);
  });

  it('opens from the account of a signed-in operator, without another password', async () => {
    const { email, password } = await signedIn(service, { isOperator: true });
    const context = await browser.createBrowserContext();
    const page = await context.newPage();
    await page.goto(`${service.url}/sign-in?lang=en`);
    await page.locator('[name=email]').fill(email);
    await page.locator('[name=password]').fill(password);
    await page.keyboard.press('Enter');
    const opened = new Promise<Page>((resolve) => page.once('popup', (popup) => resolve(popup as Page)));
    await page.locator('.roles a[href="/ops/jobs/"]').click();
    const jobs = await opened;
    await jobs.waitForFunction(() => document.body.innerText.includes('invoice.decide'), { timeout: 50_000 });
    await context.close();
  });

  it('is closed to everybody else, API included', async () => {
    for (const path of ['/ops/jobs', '/ops/jobs/', '/ops/jobs/api', '/ops/jobs/assets/x.js']) {
      for (const authorization of [undefined, 'Basic b3BlcmF0b3I6eA==', 'Bearer x']) {
        const response = await fetch(service.url + path, authorization ? { headers: { authorization } } : {});
        expect([path, response.status]).toEqual([path, 401]);
        expect(response.headers.get('www-authenticate')).toMatch(/^Basic /);
      }
    }
  });

  it("takes no change from another site's page, though the browser sends the credential", async () => {
    const credential = Buffer.from(`operator:${service.app.firstStart.operatorPassword}`).toString('base64');
    const change = (site: string) =>
      fetch(`${service.url}/ops/jobs/api/jobs/requeue`, {
        method: 'POST',
        headers: { Authorization: `Basic ${credential}`, 'Content-Type': 'application/json', 'Sec-Fetch-Site': site },
        body: JSON.stringify({ jobIds: [] }),
      });
    expect((await change('cross-site')).status).toBe(403);
    expect((await change('same-origin')).status).not.toBe(403);
  });
});
