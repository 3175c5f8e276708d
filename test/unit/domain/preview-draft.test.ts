import { expect, it } from 'vitest';
import { draftPreview } from '../../../src/domain/invoice/drafts/preview-draft.ts';
import type { DrawnDraft } from '../../../src/domain/invoice/ports.ts';
import { createFairQueue } from '../../../src/domain/kit/fair-queue.ts';
import { PREVIEWS } from '../../../src/domain/preview.ts';
import { CUSTOMER, depositRow, depositStore } from '../../support/deposit-store.ts';

const DRAFT = 'drf_00000000-0000-4000-8000-000000000001';
const DEPOSIT = 'inv_00000000-0000-4000-8000-000000000001';

/** Draws the preview of a draft. @returns what is drawn */
async function drawn(content: object): Promise<DrawnDraft['draft']> {
  const line = { description: 'Acompte', quantity: 1, unitPrice: 30_000, taxRate: 20, amount: 30_000 };
  const row = depositRow({ id: DEPOSIT, number: '2026-000001', amount: 36_000, lines: [line] as never });
  const pages: DrawnDraft[] = [];
  const draft = { id: DRAFT, tenantId: 'ten_1', environment: 'test', issuingUntil: null };
  const needs = {
    drafts: { find: async () => ({ ...draft, content: JSON.stringify(content) }) },
    invoices: depositStore(new Map([[DEPOSIT, row]]), new Map()),
    logos: { find: async () => null },
    previews: createFairQueue(PREVIEWS),
    drawDraft: async (page: DrawnDraft) => {
      pages.push(page);
      return new Uint8Array();
    },
  };
  const by = { kind: 'secret', tenant: { id: 'ten_1', profile: { logo: null } }, environment: 'test' };
  await draftPreview.run(needs as never, { by } as never, DRAFT);
  return (pages[0] as DrawnDraft).draft;
}

const sale = { lines: [{ description: 'Étude', quantity: 1, unitPrice: 100_000, taxRate: 20 }], deposits: [DEPOSIT] };

it('deducts the deposits of the customer while the rest of the draft is incomplete', async () => {
  const page = await drawn({ ...sale, customer: CUSTOMER, servicePeriod: { from: 'soon' } });
  expect(page.deduction?.deposits.map(({ invoice }) => invoice.number)).toEqual(['2026-000001']);
  expect(page.amount).toBe(84_000);
});

it.each([
  ['without a customer', {}],
  ['of another customer', { customer: { ...CUSTOMER, ice: '001234567000062' } }],
  ['of more than was sold', { customer: CUSTOMER, lines: [{ ...sale.lines[0], unitPrice: 29_999 }] }],
])('deducts no deposits %s', async (_case, content) => {
  const page = await drawn({ ...sale, ...content });
  expect(page.deduction).toBeNull();
});
