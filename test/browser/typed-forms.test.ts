import { fileURLToPath } from 'node:url';
import type { Browser, Page } from 'puppeteer-core';
import { afterAll, describe, expect, it } from 'vitest';
import { buildDashboard } from '../../scripts/build-dashboard.ts';
import { BROWSER_PATH } from '../support/browser.ts';
import { invoiceBody } from '../support/client.ts';
import { signedIn } from '../support/person.ts';
import { startService, type TestService } from '../support/service.ts';
import { withSharedBrowser } from '../support/shared-browser.ts';
import { expectAccessible, openWorkspacePage, PHONE } from '../support/workspace-page.ts';

if (BROWSER_PATH === null) console.warn('skipped: no Chromium for tests of pages (Debian: apt-get install chromium)');

describe.skipIf(BROWSER_PATH === null)('what is typed in a form of an invoice', () => {
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

  const shownIn = (page: Page, id: string) => page.$eval(`#${id}`, (input) => (input as HTMLInputElement).value);
  const paste = (page: Page, id: string, text: string) =>
    page.$eval(
      `#${id}`,
      (input, pasted) => {
        const clipboardData = new DataTransfer();
        clipboardData.setData('text/plain', pasted);
        input.dispatchEvent(new ClipboardEvent('paste', { clipboardData, bubbles: true, cancelable: true }));
      },
      text,
    );
  const linesOf = (page: Page) => page.$$eval('fieldset:has(.line)', (all) => all.length);
  const PASTED =
    'Désignation\tQuantité\tPrix\tTVA\nConseil\t2\t1 234,50\t20 %\nLivre\t10\t1,234.56\t7 %\nAudit\t1\t99.5\t20';

  it('is filled from a spreadsheet, and taken back in one step', async () => {
    const { page, complaints, close } = await openWorkspacePage(service, browser, {
      open: 'invoices/new',
      language: 'ar',
      size: PHONE,
    });
    await paste(page, 'description-1', PASTED);
    await page.waitForSelector('#description-3');
    expect(await linesOf(page)).toBe(3);
    expect(await Promise.all(['quantity-2', 'unitPrice-2', 'taxRate-2'].map((id) => shownIn(page, id)))).toEqual([
      '10',
      '1234,56',
      '7',
    ]);
    // 2,962.80 + 13,209.79 + 119.40 with VAT.
    await page.waitForFunction(() => document.querySelector('.form-totals')?.textContent?.includes('16\u00a0291,99'));
    await expectAccessible(page);
    await page.locator('[role=status] .quiet').click();
    await page.waitForFunction(() => !document.querySelector('#description-2'));
    expect(await shownIn(page, 'unitPrice-1')).toBe('1000,00');
    await paste(page, 'description-1', Array(150).fill('Conseil\t2\t10\t20').join('\n'));
    const refusal = await page.waitForSelector('.creation p.refusal:not(:empty)');
    expect(await refusal?.evaluate(({ textContent }) => textContent)).toMatch(/150\D+100/);
    expect(await linesOf(page)).toBe(1);
    await expectAccessible(page);
    await page.locator('#quantity-1').fill('2');
    await page.waitForFunction(() => !document.querySelector('.creation p.refusal:not(:empty)'));
    expect(complaints).toEqual([]);
    await close();
  });

  it('survives a wrong click, a reload and a lost session, and is forgotten when it is issued', async () => {
    const { page, close } = await openWorkspacePage(service, browser, { open: 'invoices/new' });
    await page.locator('#name').fill('Riad Zitoune');
    await page.locator('.sections a[href$="/home"]').click();
    await page.waitForSelector('.home h1');
    await page.goBack();
    await page.waitForSelector('#name');
    expect(await shownIn(page, 'name')).toBe('Riad Zitoune');
    await page.reload();
    await page.waitForSelector('#name');
    expect(await shownIn(page, 'name')).toBe('Riad Zitoune');
    const cookies = await page.browserContext().cookies();
    await page.browserContext().deleteCookie(...cookies);
    await page.locator('button[type=submit]').click();
    await page.waitForSelector('[name=password]');
    await page.browserContext().setCookie(...cookies);
    await page.goto(service.url + new URLSearchParams(new URL(page.url()).search).get('next'));
    await page.waitForSelector('#name');
    expect(await shownIn(page, 'name')).toBe('Riad Zitoune');
    await page.locator('button[type=submit]').click();
    await page.waitForSelector('[data-status]');
    await page.goBack();
    await page.waitForSelector('#name');
    expect(await shownIn(page, 'name')).toBe('Atlas Distribution SARL');
    await close();
  });

  it('belongs to the person, and is forgotten with what was seen of the workspace when they sign out', async () => {
    const { page, tenant, person, close } = await openWorkspacePage(service, browser);
    await page.waitForSelector('.month-so-far');
    const kept = () =>
      page.evaluate(() =>
        [...Object.keys(localStorage), ...Object.keys(sessionStorage)].filter((key) => /^(look|typed)/.test(key)),
      );
    await page.waitForFunction(() => Object.keys(localStorage).some((key) => key.startsWith('look')));
    const form = `${service.url}/tenants/${tenant.id}/test/invoices/new`;
    const nameOfForm = async () => {
      await page.goto(form);
      await page.waitForSelector('#name');
      return shownIn(page, 'name');
    };
    await nameOfForm();
    await page.locator('#name').fill('Riad Zitoune');
    expect(await kept()).toHaveLength(2);
    for (const key of await kept()) expect(key).toContain(person.id);
    // Another member at the same browser, after a session that nobody ended.
    const own = await page.browserContext().cookies();
    const other = await signedIn(service, { memberships: [{ tenantId: tenant.id, role: 'developer' }] });
    const { hostname } = new URL(service.url);
    for (const [name, value] of other.browser.cookies)
      await page.browserContext().setCookie({ name, value, domain: hostname, path: '/', httpOnly: true });
    expect(await nameOfForm()).toBe('Atlas Distribution SARL');
    await page.browserContext().setCookie(...own);
    expect(await nameOfForm()).toBe('Riad Zitoune');
    await page.goto(`${service.url}/account`);
    await page.locator('.identity button').click();
    await page.waitForSelector('[name=password]');
    expect(await kept()).toEqual([]);
    await close();
  });

  it('of a draft survives that the page is left before it is saved', async () => {
    const { page, client, tenant, close } = await openWorkspacePage(service, browser, { open: 'drafts' });
    const content = '{ customer: { name: "Riad" }, lines: [] }';
    const { body } = await client.graphql(
      `mutation { made: createDraft(content: ${content}) { ... on CreateDraftPayload { draft { id } } } }`,
    );
    const { id } = body.data.made.draft;
    await page.goto(`${service.url}/tenants/${tenant.id}/test/drafts/${id}`);
    await page.waitForSelector('#name');
    await page.type('#name', ' Zitoune');
    await page.reload();
    await page.waitForSelector('#name');
    expect(await shownIn(page, 'name')).toBe('Riad Zitoune');
    await expect
      .poll(
        async () => (await client.graphql(`{ draft(id: "${id}") { content } }`)).body.data.draft.content.customer.name,
      )
      .toBe('Riad Zitoune');
    await close();
  });

  it('begins with the customer and the lines of an invoice that is duplicated, without its dates and references', async () => {
    const { page, client, tenant, complaints, close } = await openWorkspacePage(service, browser, { open: 'invoices' });
    const { body: invoice } = await client.post('/v1/invoices', {
      ...invoiceBody(),
      terms: { due_date: '2026-12-31', operation_date: '2026-11-02' },
      metadata: { order: 'A-1' },
    });
    await page.goto(`${service.url}/tenants/${tenant.id}/test/invoices/${invoice.id}`);
    await page.locator('::-p-text(Dupliquer)').click();
    await page.waitForSelector('.findings, #name');
    expect(new URL(page.url()).pathname).toMatch(/\/drafts\/drf_/);
    const { name, ice } = invoiceBody().customer as { name: string; ice: string };
    expect(await Promise.all(['name', 'ice', 'dueDate', 'operationDate'].map((id) => shownIn(page, id)))).toEqual([
      name,
      ice,
      '',
      '',
    ]);
    expect(await shownIn(page, 'description-1')).toBe(
      (invoiceBody().lines as { description: string }[])[0]?.description,
    );
    const draftId = new URL(page.url()).pathname.split('/').at(-1);
    const { content } = (await client.graphql(`{ draft(id: "${draftId}") { content } }`)).body.data.draft;
    expect(Object.keys(content).sort()).toEqual(['amount', 'currency', 'customer', 'lines']);
    expect(complaints).toEqual([]);
    await close();
  });

  it('has its inputs in line, whatever the length of their labels', async () => {
    const { page, close } = await openWorkspacePage(service, browser, { open: 'invoices/new' });
    await page.waitForSelector('.fields.line');
    const tops = await page.$$eval('.fields.line .field > :is(input, select)', (all) =>
      all.map((each) => Math.round(each.getBoundingClientRect().top)),
    );
    expect(tops).toHaveLength(6);
    expect(new Set(tops).size).toBe(1);
    await close();
  });
});
