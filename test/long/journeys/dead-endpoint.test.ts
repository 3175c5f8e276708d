import { fileURLToPath } from 'node:url';
import type { Browser } from 'puppeteer-core';
import { afterAll, describe, expect, it } from 'vitest';
import { buildDashboard } from '../../../scripts/build-dashboard.ts';
import { BROWSER_PATH } from '../../support/browser.ts';
import { invoiceBody } from '../../support/client.ts';
import { pressAt, typeAt } from '../../support/keyboard.ts';
import { type Receiver, startReceiver } from '../../support/receiver.ts';
import { firstOf } from '../../support/samples.ts';
import { startService, type TestService } from '../../support/service.ts';
import { withSharedBrowser } from '../../support/shared-browser.ts';
import { expectAccessible, openWorkspacePage, PHONE } from '../../support/workspace-page.ts';

if (BROWSER_PATH === null) console.warn('skipped: no Chromium for tests of pages (Debian: apt-get install chromium)');

describe.skipIf(BROWSER_PATH === null)(
  'a dead endpoint is noticed and mended, its deliveries resent, by the keyboard',
  () => {
    let service: TestService;
    let browser: Browser;
    let receiver: Receiver;

    withSharedBrowser.beforeAll(async ({ browser: shared }) => {
      await buildDashboard(fileURLToPath(new URL('../../..', import.meta.url)));
      browser = shared;
      receiver = await startReceiver();
      service = await startService({
        RATE_LIMIT_ADDRESS: '1000000',
        ALLOW_INSECURE_WEBHOOKS: 'true',
        WEBHOOK_RETRY_SCHEDULE: '0s,100ms',
      });
    });
    afterAll(async () => {
      await service.close();
      await receiver.close();
    });

    it.each(firstOf(['en', 'ar', 'fr']))('%s', async (language) => {
      const opened = await openWorkspacePage(service, browser, { role: 'owner', language, size: PHONE });
      const { page, client, tenant, complaints, close } = opened;
      receiver.received.length = 0;
      receiver.answer(({ url }, response) => {
        response.statusCode = url === '/right' ? 200 : 500;
        response.end();
      });
      const hook = { url: `${receiver.url}/wrong`, events: ['invoice.accepted'] };
      const { id: endpointId } = (await client.post('/v1/webhook_endpoints', hook)).body;
      const made = await Promise.all(Array.from({ length: 3 }, () => client.post('/v1/invoices', invoiceBody())));
      const ids = made.map(({ body }) => body.id as string);
      for (const id of ids) await client.settled(id);
      const failed = '{ webhookDeliveries(state: failed) { nodes { id } } }';
      await expect
        .poll(async () => (await client.graphql(failed)).body.data.webhookDeliveries.nodes.length, { timeout: 30_000 })
        .toBe(3);
      // As if this had begun an hour ago.
      const endpoints = service.app.store.db.collection<{ _id: string }>('webhook_endpoints');
      await endpoints.updateOne({ _id: endpointId }, { $set: { failingSince: new Date(Date.now() - 3_600_000) } });
      await page.reload();

      const told = '[data-condition=endpoints_failing] a[href$="/endpoints"]';
      await page.waitForSelector(told);
      await expectAccessible(page);
      await pressAt(page, told);
      await page.waitForSelector('.endpoint [data-state=failed]');
      await expectAccessible(page);
      await pressAt(page, '.endpoint .row-actions button:nth-of-type(2)');
      await typeAt(page, '[name=url]', `${receiver.url}/right`);
      await expectAccessible(page);
      await pressAt(page, '.new-endpoint [type=submit]');
      await page.waitForFunction(() => document.querySelector('.endpoint h2')?.textContent?.endsWith('/right'));
      await pressAt(page, '.sections a[href$="/deliveries"]');
      await pressAt(page, '.replay summary');
      await pressAt(page, '.replay [type=submit]');
      await page.waitForFunction(() => /3|٣/.test(document.querySelector('.replay [role=status]')?.textContent ?? ''));
      await expectAccessible(page);
      await pressAt(page, '.replay .actions button.quiet');
      await page.waitForSelector('dialog[open]');
      await expectAccessible(page);
      await pressAt(page, 'dialog[open] .danger');
      await expect.poll(() => receiver.received.filter(({ path }) => path === '/right').length).toBe(3);
      expect(
        receiver.received
          .filter(({ path }) => path === '/right')
          .map(({ event }) => event.data.id)
          .sort(),
      ).toEqual(ids.toSorted());
      await page.waitForFunction(() => document.querySelectorAll('.rows [data-state=delivered]').length === 3);
      await pressAt(page, '.sections a[href$="/home"]');
      await page.waitForSelector('.conditions');
      expect(await page.$('[data-condition=endpoints_failing]')).toBeNull();
      expect(page.url()).toContain(`/tenants/${tenant.id}/test/home`);
      expect(complaints).toEqual([]);
      await close();
    });
  },
);
