// Writes pictures of the pages for people into a folder: `npm run screenshots [-- FOLDER]`, by default screenshots/.
// Starts a service of its own on an empty store, and ends it.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import type { Browser } from 'puppeteer-core';
import { startBrowser } from '../test/support/browser.ts';
import { buildDashboard } from './build-dashboard.ts';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const WIDTHS = { desktop: 1280, phone: 390 } as const;

interface Shot {
  readonly name: string;
  /** With the fragment; `lang` is added. */
  readonly path: string;
  readonly language: 'fr' | 'en' | 'ar';
  /** What the page shows when it is complete. */
  readonly selector: string;
}

/** Starts the service. @returns its address, its secret key and the link of the first account */
async function startService(dataDir: string) {
  const child = spawn(process.execPath, [join(ROOT, 'src/main.ts')], {
    env: {
      ...process.env,
      PORT: '0',
      DATA_DIR: dataDir,
      MONGODB_URL: '',
      PUBLIC_URL: '',
      LOG_LEVEL: 'warn',
      RATE_LIMIT_ADDRESS: '100000',
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let printed = '';
  for await (const line of createInterface(child.stdout)) {
    printed += `${line}\n`;
    const [url, key, invitation] = [/http:\/\/127\.0\.0\.1:\d+/, /sk_test_[\w-]+/, /http\S+\/join#\S+/].map(
      (pattern) => pattern.exec(printed)?.[0],
    );
    if (url && key && invitation) return { url, key, invitation, child };
  }
  throw new Error(`the service did not start:\n${printed}`);
}

/** @returns the path of the page of a new invoice */
async function createInvoice(url: string, key: string, ice: string): Promise<string> {
  const response = await fetch(`${url}/v1/invoices`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' },
    body: JSON.stringify({
      amount: 1_847_656,
      currency: 'MAD',
      customer: { ice, name: 'Société Atlas Distribution SARL' },
      lines: [
        { description: 'Conseil en organisation, trois journées', quantity: 3, unit_price: 450_000 },
        { description: 'Documentation', quantity: 4, unit_price: 50_600, tax_rate: 10 },
        { description: 'Transport', quantity: 1, unit_price: 4_400, tax_rate: 14 },
      ],
    }),
  });
  const body = (await response.json()) as { id: string; client_secret: string; error?: { message: string } };
  if (!response.ok) throw new Error(`the invoice was refused: ${body.error?.message}`);
  return `/i/${body.id}#${body.client_secret}`;
}

/** Makes an account and stays signed in. @returns the address of its tenant's pages */
async function makeAccount(browser: Browser, invitation: string): Promise<string> {
  const page = await browser.newPage();
  await page.goto(invitation);
  await page.waitForSelector('form');
  await page.type('[name=name]', 'Amina Bennani');
  await page.type('[name=email]', 'amina@example.com');
  await page.type('[name=chosenPassword]', 'correct horse battery');
  await page.keyboard.press('Enter');
  await page.waitForSelector('.home h1');
  const { pathname } = new URL(page.url());
  await page.close();
  return pathname.replace(/\/home$/, '');
}

async function shoot(browser: Browser, url: string, { name, path, language, selector }: Shot, folder: string) {
  for (const theme of ['light', 'dark']) {
    for (const [device, width] of Object.entries(WIDTHS)) {
      const page = await browser.newPage();
      await page.setViewport({ width, height: device === 'phone' ? 844 : 860, isMobile: device === 'phone' });
      await page.emulateMediaFeatures([{ name: 'prefers-color-scheme', value: theme }]);
      await page.goto(`${url}${path.replace(/(?=#|$)/, `?lang=${language}`)}`);
      await page.waitForSelector(selector);
      await page.evaluate(() => document.fonts.ready);
      const file = `${folder}/${name}-${language}-${theme}-${device}.png` as const;
      await page.screenshot({ path: file, fullPage: true });
      await page.close();
    }
  }
}

const folder = resolve(process.argv[2] ?? 'screenshots');
await mkdir(folder, { recursive: true });
await buildDashboard(ROOT);
const dataDir = await mkdtemp(join(tmpdir(), 'fatoura-screenshots-'));
const [{ url, key, invitation, child }, browser] = await Promise.all([startService(dataDir), startBrowser()]);
try {
  const [accepted, rejected, received] = await Promise.all(
    ['001234567000089', '999000000000102', '999000000000587'].map((ice) => createInvoice(url, key, ice)),
  );
  const ready = '[data-status=accepted]';
  const tenant = await makeAccount(browser, invitation);
  const id = accepted?.split('#')[0]?.split('/').at(-1);
  const shots: Shot[] = [
    // First, because it ends after some 15 s.
    { name: 'waiting', path: received ?? '', language: 'fr', selector: '[data-connection=live]' },
    { name: 'accepted', path: accepted ?? '', language: 'fr', selector: ready },
    { name: 'accepted', path: accepted ?? '', language: 'ar', selector: ready },
    { name: 'rejected', path: rejected ?? '', language: 'en', selector: '[data-status=rejected]' },
    { name: 'refused', path: '/i/inv_x#wrong', language: 'fr', selector: 'h1' },
    { name: 'welcome', path: '/', language: 'fr', selector: 'h1' },
    { name: 'welcome', path: '/', language: 'ar', selector: 'h1' },
    { name: 'sign-in', path: '/sign-in', language: 'en', selector: 'form' },
    { name: 'sign-in', path: '/sign-in', language: 'ar', selector: 'form' },
    { name: 'account', path: '/account', language: 'en', selector: '.identity' },
    { name: 'home', path: `${tenant}/home`, language: 'fr', selector: '.chart' },
    { name: 'home', path: `${tenant}/home`, language: 'ar', selector: '.chart' },
    { name: 'creation', path: `${tenant}/invoices/new`, language: 'en', selector: '.code' },
    { name: 'creation', path: `${tenant}/invoices/new`, language: 'ar', selector: '.code' },
    { name: 'invoices', path: `${tenant}/invoices`, language: 'fr', selector: '.rows' },
    { name: 'invoices', path: `${tenant}/invoices`, language: 'ar', selector: '.rows' },
    { name: 'member', path: `${tenant}/invoices/${id}`, language: 'en', selector: '.part' },
    { name: 'keys', path: `${tenant}/keys`, language: 'en', selector: '.log li' },
    { name: 'endpoints', path: `${tenant}/endpoints`, language: 'fr', selector: 'form' },
    { name: 'deliveries', path: `${tenant}/deliveries`, language: 'ar', selector: '.empty' },
    { name: 'settings', path: `${tenant}/settings`, language: 'fr', selector: '#legalName' },
    { name: 'settings', path: `${tenant}/settings`, language: 'ar', selector: '#legalName' },
    { name: 'audit', path: `${tenant}/audit`, language: 'en', selector: '.delivery' },
    { name: 'operators', path: '/ops', language: 'fr', selector: '.rows' },
    { name: 'operators', path: '/ops', language: 'ar', selector: '.rows' },
    { name: 'tenants', path: '/ops/tenants', language: 'en', selector: '.log li' },
    { name: 'tenant', path: `/ops/tenants/${tenant.split('/')[2]}`, language: 'en', selector: '.first-steps' },
    { name: 'join', path: '/join#x', language: 'fr', selector: 'form' },
  ];
  for (const shot of shots) await shoot(browser, url, shot, folder);
  console.log(`The pictures are in ${folder}.`);
} finally {
  await browser.close();
  const ended = once(child, 'exit');
  child.kill('SIGTERM');
  await ended;
  await rm(dataDir, { recursive: true, force: true });
}
