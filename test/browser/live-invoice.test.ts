import { readFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import { createRequire } from 'node:module';
import type { AddressInfo } from 'node:net';
import { dirname, join } from 'node:path';
import type { Browser, Page } from 'puppeteer-core';
import { afterAll, describe, expect, it } from 'vitest';
import { type BreakingProxy, startBreakingProxy } from '../support/breaking-proxy.ts';
import { BROWSER_PATH } from '../support/browser.ts';
import { Client, invoiceFor } from '../support/client.ts';
import { exampleRunBy } from '../support/guide-examples.ts';
import { type TestService, withSharedService } from '../support/service.ts';
import { withSharedBrowser } from '../support/shared-browser.ts';

if (BROWSER_PATH === null) console.warn('skipped: no Chromium for tests of pages (Debian: apt-get install chromium)');

/** A shop's page on an origin of its own, which shows each status of an invoice as it comes; the secret is in the fragment. */
const PAGE = `<!doctype html>
<meta charset="utf-8">
<title>Votre facture</title>
<ol></ol>
<p></p>
<script src="/graphql-sse.js"></script>
<script>
  const { url, id, secret, singleConnection } = JSON.parse(decodeURIComponent(location.hash.slice(1)));
  const client = graphqlSse.createClient({
    url: url + '/graphql/stream',
    singleConnection,
    headers: () => ({ Authorization: 'Bearer ' + secret }),
    retryAttempts: 50,
    retry: () => new Promise((resolve) => setTimeout(resolve, 100)),
  });
  const variables = { id, afterEventId: null };
  const show = (element, text) => document.querySelector(element).append(text);
  client.subscribe(
    {
      query: 'subscription ($id: ID!, $afterEventId: ID) { invoiceStatus(id: $id, afterEventId: $afterEventId) { eventId status dgiId } }',
      variables,
    },
    {
      next({ data, errors }) {
        if (errors) return show('p', JSON.stringify(errors));
        variables.afterEventId = data.invoiceStatus.eventId;
        const item = document.createElement('li');
        item.append(data.invoiceStatus.status);
        document.querySelector('ol').append(item);
      },
      error: (error) => show('p', String(error)),
      complete: () => show('p', 'complete'),
    },
  );
</script>`;

/** The code of docs/live-pages.md for a browser's own EventSource, in a page of an origin of its own. */
function eventSourcePage(url: string): string {
  const { text: code } = exampleRunBy('test/browser/live-invoice.test.ts');
  return `<!doctype html><meta charset="utf-8"><title>Votre facture</title><ol></ol><script>
    const { id: invoiceId, secret: clientSecret } = JSON.parse(decodeURIComponent(location.hash.slice(1)));
    const show = (text) => document.querySelector('ol').append(Object.assign(document.createElement('li'), { textContent: text }));
    ${code.replace('https://invoices.example', url)}
  </script>`;
}

describe.skipIf(BROWSER_PATH === null)('a page with graphql-sse’s client, in a browser', () => {
  let service: TestService;
  let proxy: BreakingProxy;
  let browser: Browser;
  let shop: Server;
  let shopUrl: string;

  withSharedBrowser.beforeAll(({ browser: shared }) => {
    browser = shared;
  });
  withSharedService.beforeAll(async ({ service: shared }) => {
    service = shared;
    proxy = await startBreakingProxy(service.url);
    const library = join(dirname(createRequire(import.meta.url).resolve('graphql-sse')), '../umd/graphql-sse.js');
    const script = await readFile(library, 'utf8');
    const eventSource = eventSourcePage(proxy.url);
    shop = createServer(({ url }, response) => {
      const isPage = url !== '/graphql-sse.js';
      response.writeHead(200, {
        'Content-Type': isPage ? 'text/html; charset=utf-8' : 'text/javascript; charset=utf-8',
      });
      response.end(isPage ? (url === '/event-source' ? eventSource : PAGE) : script);
    });
    await new Promise<void>((resolve) => shop.listen(0, '127.0.0.1', resolve));
    shopUrl = `http://127.0.0.1:${(shop.address() as AddressInfo).port}/`;
  });
  afterAll(async () => {
    await proxy.close();
    shop.closeAllConnections();
    await new Promise((resolve) => shop.close(resolve));
  });

  const shown = (page: Page) => page.$$eval('li', (items) => items.map(({ textContent }) => textContent));

  it.each([
    ['distinct connections mode', false],
    ['single connection mode', true],
  ])('follows an invoice to its acceptance over a connection that breaks: %s', async (_, singleConnection) => {
    const client = new Client(service.url, (await service.tenant()).secretKey);
    // Its transmission fails twice, so that there is time to look.
    const { body } = await client.post('/v1/invoices', invoiceFor('999000000000490'));
    const page = await (await browser.createBrowserContext()).newPage();
    const faults: string[] = [];
    page.on('pageerror', (error) => faults.push(String(error)));
    const given = { url: proxy.url, id: body.id, secret: body.client_secret, singleConnection };
    await page.goto(`${shopUrl}#${encodeURIComponent(JSON.stringify(given))}`);
    await page.waitForSelector('li');
    proxy.break();
    await page.waitForFunction(() => document.querySelector('p')?.textContent !== '', { timeout: 50_000 });
    expect(await page.$eval('p', ({ textContent }) => textContent)).toBe('complete');
    const statuses = await shown(page);
    // On a slow machine the page comes late: it begins with what is then the present status.
    expect(statuses).toEqual(['signing', 'transmitted', 'accepted'].slice(-statuses.length));
    expect(statuses.length).toBeGreaterThan(0);
    expect(faults).toEqual([]);
    await page.close();
    await expect.poll(() => service.app.listeners()).toBe(0);
  });

  it('follows an invoice with the browser’s own EventSource, which sends no header, over a connection that breaks', async () => {
    const client = new Client(service.url, (await service.tenant()).secretKey);
    const { body } = await client.post('/v1/invoices', invoiceFor('999000000000490'));
    const page = await (await browser.createBrowserContext()).newPage();
    const given = { id: body.id, secret: body.client_secret };
    await page.goto(`${shopUrl}event-source#${encodeURIComponent(JSON.stringify(given))}`);
    await page.waitForSelector('li');
    proxy.break();
    await page.waitForFunction(() => document.querySelector('ol')?.textContent?.includes('final status'), {
      timeout: 50_000,
    });
    const statuses = (await shown(page)).slice(0, -1);
    expect(statuses).toEqual(['signing', 'transmitted', 'accepted'].slice(-statuses.length));
    expect(statuses.length).toBeGreaterThan(0);
    await page.close();
    await expect.poll(() => service.app.listeners()).toBe(0);
  });

  it('tells the page why it may not follow another invoice', async () => {
    const client = new Client(service.url, (await service.tenant()).secretKey);
    const [one, two] = await Promise.all([0, 1].map(() => client.post('/v1/invoices', invoiceFor('999000000000490'))));
    const page = await (await browser.createBrowserContext()).newPage();
    const given = { url: service.url, id: one?.body.id, secret: two?.body.client_secret, singleConnection: false };
    await page.goto(`${shopUrl}#${encodeURIComponent(JSON.stringify(given))}`);
    await page.waitForFunction(() => document.querySelector('p')?.textContent !== '');
    expect(await page.$eval('p', ({ textContent }) => textContent)).toContain('insufficient_scope');
    expect(await shown(page)).toEqual([]);
    await page.close();
  });
});
