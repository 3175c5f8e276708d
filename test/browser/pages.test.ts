import { fileURLToPath } from 'node:url';
import type { Browser, Page } from 'puppeteer-core';
import { afterAll, describe, expect, it } from 'vitest';
import { buildDashboard } from '../../scripts/build-dashboard.ts';
import { violations } from '../support/accessibility.ts';
import { type BreakingProxy, startBreakingProxy } from '../support/breaking-proxy.ts';
import { BROWSER_PATH } from '../support/browser.ts';
import { Client, invoiceFor } from '../support/client.ts';
import { holdDecision, SLOW_CUSTOMER } from '../support/held-decision.ts';
import { firstOf, testLong } from '../support/samples.ts';
import { type TestService, withSharedService } from '../support/service.ts';
import { withSharedBrowser } from '../support/shared-browser.ts';

if (BROWSER_PATH === null) console.warn('skipped: no Chromium for tests of pages (Debian: apt-get install chromium)');

const PHONE = { width: 390, height: 844, isMobile: true, hasTouch: true };
const ACCEPTED = '001234567000089';
const REJECTED = '999000000000102';

interface CreatedInvoice {
  readonly id: string;
  readonly secret: string;
}

describe.skipIf(BROWSER_PATH === null)('/i/<invoice id>#<client_secret> in a browser', () => {
  let service: TestService;
  let proxy: BreakingProxy;
  let browser: Browser;
  let client: Client;

  withSharedBrowser.beforeAll(({ browser: shared }) => {
    browser = shared;
  });
  withSharedService.beforeAll(async ({ service: shared }) => {
    await buildDashboard(fileURLToPath(new URL('../..', import.meta.url)));
    service = shared;
    proxy = await startBreakingProxy(service.url);
    client = new Client(service.url, (await service.tenant()).secretKey);
  });
  afterAll(async () => {
    await proxy.close();
  });

  /** A new invoice that the authority decides when `decide` is called. */
  async function createUndecided() {
    const invoice = await create(SLOW_CUSTOMER);
    return { ...invoice, decide: await holdDecision(service, invoice.id) };
  }

  async function create(ice: string): Promise<CreatedInvoice> {
    const { body } = await client.post('/v1/invoices', invoiceFor(ice));
    return { id: body.id, secret: body.client_secret };
  }

  async function settled(ice: string): Promise<CreatedInvoice> {
    const invoice = await create(ice);
    await client.settled(invoice.id);
    return invoice;
  }

  /** Opens a page whose requests and complaints, violations of its policies included, are kept. */
  async function open({ id, secret }: CreatedInvoice, { language = 'fr', base = service.url, dark = false } = {}) {
    const page = await (await browser.createBrowserContext()).newPage();
    await page.setViewport(PHONE);
    await page.emulateMediaFeatures([{ name: 'prefers-color-scheme', value: dark ? 'dark' : 'light' }]);
    const requests: string[] = [];
    const complaints: string[] = [];
    page.on('request', (request) => {
      const { referer = '' } = request.headers();
      requests.push(`${request.method()} ${request.url()} ${referer}`);
    });
    page.on('pageerror', (error) => complaints.push(String(error)));
    page.on('console', (message) => complaints.push(message.text()));
    await page.goto(`${base}/i/${id}?lang=${language}#${secret}`);
    await page.waitForSelector('h1');
    return { page, requests, complaints };
  }

  const statusOf = (page: Page) => page.$eval('[data-status]', (card) => card.getAttribute('data-status'));
  const textOf = (page: Page, selector: string) => page.$eval(selector, ({ textContent }) => textContent);
  const reached = (page: Page, selector: string) => page.waitForSelector(selector, { timeout: 50_000 });

  it('shows each status without a reload, over a connection that breaks', async () => {
    const invoice = await createUndecided();
    const { page, requests } = await open(invoice, { base: proxy.url });
    await reached(page, '[data-connection=live]');
    expect(await statusOf(page)).not.toBe('accepted');
    proxy.break();
    await invoice.decide();
    await reached(page, '[data-status=accepted]');
    const links = await page.$$eval('main nav a', (all) => all.map(({ href }) => href));
    expect(links.map((href) => new URL(href).pathname.split('/', 3)[1])).toEqual(['files', 'files', 'verify']);
    expect((await fetch(links[1] as string)).headers.get('content-type')).toContain('application/xml');
    expect(await textOf(page, 'h1')).toMatch(/^Facture \d{4}-\d{6}$/);
    expect((await textOf(page, '.amount'))?.replace(/\s/g, ' ')).toBe('120,00 MAD');
    expect(requests.filter((each) => each.includes('/i/'))).toHaveLength(1);
    await page.close();
    await expect.poll(() => service.app.listeners()).toBe(0);
  });

  it('sends the secret in no address, and keeps it in no storage', async () => {
    const invoice = await settled(ACCEPTED);
    const { page, requests } = await open(invoice);
    await reached(page, '[data-status=accepted]');
    const random = invoice.secret.slice(`${invoice.id}_secret_`.length);
    const sent = requests.map((each) => each.replace(`/i/${invoice.id}?lang=fr#${invoice.secret}`, '/i/'));
    expect(sent.length).toBeGreaterThan(3);
    expect(sent.filter((each) => each.includes(random))).toEqual([]);
    const kept = await page.evaluate(() =>
      JSON.stringify([{ ...localStorage }, { ...sessionStorage }, document.cookie]),
    );
    expect(kept).toBe('[{"language":"fr"},{},""]');
    await page.close();
  });

  it('tells why an invoice was rejected, and offers no documents', async () => {
    const { page } = await open(await settled(REJECTED), { language: 'en' });
    await reached(page, '[data-status=rejected]');
    expect(await textOf(page, '[data-status] h2')).toBe('Invoice rejected');
    expect(await textOf(page, '.status')).toContain('from your supplier');
    expect(await textOf(page, '.reason')).toMatch(/ICE/);
    expect(await page.$('main nav')).toBeNull();
    await page.close();
  });

  it('looks the same for a wrong secret, an unknown invoice and one of another tenant', async () => {
    const [own, other] = [await create(ACCEPTED), new Client(service.url, (await service.tenant()).secretKey)];
    const foreign = (await other.post('/v1/invoices', invoiceFor(ACCEPTED))).body.id;
    const unknown = 'inv_00000000-0000-4000-8000-000000000000';
    const cases: CreatedInvoice[] = [
      { id: own.id, secret: `${own.id}_secret_${'x'.repeat(32)}` },
      { id: own.id, secret: '' },
      { id: own.id, secret: '%00' },
      { id: unknown, secret: `${unknown}_secret_${'x'.repeat(32)}` },
      { id: unknown, secret: own.secret },
      { id: foreign, secret: own.secret },
      { id: '..%2Fdocs', secret: own.secret },
    ];
    const seen = [];
    for (const each of cases) {
      const { page } = await open(each);
      seen.push(await page.$eval('#app', ({ innerHTML }) => innerHTML));
      await page.close();
    }
    expect(seen[0]).toContain('Cette facture ne peut pas être affichée');
    expect(new Set(seen).size).toBe(1);
  });

  testLong('says when the browser is offline, and goes on', async () => {
    const invoice = await createUndecided();
    const { page } = await open(invoice);
    await reached(page, '[data-connection=live]');
    await page.setOfflineMode(true);
    await reached(page, '[data-connection=offline]');
    expect(await textOf(page, '.connection')).toContain('hors ligne');
    await invoice.decide();
    await page.setOfflineMode(false);
    await reached(page, '[data-status=accepted]');
    await page.close();
  });

  testLong('is written from right to left in Arabic, and the switch keeps invoice and secret', async () => {
    const { page } = await open(await settled(ACCEPTED), { language: 'ar' });
    await reached(page, '[data-status=accepted]');
    const layout = () =>
      page.evaluate(() => {
        const brand = document.querySelector('.brand')?.getBoundingClientRect();
        const { lang, dir, scrollWidth } = document.documentElement;
        return { lang, dir, brandIsLeft: (brand?.left ?? 0) < innerWidth / 2, tooWide: scrollWidth > innerWidth };
      });
    expect(await layout()).toEqual({ lang: 'ar', dir: 'rtl', brandIsLeft: false, tooWide: false });
    await page.focus('button[lang=en]');
    await page.keyboard.press('Enter');
    await expect.poll(layout).toEqual({ lang: 'en', dir: 'ltr', brandIsLeft: true, tooWide: false });
    await page.reload();
    await reached(page, '[data-status=accepted]');
    expect(await textOf(page, '[data-status] h2')).toBe('Accepted by the simulated authority');
    expect(await textOf(page, 'main')).not.toMatch(/is valid|by the tax authority/);
    await page.close();
  });

  testLong('is no wider than a phone with the largest amount and the longest name', async () => {
    const { body } = await client.post('/v1/invoices', {
      ...invoiceFor(ACCEPTED),
      amount: 9_007_199_254_740_960,
      customer: { ice: ACCEPTED, name: 'W'.repeat(200) },
      lines: [{ description: 'Conseil', quantity: 1, unit_price: 7_505_999_378_950_800 }],
    });
    for (const language of ['fr', 'ar']) {
      const { page } = await open({ id: body.id, secret: body.client_secret }, { language });
      expect(await textOf(page, '.amount')).toMatch(/^90.071.992.547.409,60/);
      const outside = await page.$$eval('main *', (all) =>
        all.flatMap((each) => {
          const { left, right } = each.getBoundingClientRect();
          return left < -0.5 || right > 390.5 ? [`${each.tagName} ${each.className} ${left} to ${right}`] : [];
        }),
      );
      expect(outside).toEqual([]);
      await page.close();
    }
  });

  it.each(
    firstOf([
      ['accepted, dark', ACCEPTED, 'ar', true],
      ['accepted', ACCEPTED, 'fr', false],
      ['rejected', REJECTED, 'en', false],
    ]),
  )('violates no policy and no rule of accessibility: %s', async (_, ice, language, dark) => {
    const { page, complaints } = await open(await settled(ice), { language, dark });
    await reached(page, '[data-connection=final]');
    expect(await violations(page)).toEqual([]);
    expect(complaints).toEqual([]);
    await page.close();
  });

  it('refuses scripts in the page, and texts that a script makes HTML of', async () => {
    const { page, complaints } = await open(await settled(ACCEPTED));
    const outcome = await page
      .evaluate(() => {
        const script = document.createElement('script');
        script.text = 'globalThis.ran = true';
        document.body.append(script);
        try {
          document.body.innerHTML = '<p>';
          return 'taken';
        } catch (error) {
          return `${(error as Error).name} ${'ran' in globalThis}`;
        }
      })
      .catch((error) => String(error));
    expect(outcome).toMatch(/TypeError/);
    expect(complaints.join()).toMatch(/TrustedHTML|TrustedScript/);
    await page.close();
  });
});

describe.skipIf(BROWSER_PATH === null)('/ in a browser', () => {
  let service: TestService;
  let browser: Browser;

  withSharedBrowser.beforeAll(({ browser: shared }) => {
    browser = shared;
  });
  withSharedService.beforeAll(async ({ service: shared }) => {
    await buildDashboard(fileURLToPath(new URL('../..', import.meta.url)));
    service = shared;
  });

  it('leads to the documentation, and its command makes the first invoice', async () => {
    const page = await (await browser.createBrowserContext()).newPage();
    await page.setViewport(PHONE);
    const complaints: string[] = [];
    page.on('console', (message) => complaints.push(message.text()));
    await page.goto(`${service.url}/?lang=en`);
    await page.waitForSelector('pre');
    expect(await violations(page)).toEqual([]);
    const command = await page.$eval('pre', ({ textContent }) => textContent ?? '');
    const body = /-d '([^']+)'/.exec(command)?.[1];
    const client = new Client(service.url, (await service.tenant()).secretKey);
    expect((await client.post('/v1/invoices', body)).status).toBe(201);
    await Promise.all([page.waitForNavigation(), page.locator('a[href="/docs"]').click()]);
    expect(new URL(page.url()).pathname).toBe('/docs');
    expect(complaints).toEqual([]);
    await page.close();
  });
});
