import { fileURLToPath } from 'node:url';
import type { Browser } from 'puppeteer-core';
import { afterAll, describe, expect, it } from 'vitest';
import { type Simulator, startSimulator } from '../../scripts/authority-simulator/simulator.ts';
import { buildDashboard } from '../../scripts/build-dashboard.ts';
import { PROOF_MS } from '../../src/domain/person/limits.ts';
import { SPECIMEN_SELLER } from '../../src/domain/tenant/tenant.ts';
import { answering, held } from '../support/authority.ts';
import { BROWSER_PATH } from '../support/browser.ts';
import { Client, invoiceBody } from '../support/client.ts';
import { STAND_IN_RENDERER, startService, type TestService } from '../support/service.ts';
import { withSharedBrowser } from '../support/shared-browser.ts';
import { expectAccessible, openWorkspacePage, PHONE } from '../support/workspace-page.ts';

if (BROWSER_PATH === null) console.warn('skipped: no Chromium for tests of pages (Debian: apt-get install chromium)');

describe.skipIf(BROWSER_PATH === null)('a live credit note by a person in a browser', () => {
  /** Its signing key makes live documents possible; a scripted authority accepts them. */
  let simulator: Simulator;
  let service: TestService;
  let browser: Browser;

  withSharedBrowser.beforeAll(async ({ browser: shared }) => {
    await buildDashboard(fileURLToPath(new URL('../..', import.meta.url)));
    browser = shared;
    simulator = await startSimulator({});
    const authority = answering({
      submit: async ({ submissionId }) =>
        held({ outcome: 'accepted', dgiId: `DGI-${submissionId}`, decidedAt: new Date() }),
    });
    const settings = { ...simulator.settings, RATE_LIMIT_ADDRESS: '1000000' };
    service = await startService(settings, STAND_IN_RENDERER, false, { authority });
  });
  afterAll(async () => {
    await service.close();
    await simulator.close();
  });

  it('needs the password, and is created once', async () => {
    const profile = { ...SPECIMEN_SELLER, ice: '001525713000085' };
    const opened = await openWorkspacePage(service, browser, { role: 'biller', language: 'fr', size: PHONE, profile });
    const { page, tenant, person, complaints, close } = opened;
    const client = new Client(service.url, await service.liveKey(tenant.id));
    const { id } = (await client.post('/v1/invoices', invoiceBody())).body;
    const { status, amount } = await client.settled(id);
    expect(status).toBe('accepted');
    // The password was entered too long ago.
    const createdAt = new Date(Date.now() - PROOF_MS - 1000);
    await service.app.store.db.collection('person_sessions').updateMany({ userId: person.id }, { $set: { createdAt } });
    const creditNotes = async () =>
      (await client.graphql(`{ invoice(id: "${id}") { creditNotes { nodes { id amount status } } } }`)).body.data
        .invoice.creditNotes.nodes;

    await page.goto(`${service.url}/tenants/${tenant.id}/live/invoices/${id}/credit`);
    await page.waitForSelector('.crediting form .preview tbody');
    await page.select('#reason', 'cancellation');
    await page.focus('.crediting [type=submit]');
    await page.keyboard.press('Enter');
    await page.waitForSelector('dialog[open] [name=password]');
    await expectAccessible(page);
    await page.keyboard.press('Escape');
    await page.waitForFunction(() => document.querySelector('.crediting form > .refusal')?.textContent !== '');
    expect(await page.$eval('.crediting form > .refusal', ({ textContent }) => textContent)).toMatch(/mot de passe/);
    expect(await creditNotes()).toEqual([]);

    await page.focus('.crediting [type=submit]');
    await page.keyboard.press('Enter');
    await page.waitForSelector('dialog[open] [name=password]');
    await page.keyboard.type(person.password);
    await page.keyboard.press('Enter');
    await page.waitForSelector('.status[data-status=accepted]', { timeout: 50_000 });
    const [, creditNoteId] = new URL(page.url()).pathname.match(/\/live\/invoices\/(crn_[^/]+)$/) ?? [];
    expect(await creditNotes()).toEqual([{ id: creditNoteId, amount, status: 'accepted' }]);
    // The browser itself reports the two refusals.
    expect(complaints.filter((text) => !/status of 403/.test(text))).toEqual([]);
    await close();
  });
});
