import type { Browser, Page } from 'puppeteer-core';
import { expect } from 'vitest';
import type { Role } from '../../src/domain/person/person.ts';
import type { SellerProfile } from '../../src/domain/tenant/tenant.ts';
import { violations } from './accessibility.ts';
import { Client } from './client.ts';
import { signedIn } from './person.ts';
import { firstOf } from './samples.ts';
import type { TestService } from './service.ts';

export const PHONE = { width: 390, height: 844, isMobile: true, hasTouch: true };
export const DESKTOP = { width: 1280, height: 860 };

interface Opening {
  readonly role?: Role;
  readonly language?: string;
  readonly size?: object;
  /** The page; default: the one that the sign-in leads to. */
  readonly open?: string;
  /** The profile of the tenant; default: that of `TestService.tenant`. */
  readonly profile?: Partial<SellerProfile>;
}

/**
 * Opens a browser of a person with this role in a new tenant, signed in without the form, which takes as long as some
 * tests. test/browser/accounts.test.ts tests the form.
 */
export async function openWorkspacePage(service: TestService, browser: Browser, opening: Opening = {}) {
  const { role = 'owner', language = 'fr', size = DESKTOP, open = 'home', profile } = opening;
  const tenant = await service.tenant(profile);
  const person = await signedIn(service, { memberships: [{ tenantId: tenant.id, role }] });
  const context = await browser.createBrowserContext();
  const { hostname } = new URL(service.url);
  for (const [name, value] of person.browser.cookies)
    await context.setCookie({ name, value, domain: hostname, path: '/', httpOnly: true, sameSite: 'Lax' });
  const page = await context.newPage();
  await page.setViewport(size as typeof DESKTOP);
  const complaints: string[] = [];
  page.on('pageerror', (error) => complaints.push(String(error)));
  page.on('console', (message) => complaints.push(message.text()));
  await page.evaluateOnNewDocument((chosen) => {
    // As after a choice in the page, and until another choice. Documents without an origin cannot store anything.
    if (location.protocol === 'http:') localStorage.language ??= chosen;
  }, language);
  await page.goto(`${service.url}/tenants/${tenant.id}/test/${open}`);
  await page.waitForSelector(open === 'home' ? '.home h1' : 'main h1');
  const client = new Client(service.url, tenant.secretKey);
  return { page, client, tenant, person, complaints, close: () => context.close() };
}

/** Number of times that each page was checked. */
const held = new WeakMap<Page, number>();

/**
 * Checks a page against the rules of accessibility, and its width against the screen's. `npm test` does so in one
 * theme, and changes the theme with each check. The length of the test's name decides which theme is first, so that
 * both are used. `npm run test:long` checks in both.
 */
export async function expectAccessible(page: Page): Promise<void> {
  const nth = held.get(page) ?? 0;
  held.set(page, nth + 1);
  const isDarkFirst = (nth + (expect.getState().currentTestName ?? '').length) % 2 === 1;
  const schemes = firstOf(isDarkFirst ? ['dark', 'light'] : ['light', 'dark']);
  for (const [turn, scheme] of schemes.entries()) {
    await page.emulateMediaFeatures([{ name: 'prefers-color-scheme', value: scheme }]);
    expect(await violations(page, turn === 0 ? 'all' : 'colours')).toEqual([]);
  }
  expect(await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth)).toBeLessThanOrEqual(0);
}
