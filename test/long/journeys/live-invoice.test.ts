import { fileURLToPath } from 'node:url';
import type { Browser } from 'puppeteer-core';
import { afterAll, describe, expect, it } from 'vitest';
import { type Simulator, startSimulator } from '../../../scripts/authority-simulator/simulator.ts';
import { buildDashboard } from '../../../scripts/build-dashboard.ts';
import { PROOF_MS } from '../../../src/domain/person/limits.ts';
import { SPECIMEN_SELLER } from '../../../src/domain/tenant/tenant.ts';
import { BROWSER_PATH } from '../../support/browser.ts';
import { Client } from '../../support/client.ts';
import { chooseAt, pressAt, tabTo, typeAt } from '../../support/keyboard.ts';
import { firstOf } from '../../support/samples.ts';
import { startService, type TestService } from '../../support/service.ts';
import { withSharedBrowser } from '../../support/shared-browser.ts';
import { expectAccessible, openWorkspacePage, PHONE } from '../../support/workspace-page.ts';

if (BROWSER_PATH === null) console.warn('skipped: no Chromium for tests of pages (Debian: apt-get install chromium)');

describe.skipIf(BROWSER_PATH === null)('a merchant issues a live invoice, by the keyboard, on a phone', () => {
  let simulator: Simulator;
  let service: TestService;
  let browser: Browser;

  withSharedBrowser.beforeAll(async ({ browser: shared }) => {
    await buildDashboard(fileURLToPath(new URL('../../..', import.meta.url)));
    browser = shared;
    simulator = await startSimulator({});
    service = await startService({ ...simulator.settings, RATE_LIMIT_ADDRESS: '1000000' });
  });
  afterAll(async () => {
    await service.close();
    await simulator.close();
  });

  // A seller of its own each, because the authority refuses a number that a seller has used.
  it.each(
    firstOf([
      ['ar', '001525713000194'],
      ['fr', '001525713000291'],
      ['en', '001525713000388'],
    ]),
  )('%s', async (language, ice) => {
    const profile = { ...SPECIMEN_SELLER, ice };
    const opened = await openWorkspacePage(service, browser, { role: 'biller', language, size: PHONE, profile });
    const { page, tenant, person, complaints, close } = opened;
    const client = new Client(service.url, await service.liveKey(tenant.id));
    // The password was entered too long ago to issue a legal document without it.
    const createdAt = new Date(Date.now() - PROOF_MS - 1000);
    await service.app.store.db.collection('person_sessions').updateMany({ userId: person.id }, { $set: { createdAt } });

    await pressAt(page, '.environments a[href$="/live/home"]');
    await page.waitForSelector('[data-environment=live] .home h1');
    await expectAccessible(page);
    await pressAt(page, '.sections a[href$="/live/invoices"]');
    await pressAt(page, 'main a[href$="/live/invoices/new"]');
    await page.waitForSelector('.creation form');
    await pressAt(page, '.creation [type=submit]');
    await page.waitForSelector('dialog[open] [name=password]');
    await expectAccessible(page);
    await page.keyboard.type(person.password);
    await page.keyboard.press('Enter');
    // Nothing is invented for a live invoice, and what is missing is said beside its field.
    await page.waitForFunction(() => document.activeElement?.getAttribute('aria-invalid') === 'true');
    expect(await page.$$eval('[aria-invalid=true]', (fields) => fields.map(({ id }) => id))).toContain('description-1');
    await expectAccessible(page);
    await typeAt(page, '#ice', '001234567000089');
    await typeAt(page, '#name', 'Café de la Gare');
    await chooseAt(page, '#paymentMeans', 'transfer');
    await typeAt(page, '#description-1', 'Conseil');
    await typeAt(page, '#quantity-1', '1,5');
    await chooseAt(page, '#unit-1', 'HUR');
    await typeAt(page, '#unitPrice-1', '1 234,50');
    await typeAt(page, '#taxRate-1', '20');
    await typeAt(page, '#discount-1', '10 %');
    await pressAt(page, '.creation [type=submit]');
    await page.waitForSelector('.status[data-status=accepted]', { timeout: 50_000 });
    await expectAccessible(page);
    const [, id] = /\/live\/invoices\/(inv_[^/]+)$/.exec(new URL(page.url()).pathname) ?? [];
    const { body } = await client.graphql(`{ invoice(id: "${id}") { amount status dgiId number
      lines { quantity unit } terms { paymentMeans } } }`);
    const { dgiId, number, ...invoice } = body.data.invoice;
    // 1,851.75 less 185.18, with 333.31 VAT.
    expect(invoice).toEqual({
      amount: 199_988,
      status: 'accepted',
      terms: { paymentMeans: 'transfer' },
      lines: [{ quantity: 1.5, unit: 'HUR' }],
    });
    expect(dgiId).toMatch(/^\S+$/);
    expect(await page.$eval('main', ({ textContent }) => textContent)).toContain(number);
    await tabTo(page, '.documents a');
    expect(complaints.filter((text) => !/status of 403/.test(text))).toEqual([]);
    await close();
  });
});
