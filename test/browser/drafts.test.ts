import { fileURLToPath } from 'node:url';
import type { Browser, Page } from 'puppeteer-core';
import { extractText, getDocumentProxy } from 'unpdf';
import { afterAll, describe, expect, it } from 'vitest';
import { buildDashboard } from '../../scripts/build-dashboard.ts';
import { BROWSER_PATH } from '../support/browser.ts';
import type { Client } from '../support/client.ts';
import { startService, type TestService } from '../support/service.ts';
import { withSharedBrowser } from '../support/shared-browser.ts';
import { expectAccessible, openWorkspacePage, PHONE } from '../support/workspace-page.ts';

if (BROWSER_PATH === null) console.warn('skipped: no Chromium for tests of pages (Debian: apt-get install chromium)');

describe.skipIf(BROWSER_PATH === null)('drafts in the pages of a signed-in person', () => {
  let service: TestService;
  let browser: Browser;

  withSharedBrowser.beforeAll(async ({ browser: shared }) => {
    await buildDashboard(fileURLToPath(new URL('../..', import.meta.url)));
    browser = shared;
    service = await startService({ RATE_LIMIT_ADDRESS: '1000000', ALLOW_INSECURE_WEBHOOKS: 'true' }, null);
  });
  afterAll(async () => {
    await service.close();
  });

  const open = (given: Parameters<typeof openWorkspacePage>[2]) =>
    openWorkspacePage(service, browser, { open: 'invoices', ...given });

  const untilText = (page: Page, text: string) =>
    page.waitForFunction((expected) => document.querySelector('main')?.textContent?.includes(expected), {}, text);

  async function type(page: Page, selector: string, text: string): Promise<void> {
    await page.locator(selector).click({ count: 3 });
    await page.keyboard.type(text);
  }

  const draftsOf = async (client: Client) =>
    (await client.graphql('{ drafts { nodes { id version content validation { valid } } } }')).body.data.drafts.nodes;

  it('are saved while somebody types, say what is missing, and are issued as invoices', async () => {
    const { page, client, complaints, close } = await open({ role: 'biller', language: 'en' });
    await page.locator('a[href$="/invoices/new"]').click();
    await page.waitForSelector('.creation form');
    await page
      .locator('.creation form [type=button].secondary:not([aria-disabled=true])::-p-text(Save as draft)')
      .click();
    await page.waitForFunction(() => /\/drafts\/drf_/.test(location.pathname));
    await untilText(page, 'Saved at');
    await type(page, '#unitPrice-1', 'about 10');
    await untilText(page, 'What keeps it from being issued');
    const [saved] = await draftsOf(client);
    expect(saved).toMatchObject({
      version: 2,
      content: { lines: [{ unitPrice: 'about 10' }] },
      validation: { valid: false },
    });
    expect(await page.$eval('.creation [type=submit]', (button) => button.getAttribute('aria-disabled'))).toBe('true');
    const price = await page.$eval('#unitPrice-1', (input) => [
      input.getAttribute('aria-invalid'),
      document.getElementById(input.getAttribute('aria-describedby') ?? '')?.textContent,
    ]);
    expect(price).toEqual(['true', 'This value is not valid.']);
    await expectAccessible(page);
    await page.locator('details.findings summary').click();
    const warnings = await page.$$eval('details.findings li', (all) => all.map(({ textContent }) => textContent));
    expect(warnings).toContain(
      'The due date is missing: if the parties agreed on none, it is after 60 days (law 69-21).',
    );
    expect(warnings.filter((text) => /seller/.test(text ?? ''))).toEqual([
      'The seller’s profile is incomplete or has to be checked: Settings',
    ]);
    await expectAccessible(page);
    await page.reload();
    await page.waitForSelector('#unitPrice-1');
    expect(await page.$eval('#unitPrice-1', (input) => (input as HTMLInputElement).value)).toBe('about 10');
    await type(page, '#unitPrice-1', '12,50');
    await type(page, '#quantity-1', '1,5');
    await page.select('#unit-1', 'HUR');
    await type(page, '#discount-1', '10 %');
    await type(page, '#number', 'F 1');
    await type(page, '#discount', '50');
    await page.waitForFunction(() => document.querySelector('#discount')?.getAttribute('aria-invalid') === 'true');
    await type(page, '#discount', '5');
    await type(page, '#discountReason', 'Fidélité');
    await type(page, '#charge', '10 %');
    await page.waitForFunction(() =>
      document
        .querySelector('.form-totals')
        ?.textContent?.includes('Total of lines excl. VAT16.87Discount−5.00Charge1.69'),
    );
    await expectAccessible(page);
    await page.waitForSelector('.creation [type=submit]:not([aria-disabled=true])');
    await page.locator('.viewer summary').click();
    await page.waitForSelector('.viewer iframe[src^="blob:"]', { timeout: 60_000 });
    await page.locator('.creation [type=submit]').click();
    await page.waitForSelector('.status[data-status=accepted]', { timeout: 50_000 });
    expect(await draftsOf(client)).toEqual([]);
    const { body } = await client.graphql(
      '{ invoices { nodes { amount number discount { amount reason } charge { percent } lines { quantity unit unitPrice discount { percent } amount } documents { pdf { url } } } } }',
    );
    const { documents, ...issued } = body.data.invoices.nodes[0];
    // 1.5 h at 12.50 are 18.75, less 1.88.
    const line = { quantity: 1.5, unit: 'HUR', unitPrice: 1250, discount: { percent: 10 }, amount: 1687 };
    // 16.87, less 5.00, with 1.69: 13.56 and 2.71 of VAT.
    expect(issued).toEqual({
      amount: 1627,
      number: 'F 1',
      discount: { amount: 500, reason: 'Fidélité' },
      charge: { percent: 10 },
      lines: [line],
    });
    const sums = await page.$eval('.details .sums', (list) => list.textContent);
    expect(sums).toContain('Total of lines excl. VAT16.87Discount (Fidélité)−5.00Charge 10%1.69');
    // The PDF may take longer than a request for it waits.
    await expect.poll(async () => (await fetch(documents.pdf.url)).status, { timeout: 50_000 }).toBe(200);
    const printed = await (await fetch(documents.pdf.url)).arrayBuffer();
    const { text } = await extractText(await getDocumentProxy(new Uint8Array(printed)), { mergePages: true });
    expect(text.replaceAll(/\s+/g, ' ')).toMatch(/ Remise 10 % −1,88 1,5 h 12,50 20 % 16,87 .* Net à payer 16,27 MAD /);
    expect(complaints).toEqual([]);
    await close();
  });

  it('are never overwritten: who has read an earlier version is told so', async () => {
    const { page, client, tenant, close } = await open({ language: 'en' });
    const content = { customer: { name: 'Atlas' }, metadata: { order: '42' }, lines: 'not a list' };
    const { body } = await client.graphql(
      'mutation ($content: DraftContent!) { createDraft(content: $content) { ... on CreateDraftPayload { draft { id } } } }',
      { content },
    );
    const { id } = body.data.createDraft.draft;
    await page.goto(`${service.url}/tenants/${tenant.id}/test/drafts/${id}`);
    await page.waitForSelector('#name');
    const other = { ...content, customer: { name: 'Changed elsewhere' } };
    await client.graphql(
      'mutation ($id: ID!, $content: DraftContent!) { updateDraft(id: $id, version: 1, content: $content) { __typename } }',
      { id, content: other },
    );
    await type(page, '#name', 'Typed here');
    await untilText(page, 'Somebody else has changed');
    expect(await draftsOf(client)).toMatchObject([
      { version: 2, content: { customer: { name: 'Changed elsewhere' } } },
    ]);
    await page.locator('.refusal button').click();
    await page.waitForFunction(
      () => (document.querySelector('#name') as HTMLInputElement | null)?.value === 'Changed elsewhere',
    );
    await type(page, '#name', 'Typed again');
    await untilText(page, 'Saved at');
    await expect
      .poll(() => draftsOf(client))
      .toMatchObject([{ version: 3, content: { customer: { name: 'Typed again' }, metadata: { order: '42' } } }]);
    await close();
  });

  it('have a list, on a phone in Arabic, and are deleted', async () => {
    const { page, client, tenant, complaints, close } = await open({ language: 'ar', size: PHONE });
    for (const name of ['Atlas', '']) {
      await client.graphql('mutation ($content: DraftContent!) { createDraft(content: $content) { __typename } }', {
        content: { customer: { name } },
      });
    }
    await page.goto(`${service.url}/tenants/${tenant.id}/test/invoices`);
    await page.locator('a[href$="/drafts"]').click();
    await page.waitForSelector('.row-link');
    const current = () =>
      page.$$eval('.sections [aria-current]', (links) => links.map(({ textContent }) => textContent));
    expect(await current()).toEqual(['الفواتير']);
    expect(await page.$$eval('.row-link', (links) => links.map(({ textContent }) => textContent))).toEqual([
      'بدون اسم زبون',
      'Atlas',
    ]);
    await expectAccessible(page);
    await page.locator('.row-link').click();
    await page.waitForSelector('#name');
    expect(await current()).toEqual(['الفواتير']);
    await page.locator('#deposit-part summary').click();
    await page.locator('#more summary').click();
    await page.waitForSelector('#deposits [role=status]:not(:empty)');
    await expectAccessible(page);
    await page.locator('.creation > .actions button').click();
    await page.locator('dialog[open] .danger').click();
    await page.waitForFunction(() => location.pathname.endsWith('/drafts'));
    await expect.poll(async () => (await draftsOf(client)).length).toBe(1);
    expect(complaints).toEqual([]);
    await close();
  });
});
