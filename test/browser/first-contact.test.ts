import { fileURLToPath } from 'node:url';
import type { Browser, Page } from 'puppeteer-core';
import { afterAll, describe, expect, it } from 'vitest';
import { buildDashboard } from '../../scripts/build-dashboard.ts';
import { TEXTS } from '../../src/dashboard/text/texts.ts';
import { BROWSER_PATH } from '../support/browser.ts';
import { Client, invoiceBody } from '../support/client.ts';
import { invite } from '../support/person.ts';
import { startReceiver } from '../support/receiver.ts';
import { firstOf } from '../support/samples.ts';
import { startService, type TestService } from '../support/service.ts';
import { withSharedBrowser } from '../support/shared-browser.ts';
import { DESKTOP, PHONE } from '../support/workspace-page.ts';

if (BROWSER_PATH === null) console.warn('skipped: no Chromium for tests of pages (Debian: apt-get install chromium)');

/** More steps by the Tab key than any page has elements to reach. */
const MOST_STEPS = 80;

/** How somebody uses a page. An element is named by a selector, and by its text if several match. */
interface Hands {
  press(selector: string, text?: string): Promise<void>;
  write(field: string, text: string): Promise<void>;
}

function mouse(page: Page): Hands {
  return {
    press: (selector, text) =>
      page.locator(text ? `${selector}::-p-xpath(self::*[normalize-space()='${text}'])` : selector).click(),
    write: (field, text) => page.locator(`[name=${field}]`).fill(text),
  };
}

/** Only keys: Tab until the element has the focus, Enter, and letters. */
function keyboard(page: Page): Hands {
  async function reach(selector: string, text = ''): Promise<void> {
    await page.waitForFunction(
      (asked, wanted) =>
        [...document.querySelectorAll(asked)].some((each) => wanted === '' || each.textContent?.trim() === wanted),
      {},
      selector,
      text,
    );
    for (let step = 0; step < MOST_STEPS; step++) {
      const isThere = await page.evaluate(
        (asked, wanted) => {
          const focused = document.activeElement;
          return focused?.matches(asked) === true && (wanted === '' || focused.textContent?.trim() === wanted);
        },
        selector,
        text,
      );
      if (isThere) return;
      await page.keyboard.press('Tab');
    }
    throw new Error(`the Tab key does not lead to ${selector} ${text}`);
  }
  return {
    async press(selector, text) {
      await reach(selector, text);
      await page.keyboard.press('Enter');
    },
    async write(field, text) {
      await reach(`[name=${field}]`);
      await page.keyboard.type(text);
    },
  };
}

describe.skipIf(BROWSER_PATH === null)('the first contact, in a browser', () => {
  let service: TestService;
  let browser: Browser;

  withSharedBrowser.beforeAll(async ({ browser: shared }) => {
    await buildDashboard(fileURLToPath(new URL('../..', import.meta.url)));
    const settings = { RATE_LIMIT_ADDRESS: '1000000', ALLOW_INSECURE_WEBHOOKS: 'true' };
    browser = shared;
    service = await startService(settings);
  });
  afterAll(async () => {
    await service.close();
  });

  it.each(
    firstOf(
      [
        ['ar', 'a finger', PHONE, mouse],
        ['en', 'the keyboard alone', DESKTOP, keyboard],
        ['fr', 'a mouse', DESKTOP, mouse],
      ],
      1,
    ),
  )(
    'from the one-time link to a revoked key: %s, with %s',
    async (language, _with, size, handsOf) => {
      const { keys, secret, endpoints, deliveries } = TEXTS[language];
      const receiver = await startReceiver();
      receiver.answer((_request, response) => {
        response.statusCode = 500;
        response.end('not yet');
      });
      const tenant = await service.tenant();
      // As the first start prints it.
      const grants = { isOperator: true, memberships: [{ tenantId: tenant.id, role: 'owner' as const }] };
      const token = await invite(service, grants);
      const page = await (await browser.createBrowserContext()).newPage();
      const complaints: string[] = [];
      page.on('pageerror', (error) => complaints.push(String(error)));
      page.on('console', (message) => complaints.push(message.text()));
      await page.setViewport(size);
      await page.goto(`${service.url}/join?lang=${language}#${token}`);
      const hands = handsOf(page);
      const section = async (name: string) => {
        await hands.press(`.sections a[href$="/${name}"]`);
        await page.waitForFunction((end) => location.pathname.endsWith(end), {}, `/${name}`);
      };

      await hands.write('name', 'Amina');
      await hands.write('email', `first.${language}@example.com`);
      await hands.write('chosenPassword', 'correct horse battery');
      await page.keyboard.press('Enter');
      await page.waitForSelector('.home h1');
      // From here on nothing loads the page again.
      await page.evaluate(() => Object.assign(window, { isFirst: true }));

      await section('keys');
      await hands.press('button', keys.make.secret);
      const key = await (await page.waitForSelector('.secret code'))?.evaluate(({ textContent }) => textContent);
      const client = new Client(service.url, key ?? '');
      await hands.press('.secret button', secret.done);

      await section('endpoints');
      await hands.write('url', `${receiver.url}/hook`);
      await hands.press('button[type=submit]', endpoints.create);
      await hands.press('.secret button', secret.done);

      await section('invoices');
      await page.waitForSelector('.empty');
      const { status, body: invoice } = await client.post('/v1/invoices', invoiceBody());
      expect(status).toBe(201);
      await page.waitForSelector('.rows [data-status=accepted]');

      await expect.poll(() => receiver.received.length).toBeGreaterThan(0);
      await section('deliveries');
      await page.waitForSelector('.row-link');
      await expect
        .poll(async () => {
          // Attempts that were made meanwhile: the page reads again with the next event, or when it is opened.
          await section('endpoints');
          await section('deliveries');
          await page.waitForSelector('.row-link');
          return page.$$eval('.data-rows tbody tr', (all) =>
            all.every(({ textContent }) => textContent?.includes('500')),
          );
        })
        .toBe(true);
      receiver.answer((_request, response) => response.end('ok'));
      await hands.press('.row-link');
      await hands.press('.delivery button', deliveries.resend);
      await page.waitForSelector('.delivery [data-state=delivered]');
      expect(receiver.received.at(-1)?.event.data.id ?? invoice.id).toBe(invoice.id);

      await section('keys');
      await hands.press('.log li:not([data-revoked=true]) .quiet', keys.revoke);
      await hands.press('dialog .danger');
      await page.waitForSelector('.log [data-revoked=true]');
      await expect.poll(async () => (await client.get('/v1/invoices')).status).toBe(401);

      expect(await page.evaluate(() => 'isFirst' in window)).toBe(true);
      expect(complaints).toEqual([]);
      await page.browserContext().close();
      await receiver.close();
    },
    180_000,
  );
});
