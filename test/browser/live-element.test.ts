import { readFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import type { Browser, Page } from 'puppeteer-core';
import { afterAll, afterEach, describe, expect, it } from 'vitest';
import { buildDashboard } from '../../scripts/build-dashboard.ts';
import { type BreakingProxy, startBreakingProxy } from '../support/breaking-proxy.ts';
import { BROWSER_PATH } from '../support/browser.ts';
import { Client, invoiceBody, invoiceFor } from '../support/client.ts';
import { examplesRunBy } from '../support/guide-examples.ts';
import { holdDecision, SLOW_CUSTOMER } from '../support/held-decision.ts';
import { startService, type TestService } from '../support/service.ts';
import { withSharedBrowser } from '../support/shared-browser.ts';
import { expectAccessible } from '../support/workspace-page.ts';

if (BROWSER_PATH === null) console.warn('skipped: no Chromium for tests of pages (Debian: apt-get install chromium)');

const [PINNED, ...shownByGuides] = examplesRunBy('test/browser/live-element.test.ts').toSorted(
  (one, other) => Number(other.text.includes('integrity')) - Number(one.text.includes('integrity')),
);

describe.skipIf(BROWSER_PATH === null)('<fatoura-invoice> in a page of another site', () => {
  const root = fileURLToPath(new URL('../..', import.meta.url));
  let service: TestService;
  let proxy: BreakingProxy;
  let browser: Browser;
  let site: Server;
  let html = '';
  let policy = '';

  withSharedBrowser.beforeAll(async ({ browser: shared }) => {
    browser = shared;
    await buildDashboard(root);
    service = await startService({ RATE_LIMIT_ADDRESS: '1000000', RATE_LIMIT_PUBLISHABLE: '1000000' });
    proxy = await startBreakingProxy(service.url);
    const own = await readFile(`${root}/dist/dashboard/live/fatoura-live.js`);
    site = createServer(({ url }, response) => {
      const isScript = url === '/fatoura-live.js';
      response.setHeader('Content-Type', isScript ? 'text/javascript' : 'text/html; charset=utf-8');
      response.setHeader('Content-Security-Policy', policy).end(isScript ? own : html);
    });
    await new Promise<void>((done) => void site.listen(0, '127.0.0.1', done));
  });
  const pages: Page[] = [];
  afterEach(async () => {
    await Promise.all(pages.splice(0).map((page) => page.browserContext().close()));
    await expect.poll(() => service.app.listeners()).toBe(0);
  });
  afterAll(async () => {
    site.close();
    site.closeAllConnections();
    await proxy.close();
    await service.close();
  });

  /** Opens a page with this body; its policy allows what the documentation states. */
  async function open(body: string, { language = 'fr', scripts = "'self'", script = OWN_COPY } = {}) {
    policy = [
      "default-src 'self'",
      `script-src ${scripts}`,
      `connect-src ${service.url} ${proxy.url}`,
      "base-uri 'none'",
      "require-trusted-types-for 'script'",
      "trusted-types 'none'",
    ].join('; ');
    html = `<!doctype html><html lang="${language}"><meta name="viewport" content="width=device-width">
      <meta name="color-scheme" content="light dark"><title>Commande</title>${script}<main><h1>Commande</h1>${body}</main>`;
    const page = await (await browser.createBrowserContext()).newPage();
    pages.push(page);
    const complaints: string[] = [];
    page.on('console', (message) => complaints.push(message.text()));
    page.on('pageerror', (error) => complaints.push(String(error)));
    await page.goto(`http://127.0.0.1:${(site.address() as AddressInfo).port}/`);
    return { page, complaints };
  }

  const OWN_COPY = '<script type="module" src="/fatoura-live.js"></script>';
  const element = (secret: string, address = service.url, more = '') =>
    `<fatoura-invoice client-secret="${secret}" service="${address}" ${more}></fatoura-invoice>`;

  /** The text of a part of each element; null where it is not shown. */
  const shown = (page: Page, part: string): Promise<(string | null)[]> =>
    page.$$eval(
      'fatoura-invoice',
      (all, name) =>
        all.map(({ shadowRoot }) => {
          const found = shadowRoot?.querySelector<HTMLElement>(`[part~="${name}"]`);
          return found && !found.hidden ? found.innerText.trim() : null;
        }),
      part,
    );
  /** Which of the elements have a part of this name: the status is one. */
  const are = async (page: Page, status: string) => (await shown(page, status)).filter((text) => text !== null).length;

  /** How many wait for the authority: its receipt is held back too. */
  const waiting = async (page: Page) => (await are(page, 'signing')) + (await are(page, 'transmitted'));

  const newInvoice = async (ice?: string) => {
    const key = new Client(service.url, (await service.tenant()).secretKey);
    const { body } = await key.post('/v1/invoices', ice ? invoiceFor(ice) : invoiceBody());
    return { ...(body as { readonly id: string; readonly client_secret: string }), key };
  };

  it('the service serves it at an address that stays and at one that is pinned, to every origin', async () => {
    const { url, integrity, bytes } = await (await fetch(`${service.url}/live/v1.json`)).json();
    const [pinned, stable] = await Promise.all([fetch(url), fetch(`${service.url}/live/v1.js`)]);
    for (const answer of [pinned, stable]) {
      expect(answer.headers.get('content-type')).toBe('text/javascript; charset=utf-8');
      expect(answer.headers.get('access-control-allow-origin')).toBe('*');
      expect(answer.headers.get('cross-origin-resource-policy')).toBe('cross-origin');
    }
    expect(pinned.headers.get('cache-control')).toBe('public, max-age=31536000, immutable');
    expect(stable.headers.get('cache-control')).toBe('public, max-age=300');
    const known = { headers: { 'If-None-Match': stable.headers.get('etag') ?? '' } };
    expect((await fetch(`${service.url}/live/v1.js`, known)).status).toBe(304);
    expect((await pinned.arrayBuffer()).byteLength).toBe(bytes);
    expect((await fetch(url.replace(/-\w+\.js$/, '-000000000000.js'))).status).toBe(404);

    const { client_secret: secret } = await newInvoice();
    const script = PINNED?.text.replace('https://invoices.example/live/v1/…', url).replace('sha384-…', integrity);
    expect(PINNED?.text.match(/…/g)).toHaveLength(2);
    // Without `service`: the element asks the origin that served it.
    const body = `<fatoura-invoice client-secret="${secret}"></fatoura-invoice>`;
    const { page, complaints } = await open(body, { scripts: service.url, script });
    await expect.poll(() => are(page, 'accepted')).toBe(1);
    expect(complaints).toEqual([]);
  });

  it.each([...new Set(shownByGuides.map(({ text }) => text))])('is shown by what guides show: %s', async (text) => {
    const { client_secret: secret } = await newInvoice();
    const body = text.replace('https://invoices.example', service.url).replace('inv_…_secret_…', secret);
    const { page, complaints } = await open(body, { scripts: service.url, script: '' });
    await expect.poll(() => are(page, 'accepted')).toBe(1);
    expect(complaints).toEqual([]);
  });

  it('shows an invoice in three languages, in both themes, to everybody, under a strict policy', async () => {
    const { client_secret: secret } = await newInvoice();
    const expected = {
      fr: ['120,00 MAD', 'Acceptée par l’administration simulée', 'Facture PDF', 'ltr'],
      en: ['120.00 MAD', 'Accepted by the simulated authority', 'PDF invoice', 'ltr'],
      ar: ['120,00 MAD', 'قبلها محاكي الإدارة الضريبية', 'الفاتورة PDF', 'rtl'],
    };
    for (const [language, [amount, headline, pdf, direction]] of Object.entries(expected)) {
      const { page, complaints } = await open(element(secret), { language });
      await expect.poll(() => are(page, 'accepted')).toBe(1);
      expect([await shown(page, 'amount'), await shown(page, 'headline'), await shown(page, 'pdf')]).toEqual([
        [amount?.replaceAll(' ', '\u00a0')],
        [headline],
        [pdf],
      ]);
      const links = await page.$$eval('fatoura-invoice >>> a', (all) => all.map(({ href }) => href));
      expect(links).toEqual([expect.stringMatching(/\.pdf$/), expect.stringMatching(/\.xml$/)]);
      const { dir, live } = await page.$eval('fatoura-invoice', ({ shadowRoot }) => ({
        dir: shadowRoot?.querySelector('section')?.dir,
        live: shadowRoot?.querySelector('[part~=status]')?.role,
      }));
      expect([dir, live]).toEqual([direction, 'status']);
      await expectAccessible(page);
      expect(complaints).toEqual([]);
    }
  });

  it('shows what accepted credit notes credit', async () => {
    const { id, client_secret: secret, key } = await newInvoice();
    await key.settled(id);
    const credit = async (input: string) => {
      const credited = `... on CreditInvoicePayload { creditNote { id } } ... on Error { message }`;
      const { body } = await key.graphql(
        `mutation { creditInvoice(invoiceId: "${id}", input: ${input}) { ${credited} } }`,
      );
      const of = `node(id: "${body.data.creditInvoice.creditNote.id}") { ... on CreditNote { status } }`;
      await expect.poll(async () => (await key.graphql(`{ ${of} }`)).body.data.node.status).toBe('accepted');
    };
    await credit('{ reason: discount, amounts: [{ taxRate: 20, net: 1000 }] }');
    const { page } = await open(element(secret));
    const credited = async () => (await shown(page, 'credited')).map((text) => text?.replaceAll('\u00a0', ' '));
    await expect.poll(credited).toEqual([expect.stringMatching(/^Créditée en partie 12,00 MAD \(\d.* \d{4}\)$/)]);
    await credit('{ reason: cancellation }');
    await page.reload();
    await expect.poll(credited).toEqual([expect.stringMatching(/^Créditée en totalité 120,00 MAD /)]);
    await page.$eval('fatoura-invoice', (first) => first.setAttribute('lang', 'ar'));
    expect(await credited()).toEqual([expect.stringMatching(/^مُلغاة كليا بإشعار دائن 120,00 MAD /)]);
    await page.$eval('fatoura-invoice', (first) => first.setAttribute('lang', 'en'));
    expect(await credited()).toEqual([expect.stringMatching(/^Credited in full 120.00 MAD \(\d+ \w+ \d{4}\)$/)]);
    await expectAccessible(page);
  });

  it('changes its language, and says that a secret opens nothing', async () => {
    const { client_secret: secret } = await newInvoice();
    const { page } = await open(element(`${secret}x`) + element('', service.url, 'lang="en"'));
    await expect.poll(() => are(page, 'refused')).toBe(2);
    expect(await shown(page, 'headline')).toEqual([
      'Cette facture ne peut pas être affichée',
      'This invoice cannot be shown',
    ]);
    await expectAccessible(page);
    await page.$eval('fatoura-invoice', (first, right) => first.setAttribute('client-secret', right), secret);
    await expect.poll(() => are(page, 'accepted')).toBe(1);
    await page.$eval('fatoura-invoice', (first) => first.setAttribute('lang', 'ar'));
    expect((await shown(page, 'headline'))[0]).toBe('قبلها محاكي الإدارة الضريبية');
  });

  it('says that the network is cut, and goes on once it is back', async () => {
    const { id, client_secret: secret } = await newInvoice(SLOW_CUSTOMER);
    const decide = await holdDecision(service, id);
    const { page } = await open(element(secret, proxy.url));
    await expect.poll(() => waiting(page)).toBe(1);
    await expect.poll(() => service.app.listeners()).toBe(1);
    await page.setOfflineMode(true);
    proxy.break();
    await expect.poll(() => shown(page, 'connection')).toEqual(['Connexion perdue, nouvelle tentative en cours']);
    await decide();
    await page.setOfflineMode(false);
    await expect.poll(() => are(page, 'accepted')).toBe(1);
    expect(await shown(page, 'connection')).toEqual(['']);
  });

  it('follows eight on one page, which has six connections', async () => {
    const made = await Promise.all(Array.from({ length: 8 }, () => newInvoice(SLOW_CUSTOMER)));
    const decisions = await Promise.all(made.map(({ id }) => holdDecision(service, id)));
    const { page } = await open(made.map(({ client_secret: secret }) => element(secret)).join(''));
    await expect.poll(() => waiting(page)).toBe(8);
    await expect.poll(() => service.app.listeners()).toBe(3);
    await expectAccessible(page);
    await decisions.at(-1)?.();
    await expect.poll(() => are(page, 'accepted')).toBe(1);
    await Promise.all(decisions.slice(0, -1).map((decide) => decide()));
    await expect.poll(() => are(page, 'accepted')).toBe(8);
  });
});
