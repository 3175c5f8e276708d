import { fileURLToPath } from 'node:url';
import type { Browser, Page } from 'puppeteer-core';
import { afterAll, describe, expect, it } from 'vitest';
import { buildDashboard } from '../../scripts/build-dashboard.ts';
import { invitationId } from '../../src/domain/person/invitation.ts';
import { createPeopleRepository } from '../../src/storage/people.ts';
import { createTenantRepository } from '../../src/storage/tenants.ts';
import { violations } from '../support/accessibility.ts';
import { BROWSER_PATH } from '../support/browser.ts';
import { invite, mailedLink, mailedToken } from '../support/person.ts';
import { firstOf, testLong } from '../support/samples.ts';
import { startService, type TestService } from '../support/service.ts';
import { withSharedBrowser } from '../support/shared-browser.ts';

if (BROWSER_PATH === null) console.warn('skipped: no Chromium for tests of pages (Debian: apt-get install chromium)');

const PHONE = { width: 390, height: 844, isMobile: true, hasTouch: true };
const PASSWORD = 'correct horse battery';

describe.skipIf(BROWSER_PATH === null)('pages of accounts in a browser', () => {
  let service: TestService;
  let browser: Browser;

  withSharedBrowser.beforeAll(async ({ browser: shared }) => {
    await buildDashboard(fileURLToPath(new URL('../..', import.meta.url)));
    browser = shared;
    service = await startService({ RATE_LIMIT_ADDRESS: '1000000' });
  });
  afterAll(async () => {
    await service.close();
  });

  /** Opens a page in a browser that nobody has used. Requests and violations of policies are kept. */
  async function open(path: string) {
    const context = await browser.createBrowserContext();
    const page = await context.newPage();
    await page.setViewport(PHONE);
    const [requests, complaints]: [string[], string[]] = [[], []];
    page.on('request', (request) => requests.push(`${request.url()} ${request.headers().referer ?? ''}`));
    page.on('pageerror', (error) => complaints.push(String(error)));
    page.on('console', (message) => complaints.push(message.text()));
    await page.goto(service.url + path);
    await page.waitForSelector('h1');
    return { page, requests, complaints, close: () => context.close() };
  }

  /** Fills a form and sends it with the Enter key. */
  async function send(page: Page, values: Record<string, string>): Promise<void> {
    for (const [name, value] of Object.entries(values)) {
      await page.$eval(`[name=${name}]`, (field) => {
        (field as HTMLInputElement).value = '';
      });
      await page.type(`[name=${name}]`, value);
    }
    await page.keyboard.press('Enter');
  }

  const refusal = (page: Page) => page.waitForSelector('.refusal:not(:empty)').then((found) => textOf(found));
  const textOf = (element: Awaited<ReturnType<Page['$']>>) => element?.evaluate(({ textContent }) => textContent);
  const path = (page: Page) => new URL(page.url()).pathname;

  /** Makes an account by the page of an invitation. */
  async function join(email: string) {
    const tenant = await service.tenant();
    const token = await invite(service, {
      isOperator: true,
      memberships: [{ tenantId: tenant.id, role: 'owner' }],
    });
    const opened = await open(`/join?lang=en#${token}`);
    // The page first asks whether the invitation is open.
    await opened.page.waitForSelector('[name=chosenPassword]');
    await send(opened.page, { name: 'Amina', email, chosenPassword: PASSWORD });
    await opened.page.waitForSelector('.home h1');
    await opened.page.goto(`${service.url}/account`);
    await opened.page.waitForSelector('.identity');
    return { ...opened, token, tenant };
  }

  it('lead from the invitation to the account and out of it, by the keyboard', async () => {
    const { page, complaints, requests, token, close } = await join('amina@example.com');
    expect(path(page)).toBe('/account');
    const roles = await page.$$eval('.roles li', (all) => all.map(({ textContent }) => textContent));
    expect(roles).toEqual(['The whole serviceOperatorOperationsJobsMetrics', expect.stringMatching(/Owner$/)]);
    // The token was in the fragment alone; the address of the first request keeps it in this list.
    expect(requests.slice(1).filter((each) => each.includes(token))).toEqual([]);
    expect(await page.evaluate(() => document.cookie)).toBe('');
    await page.focus('.identity button');
    await page.keyboard.press('Enter');
    await page.waitForSelector('[name=email]');
    expect(path(page)).toBe('/sign-in');
    await page.goto(`${service.url}/account`);
    await page.waitForSelector('[name=email]');
    expect(path(page)).toBe('/sign-in');
    // Browsers report each answer of 401 in their consoles.
    expect(complaints.filter((each) => !each.includes('401'))).toEqual([]);
    await close();
  });

  testLong('say what was wrong, in the reader’s language, and lead to the field', async () => {
    await (await join('wrong@example.com')).close();
    const { page, close } = await open('/sign-in?lang=fr');
    await send(page, { email: 'wrong@example.com', password: 'another password' });
    expect(await refusal(page)).toBe('L’adresse e-mail ou le mot de passe est incorrect.');
    await expect.poll(() => page.evaluate(() => document.activeElement?.getAttribute('name'))).toBe('password');
    await page.setOfflineMode(true);
    await send(page, { password: PASSWORD });
    await page.waitForFunction(() => document.querySelector('.refusal')?.textContent?.includes('injoignable'));
    await page.setOfflineMode(false);
    await send(page, { password: PASSWORD });
    await page.waitForSelector('.home h1');
    await page.goto(`${service.url}/account?lang=fr`);
    await page.waitForSelector('.identity');
    await send(page, { currentPassword: 'not the password', newPassword: 'a wholly new password' });
    expect(await refusal(page)).toBe('Le mot de passe est incorrect.');
    await page.waitForSelector('[name=currentPassword][aria-invalid=true]');
    await send(page, { currentPassword: PASSWORD, newPassword: 'a wholly new password' });
    await page.waitForFunction(() => document.body.textContent?.includes('Le mot de passe est changé'));
    await page.reload();
    await page.waitForSelector('.identity');
    await close();
  });

  testLong('want another password where others may know the one of an account that nobody has confirmed', async () => {
    const email = 'known@example.com';
    await (await join(email)).close();
    const token = await invite(service, { isOperator: true }, email);
    const { page, close } = await open(`/join?lang=fr#${token}`);
    await page.waitForSelector('form');
    await send(page, { name: 'Nadia', email, chosenPassword: PASSWORD });
    expect(await refusal(page)).toMatch(/^Ce compte a été créé avant que son adresse soit confirmée/);
    await expect.poll(() => page.evaluate(() => document.activeElement?.getAttribute('name'))).toBe('chosenPassword');
    await send(page, { chosenPassword: 'violet anchor seven drums' });
    await page.waitForFunction(() => location.pathname !== '/join');
    await page.goto(`${service.url}/account?lang=fr`);
    await page.waitForSelector('.identity');
    expect(await page.$eval('.identity', ({ textContent }) => textContent)).not.toContain('pas encore confirmée');
    await close();
  });

  it('say at once that an invitation was used, was withdrawn or has expired, and what to do', async () => {
    const lead = (page: Page) => page.waitForSelector('.account .under').then((found) => textOf(found));
    const fields = (page: Page) => page.$$eval('input', (all) => all.length);
    const { token, close } = await join('used@example.com');
    await close();
    const used = await open(`/join?lang=en#${token}`);
    expect(await lead(used.page)).toMatch(/^This invitation was used/);
    expect(await used.page.$$eval('.account a', (all) => all.map((each) => each.getAttribute('href')))).toEqual([
      '/sign-in',
      '/forgotten-password',
    ]);
    expect(await fields(used.page)).toBe(0);
    expect(await violations(used.page)).toEqual([]);
    await used.close();
    const people = createPeopleRepository(service.app.store.db);
    const { id: tenantId } = await service.tenant();
    const withdrawn = await invite(service, { memberships: [{ tenantId, role: 'viewer' }] });
    await people.revokeInvitation(tenantId, invitationId(withdrawn), new Date());
    const revoked = await open(`/join?lang=fr#${withdrawn}`);
    expect(await lead(revoked.page)).toMatch(/^Cette invitation a été retirée/);
    const waiting = await invite(service, { memberships: [{ tenantId, role: 'viewer' }] });
    await createTenantRepository(service.app.store.db).setSuspended(tenantId, new Date());
    for (const [language, text] of [
      ['fr', /^L’entreprise qui vous invite est suspendue/],
      ['en', /^The company that invites you is suspended/],
      ['ar', /^المقاولة التي تدعوكم معلّقة/],
    ] as const) {
      const suspended = await open(`/join?lang=${language}#${waiting}`);
      expect(await lead(suspended.page)).toMatch(text);
    }
    await createTenantRepository(service.app.store.db).setSuspended(tenantId, null);
    expect(await fields(revoked.page)).toBe(0);
    await revoked.close();
    const never = await open('/join?lang=ar#never');
    expect(await lead(never.page)).toMatch(/^انتهت صلاحية هذه الدعوة/);
    expect(await fields(never.page)).toBe(0);
    await never.close();
  });

  testLong('set a forgotten password with a mailed link', async () => {
    await (await join('forgotten@example.com')).close();
    const { page, close } = await open('/sign-in?lang=ar');
    await page.locator('a[href="/forgotten-password"]').click();
    await page.waitForFunction(() => document.querySelectorAll('input').length === 1);
    await expect.poll(() => page.evaluate(() => document.documentElement.dir)).toBe('rtl');
    await send(page, { email: 'forgotten@example.com' });
    await page.waitForFunction(() => document.querySelectorAll('input').length === 0);
    await expect.poll(() => mailedToken(service, 'forgotten@example.com')).not.toBeNull();
    await page.goto(`${service.url}/new-password?lang=ar#${await mailedToken(service, 'forgotten@example.com')}`);
    await page.waitForSelector('[name=newPassword]');
    await send(page, { newPassword: 'violet anchor seven drums' });
    await page.waitForSelector('a[href="/sign-in"]');
    await page.locator('a[href="/sign-in"]').click();
    await page.waitForSelector('[name=password]');
    await send(page, { email: 'forgotten@example.com', password: 'violet anchor seven drums' });
    await page.waitForSelector('.home h1');
    await close();
  });

  it.each(
    firstOf(
      [
        ['/sign-in?lang=ar', '[name=password]'],
        ['/join?lang=en#INVITATION', '[name=chosenPassword]'],
        ['/forgotten-password?lang=en', '[name=email]'],
        ['/new-password?lang=ar#x', '[name=newPassword]'],
        ['/join?lang=fr#x', '.account a'],
        ['/join?lang=fr', 'h1'],
        ['/sign-in?lang=fr', '[name=password]'],
      ],
      4,
    ),
  )('violate no policy and no rule of accessibility: %s', async (address, selector) => {
    const token = address.includes('INVITATION') ? await invite(service) : '';
    const { page, complaints, close } = await open(address.replace('INVITATION', token));
    await page.waitForSelector(selector);
    for (const scheme of ['light', 'dark']) {
      await page.emulateMediaFeatures([{ name: 'prefers-color-scheme', value: scheme }]);
      expect(await violations(page)).toEqual([]);
    }
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(390);
    // The browser would like to know whose password it is; the link of a mail does not tell.
    expect(complaints.filter((each) => !each.includes('username fields'))).toEqual([]);
    await close();
  });

  testLong('violate no rule of accessibility where somebody is signed in', async () => {
    const { page, close } = await join(`${'w'.repeat(60)}@example.com`);
    for (const scheme of ['light', 'dark']) {
      await page.emulateMediaFeatures([{ name: 'prefers-color-scheme', value: scheme }]);
      expect(await violations(page)).toEqual([]);
    }
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(390);
    await close();
  });

  testLong('keep the language that the reader chose', async () => {
    const { page, close } = await open('/sign-in?lang=fr');
    await page.locator('button[lang=ar]').click();
    await page.goto(`${service.url}/forgotten-password`);
    await page.waitForSelector('h1');
    await expect.poll(() => page.evaluate(() => document.documentElement.lang)).toBe('ar');
    await close();
  });

  testLong('a person ends other sessions, changes the name, and confirms another address', async () => {
    const email = 'details@example.com';
    const { page, close } = await join(email);
    const other = await open('/sign-in?lang=en');
    await send(other.page, { email, password: PASSWORD });
    await other.page.waitForSelector('.home h1');
    await page.reload();
    const row = '[aria-labelledby=sessions] .log li';
    await page.waitForFunction((rows) => document.querySelectorAll(rows).length === 2, {}, row);
    expect(await textOf(await page.$(row))).toMatch(/Chrome.*127\.0\.0\.1/);
    expect(await violations(page)).toEqual([]);
    await page.locator('[aria-labelledby=sessions] .row-actions button').click();
    await page.locator('dialog .danger').click();
    await page.waitForFunction((rows) => document.querySelectorAll(rows).length === 1, {}, row);
    await other.page.goto(`${service.url}/account`);
    await other.page.waitForSelector('[name=password]');
    await other.close();

    await send(page, { name: 'Amina Idrissi' });
    await page.waitForFunction(() => document.querySelector('.identity h1')?.textContent === 'Amina Idrissi');
    const form = '[aria-labelledby=details]';
    await page.type(`${form} [name=newEmail]`, 'other@example.com');
    await page.type(`${form} [name=currentPassword]`, PASSWORD);
    await page.keyboard.press('Enter');
    await page.waitForFunction(() => document.body.textContent?.includes('A link is on its way to the new address'));
    const link = await mailedLink(service, 'other@example.com');
    await page.goto(link);
    await page.waitForSelector('button.primary');
    expect(await violations(page)).toEqual([]);
    await page.locator('button.primary').click();
    await page.waitForFunction(() => document.body.textContent?.includes('Your account has the new address'));
    await close();
  });
});
