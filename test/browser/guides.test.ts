import { fileURLToPath } from 'node:url';
import type { Browser, Page } from 'puppeteer-core';
import { afterEach, describe, expect, it } from 'vitest';
import { buildDocs } from '../../scripts/build-docs.ts';
import { BROWSER_PATH } from '../support/browser.ts';
import { type TestService, withSharedService } from '../support/service.ts';
import { withSharedBrowser } from '../support/shared-browser.ts';
import { DESKTOP, expectAccessible, PHONE } from '../support/workspace-page.ts';

if (BROWSER_PATH === null) console.warn('skipped: no Chromium for tests of pages (Debian: apt-get install chromium)');

describe.skipIf(BROWSER_PATH === null)('the guides at /docs', () => {
  let service: TestService;
  let browser: Browser;
  withSharedBrowser.beforeAll(async ({ browser: shared }) => {
    browser = shared;
    await buildDocs(fileURLToPath(new URL('../..', import.meta.url)));
  });
  withSharedService.beforeAll(({ service: shared }) => {
    service = shared;
  });
  const pages: Page[] = [];
  afterEach(async () => {
    await Promise.all(pages.splice(0).map((page) => page.browserContext().close()));
  });

  /** Opens a page, which may load from its own origin only and must not complain. */
  async function open(path: string, size: object = DESKTOP) {
    const page = await (await browser.createBrowserContext()).newPage();
    pages.push(page);
    await page.setViewport(size as typeof DESKTOP);
    const complaints: string[] = [];
    page.on('console', (message) => complaints.push(message.text()));
    page.on('pageerror', (error) => complaints.push(String(error)));
    page.on('request', (request) => {
      if (!request.url().startsWith(service.url)) complaints.push(request.url());
    });
    await page.goto(service.url + path, { waitUntil: 'load' });
    await page.waitForSelector('.find:not([hidden])');
    return { page, complaints };
  }
  const shot = async (page: Page, name: string) => {
    if (process.env.SCREENSHOTS) await page.screenshot({ path: `${process.env.SCREENSHOTS}/${name}.png` });
  };

  const SHOWN = [
    '/docs',
    '/docs/quick-start',
    '/docs/reference/invoices',
    '/docs/errors/amount_mismatch',
    '/docs/fr/withholding',
  ];
  it.each(SHOWN.flatMap((path) => [DESKTOP, PHONE].map((size) => [path, size.width, size] as const)))(
    '%s at %i pixels is for everybody, in both themes, and needs no sideways scrolling',
    async (path, width, size) => {
      const { page, complaints } = await open(path, size);
      await expectAccessible(page);
      await shot(page, `guides${path.replaceAll('/', '-')}-${width}-dark`);
      await page.emulateMediaFeatures([{ name: 'prefers-color-scheme', value: 'light' }]);
      await shot(page, `guides${path.replaceAll('/', '-')}-${width}`);
      expect(complaints).toEqual([]);
    },
  );

  it('is found by words, by parts of names, with spelling mistakes, and by keyboard alone', async () => {
    const { page, complaints } = await open('/docs');
    await page.keyboard.press('/');
    await page.waitForSelector('dialog[open] input:focus');
    const results = () => page.$$eval('dialog li a', (all) => all.map((each) => each.getAttribute('href')));
    const find = async (words: string) => {
      await page.$eval('dialog input', (input) => {
        (input as HTMLInputElement).value = '';
      });
      await page.type('dialog input', words);
      await page.waitForFunction(() =>
        /\d|Nothing/.test(document.querySelector('dialog [role=status]')?.textContent ?? ''),
      );
      return results();
    };
    expect((await find('idempotency key'))[0]).toMatch(/^\/docs\/idempotency/);
    expect((await find('idempotensy'))[0]).toMatch(/idempotency/);
    expect(await find('amount_mismatch')).toContain('/docs/errors/amount_mismatch');
    expect(await find('withheld')).toContain('/docs/withholding');
    await expectAccessible(page);
    await shot(page, 'guides-search');
    expect(await find('xyzzyx')).toEqual([]);
    const [first] = await find('deposit final invoice');
    await page.keyboard.press('ArrowDown');
    await Promise.all([page.waitForNavigation(), page.keyboard.press('Enter')]);
    expect(new URL(page.url()).pathname).toBe(first?.split('#')[0]);
    expect(complaints).toEqual([]);
  });

  it('is found in French in English, too, where there is no other page', async () => {
    const { page, complaints } = await open('/docs/fr');
    await page.keyboard.press('/');
    await page.waitForSelector('dialog[open] input:focus');
    await page.type('dialog input', 'mcp');
    await page.waitForSelector('dialog li a');
    const [first] = await page.$$eval('dialog li a', (all) =>
      all.map((link) => [link.hreflang, link.pathname, link.querySelector('.language')?.textContent]),
    );
    expect(first).toEqual(['en', '/docs/clients/cli', 'en anglais']);
    await expectAccessible(page);
    await shot(page, 'guides-search-fr');
    expect(complaints).toEqual([]);
  });

  it('opens one search, however often it is asked for before it is there', async () => {
    const { page } = await open('/docs');
    await page.$eval('.find', (button) => {
      for (let nth = 0; nth < 3; nth++) (button as HTMLElement).click();
    });
    await page.waitForSelector('dialog[open]');
    await page.type('dialog input', 'idempotency');
    await page.waitForSelector('dialog li a');
    expect(await page.$$('dialog')).toHaveLength(1);
    await page.locator('dialog button').click();
    await page.waitForSelector('dialog:not([open])');
    await page.keyboard.press('/');
    await page.waitForSelector('dialog[open] input:focus');
  });

  it('helps who comes to an address without a page', async () => {
    for (const [path, size] of [
      ['/docs/fr/nothing', DESKTOP],
      ['/docs/nothing', PHONE],
    ] as const) {
      const { page } = await open(path, size);
      await expectAccessible(page);
      await shot(page, `guides-not-found${size.width}`);
      await page.locator('article .find').click();
      await page.waitForSelector('dialog[open] input:focus');
      await page.keyboard.press('Escape');
      await Promise.all([page.waitForNavigation(), page.locator('article li a').click()]);
      expect(page.url()).toBe(`${service.url}${path.replace('/nothing', '')}`);
    }
  });

  it('works where the browser keeps nothing', async () => {
    const page = await (await browser.createBrowserContext()).newPage();
    pages.push(page);
    const errors: unknown[] = [];
    page.on('pageerror', (error) => errors.push(error));
    // Like Chrome, if its user forbids sites to keep data.
    await page.evaluateOnNewDocument(() =>
      Object.defineProperty(window, 'localStorage', {
        get: () => {
          throw new DOMException('Access is denied for this document.', 'SecurityError');
        },
      }),
    );
    await page.goto(`${service.url}/docs/reference/invoices`, { waitUntil: 'load' });
    await page.waitForSelector('.key button');
    await page.locator('[role=tab] ::-p-text(Python)').click();
    await page.waitForSelector('pre[data-title=Python]:not([hidden]) .copy');
    expect(errors).toEqual([]);
  });

  it('shows examples with its own address, in the language that was chosen once', async () => {
    const { page } = await open('/docs/reference/invoices');
    const shown = () =>
      page.$$eval('.examples pre:not([hidden])', (all) => all.map((each) => each.getAttribute('data-title')));
    expect(new Set(await shown())).toEqual(new Set(['curl']));
    const texts = await page.$$eval('.examples pre:not([hidden]) code', (all) => all.map((each) => each.textContent));
    expect(texts[0]).toContain(service.url);
    await page.locator('[role=tab] ::-p-text(Python)').click();
    expect(new Set(await shown())).toEqual(new Set(['Python']));
    await page.keyboard.press('ArrowRight');
    expect(new Set(await shown())).toEqual(new Set(['PHP']));
    await page.goto(`${service.url}/docs/reference/webhook-endpoints`);
    await page.waitForSelector('[role=tab]');
    expect(new Set(await shown())).toEqual(new Set(['PHP']));
    const kept = await page.evaluate(() => JSON.stringify({ ...localStorage }));
    expect(kept).toBe('{"docs-language":"PHP"}');
  });

  it('has its menu on phones, and a link past it', async () => {
    const { page } = await open('/docs/webhooks', PHONE);
    const isShown = () => page.$eval('#pages', (menu) => getComputedStyle(menu).display !== 'none');
    expect(await isShown()).toBe(false);
    await page.keyboard.press('Tab');
    expect(await page.evaluate(() => document.activeElement?.textContent)).toBe('Skip to content');
    await page.locator('.menu').click();
    expect(await isShown()).toBe(true);
    await shot(page, 'guides-menu');
    await expectAccessible(page);
    await Promise.all([page.waitForNavigation(), page.locator('#pages a[href="/docs/graphql"]').click()]);
    expect(await page.title()).toContain('GraphQL');
  });

  it('leads from the addresses of the former page to where its parts are now', async () => {
    const { page } = await open('/docs');
    for (const anchor of ['#warnings', '#/Invoices/createInvoice']) {
      await page.goto('about:blank');
      await page.goto(`${service.url}/docs${anchor}`);
      await page.waitForFunction(() => location.pathname === '/docs/interactive');
      // The viewer writes its own form of it.
      expect(new URL(page.url()).hash.replace('#/', '#')).toBe(anchor.replace('#/', '#'));
    }
  });
});
