import { fileURLToPath } from 'node:url';
import type { Browser, HTTPRequest, Page } from 'puppeteer-core';
import { afterAll, describe, expect, it } from 'vitest';
import { buildDashboard } from '../../scripts/build-dashboard.ts';
import type { Role } from '../../src/domain/person/person.ts';
import { BROWSER_PATH } from '../support/browser.ts';
import { Client, invoiceFor } from '../support/client.ts';
import { Browser as SignedInBrowser } from '../support/person.ts';
import { startReceiver } from '../support/receiver.ts';
import { firstOf, testLong } from '../support/samples.ts';
import { startService, type TestService } from '../support/service.ts';
import { withSharedBrowser } from '../support/shared-browser.ts';
import { DESKTOP, expectAccessible, openWorkspacePage, PHONE } from '../support/workspace-page.ts';

if (BROWSER_PATH === null) console.warn('skipped: no Chromium for tests of pages (Debian: apt-get install chromium)');

const ACCEPTED = '001234567000089';
const REJECTED = '999000000000102';

describe.skipIf(BROWSER_PATH === null)('the pages of a signed-in person in a browser', () => {
  let service: TestService;
  let browser: Browser;

  withSharedBrowser.beforeAll(async ({ browser: shared }) => {
    await buildDashboard(fileURLToPath(new URL('../..', import.meta.url)));
    browser = shared;
    service = await startService({ RATE_LIMIT_ADDRESS: '1000000', ALLOW_INSECURE_WEBHOOKS: 'true' });
  });
  afterAll(async () => {
    await service.close();
  });

  const signIn = (role: Role = 'owner', given: { language?: string; size?: object } = {}) =>
    openWorkspacePage(service, browser, { role, ...given, open: 'invoices' });

  const rowsOf = (page: Page) =>
    page.$$eval('.rows tbody tr', (rows) =>
      rows.map((row) => [...row.children].map(({ textContent }) => (textContent ?? '').replace(/\s+/g, ' ').trim())),
    );
  const pathOf = (page: Page) => page.url().slice(service.url.length);
  async function settled(client: Client, ice: string): Promise<string> {
    const { id } = (await client.post('/v1/invoices', invoiceFor(ice))).body;
    await client.settled(id);
    return id;
  }

  it('show new invoices and their statuses without a reload', async () => {
    const { page, client, tenant, complaints, close } = await signIn();
    expect(pathOf(page)).toBe(`/tenants/${tenant.id}/test/invoices`);
    await page.waitForSelector('.empty');
    await page.waitForSelector('[data-connection=live]');
    await settled(client, ACCEPTED);
    await page.waitForSelector('.badge[data-status=accepted]', { timeout: 50_000 });
    const [row] = await rowsOf(page);
    expect(row?.[0]).toMatch(/^\d{4}-000001$/);
    expect(row?.slice(2)).toEqual(['Acceptée', expect.stringMatching(/\d{4}$/), '120,00 MAD']);
    expect(complaints).toEqual([]);
    await close();
  });

  it('show shapes while they are read, a retry where nothing answers, and a page where there is none', async () => {
    const { page, tenant, close } = await signIn('owner', { language: 'ar' });
    const root = `${service.url}/tenants/${tenant.id}/test`;
    /** What becomes of reads of the API; null: they are held. */
    let fate: 'failed' | 'answered' | null = null;
    const held: HTTPRequest[] = [];
    await page.setRequestInterception(true);
    page.on('request', (request) => {
      if (!request.url().includes('/graphql') || fate === 'answered') return void request.continue();
      if (fate === 'failed') return void request.abort();
      held.push(request);
    });
    const shapes = () =>
      page.$eval('main section[aria-busy=true]', (section) => getComputedStyle(section, '::after').content);
    for (const path of ['settings', 'rules', 'people', 'endpoints', 'invoices/inv_x']) {
      fate = null;
      await page.goto(`${root}/${path}`);
      await page.waitForSelector('main section[aria-busy=true]');
      expect(await shapes()).toBe('""');
      fate = 'failed';
      for (const request of held.splice(0)) await request.abort();
      await page.waitForSelector('.unreachable button');
      fate = 'answered';
      await page.$$eval('.unreachable button', (all) => {
        for (const button of all) (button as HTMLElement).click();
      });
      await page.waitForFunction(() => !document.querySelector('.unreachable, main section[aria-busy=true]'));
    }
    expect(await page.$eval('main .notice h1', ({ textContent }) => textContent)).toBe('الصفحة غير موجودة');
    await expectAccessible(page);
    for (const path of [`${root}/nothing`, `${root}/keys/x/y`]) {
      await page.goto(path);
      await page.waitForSelector('main .notice a[href$="/test/home"]');
    }
    const answer = await page.goto(`${service.url}/nothing/here`);
    expect(answer?.status()).toBe(404);
    await page.waitForSelector('.notice a[href="/"]');
    const program = await fetch(`${service.url}/nothing/here`);
    expect([program.status, (await program.json()).error.code]).toEqual([404, 'resource_not_found']);
    await close();
  });

  it('keep their frame around the account, from which a link leads back to where one was', async () => {
    const { page, tenant, close } = await openWorkspacePage(service, browser, {
      language: 'ar',
      size: PHONE,
      open: 'invoices?status=rejected',
    });
    await page.locator('.sections a[href$="/account"]').click();
    await page.waitForSelector('.identity');
    expect(pathOf(page)).toBe(`/tenants/${tenant.id}/test/account`);
    const frame = await page.evaluate(() => [
      document.querySelector('.brand')?.textContent,
      document.querySelector('.environments [aria-current]')?.textContent,
      document.querySelector('.sections [aria-current]')?.getAttribute('href'),
    ]);
    expect(frame).toEqual(['Test tenant', 'اختبار', pathOf(page)]);
    // The address of this service is one of numbers.
    await page.waitForSelector('button:disabled[aria-describedby] + .hint');
    await expectAccessible(page);
    await page.reload();
    await page.waitForSelector('.identity');
    await page.goBack();
    await page.waitForSelector('.empty');
    await page.locator('.sections a[href$="/account"]').click();
    await page.waitForSelector('.identity');
    await page.locator('main a[href*="status=rejected"]').click();
    await page.waitForSelector('.empty');
    expect(pathOf(page)).toBe(`/tenants/${tenant.id}/test/invoices?status=rejected`);
    await close();
  });

  testLong('keep filter and page in the address, over reload and back', async () => {
    const { page, client, tenant, close } = await signIn('viewer');
    const made = await Promise.all(Array.from({ length: 30 }, () => client.post('/v1/invoices', invoiceFor(ACCEPTED))));
    await settled(client, REJECTED);
    // Each has its number.
    await Promise.all(made.map(({ body }) => client.settled(body.id)));
    // The newest is rejected. An earlier list has fewer invoices behind its first page.
    await page.waitForSelector('.rows tr:first-child .badge[data-status=rejected]', { timeout: 50_000 });
    await page.waitForFunction(() => document.querySelectorAll('.rows tbody tr').length === 25);
    await page.locator('.pages a').click();
    await page.waitForFunction(() => document.querySelectorAll('.rows tbody tr').length === 6);
    const numbers = async () => (await rowsOf(page)).map(([number]) => number);
    await expect.poll(async () => new Set(await numbers()).size).toBe(6);
    const second = await numbers();
    await page.reload();
    await page.waitForSelector('.rows');
    expect(await numbers()).toEqual(second);
    await page.goBack();
    await page.waitForFunction(() => document.querySelectorAll('.rows tbody tr').length === 25);
    await page.locator('.filters a[href$="status=rejected"]').click();
    await page.waitForFunction(() => document.querySelectorAll('.rows tbody tr').length === 1);
    expect(pathOf(page)).toBe(`/tenants/${tenant.id}/test/invoices?status=rejected`);
    // Tomorrow nothing was created yet.
    const tomorrow = new Date(Date.now() + 2 * 86_400_000).toISOString().slice(0, 10);
    await page.goto(`${service.url}/tenants/${tenant.id}/test/invoices?from=${tomorrow}`);
    await page.waitForSelector('.empty');
    await page.goto(`${service.url}/tenants/${tenant.id}/test/invoices?until=${tomorrow}&status=rejected`);
    await page.waitForSelector('.rows');
    expect(await rowsOf(page)).toHaveLength(1);
    await close();
  });

  it('show an invoice to its end, with its lines, and not those of the other environment', async () => {
    const { page, client, tenant, close } = await signIn('developer', { language: 'en' });
    const id = (await client.post('/v1/invoices', invoiceFor(REJECTED))).body.id;
    await page.waitForSelector('.row-link');
    await page.locator('.row-link').click();
    await page.waitForSelector('.status[data-status=rejected]', { timeout: 50_000 });
    expect(pathOf(page)).toBe(`/tenants/${tenant.id}/test/invoices/${id}`);
    expect(await page.$eval('.reason', ({ textContent }) => textContent)).toMatch(/ICE/);
    expect(await page.$$eval('.part .rows tbody tr', (rows) => rows.length)).toBe(1);
    await page.waitForFunction(() => /^Invoice .* Fatoura$/.test(document.title));
    await page.goto(`${service.url}/tenants/${tenant.id}/live/invoices/${id}`);
    await page.waitForFunction(() => document.querySelector('.notice h1')?.textContent === 'Page not found');
    const other = await service.tenant();
    await page.goto(`${service.url}/tenants/${other.id}/test/invoices`);
    await page.waitForFunction(() => document.querySelector('.notice h1')?.textContent === 'Page not found');
    await close();
  });

  testLong('keep the filter when the language changes, and what is shown when the service is away', async () => {
    const { page, client, tenant, close } = await signIn('viewer');
    await settled(client, REJECTED);
    await page.waitForSelector('.rows');
    await page.locator('.filters a[href$="status=rejected"]').click();
    await page.waitForFunction(() => location.search === '?status=rejected');
    await page.locator('.languages button[lang=en]').click();
    await page.waitForFunction(() => location.search.endsWith('lang=en'));
    expect(pathOf(page)).toBe(`/tenants/${tenant.id}/test/invoices?status=rejected&lang=en`);
    await page.reload();
    await page.waitForSelector('.filters a[aria-current][href$="status=rejected"]');
    await page.waitForSelector('.rows');
    await page.setOfflineMode(true);
    await page.locator('.filters a[href$="status=accepted"]').click();
    await page.waitForSelector('.invoices .refusal');
    await page.setOfflineMode(false);
    await page.locator('.sections a[href$="/invoices"]').click();
    await page.waitForSelector('.rows');
    await close();
  });

  testLong('come by themselves once the service can be reached', async () => {
    const { page, close } = await signIn('viewer');
    const away = (request: HTTPRequest) =>
      void (request.url().endsWith('/auth/session') ? request.abort() : request.continue());
    await page.setRequestInterception(true);
    page.on('request', away);
    await page.reload();
    await page.waitForSelector('.notice');
    page.off('request', away);
    await page.setRequestInterception(false);
    await page.waitForSelector('.invoices h1');
    await close();
  });

  testLong('take the focus along: to the content of the next page, and to what is left', async () => {
    const { page, client, close } = await signIn('owner', { language: 'en' });
    const focused = () => page.evaluate(() => document.activeElement?.id);
    await settled(client, REJECTED);
    await page.waitForSelector('.row-link');
    await page.focus('.row-link');
    await page.keyboard.press('Enter');
    await page.waitForSelector('.status');
    await expect.poll(focused).toBe('content');
    await page.locator('.sections a[href$="/keys"]').click();
    await page.waitForSelector('.log button');
    await press(page, 'Revoke', true);
    await page.waitForSelector('.log [data-revoked=true]');
    await expect.poll(focused).toBe('content');
    await close();
  });

  it('lead to the form when the session has ended, and back afterwards', async () => {
    const { page, tenant, close } = await signIn();
    await page.waitForSelector('.invoices .empty');
    // Otherwise the page may learn it from its stream, before the click.
    await page.waitForSelector('[data-connection=live]');
    const cookies = await page.browserContext().cookies();
    await page.browserContext().deleteCookie(...cookies);
    await page.locator('.filters a[href$="status=accepted"]').click();
    await page.waitForSelector('[name=password]');
    const there = `/tenants/${tenant.id}/test/invoices?status=accepted`;
    expect(new URL(page.url()).searchParams.get('next')).toBe(there);
    await page.browserContext().setCookie(...cookies);
    await page.goto(service.url + there);
    await page.waitForSelector('.invoices h1');
    await close();
  });

  testLong('lead to the form when the session ends while the page only listens', async () => {
    const { page, tenant, close } = await signIn();
    await page.waitForSelector('[data-connection=live]');
    await page.evaluate(() => fetch('/auth/sign-out', { method: 'POST' }).then(() => undefined));
    // Streams are checked every 5 s.
    await page.waitForSelector('[name=password]', { timeout: 50_000 });
    expect(new URL(page.url()).searchParams.get('next')).toBe(`/tenants/${tenant.id}/test/invoices`);
    await close();
  });

  /** Presses the button with this text, and the one of the dialog that asks. */
  async function press(page: Page, text: string, isConfirmed = false): Promise<void> {
    // Waits until the button stays in its place.
    await page.locator(`main ::-p-xpath(//button[normalize-space()="${text}"])`).click();
    if (!isConfirmed) return;
    await page.waitForSelector('dialog[open]');
    await page.locator('dialog .danger').click();
  }

  it('make keys, whose tokens are shown once, and revoke them', async () => {
    const { page, tenant, close } = await signIn('developer', { language: 'en' });
    await page.locator('.sections a[href$="/keys"]').click();
    await page.waitForSelector('.actions [name=name]');
    await page.type('.actions [name=name]', 'Shop');
    await press(page, 'New secret key');
    const token = await page.waitForSelector('.secret code').then((code) => code?.evaluate((each) => each.textContent));
    expect(token).toMatch(/^sk_test_/);
    const made = new Client(service.url, token ?? '');
    expect((await made.get('/v1/invoices')).status).toBe(200);
    await page.reload();
    await page.waitForSelector('.log li');
    expect(await page.evaluate(() => document.body.textContent)).not.toContain(token);
    const before = await page.$$eval('.log li', (rows) => rows.length);
    // The newest is first.
    const newest = () => page.$eval('.log li', ({ textContent }) => textContent);
    expect(await newest()).toMatch(/^Shop/);
    await press(page, 'Rename');
    await page.waitForSelector('.rename [name=name]');
    await page.type('.rename [name=name]', 'Shop 2');
    await page.keyboard.press('Enter');
    await page.waitForFunction(() => document.querySelector('.log li')?.textContent?.startsWith('Shop 2'));
    const reloaded = async () => {
      await page.reload();
      await page.waitForSelector('.log li');
      return newest();
    };
    await expect.poll(reloaded, { timeout: 30_000, interval: 2000 }).toContain('last used on');
    await expectAccessible(page);
    await press(page, 'Revoke', true);
    await page.waitForSelector('.log [data-revoked=true]');
    expect((await made.get('/v1/invoices')).status).toBe(401);
    expect(await page.$$eval('.log li', (rows) => rows.length)).toBe(before);
    // In the live environment a developer only looks.
    await page.goto(`${service.url}/tenants/${tenant.id}/live/keys`);
    await page.waitForSelector('.empty');
    expect(await page.$$eval('main button', (all) => all.length)).toBe(0);
    await close();
  });

  it('add an endpoint, send it an event, and show the delivery with its request and answer', async () => {
    const receiver = await startReceiver();
    const { page, complaints, close } = await signIn('owner', { language: 'en' });
    await page.locator('.sections a[href$="/endpoints"]').click();
    await page.waitForSelector('[name=url]');
    await page.type('[name=url]', `${receiver.url}/hook`);
    await press(page, 'Add');
    const secret = await page
      .waitForSelector('.secret code')
      .then((code) => code?.evaluate((each) => each.textContent));
    expect(secret).toMatch(/^whsec_/);
    await press(page, 'I have stored it');
    await press(page, 'Send a test event');
    await expect.poll(() => receiver.received.length).toBe(1);
    await page.locator('.sections a[href$="/deliveries"]').click();
    await page.waitForSelector('.data-rows .badge[data-state=delivered]', { timeout: 50_000 });
    const [row = ''] = await page.$$eval('.data-rows tbody tr', (all) => all.map(({ innerText }) => innerText));
    expect(row).toContain(receiver.url.replace('http://', ''));
    await page.locator('.data-rows .row-link').click();
    await page.waitForSelector('.delivery pre');
    const shown = await page.$eval('.delivery', ({ textContent }) => textContent ?? '');
    expect(shown).toContain(`POST ${receiver.url}/hook`);
    expect(shown).toMatch(/webhook-signature: /i);
    expect(shown).not.toContain(secret);
    await press(page, 'Send again');
    await expect.poll(() => receiver.received.length).toBe(2);
    await page.waitForFunction(() => document.querySelectorAll('.delivery h3').length === 2);
    await page.waitForSelector('.delivery .badge[data-state=delivered]', { timeout: 50_000 });
    await page.goBack();
    await page.waitForSelector('.replay');
    // The whole period once more, after its count.
    await page.locator('.replay summary').click();
    await page.select('#replay-state', 'delivered');
    await press(page, 'Count');
    await page.waitForFunction(() => document.querySelector('.replay [role=status]')?.textContent === 'Deliveries: 1.');
    await page.locator('.replay .quiet').click();
    await page.waitForSelector('.replay dialog[open]');
    await page.locator('.replay .danger').click();
    await expect.poll(() => receiver.received.length).toBe(3);
    // Attempts are counted after some seconds; the page of the endpoints reads them when it is opened.
    const counts = service.app.store.db.collection('endpoint_hours');
    await expect.poll(() => counts.countDocuments()).toBeGreaterThan(0);
    await page.locator('.sections a[href$="/endpoints"]').click();
    await page.waitForFunction(() =>
      /100 % of \d attempts succeeded/.test(document.querySelector('.endpoint')?.textContent ?? ''),
    );
    await page.locator('.endpoint details summary').click();
    await page.waitForSelector('.endpoint .chart svg');
    expect(await page.$$eval('.endpoint .chart tbody tr', (rows) => rows.length)).toBe(48);
    await press(page, 'Edit');
    await page.locator('[aria-labelledby] [name=description]').fill('orders');
    await page.locator('.new-endpoint [value=invoice_signing]').click();
    await press(page, 'Save');
    await page.waitForFunction(() => document.querySelector('.endpoint .under')?.textContent === 'orders');
    expect(await page.$$eval('.endpoint code', (all) => all.map(({ textContent }) => textContent?.trim()))).toEqual([
      'invoice.transmitted',
      'invoice.accepted',
      'invoice.rejected',
    ]);
    await press(page, 'Disable');
    await page.waitForSelector('.endpoint .badge[data-state=cancelled]');
    await press(page, 'Delete', true);
    await page.waitForSelector('.empty');
    expect(complaints).toEqual([]);
    await close();
    await receiver.close();
  });

  testLong('follow the events as a receiver gets them', async () => {
    const { page, client, complaints, close } = await signIn('viewer', { language: 'en' });
    await page.locator('.sections a[href$="/console"]').click();
    await page.waitForSelector('.console h1');
    await page.waitForFunction(() =>
      document.querySelector('.console [role=status]')?.textContent?.startsWith('Waiting'),
    );
    const { body } = await client.post('/v1/invoices', invoiceFor(ACCEPTED));
    await page.waitForFunction(() => document.querySelectorAll('.console .delivery').length === 3, { timeout: 50_000 });
    await page.locator('.console .delivery summary').click();
    await page.waitForSelector('.console .delivery[open] pre');
    const shown = JSON.parse(await page.$eval('.console .delivery pre', ({ textContent }) => textContent ?? ''));
    expect(shown).toMatchObject({ type: 'invoice.accepted', data: { id: body.id } });
    await press(page, 'Clear');
    await page.waitForFunction(() => document.querySelectorAll('.console .delivery').length === 0);
    expect(complaints).toEqual([]);
    await close();
  });

  testLong('invite somebody with a link, change the role, and end it', async () => {
    const { page, tenant, complaints, close } = await signIn('owner', { language: 'en' });
    await page.locator('.sections a[href$="/people"]').click();
    // The list moves the form down when it comes, and a click with it would miss the button.
    await page.waitForSelector('.log li');
    await press(page, 'Invite');
    const link = await page.waitForSelector('.secret code').then((code) => code?.evaluate((each) => each.textContent));
    expect(link).toMatch(/\/join#[\w-]{32}$/);
    const other = new SignedInBrowser(service.url);
    const account = { name: 'Youssef', email: 'youssef@example.com', password: 'correct horse battery' };
    const joined = await other.post('/auth/accept-invitation', { ...account, token: link?.split('#')[1] });
    expect(joined.body.memberships).toMatchObject([{ tenantId: tenant.id, role: 'viewer' }]);
    await page.reload();
    await page.waitForSelector('[aria-label="Role of Youssef"]');
    await page.select('[aria-label="Role of Youssef"]', 'developer');
    await expect.poll(async () => (await other.session()).body.memberships[0]?.role).toBe('developer');
    await press(page, 'Invite');
    await page.waitForFunction(() => document.body.innerText.includes('Open invitations'));
    await press(page, 'Withdraw', true);
    await page.waitForFunction(() => !document.body.innerText.includes('Open invitations'));
    await page.waitForSelector('[aria-label="Role of Youssef"]');
    await page.locator('.log li:nth-child(2) button').click();
    await page.waitForSelector('dialog[open]');
    expect(await page.$eval('dialog p', ({ textContent }) => textContent)).toMatch(/^Remove Youssef\?/);
    await page.locator('dialog .danger').click();
    await page.waitForFunction(() => document.querySelectorAll('.log li').length === 1);
    expect((await other.session()).body.memberships).toEqual([]);
    expect(complaints).toEqual([]);
    await close();
  });

  it.each(
    firstOf([
      ['ar', PHONE],
      ['fr', PHONE],
      ['en', DESKTOP],
    ]),
  )('violate no rule of accessibility and are no wider than the screen: %s', async (language, size) => {
    const { page, client, complaints, close } = await signIn('owner', { language, size });
    const customer = { ice: ACCEPTED, name: 'W'.repeat(200) };
    const { body } = await client.post('/v1/invoices', { ...invoiceFor(ACCEPTED), customer });
    await client.settled(body.id);
    await page.waitForSelector('.badge[data-status=accepted]', { timeout: 50_000 });
    const check = () => expectAccessible(page);
    await check();
    await page.locator('.row-link').click();
    await page.waitForSelector('[data-status=accepted] .steps');
    await check();
    const endpoint = { url: `${'https://example.com/'.padEnd(200, 'w')}`, events: ['invoice.accepted'] };
    await client.post('/v1/webhook_endpoints', endpoint);
    for (const [name, ready] of [
      ['keys', '.log li'],
      ['endpoints', '.endpoint'],
      ['deliveries', '.empty'],
      ['people', '.log li'],
      ['console', '.console h1'],
    ] as const) {
      await page.locator(`.sections a[href$="/${name}"]`).click();
      await page.waitForSelector(ready);
      await check();
    }
    expect(complaints).toEqual([]);
    await close();
  });
});
