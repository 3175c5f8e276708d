import { fileURLToPath } from 'node:url';
import type { Browser, Page } from 'puppeteer-core';
import { startBrowser } from '../../test/support/browser.ts';
import { buildDashboard } from '../build-dashboard.ts';
import { type BenchProcess, startProcess } from './bench-process.ts';
import type { GrowthAnswer, GrowthRequest, GrowthService } from './growth-service.ts';
import type { Benchmark, Side } from './harness.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const [MANY, QUICK, FEW] = [100_000, 5000, 1000];
/** Factor by which the browser's processor is slowed down, to that of a usual phone. */
const SLOWED = 4;
const LOADS = { full: 10, quick: 3 } as const;

const ROW = '.rows tbody tr';
const month = new Date().toISOString().slice(0, 'YYYY-MM'.length);

/** The pages and actions of a person, with an element that exists once the result is shown. */
const OPENED: Readonly<Record<string, { readonly path: string; readonly ready: string }>> = {
  'list of invoices': { path: 'invoices', ready: ROW },
  'sums of a month': { path: `periods/${month}`, ready: 'main table' },
  home: { path: 'home', ready: '.chart' },
};

/**
 * Measures the dashboard of a tenant with many invoices, and of a tenant with 1,000, in a browser with an empty cache
 * and a slow processor: the time until a page shows something, until it shows its figures, and until a search shows its
 * rows.
 */
export const benchmark: Benchmark = {
  name: 'dashboard',
  about: '100,000 stored invoices (5,000 with --quick), processor of the browser 4 times slower; the peer has 1,000',
  sides: [side('many stored', MANY, QUICK), side('1,000 stored', FEW, FEW)],
  answers: 'incomparable',
  repeats: 3,
  warmups: 1,
};

function side(name: string, count: number, quickCount: number): Side {
  let service: BenchProcess<GrowthService, GrowthRequest, GrowthAnswer> | null = null;
  let browser: Browser | null = null;
  let workspace = '';
  return {
    name,
    async open({ quick, lines }) {
      await buildDashboard(ROOT);
      service = await startProcess('growth-service.ts', [JSON.stringify({ count: quick ? quickCount : count, lines })]);
      browser = await startBrowser();
      const page = await browser.newPage();
      workspace = await joined(page, service.ready.invitationUrl);
      await page.close();
    },
    async run({ quick }) {
      if (!browser) throw new Error(`${name} is not open`);
      const latencies: Record<string, number[]> = { 'first content': [], 'search by a number': [] };
      for (let load = 0; load < LOADS[quick ? 'quick' : 'full']; load++) {
        for (const [what, { path, ready }] of Object.entries(OPENED)) {
          const page = await slowPage(browser);
          await page.goto(`${workspace}/${path}`, { waitUntil: 'domcontentloaded' });
          const shownMs = await momentOf(page, ready);
          latencies[what] = [...(latencies[what] ?? []), shownMs];
          if (path === 'invoices') {
            latencies['first content']?.push(await firstContent(page));
            latencies['search by a number']?.push(await searched(page));
          }
          await page.close();
        }
      }
      return { latencies };
    },
    async close() {
      await browser?.close();
      await service?.close();
    },
  };
}

/** Makes the account of an invitation. @returns the address of the pages of its tenant */
async function joined(page: Page, invitation: string): Promise<string> {
  await page.goto(invitation);
  await page.locator('[name=name]').fill('Amina');
  await page.locator('[name=email]').fill('amina@example.com');
  await page.locator('[name=chosenPassword]').fill('correct horse battery');
  await page.keyboard.press('Enter');
  await page.waitForSelector('.home h1');
  return page.url().replace(/\/home.*$/, '');
}

async function slowPage(browser: Browser): Promise<Page> {
  const page = await browser.newPage();
  await page.setCacheEnabled(false);
  await page.emulateCPUThrottling(SLOWED);
  return page;
}

/** Waits for an element. @returns milliseconds since the request of the page */
async function momentOf(page: Page, ready: string): Promise<number> {
  const shown = await page.waitForFunction(
    (selector) => document.querySelector(selector) && performance.now(),
    {},
    ready,
  );
  return Number(await shown.jsonValue());
}

function firstContent(page: Page): Promise<number> {
  return page.evaluate(() => performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? Number.NaN);
}

/**
 * Searches for the end of a number from the end of the list.
 * @returns milliseconds from the Enter key to the rows or the document
 */
async function searched(page: Page): Promise<number> {
  const ends = await page.$$eval(`${ROW} th`, (cells) =>
    cells.map((cell) => (cell.textContent ?? '').trim().slice(-4)),
  );
  const end = ends.at(-1) ?? '';
  await page.type('[name=search]', end);
  const began = await page.evaluate(() => performance.now());
  await page.keyboard.press('Enter');
  const shown = await page.waitForFunction(
    (first, wanted) =>
      (document.querySelector(first)?.textContent?.includes(wanted) || document.querySelector('.status')) &&
      performance.now(),
    {},
    `${ROW} th`,
    end,
  );
  return Number(await shown.jsonValue()) - began;
}
