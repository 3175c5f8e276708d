import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Page } from 'puppeteer-core';
import { launchChromium } from '../../src/adapters/pdf/chromium-launcher.ts';
import { invoicePage } from '../../src/adapters/pdf/invoice-page.ts';
import { createPdfRenderer } from '../../src/adapters/pdf/pdf-renderer.ts';
import { softwareKey } from '../../src/adapters/signing-key/software-key.ts';
import { makeTestIdentity } from '../../src/adapters/signing-key/test-certificate.ts';
import { createSignedRenderer } from '../../src/app/signed-renderer.ts';
import { COMPANY } from '../../src/domain/invoice/customer-kind.ts';
import { NO_PARTICULARS } from '../../src/domain/invoice/particulars.ts';
import type { PrintedInvoice } from '../../src/domain/invoice/ports.ts';
import { NO_TERMS } from '../../src/domain/invoice/terms.ts';
import { totalsOf } from '../../src/domain/invoice/totals.ts';
import { SPECIMEN_SELLER } from '../../src/domain/tenant/tenant.ts';
import type { Benchmark, Measured, Side } from './harness.ts';
import { hasProcesses, processes } from './process-tree.ts';

const AT_ONCE = 2;
const CACHE = join(tmpdir(), 'fatoura-bench-chromium');
const XML = Buffer.from(`<Invoice>${'<cac:InvoiceLine><cbc:ID>1</cbc:ID></cac:InvoiceLine>'.repeat(700)}</Invoice>`);

/**
 * Both sides print the same tagged page of 20 lines, two at a time, each with its own warm browser. Ours generates the
 * page from the invoice, prints it, embeds the XML, converts it to PDF/A-3 and signs it. The peer gets the finished
 * HTML and only prints it.
 */
export const benchmark: Benchmark = {
  name: 'documents-pdf',
  about: 'signed PDFs from invoices; the peer is bare page.pdf() on the same HTML, pages reused',
  sides: [ours(), bare()],
  answers: 'incomparable',
};

function ours(): Side {
  let end = async () => {};
  let render: () => Promise<unknown> = async () => undefined;
  let leader = 0;
  return {
    name: 'signed PDFs',
    async open() {
      const browser = createPdfRenderer({ cacheDir: CACHE, poolSize: AT_ONCE });
      const key = softwareKey(await makeTestIdentity(new Date(Date.now() - 86_400_000)), true);
      const renderer = createSignedRenderer(browser, () => key);
      end = () => renderer.close();
      const before = childrenOfThis();
      await renderer.warm();
      leader = newChild(before);
      render = () => renderer.render(invoice(), XML);
    },
    run: ({ quick }) => measured(quick, leader, render),
    close: () => end(),
  };
}

function bare(): Side {
  let end = async () => {};
  let leader = 0;
  const pages: Page[] = [];
  let html = '';
  return {
    name: 'page.pdf()',
    async open() {
      html = await invoicePage(invoice());
      const { browser, pid, close } = await launchChromium({ cacheDir: CACHE });
      end = close;
      leader = pid;
      for (let index = 0; index < AT_ONCE; index += 1) pages.push(await browser.newPage());
    },
    run: ({ quick }) =>
      measured(quick, leader, async (lane) => {
        const page = pages[lane]!;
        await page.setContent(html);
        await page.pdf({ preferCSSPageSize: true, printBackground: true, tagged: true, outline: false });
      }),
    close: () => end(),
  };
}

/** Renders a fixed number of PDFs, `AT_ONCE` at a time. */
async function measured(quick: boolean, leader: number, draw: (lane: number) => Promise<unknown>): Promise<Measured> {
  const each = quick ? 5 : 20;
  const start = performance.now();
  await Promise.all(
    Array.from({ length: AT_ONCE }, async (_, lane) => {
      for (let index = 0; index < each; index += 1) await draw(lane);
    }),
  );
  const seconds = (performance.now() - start) / 1000;
  const memory = hasProcesses ? { counts: { "the browser's memory (MB)": residentMegabytes(leader) } } : {};
  return { operations: AT_ONCE * each, seconds, ...memory };
}

function invoice(): PrintedInvoice {
  const lines = Array.from({ length: 20 }, (_, index) => ({
    description: `Prestation de conseil ${index + 1}`,
    quantity: index + 1,
    unitPrice: 12_345,
    taxRate: ([20, 14, 10, 7, 0] as const)[index % 5]!,
    amount: (index + 1) * 12_345,
  }));
  const totals = totalsOf({ lines })!;
  return {
    invoice: {
      ...NO_PARTICULARS,
      id: 'inv_550e8400-e29b-41d4-a716-446655440000',
      kind: 'invoice',
      credit: null,
      replaces: null,
      tenantId: 'ten_bench',
      environment: 'live',
      number: '2026-000123',
      issueDate: '2026-11-21',
      currency: 'MAD',
      terms: { ...NO_TERMS, paymentMode: SPECIMEN_SELLER.paymentMode },
      seller: SPECIMEN_SELLER,
      specimen: false,
      customer: {
        ...COMPANY,
        ice: '002345678000047',
        name: 'Travaux du Maroc',
        address: '45, avenue Mohammed V',
        email: null,
      },
      lines,
      totals,
      amount: totals.gross,
    },
    dgiId: 'DGI-2026-7f3a91c0',
    acceptedAt: new Date('2026-11-21T10:20:30Z'),
    receipt: { sha256: 'c4'.repeat(32), decidedAt: new Date('2026-11-21T10:20:30Z') },
    logo: null,
    verifyUrl: 'https://fatoura.example/verify/inv_550e8400-e29b-41d4-a716-446655440000',
  };
}

function childrenOfThis(): number[] {
  return processes()
    .filter(({ parent }) => parent === process.pid)
    .map(({ pid }) => pid);
}

function newChild(before: readonly number[]): number {
  return childrenOfThis().find((pid) => !before.includes(pid)) ?? 0;
}

/**
 * Resident memory of a process and its helpers, which share its process group. Pages shared between them are counted
 * for each.
 */
function residentMegabytes(leader: number): number {
  const bytes = processes()
    .filter(({ group }) => group === leader)
    .reduce((sum, { residentBytes }) => sum + residentBytes, 0);
  return Math.round(bytes / 1e6);
}
