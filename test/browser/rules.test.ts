import { fileURLToPath } from 'node:url';
import type { Browser } from 'puppeteer-core';
import { afterAll, describe, expect, it } from 'vitest';
import { buildDashboard } from '../../scripts/build-dashboard.ts';
import { BROWSER_PATH } from '../support/browser.ts';
import { firstOf } from '../support/samples.ts';
import { startService, type TestService } from '../support/service.ts';
import { withSharedBrowser } from '../support/shared-browser.ts';
import { expectAccessible, openWorkspacePage, PHONE } from '../support/workspace-page.ts';

if (BROWSER_PATH === null) console.warn('skipped: no Chromium for tests of pages (Debian: apt-get install chromium)');

describe.skipIf(BROWSER_PATH === null)('the page of rules', () => {
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

  const languages = firstOf([
    ['ar', 'ما يطبق اليوم', 'ما هو مقبل', PHONE, 'معطلة: المصادر متعارضة'],
    ['en', 'What applies today', 'What comes', undefined, 'Off: the sources contradict each other'],
    ['fr', 'Ce qui s’applique aujourd’hui', 'Ce qui vient', undefined, 'Désactivée : les sources se contredisent'],
  ]);
  it.each(languages)(
    'is linked from a draft with warnings and says what applies and what comes (%s)',
    async (...row) => {
      const [language, applies, comes, size, off] = row;
      const { page, client, tenant, complaints, close } = await openWorkspacePage(service, browser, {
        language,
        ...(size && { size }),
      });
      const content = { customer: { name: 'Atlas' } };
      const { body } = await client.graphql(
        'mutation ($content: DraftContent!) { createDraft(content: $content) { ... on CreateDraftPayload { draft { id } } } }',
        { content },
      );
      await page.goto(`${service.url}/tenants/${tenant.id}/test/drafts/${body.data.createDraft.draft.id}`);
      await page.locator('details.findings summary').click();
      await page.locator('main a[href$="/rules"]').click();
      await page.waitForSelector('.rules li');
      const cards = await page.$$eval('.card', (all) => all.map(({ textContent }) => textContent));
      expect(cards).toHaveLength(2);
      const [today, later] = cards;
      expect(today).toContain(applies);
      expect(today).toContain(off);
      expect(today).toContain('CGI, art. 117');
      expect(later).toContain(comes);
      expect(later).toContain('CGI, art. 145-IX');
      await expectAccessible(page);
      expect(complaints).toEqual([]);
      await close();
    },
  );
});
