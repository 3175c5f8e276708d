import { fileURLToPath } from 'node:url';
import type { Browser, Page } from 'puppeteer-core';
import { afterAll, describe, expect, it } from 'vitest';
import { buildDashboard } from '../../scripts/build-dashboard.ts';
import { BROWSER_PATH } from '../support/browser.ts';
import { startService, type TestService } from '../support/service.ts';
import { withSharedBrowser } from '../support/shared-browser.ts';
import { expectAccessible, openWorkspacePage } from '../support/workspace-page.ts';

if (BROWSER_PATH === null) console.warn('skipped: no Chromium for tests of pages (Debian: apt-get install chromium)');

describe.skipIf(BROWSER_PATH === null)('the form of an invoice', () => {
  let service: TestService;
  let browser: Browser;

  withSharedBrowser.beforeAll(async ({ browser: shared }) => {
    await buildDashboard(fileURLToPath(new URL('../..', import.meta.url)));
    browser = shared;
    service = await startService({ RATE_LIMIT_ADDRESS: '1000000' });
  });
  afterAll(() => service.close());

  async function type(page: Page, selector: string, text: string): Promise<void> {
    await page.locator(selector).click({ count: 3 });
    await page.keyboard.type(text);
  }

  /** Sets a field for a day, whose keys are those of the browser's language. */
  async function choose(page: Page, selector: string, day: string): Promise<void> {
    await page.$eval(
      selector,
      (input, value) => {
        (input as HTMLInputElement).value = value;
        input.dispatchEvent(new Event('input', { bubbles: true }));
      },
      day,
    );
  }

  const faultAt = (page: Page, id: string) =>
    page.$eval(
      `#${id}[aria-invalid=true]`,
      (input) => document.getElementById(input.getAttribute('aria-describedby') ?? '')?.textContent,
    );

  it('issues an invoice to a customer abroad, of a line with its exemption', async () => {
    const { page, client, close } = await openWorkspacePage(service, browser, { open: 'invoices/new' });
    await page.waitForSelector('#kind');
    await page.select('#kind', 'person');
    expect(await page.$('#ice')).toBeNull();
    await page.select('#kind', 'foreign');
    expect(await page.$eval('#country option[value=FR]', (option) => option.textContent)).toBe('France');
    await page.select('#country', 'FR');
    await type(page, '#taxNumber', 'FR40303265045');
    expect(await page.$('#exemption-1')).toBeNull();
    await type(page, '#taxRate-1', '0');
    await page.waitForSelector('#exemption-1');
    await page.select('#exemption-1', 'suspension');
    await choose(page, '#certificateDate-1', '2026-02-03');
    // Closed until somebody asks for it, by keyboard too.
    await page.focus('#more summary');
    await page.keyboard.press('Enter');
    await type(page, '#order', 'BC-4711');
    await type(page, '#contract', 'C-2026/9');
    await choose(page, '#periodFrom', '2026-10-31');
    await choose(page, '#periodTo', '2026-10-01');
    await page.select('#foreignCurrency', 'EUR');
    await type(page, '#foreignAmount', '90');
    await type(page, '#foreignRate', '10');
    const today = new Date().toISOString().slice(0, 10);
    await choose(page, '#foreignDate', today);
    await page.locator('button[type=submit].primary').click();
    await page.waitForFunction(() => document.activeElement?.id === 'certificateNumber-1');
    expect(await faultAt(page, 'certificateNumber-1')).toBe('Remplissez ce champ.');
    await type(page, '#certificateNumber-1', 'AC 7');
    await page.locator('button[type=submit].primary').click();
    await page.waitForFunction(() => document.activeElement?.id === 'periodTo');
    expect(await faultAt(page, 'periodTo')).toMatch(/^La période finit avant de commencer/);
    expect(await faultAt(page, 'foreignAmount')).toBe(
      'À ce cours, ce n’est pas le montant de la facture. Valeurs admises\u00a0: 100,00\u00a0EUR',
    );
    await expectAccessible(page);
    await choose(page, '#periodFrom', '2026-09-01');
    await type(page, '#foreignAmount', '100,00');
    await expectAccessible(page);
    await page.locator('button[type=submit].primary').click();
    await page.waitForFunction(() => /\/invoices\/inv_/.test(location.pathname));
    const id = new URL(page.url()).pathname.split('/').at(-1);
    const { body } = await client.graphql(
      `{ invoice(id: "${id}") { customer { kind ice country taxNumber } lines { exemption { code certificate { number date } } } references { order contract } servicePeriod { from to } foreignValue { currency amount rate rateDate } } }`,
    );
    expect(body.data.invoice).toEqual({
      customer: { kind: 'foreign', ice: null, country: 'FR', taxNumber: 'FR40303265045' },
      references: { order: 'BC-4711', contract: 'C-2026/9' },
      servicePeriod: { from: '2026-09-01', to: '2026-10-01' },
      foreignValue: { currency: 'EUR', amount: 10_000, rate: 10, rateDate: today },
      lines: [{ exemption: { code: 'suspension', certificate: { number: 'AC 7', date: '2026-02-03' } } }],
    });
    await page.waitForSelector('.details dl');
    const facts = (await page.$eval('.details dl', (list) => list.textContent)) ?? '';
    expect(facts).toContain('CommandeBC-4711ContratC-2026/9Période1 septembre 2026 au 1 octobre 2026');
    expect(facts.replaceAll('\u00a0', ' ')).toContain('Valeur en devise100,00 EUR (1 EUR = 10 MAD, cours du ');
    await close();
  });

  it('deducts a deposit in a draft, and in the invoice that replaces the issued one', async () => {
    const { page, client, tenant, complaints, close } = await openWorkspacePage(service, browser, {
      role: 'biller',
      language: 'en',
      open: 'invoices/new',
    });
    const accepted = () => page.waitForSelector('.status[data-status=accepted]', { timeout: 50_000 });
    const idOf = () => new URL(page.url()).pathname.split('/').at(-1) ?? '';
    const until = (selector: string, text: string) =>
      page.waitForFunction(
        (at, expected) =>
          document
            .querySelector(at)
            ?.textContent?.replaceAll('\u00a0', ' ')
            .replaceAll(/[\u2066\u2069]/g, '')
            .includes(expected),
        {},
        selector,
        text,
      );
    const openDeposits = async () => {
      await page.waitForSelector('#deposit-part summary');
      await page.focus('#deposit-part summary');
      await page.keyboard.press('Enter');
    };
    await openDeposits();
    await page.locator('#isDeposit').click();
    expect(await page.$('#deposits')).toBeNull();
    await type(page, '#unitPrice-1', '300');
    await page.locator('.creation [type=submit]').click();
    await accepted();
    await until('h1', 'Deposit invoice 2026-');
    const deposit = idOf();

    await page.goto(`${service.url}/tenants/${tenant.id}/test/invoices/new`);
    await openDeposits();
    await page.waitForSelector(`#deposit-${deposit}:not(:disabled)`);
    await until('#deposits', '360.00 MAD');
    await page.locator(`#deposit-${deposit}`).click();
    await until('.form-totals', 'Deposits deducted, excl. VAT−300.00');
    await until('.form-totals', 'Amount due 840.00');
    await expectAccessible(page);
    await page.locator('.creation [type=button].secondary::-p-text(Save as draft)').click();
    await page.waitForFunction(() => /\/drafts\/drf_/.test(location.pathname));
    await until('.form-totals', 'Amount due 840.00');
    await until('#deposits', '360.00 MAD');
    await page.locator('.creation [type=submit]:not([aria-disabled=true])').click();
    await accepted();
    await until('.amount', '840.00');
    const final = idOf();
    await page.waitForSelector(`.details a[href$="/${deposit}"]`);

    await page.locator(`a[href$="/${final}/replace"]`).click();
    await page.waitForSelector(`#deposit-${deposit}:checked`);
    await until('.form-totals', 'Amount due 840.00');
    await type(page, '#quantity-1', '2');
    await until('.form-totals', 'Amount due 2,040.00');
    await page.focus('#more summary');
    await page.keyboard.press('Enter');
    await type(page, '#withheldPercent', '75');
    await type(page, '#regularityNumber', 'ARF-7');
    await choose(page, '#regularityDate', new Date().toISOString().slice(0, 10));
    await until('.form-totals', 'VAT withheld by the buyer (75 %)−255.00Amount due 1,785.00');
    await expectAccessible(page);
    await page.locator('.creation [type=submit]').click();
    await page.waitForFunction((id) => !location.pathname.includes(id), {}, final);
    await accepted();
    // Less 75 % of 340.00 of VAT.
    await until('.amount', '1,785.00');
    await until('.details', 'VAT withheld by the buyer (75 %)−255.00');
    await until('.details', 'Certificate of tax regularity no.ARF-7 (');
    const { body } = await client.graphql(`{ invoice(id: "${deposit}") { deductedIn { id amount } } }`);
    expect(body.data.invoice.deductedIn).toEqual({ id: idOf(), amount: 204_000 });
    // Nothing of it is left, so it is not offered again.
    await page.goto(`${service.url}/tenants/${tenant.id}/test/invoices/new`);
    await openDeposits();
    await until('#deposits', 'This customer has no accepted deposit to deduct.');
    expect(complaints).toEqual([]);
    await close();
  });
});
