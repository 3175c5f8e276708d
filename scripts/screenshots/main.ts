// Writes pictures of the pages for people into a folder: `npm run screenshots -- [FOLDER [PAGE…]]`, by default all
// pages into screenshots/. Starts a service of its own, which has worked for a month, and ends it. Fails if a page is
// wider than the screen or taller than its content.
import { mkdir } from 'node:fs/promises';
import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Browser, Page } from 'puppeteer-core';
import { startBrowser } from '../../test/support/browser.ts';
import { buildDashboard } from '../build-dashboard.ts';
import { startSampleWorkspace } from './sample-workspace.ts';
import { type Shot, shotsOf } from './shots.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const SIZES = {
  desktop: { width: 1280, height: 860 },
  phone: { width: 390, height: 844, isMobile: true, hasTouch: true },
} as const;
/** Empty space below the content that is not a fault, pixels. */
const MOST_EMPTY = 160;

const OWNER = { name: 'Amina Bennani', email: 'amina@example.com', password: 'violet anchor seven drums' } as const;
/** Other browsers in which the owner is signed in, as they call themselves. */
const OTHER_BROWSERS = [
  'Mozilla/5.0 (iPhone; CPU iPhone OS 18_7 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/26.0 Mobile/15E148 Safari/604.1',
  'Mozilla/5.0 (Windows NT 10.0; Win64; x64; rv:150.0) Gecko/20100101 Firefox/150.0',
];

/** Makes an account and stays signed in. @returns the path of its tenant's pages */
async function makeAccount(browser: Browser, invitation: string): Promise<string> {
  const page = await browser.newPage();
  await page.goto(invitation);
  await page.waitForSelector('form');
  await page.type('[name=name]', OWNER.name);
  await page.type('[name=email]', OWNER.email);
  await page.type('[name=chosenPassword]', OWNER.password);
  await page.keyboard.press('Enter');
  await page.waitForSelector('.home h1');
  const { origin, pathname } = new URL(page.url());
  await page.close();
  for (const userAgent of OTHER_BROWSERS)
    await fetch(`${origin}/auth/sign-in`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', 'User-Agent': userAgent, Origin: origin },
      body: JSON.stringify({ email: OWNER.email, password: OWNER.password }),
    });
  return pathname.replace(/\/home$/, '');
}

/** @returns what is wrong with the size of the page */
function misfit(page: Page): Promise<string | null> {
  return page.evaluate((mostEmpty) => {
    const { scrollWidth, scrollHeight } = document.documentElement;
    if (scrollWidth > window.innerWidth) return `is ${scrollWidth - window.innerWidth} px wider than the screen`;
    const ends = [...document.querySelectorAll('body *')]
      .filter((each) => each.checkVisibility() && getComputedStyle(each).clipPath === 'none')
      .filter((each) => each.closest('.unseen') === null)
      .map((each) => each.getBoundingClientRect().bottom + window.scrollY);
    const empty = scrollHeight - Math.max(...ends, window.innerHeight);
    return empty > mostEmpty ? `has ${Math.round(empty)} px of nothing at its end` : null;
  }, MOST_EMPTY);
}

/** Takes the pictures of a page in both themes and sizes. @returns what is wrong with them */
async function shoot(browser: Browser, url: string, shot: Shot, folder: string): Promise<string[]> {
  const { name, path, language, selector } = shot;
  const faults: string[] = [];
  for (const theme of ['light', 'dark']) {
    for (const [device, size] of Object.entries(SIZES)) {
      const page = await browser.newPage();
      await page.setViewport(size);
      await page.emulateMediaFeatures([{ name: 'prefers-color-scheme', value: theme }]);
      await page.goto(`${url}${path.replace(/(?=#|$)/, `?lang=${language}`)}`);
      await page.waitForSelector(selector);
      await page.evaluate(() => document.fonts.ready);
      const picture = `${name}-${language}-${theme}-${device}`;
      const fault = await misfit(page);
      if (fault) faults.push(`${picture} ${fault}`);
      // A picture beyond the screen would be shifted where text runs from right to left.
      const height = await page.evaluate(() => document.documentElement.scrollHeight);
      await page.setViewport({ ...size, height: Math.max(height, size.height) });
      await page.screenshot({ path: `${folder}/${picture}.png`, captureBeyondViewport: false });
      await page.close();
    }
  }
  return faults;
}

const [given = 'screenshots', ...wanted] = process.argv.slice(2);
const folder = resolve(given);
await mkdir(folder, { recursive: true });
await buildDashboard(ROOT);
const [sample, browser] = await Promise.all([startSampleWorkspace(), startBrowser()]);
try {
  const tenant = await makeAccount(browser, sample.invitation);
  const shots = shotsOf(sample, tenant).filter(({ name }) => wanted.length === 0 || wanted.includes(name));
  const faults: string[] = [];
  for (const shot of shots) faults.push(...(await shoot(browser, sample.url, shot, folder)));
  for (const fault of faults) console.error(fault);
  if (faults.length > 0) process.exitCode = 1;
  console.log(`The pictures are in ${folder}.`);
} finally {
  await browser.close();
  await sample.close();
}
