import { fileURLToPath } from 'node:url';
import type { Browser, Page } from 'puppeteer-core';
import { startBrowser } from '../../test/support/browser.ts';
import { buildDashboard } from '../build-dashboard.ts';
import { type BenchProcess, startProcess } from './bench-process.ts';
import type { GrowthAnswer, GrowthData, GrowthRequest, GrowthService } from './growth-service.ts';
import type { Benchmark, Side } from './harness.ts';
import { iceOf } from './throughput-invoice.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const [MANY, QUICK, FEW] = [100_000, 5000, 1000];
/** The invoices were created over the days that the home page shows. */
const OVER_MS = 30 * 86_400_000;
/** Lines of each invoice: the amount that is searched depends on them. */
const LINES = 5;
/** How many times slower the browser's processor is made: a usual phone. */
const SLOWED = 4;
const LOADS = { full: 10, quick: 3 } as const;
const QUERIES = { full: 40, quick: 10 } as const;
/** An export goes on for as long as it has pages. */
const IDLE_MS = 2000;

/** The steps of a person on a page whose queries are measured: opens the page, and does something there. */
interface Visit {
  /** After `/tenants/<tenant>/test`; with a slash before it, of the whole service. */
  readonly path: string;
  /** The selector of an element that the page shows once it has its rows. */
  readonly ready: string;
  readonly act?: (page: Page) => Promise<void>;
}

const ROW = '.rows tbody tr';
const olderPage = (page: Page) => page.click('.pages a:last-of-type');
const [today, earlier] = [0, 10].map((days) => new Date(Date.now() - days * 86_400_000).toISOString().slice(0, 10));
const kind = encodeURIComponent('POST /v1/invoices 422 amount_mismatch');

const VISITS: Readonly<Record<string, Visit>> = {
  home: { path: 'home', ready: '.chart' },
  invoices: { path: 'invoices', ready: ROW },
  'invoices, second page': { path: 'invoices', ready: ROW, act: olderPage },
  'rejected invoices': { path: 'invoices?status=rejected', ready: ROW },
  'rejected invoices, second page': { path: 'invoices?status=rejected', ready: ROW, act: olderPage },
  'invoices of ten days': { path: `invoices?from=${earlier}&until=${today}`, ready: ROW },
  'accepted invoices of ten days': { path: `invoices?status=accepted&from=${earlier}&until=${today}`, ready: ROW },
  "a customer's invoices": { path: 'invoices?customer=Soci%C3%A9t%C3%A9%207%20SARL', ready: ROW },
  'invoices of an ICE': { path: `invoices?ice=${iceOf(7)}`, ready: ROW },
  'invoices of a total': { path: `invoices?amount=${(12_000 + 120 * 7) * LINES}`, ready: ROW },
  'search by name': { path: 'invoices', ready: ROW, act: (page) => page.type('#search', 'soci') },
  'search by ICE': { path: 'invoices', ready: ROW, act: (page) => page.type('#search', '1000') },
  'search by number': {
    path: 'invoices',
    ready: ROW,
    async act(page) {
      await page.type('#search', await page.$eval(`${ROW} th`, (cell) => cell.textContent ?? ''));
      await page.keyboard.press('Enter');
    },
  },
  export: { path: 'invoices', ready: ROW, act: (page) => page.click('.export button') },
  deliveries: { path: 'deliveries', ready: '.delivery' },
  'deliveries, second page': { path: 'deliveries', ready: '.delivery', act: olderPage },
  'failed deliveries': { path: 'deliveries?state=failed', ready: '.delivery' },
  'failed deliveries, second page': { path: 'deliveries?state=failed', ready: '.delivery', act: olderPage },
  endpoints: { path: 'endpoints', ready: '.endpoint', act: (page) => page.click('.endpoint summary') },
  keys: { path: 'keys', ready: '.log li' },
  requests: { path: 'requests', ready: '.delivery' },
  'requests, second page': { path: 'requests', ready: '.delivery', act: olderPage },
  'failed requests': { path: 'requests?failed=true', ready: '.delivery' },
  'requests of an error': { path: `requests?kind=${kind}`, ready: '.delivery' },
  people: { path: 'people', ready: '.log li' },
  settings: { path: 'settings', ready: 'form' },
  'audit log': { path: 'audit', ready: '.delivery' },
  'audit log, second page': { path: 'audit', ready: '.delivery', act: olderPage },
  'audit log of a person': { path: 'audit?actor=per_even', ready: '.delivery' },
  'audit log of an object': { path: 'audit?subject=key_even', ready: '.delivery' },
  operators: { path: '/ops', ready: 'table' },
  tenants: { path: '/ops/tenants', ready: 'main a' },
};

/**
 * The dashboard of a tenant with many invoices, and in proportion of all else, and of one with 1,000: how soon the page of
 * invoices has something and has its rows, in a browser with an empty cache and a slow processor; and each query that the
 * pages, their filters and searches send, with the session of an owner who is an operator.
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
  readonly url: string;
  readonly headers: Record<string, string>;
  /** Null: a GET. */
  readonly body: string | null;
}

function side(name: string, count: number, quickCount: number): Side {
  let service: BenchProcess<GrowthService, GrowthRequest, GrowthAnswer> | null = null;
  let browser: Browser | null = null;
  let workspace = '';
  const queries = new Map<string, Query>();

  return {
    name,
    async open({ quick }) {
      await buildDashboard(ROOT);
      service = await startProcess('growth-service.ts', [
        JSON.stringify({
          ...({
            count: quick ? quickCount : count,
            lines: LINES,
            overMs: OVER_MS,
            hasPages: true,
          } satisfies GrowthData),
        }),
      ]);
      browser = await startBrowser();
      const page = await browser.newPage();
      workspace = await joined(page, service.ready.invitation);
      await page.close();
      for (const [visit, each] of Object.entries(VISITS)) {
        for (const [operation, query] of await queriesOf(browser, workspace, each)) {
          // A page reads again what the one before it has read.
          if ([...queries.values()].every(({ url, body }) => url !== query.url || body !== query.body))
            queries.set(`${visit}: ${operation}`, query);
        }
      }
    },
    async run({ quick }) {
      if (!service || !browser) throw new Error(`${name} is not open`);
      const latencies: Record<string, number[]> = { 'first contentful paint': [], 'list of invoices': [] };
      for (let load = 0; load < LOADS[quick ? 'quick' : 'full']; load++) {
        const { paintMs, listMs } = await loaded(browser, `${workspace}/invoices`, ROW);
        latencies['first contentful paint']?.push(paintMs);
        latencies['list of invoices']?.push(listMs);
      }
      for (const [operation, query] of [...queries].sort(([a], [b]) => (a < b ? -1 : 1))) {
        const samples: number[] = [];
        for (let nth = 0; nth < QUERIES[quick ? 'quick' : 'full']; nth++) samples.push(await timed(query));
        latencies[operation] = samples;
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

/** Opens a page and acts. @returns what it sent to the service, by operation: queries, and what operators' pages read */
async function queriesOf(
  browser: Browser,
  workspace: string,
  { path, ready, act }: Visit,
): Promise<Map<string, Query>> {
  const found = new Map<string, Query>();
  const page = await browser.newPage();
  try {
    page.on('request', (request) => {
      const { pathname } = new URL(request.url());
      const isQuery = pathname === '/graphql';
      if (!isQuery && !pathname.startsWith('/ops/api/')) return;
      const body = request.postData() ?? null;
      const operation = isQuery && body !== null ? JSON.parse(body).operationName : pathname;
      if (!found.has(operation) || act) found.set(operation, { url: request.url(), headers: request.headers(), body });
    });
    await page.goto(new URL(path.startsWith('/') ? path : `${workspace}/${path}`, workspace).href);
    await page.waitForSelector(ready).catch(async (cause) => {
      throw new Error(`${path} shows no ${ready}: ${await page.$eval('body', (body) => body.innerText)}`, { cause });
    });
    if (act) {
      found.clear();
      await act(page);
    }
    // The stream of events stays open.
    await page.waitForNetworkIdle({ idleTime: 500, concurrency: 1, timeout: act ? IDLE_MS : 0 }).catch(() => {});
  } finally {
    await page.close();
  }
  const cookie = (await browser.cookies()).map((each) => `${each.name}=${each.value}`).join('; ');
  return new Map(
    [...found].map(([operation, query]) => [operation, { ...query, headers: { ...query.headers, cookie } }]),
  );
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
async function timed({ url, headers, body }: Query): Promise<number> {
  const begun = performance.now();
  const answer = await fetch(url, { headers, ...(body !== null && { method: 'POST', body }) });
  const text = await answer.text();
  if (!answer.ok || text.startsWith('{"errors"')) throw new Error(`${url} was answered ${answer.status}: ${text}`);
  return performance.now() - begun;
}
