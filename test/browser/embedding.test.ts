import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import type { Browser } from 'puppeteer-core';
import { afterAll, describe, expect, it } from 'vitest';
import { buildDashboard } from '../../scripts/build-dashboard.ts';
import { BROWSER_PATH } from '../support/browser.ts';
import { Client, invoiceBody, invoiceFor } from '../support/client.ts';
import { exampleRunBy } from '../support/guide-examples.ts';
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

  /**
   * Opens another product's page with a frame that follows what it is told of its height.
   * @param address made for the page's origin
   * @param byAnybody whether the framed page comes without the header that says which sites may frame it
   */
  async function openFollower(address: (origin: string) => Promise<string>, byAnybody = false) {
    let html = '';
    const site = createServer((_request, response) => response.setHeader('Content-Type', 'text/html').end(html));
    await new Promise<void>((done) => void site.listen(0, '127.0.0.1', done));
    const own = `http://127.0.0.1:${(site.address() as AddressInfo).port}`;
    html = `<iframe src="${(await address(own)).replaceAll('&', '&amp;')}" width="700" height="10"></iframe>`;
    const page = await (await browser.createBrowserContext()).newPage();
    if (byAnybody) {
      await page.setRequestInterception(true);
      page.on('request', async (request) => {
        if (!request.url().includes('/embed/invoices/')) return void request.continue();
        const response = await fetch(request.url());
        void request.respond({ contentType: 'text/html', body: await response.text() });
      });
    }
    await page.evaluateOnNewDocument(() => {
      if (window !== top) return;
      Object.assign(window, { told: [] });
      addEventListener('message', ({ origin, data, source }) => {
        (window as unknown as { told: unknown[] }).told.push({ origin, data });
        const frame = document.querySelector('iframe');
        if (source === frame?.contentWindow) frame?.setAttribute('height', data.height);
      });
    });
    await page.goto(own);
    const frame = await (await page.waitForSelector('iframe'))?.contentFrame();
    if (!frame) throw new Error('the page has no frame');
    const told = () => page.evaluate(() => (window as unknown as { told: object[] }).told);
    return {
      page,
      frame,
      told,
      async close() {
        await page.browserContext().close();
        site.close();
        site.closeAllConnections();
      },
    };
  }

  it('tell the named site alone how high they are, and have the language, font and accent that it chose', async () => {
    const key = new Client(service.url, (await service.tenant({ legalName: 'Atelier du Cap' })).secretKey);
    const { body: invoice } = await key.post('/v1/invoices', invoiceBody());
    const addressFor = async (origins: readonly string[]) => {
      const chosen = 'language: ar, font: serif, accent: "#ffd000"';
      const call = `createInvoiceEmbed(id: "${invoice.id}", origins: ${JSON.stringify(origins)}, ${chosen})`;
      const { body } = await key.graphql(
        `mutation { made: ${call} { ... on CreateInvoiceEmbedPayload { embed { url } } } }`,
      );
      const { pathname, search, hash } = new URL(body.data.made.embed.url);
      return service.url + pathname + search + hash;
    };
    const { page, frame, told, close } = await openFollower((own) => addressFor(['https://other.example', own]));
    await frame.waitForSelector('[data-status=accepted]');
    /** How much of the framed page is not shown, pixels. */
    const hidden = () =>
      frame.evaluate(() => document.documentElement.scrollHeight - document.documentElement.clientHeight);
    await expect.poll(hidden).toBe(0);
    const shown = await frame.evaluate(() => Math.ceil(document.body.getBoundingClientRect().height));
    expect((await told()).at(-1)).toEqual({
      origin: service.url,
      data: { type: 'fatoura:height', height: shown },
    });
    // What the guide shows for the site.
    const { text } = exampleRunBy('test/browser/embedding.test.ts');
    const ofService = text.replace('https://fatoura.example.ma', service.url);
    await page.evaluate(`(() => { const frame = document.querySelector('iframe');\n${ofService} })()`);
    await page.evaluate(() => document.querySelector('iframe')?.setAttribute('width', '300'));
    await expect.poll(async () => (await told()).length > 1 && (await hidden())).toBe(0);
    await expect
      .poll(async () => [
        await page.$eval('iframe', ({ style }) => style.height),
        ((await told()).at(-1) as { data: { height: number } }).data.height,
      ])
      .toEqual(expect.toSatisfy(([style, height]: [string, number]) => style === `${height}px`));
    const looks = await frame.evaluate(() => {
      const { lang, dir } = document.documentElement;
      const seller = document.querySelector('.seller') as Element;
      const kept = localStorage.getItem('language');
      return [
        lang,
        dir,
        getComputedStyle(document.body).fontFamily,
        getComputedStyle(seller).borderBlockEndColor,
        kept,
      ];
    });
    // The accent is darkened until it can be read.
    expect(looks).toEqual(['ar', 'rtl', expect.stringContaining('Georgia'), 'rgb(128, 104, 0)', null]);
    await close();

    // A site that is not named is told nothing, not even where nothing keeps it from framing the page.
    const foreign = await openFollower(() => addressFor(['https://other.example']), true);
    await foreign.frame.waitForSelector('[data-status=accepted]');
    await foreign.page.evaluate(() => document.querySelector('iframe')?.setAttribute('width', '300'));
    await foreign.frame.waitForFunction(() => innerWidth === 300);
    expect(await foreign.told()).toEqual([]);
    await foreign.close();
  });

  it('ignore an appearance that is none', async () => {
    const key = new Client(service.url, (await service.tenant()).secretKey);
    const { body: invoice } = await key.post('/v1/invoices', invoiceBody());
    const call = `createInvoiceEmbed(id: "${invoice.id}", origins: ["https://other.example"])`;
    const { body } = await key.graphql(
      `mutation { made: ${call} { ... on CreateInvoiceEmbedPayload { embed { url } } } }`,
    );
    const { pathname, hash } = new URL(body.data.made.embed.url);
    const page = await (await browser.createBrowserContext()).newPage();
    for (const search of [
      '?font=Comic%20Sans&accent=red&lang=xx',
      '?font=__proto__&accent=%23ffffff%3B%7D*%7Bdisplay%3Anone&lang=%3Cscript%3E',
      `?font=${'x'.repeat(3000)}&accent=${'f'.repeat(3000)}&lang=${'a'.repeat(1000)}`,
    ]) {
      await page.goto('about:blank');
      await page.goto(service.url + pathname + search + hash);
      await page.waitForSelector('[data-status=accepted]');
      const { font, style } = await page.evaluate(() => ({
        font: document.documentElement.dataset.font,
        style: document.documentElement.getAttribute('style'),
      }));
      expect([font, style]).toEqual([undefined, null]);
    }
    await page.browserContext().close();
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
