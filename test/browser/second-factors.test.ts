import { fileURLToPath } from 'node:url';
import type { Browser, Page } from 'puppeteer-core';
import { afterAll, describe, expect, it } from 'vitest';
import { buildDashboard } from '../../scripts/build-dashboard.ts';
import { violations } from '../support/accessibility.ts';
import { codeAt, earlierCode } from '../support/authenticator.ts';
import { BROWSER_PATH } from '../support/browser.ts';
import { invite } from '../support/person.ts';
import { testLong } from '../support/samples.ts';
import { startService, type TestService } from '../support/service.ts';
import { withSharedBrowser } from '../support/shared-browser.ts';

if (BROWSER_PATH === null) console.warn('skipped: no Chromium for tests of pages (Debian: apt-get install chromium)');

const PASSWORD = 'correct horse battery';

describe.skipIf(BROWSER_PATH === null)('second factors in a browser', () => {
  let service: TestService;
  let browser: Browser;

  withSharedBrowser.beforeAll(async ({ browser: shared }) => {
    await buildDashboard(fileURLToPath(new URL('../..', import.meta.url)));
    // Passkeys belong to a name, not to an address of numbers.
    const settings = { RATE_LIMIT_ADDRESS: '1000000', HOST: 'localhost' };
    browser = shared;
    service = await startService(settings);
  });
  afterAll(async () => {
    await service.close();
  });

  async function open(path: string) {
    const context = await browser.createBrowserContext();
    const page = await context.newPage();
    await page.setViewport({ width: 390, height: 844, isMobile: true, hasTouch: true });
    const complaints: string[] = [];
    page.on('pageerror', (error) => complaints.push(String(error)));
    page.on('console', (message) => complaints.push(message.text()));
    await page.goto(service.url + path);
    return { page, complaints, close: () => context.close() };
  }

  /** Fills the form that has these fields, and sends it with the Enter key. */
  async function send(page: Page, values: Record<string, string>, within = ''): Promise<void> {
    for (const [name, value] of Object.entries(values)) {
      const field = `${within} [name=${name}]`;
      await page.locator(field).fill(value);
      await page.focus(field);
    }
    await page.keyboard.press('Enter');
  }

  const press = (page: Page, text: string) => page.locator(`::-p-xpath(//button[normalize-space()='${text}'])`).click();
  const says = (page: Page, text: string) =>
    page.waitForFunction((wanted) => document.body.textContent?.includes(wanted), {}, text);

  async function account(email: string) {
    const opened = await open(`/join?lang=en#${await invite(service, { isOperator: true })}`);
    await opened.page.waitForSelector('[name=chosenPassword]');
    await send(opened.page, { name: 'Amina', email, chosenPassword: PASSWORD });
    await opened.page.waitForSelector('.identity');
    return opened;
  }

  const FACTORS = '[aria-labelledby=factors]';

  it('codes: set up with a picture or a key, asked for, replaced by a recovery code, turned off', async () => {
    const email = 'codes@example.com';
    const { page, complaints, close } = await account(email);
    await press(page, 'Set up codes');
    await send(page, { currentPassword: PASSWORD }, FACTORS);
    await page.waitForSelector('svg.qr-code path');
    const secret = await page.$eval('.set-up code', ({ textContent }) => textContent ?? '');
    const codes = await page.$$eval('.recovery-codes li', (all) => all.map(({ textContent }) => textContent ?? ''));
    expect(codes).toHaveLength(10);
    const uri = `otpauth://totp/x?secret=${secret}`;
    for (const scheme of ['light', 'dark']) {
      await page.emulateMediaFeatures([{ name: 'prefers-color-scheme', value: scheme }]);
      expect(await violations(page)).toEqual([]);
    }
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(390);
    await send(page, { code: '000000' }, FACTORS);
    await says(page, 'The code is wrong, or was used: each serves once. Wait for the next one.');
    await send(page, { code: await earlierCode(uri) }, FACTORS);
    await says(page, 'Recovery codes left: 10.');
    await press(page, 'I have stored it');

    const other = await open('/sign-in?lang=fr');
    await other.page.waitForSelector('[name=password]');
    await send(other.page, { email, password: PASSWORD });
    await other.page.waitForSelector('[name=code]');
    expect(await other.page.$eval('h1', ({ textContent }) => textContent)).toBe('Seconde étape');
    await other.page.waitForFunction(() => document.activeElement?.getAttribute('name') === 'code');
    expect(await violations(other.page)).toEqual([]);
    await send(other.page, { code: codeAt(uri) });
    await other.page.waitForSelector('.identity');
    await other.close();

    const third = await open('/sign-in?lang=ar');
    await third.page.waitForSelector('[name=password]');
    await send(third.page, { email, password: PASSWORD });
    await third.page.waitForSelector('[name=code]');
    await send(third.page, { code: codes[0] ?? '' });
    await third.page.waitForSelector('.identity');
    await third.close();

    await page.reload();
    await says(page, 'Recovery codes left: 9.');
    await press(page, 'Turn the codes off');
    await send(page, { currentPassword: PASSWORD }, FACTORS);
    await says(page, 'Off: the password alone signs in.');
    expect(complaints.filter((each) => !each.includes('401'))).toEqual([]);
    await close();
  });

  it.each([
    ['fr', 'Se connecter avec une clé d’accès', 'Les clés d’accès ne fonctionnent qu’à l’adresse'],
    ['ar', 'تسجيل الدخول بمفتاح مرور', 'لا تعمل مفاتيح المرور إلا على العنوان'],
  ])(
    'passkeys: the page says in %s why they do not work at another address of the service',
    async (language, text, why) => {
      const button = `::-p-xpath(//button[normalize-space()='${text}'])`;
      const { page, close } = await open(`/sign-in?lang=${language}`);
      const here = await page.waitForSelector(button);
      expect(
        await here?.evaluate((each) => [each.matches(':disabled'), each.hasAttribute('aria-describedby')]),
      ).toEqual([false, false]);
      const elsewhere = new URL(service.url);
      elsewhere.hostname = 'other.localhost';
      await page.goto(`${elsewhere.origin}/sign-in?lang=${language}`);
      const there = await page.waitForSelector(button);
      const [isDisabled, told] = ((await there?.evaluate((each) => [
        each.matches(':disabled'),
        document.getElementById(each.getAttribute('aria-describedby') ?? '')?.textContent,
      ])) ?? []) as [boolean, string];
      expect(isDisabled).toBe(true);
      expect(told).toContain(why);
      expect(told).toContain(service.url);
      expect(await violations(page)).toEqual([]);
      await close();
    },
  );

  testLong('a passkey: added, signs in, removed', async () => {
    const { page, complaints, close } = await account('passkey@example.com');
    const device = await page.createCDPSession();
    await device.send('WebAuthn.enable');
    const { authenticatorId } = await device.send('WebAuthn.addVirtualAuthenticator', {
      options: {
        protocol: 'ctap2',
        transport: 'internal',
        hasResidentKey: true,
        hasUserVerification: true,
        isUserVerified: true,
        automaticPresenceSimulation: true,
      },
    });
    await press(page, 'Add a passkey');
    await send(page, { passkeyName: 'Telephone', currentPassword: PASSWORD }, FACTORS);
    await page.waitForFunction(() => document.querySelector('.log li')?.textContent?.includes('Telephone'));
    await press(page, 'Sign out');
    await press(page, 'Sign in with a passkey');
    await page.waitForSelector('.identity');
    // Who does not verify that it is them is refused.
    await press(page, 'Sign out');
    await device.send('WebAuthn.setUserVerified', { authenticatorId, isUserVerified: false });
    await press(page, 'Sign in with a passkey');
    await says(page, 'The passkey was not accepted, or the window was closed.');
    await device.send('WebAuthn.setUserVerified', { authenticatorId, isUserVerified: true });
    await press(page, 'Sign in with a passkey');
    await page.waitForSelector('.identity');
    // Last, because the end of its own session ends the virtual authenticator, too.
    expect(await violations(page)).toEqual([]);
    await press(page, 'Remove');
    await send(page, { currentPassword: PASSWORD }, FACTORS);
    await says(page, 'None yet.');
    expect(complaints.filter((each) => !each.includes('401'))).toEqual([]);
    await close();
  });
});
