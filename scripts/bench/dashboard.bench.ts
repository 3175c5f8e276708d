import type { Browser, Page } from 'puppeteer-core';
import { startBrowser } from '../../test/support/browser.ts';
import { type BenchProcess, startProcess } from './bench-process.ts';
import type { GrowthAnswer, GrowthRequest, GrowthService } from './growth-service.ts';
import type { Benchmark, Side } from './harness.ts';

const [MANY, QUICK, FEW] = [100_000, 5000, 1000];
/** The invoices were created over the days that the home page shows. */
const OVER_MS = 30 * 86_400_000;
/** How many times slower the browser's processor is made: a usual phone. */
const SLOWED = 4;
const LOADS = { full: 10, quick: 3 } as const;
const QUERIES = { full: 40, quick: 10 } as const;

/** The pages, and what each shows once it has its rows or knows that there are none. */
const PAGES = {
  home: '.chart',
  invoices: '.rows tbody tr',
  deliveries: '.empty, .delivery',
  requests: '.empty, .delivery',
  audit: '.delivery',
} as const;

/**
 * The dashboard over many stored invoices, and over 1,000: how soon a page of invoices has something and has its rows, in
 * a browser with an empty cache and a slow processor; and each query that the pages send, with the session of an owner.
 */
export const benchmark: Benchmark = {
  name: 'dashboard',
  about:
    '100,000 stored invoices of 30 days (5,000 with --quick), processor of the browser 4 times slower; the peer has 1,000',
  sides: [side('many stored', MANY, QUICK), side('1,000 stored', FEW, FEW)],
  answers: 'incomparable',
  repeats: 3,
  warmups: 1,
};

interface Query {
  readonly headers: Record<string, string>;
  readonly body: string;
}

function side(name: string, count: number, quickCount: number): Side {
  let service: BenchProcess<GrowthService, GrowthRequest, GrowthAnswer> | null = null;
  let browser: Browser | null = null;
  let workspace = '';
  const queries = new Map<string, Query>();

  return {
    name,
    async open({ quick, lines }) {
      service = await startProcess('growth-service.ts', [
        JSON.stringify({ count: quick ? quickCount : count, lines, overMs: OVER_MS }),
      ]);
      browser = await startBrowser();
      const page = await browser.newPage();
      workspace = await joined(page, service.ready.invitation);
      const cookie = (await browser.cookies()).map((each) => `${each.name}=${each.value}`).join('; ');
      page.on('request', (request) => {
        const body = request.url().endsWith('/graphql') ? request.postData() : undefined;
        if (body === undefined) return;
        const { operationName } = JSON.parse(body) as { operationName?: string };
        queries.set(operationName ?? 'unnamed', { headers: { ...request.headers(), cookie }, body });
      });
      for (const [path, ready] of Object.entries(PAGES)) {
        await page.goto(`${workspace}/${path}`);
        await page.waitForSelector(ready);
      }
      await page.close();
    },
    async run({ quick }) {
      if (!service || !browser) throw new Error(`${name} is not open`);
      const latencies: Record<string, number[]> = { 'first contentful paint': [], 'list of invoices': [] };
      for (let load = 0; load < LOADS[quick ? 'quick' : 'full']; load++) {
        const { paintMs, listMs } = await loaded(browser, `${workspace}/invoices`, PAGES.invoices);
        latencies['first contentful paint']?.push(paintMs);
        latencies['list of invoices']?.push(listMs);
      }
      for (const [operation, query] of [...queries].sort(([a], [b]) => (a < b ? -1 : 1))) {
        const samples: number[] = [];
        for (let nth = 0; nth < QUERIES[quick ? 'quick' : 'full']; nth++)
          samples.push(await timed(service.ready.url, query));
        latencies[`query ${operation}`] = samples;
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

/** Loads a page without a cache. @returns milliseconds from its request to the first content, and to what is `ready` */
async function loaded(browser: Browser, url: string, ready: string): Promise<{ paintMs: number; listMs: number }> {
  const page = await browser.newPage();
  try {
    await page.setCacheEnabled(false);
    await page.emulateCPUThrottling(SLOWED);
    await page.goto(url, { waitUntil: 'domcontentloaded' });
    const shown = await page.waitForFunction(
      (selector) => document.querySelector(selector) && performance.now(),
      {},
      ready,
    );
    const paintMs = await page.evaluate(
      () => performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? Number.NaN,
    );
    return { paintMs, listMs: Number(await shown.jsonValue()) };
  } finally {
    await page.close();
  }
}

/** Sends a query as the page did. @returns milliseconds until the whole answer was there */
async function timed(url: string, { headers, body }: Query): Promise<number> {
  const begun = performance.now();
  const answer = await fetch(`${url}/graphql`, { method: 'POST', headers, body });
  const text = await answer.text();
  if (!answer.ok || text.startsWith('{"errors"')) throw new Error(`a query was answered ${answer.status}: ${text}`);
  return performance.now() - begun;
}
