import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import type { Browser } from 'puppeteer-core';
import { afterAll, describe, expect, it } from 'vitest';
import { buildDashboard } from '../../scripts/build-dashboard.ts';
import { BROWSER_PATH } from '../support/browser.ts';
import { Client, invoiceBody, invoiceFor } from '../support/client.ts';
import { holdDecision, SLOW_CUSTOMER } from '../support/held-decision.ts';
import { type Receiver, startReceiver } from '../support/receiver.ts';
import { testLong } from '../support/samples.ts';
import { startService, type TestService } from '../support/service.ts';
import { withSharedBrowser } from '../support/shared-browser.ts';
import { expectAccessible, PHONE } from '../support/workspace-page.ts';

if (BROWSER_PATH === null) console.warn('skipped: no Chromium for tests of pages (Debian: apt-get install chromium)');

describe.skipIf(BROWSER_PATH === null)('embedded pages in a browser', () => {
  let service: TestService;
  let receiver: Receiver;
  let browser: Browser;

  withSharedBrowser.beforeAll(async ({ browser: shared }) => {
    await buildDashboard(fileURLToPath(new URL('../..', import.meta.url)));
    const settings = { RATE_LIMIT_ADDRESS: '1000000', ALLOW_INSECURE_WEBHOOKS: 'true', RATE_LIMIT_PUBLISHABLE: '300' };
    browser = shared;
    [service, receiver] = await Promise.all([startService(settings), startReceiver()]);
  });
  afterAll(async () => {
    await Promise.all([service.close(), receiver.close()]);
  });

  /** Opens another product's page, which frames an address that is made for its origin, or for a foreign one. */
  async function open(call: (origin: string) => Promise<string>, foreign = false) {
    let address = '';
    const site = createServer((_request, response) => {
      response
        .setHeader('Content-Type', 'text/html')
        .end(`<iframe src="${address}" width="800" height="900"></iframe>`);
    });
    await new Promise<void>((done) => void site.listen(0, '127.0.0.1', done));
    const own = `http://127.0.0.1:${(site.address() as AddressInfo).port}`;
    address = await call(foreign ? 'https://somebody.else.example' : own);
    const page = await (await browser.createBrowserContext()).newPage();
    const complaints: string[] = [];
    page.on('console', (message) => complaints.push(message.text()));
    await page.goto(own);
    const frame = await (await page.waitForSelector('iframe'))?.contentFrame();
    if (!frame) throw new Error('the page has no frame');
    return {
      page,
      frame,
      complaints,
      close: async () => {
        await page.browserContext().close();
        site.close();
        site.closeAllConnections();
      },
    };
  }

  /**
   * Opens another product's page with frames of new invoices for these customers, which `add` adds. Invoices for the
   * slow customer are decided by their `decide`.
   */
  async function openFrames(customers: readonly string[]) {
    const key = new Client(service.url, (await service.tenant()).secretKey);
    const site = createServer((_request, response) => response.setHeader('Content-Type', 'text/html').end('<p></p>'));
    await new Promise<void>((done) => void site.listen(0, '127.0.0.1', done));
    const own = `http://127.0.0.1:${(site.address() as AddressInfo).port}`;
    const made = await Promise.all(
      customers.map(async (ice) => {
        const { body: invoice } = await key.post('/v1/invoices', invoiceFor(ice));
        const call = `createInvoiceEmbed(id: "${invoice.id}", origins: ["${own}"])`;
        const { body } = await key.graphql(
          `mutation { made: ${call} { ... on CreateInvoiceEmbedPayload { embed { url } } } }`,
        );
        const { pathname, hash } = new URL(body.data.made.embed.url);
        const decide = ice === SLOW_CUSTOMER ? await holdDecision(service, invoice.id) : () => Promise.resolve();
        return { id: invoice.id, token: hash.slice(1), address: service.url + pathname + hash, decide };
      }),
    );
    const page = await (await browser.createBrowserContext()).newPage();
    await page.goto(own);
    const add = (addresses: readonly string[]) =>
      page.evaluate((urls) => {
        for (const src of urls) document.body.append(Object.assign(document.createElement('iframe'), { src }));
      }, addresses);
    const shown = async () =>
      Promise.all(
        page
          .frames()
          .slice(1)
          .map((frame) =>
            frame.evaluate(() => [
              document.querySelector<HTMLElement>('[data-status]')?.dataset.status,
              document.querySelector<HTMLElement>('[data-connection]')?.dataset.connection,
            ]),
          ),
      );
    return {
      page,
      made,
      add,
      shown,
      close: async () => {
        await page.browserContext().close();
        site.close();
        site.closeAllConnections();
      },
    };
  }

  testLong('share one stream, so that more of them than a browser opens connections are live at once', async () => {
    // Six that are not decided would hold every connection; the last two are decided at once, and when all are live.
    const customers = [...Array(6).fill(SLOW_CUSTOMER), '001234567000089', SLOW_CUSTOMER];
    const { page, made, add, shown, close } = await openFrames(customers);
    await add(made.map(({ address }) => address));
    const live = [expect.stringMatching(/signing|transmitted/), 'live'];
    const waiting = Array(6).fill(live);
    await expect.poll(shown).toEqual([...waiting, ['accepted', 'final'], live]);
    await made.at(-1)?.decide();
    await expect.poll(shown).toEqual([...waiting, ['accepted', 'final'], ['accepted', 'final']]);
    // Frames go, the one that has the stream among them: another one takes it over.
    for (let left = 5; left > 0; left--) {
      await page.evaluate(() => document.querySelector('iframe')?.remove());
      await expect.poll(() => service.app.listeners()).toBe(left);
    }
    await expect.poll(shown).toEqual([live, ['accepted', 'final'], ['accepted', 'final']]);
    await close();
    await expect.poll(() => service.app.listeners()).toBe(0);
  });

  testLong('lose nothing when the limit of one of them is used up: it alone waits', async () => {
    const { made, add, shown, close } = await openFrames(Array(3).fill(SLOW_CUSTOMER));
    const [limited, other, late] = made.map(({ address }) => address) as [string, string, string];
    await add([limited, other]);
    const live = [expect.stringMatching(/signing|transmitted/), 'live'];
    await expect.poll(shown).toEqual([live, live]);
    const entry = { id: made[0]?.id, token: made[0]?.token, after: null };
    const body = JSON.stringify({ invoices: Array(100).fill(entry) });
    const spend = async () => {
      const headers = { 'Content-Type': 'application/json' };
      const answer = await fetch(`${service.url}/embed/api/statuses`, { method: 'POST', headers, body });
      await answer.body?.cancel();
      return answer.status;
    };
    await expect.poll(spend).toBe(429);
    // A further frame makes the stream anew.
    await add([late]);
    const lost = [expect.stringMatching(/signing|transmitted/), 'lost'];
    await expect.poll(shown).toEqual([lost, live, live]);
    await close();
    await expect.poll(() => service.app.listeners()).toBe(0);
  });

  it('show an invoice’s status live and the deliveries to an endpoint, in the named site only', async () => {
    const tenant = await service.tenant();
    const key = new Client(service.url, tenant.secretKey);
    const endpoint = await key.post('/v1/webhook_endpoints', { url: receiver.url, events: ['invoice.accepted'] });
    const { body: invoice } = await key.post('/v1/invoices', invoiceBody());
    const made = async (call: string, payload: string): Promise<string> => {
      const { body } = await key.graphql(`mutation { made: ${call} { ... on ${payload} { embed { url } } } }`);
      const url = new URL(body.data.made.embed.url);
      return service.url + url.pathname + url.hash;
    };
    const ofInvoice = (origin: string) =>
      made(`createInvoiceEmbed(id: "${invoice.id}", origins: ["${origin}"])`, 'CreateInvoiceEmbedPayload');
    const ofLog = (origin: string) =>
      made(
        `createDeliveryLogEmbed(endpointId: "${endpoint.body.id}", origins: ["${origin}"])`,
        'CreateDeliveryLogEmbedPayload',
      );
    const first = await open(ofInvoice);
    await first.frame.waitForSelector('[data-status=accepted]');
    expect(first.complaints).toEqual([]);
    await first.close();
    const second = await open(ofLog);
    await second.frame.waitForSelector('[data-state=delivered]');
    expect(second.complaints).toEqual([]);
    await second.close();
    for (const [language, call, ready] of [
      ['fr', ofInvoice, '[data-status=accepted]'],
      ['ar', ofLog, '[data-state=delivered]'],
    ] as const) {
      const page = await (await browser.createBrowserContext()).newPage();
      await page.setViewport(PHONE);
      const address = new URL(await call('https://shop.example'));
      address.searchParams.set('lang', language);
      await page.goto(address.href);
      await page.waitForSelector(ready);
      await expectAccessible(page);
      await page.browserContext().close();
    }
    const foreign = await open(ofInvoice, true);
    await expect.poll(() => foreign.complaints.join()).toContain('frame-ancestors');
    expect(await foreign.frame.$('[data-status]').catch(() => null)).toBeNull();
    await foreign.close();
  });
});
