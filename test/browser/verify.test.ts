import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser, ElementHandle, Page } from 'puppeteer-core';
import { afterAll, describe, expect, it } from 'vitest';
import { BROWSER_PATH } from '../support/browser.ts';
import { Client, invoiceBody } from '../support/client.ts';
import { firstOf } from '../support/samples.ts';
import { type TestService, withSharedService } from '../support/service.ts';
import { withSharedBrowser } from '../support/shared-browser.ts';
import { expectAccessible } from '../support/workspace-page.ts';

if (BROWSER_PATH === null) console.warn('skipped: no Chromium for tests of pages (Debian: apt-get install chromium)');

const PHONE = { width: 360, height: 740, isMobile: true, hasTouch: true, deviceScaleFactor: 2 };
const DESKTOP = { width: 1280, height: 900 };

describe.skipIf(BROWSER_PATH === null)('/verify in a browser', () => {
  let service: TestService;
  let browser: Browser;
  let folder: string;
  let url: string;
  let files: { genuine: string; changed: string };

  withSharedBrowser.beforeAll(({ browser: shared }) => {
    browser = shared;
  });
  withSharedService.beforeAll(async ({ service: shared }) => {
    service = shared;
    folder = await mkdtemp(join(tmpdir(), 'verify-'));
    const profile = { legalName: 'Société Atlas Ingénierie & Conseil des Provinces du Sud SARL AU' };
    const client = new Client(service.url, (await service.tenant(profile)).secretKey);
    const { body } = await client.post('/v1/invoices', invoiceBody());
    const xml = Buffer.from(await (await fetch((await client.settled(body.id)).xml_url)).arrayBuffer());
    url = `${service.url}/verify/${body.id}`;
    files = { genuine: join(folder, 'facture.xml'), changed: join(folder, 'modifiée.xml') };
    await writeFile(files.genuine, xml);
    xml[xml.length >> 1]! ^= 1;
    await writeFile(files.changed, xml);
  });
  afterAll(async () => {
    await rm(folder, { recursive: true, force: true });
  });

  /** A page whose every request and complaint is kept. */
  async function open(path: string, viewport: typeof PHONE | typeof DESKTOP, scripts = true) {
    const page = await (await browser.createBrowserContext()).newPage();
    await page.setJavaScriptEnabled(scripts);
    await page.setViewport(viewport);
    const requests: string[] = [];
    const complaints: string[] = [];
    page.on('request', (request) => requests.push(`${request.method()} ${request.url()}`));
    page.on('pageerror', (error) => complaints.push(String(error)));
    page.on('console', (message) => complaints.push(message.text()));
    await page.goto(path, { waitUntil: 'load' });
    return { page, requests, complaints };
  }

  async function choose(page: Page, file: string): Promise<void> {
    const input = (await page.$('input[type=file]')) as ElementHandle<HTMLInputElement>;
    await input.uploadFile(file);
  }

  const shown = (page: Page) =>
    page.$$eval('[data-outcome]', (all) =>
      all.filter((each) => each.checkVisibility()).map((each) => each.getAttribute('data-outcome')),
    );

  async function picture(page: Page, name: string): Promise<void> {
    if (process.env.SCREENSHOTS) {
      await page.screenshot({
        path: `${process.env.SCREENSHOTS}/verify-${name}.png` as `${string}.png`,
        fullPage: true,
      });
    }
  }

  it.each(firstOf(['fr', 'ar', 'en']))(
    'in %s nothing is cut off or laid over anything, on a phone and on a desktop',
    async (language) => {
      for (const [name, viewport] of Object.entries({ phone: PHONE, desktop: DESKTOP })) {
        const { page, complaints } = await open(`${url}?lang=${language}`, viewport);
        const wide = await page.evaluate(() => document.documentElement.scrollWidth > innerWidth);
        expect([name, wide]).toEqual([name, false]);
        expect(complaints).toEqual([]);
        await picture(page, `${language}-${name}`);
        if (viewport === PHONE) await expectAccessible(page);
        await page.close();
      }
    },
  );

  it('examines a chosen file without sending it', async () => {
    const { page, requests, complaints } = await open(url, PHONE);
    await choose(page, files.genuine);
    await expect.poll(() => shown(page)).toEqual(['xml']);
    await picture(page, 'unchanged');
    await choose(page, files.changed);
    await expect.poll(() => shown(page)).toEqual(['other']);
    await picture(page, 'changed');
    expect(requests.filter((each) => !each.endsWith('/favicon.ico'))).toEqual([`GET ${url}`]);
    expect(complaints).toEqual([]);
    await page.close();
  });

  it('works without scripts: the form sends the file', async () => {
    const { page, requests } = await open(`${url}?lang=en`, DESKTOP, false);
    await picture(page, 'no-script');
    for (const [file, outcome] of [
      [files.genuine, 'xml'],
      [files.changed, 'other'],
    ] as const) {
      await choose(page, file);
      await Promise.all([page.waitForNavigation(), page.click('button')]);
      expect(await shown(page)).toEqual([outcome]);
    }
    expect(requests.filter((each) => each.startsWith('POST'))).toHaveLength(2);
    expect(await page.$eval('html', (root) => root.lang)).toBe('en');
    await page.close();
  });

  it('tells of an unknown invoice', async () => {
    const { page } = await open(`${service.url}/verify/inv_x?lang=fr`, PHONE);
    expect(await page.$eval('h1', (head) => head.textContent)).toBe('Document inconnu');
    await picture(page, 'unknown');
    await page.close();
  });
});
