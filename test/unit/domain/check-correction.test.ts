import { expect, it } from 'vitest';
import type { KeptCredit } from '../../../src/domain/invoice/credit.ts';
import { PIECE } from '../../../src/domain/invoice/line-amounts.ts';
import { creditExceedsInvoice } from '../../../src/domain/invoice/rejection-reasons.ts';
import { createCheckCorrection } from '../../../src/domain/invoice/stages/check-correction.ts';
import type { PipelineParts } from '../../../src/domain/invoice/stages/stage.ts';
import { pendingInvoice } from '../../support/invoices.ts';

const SHARE = { rates: [{ rate: 20, base: 10_000, tax: 2_000 }], amount: 12_000 } as const;
const LINE = { ...PIECE, description: 'x', unitPrice: 10_000, taxRate: 20, amount: 10_000 } as const;

/** Returns whether a credit note of everything gets its number, when its invoice keeps a share for this one. */
async function checked(keptFor: string) {
  const kept: KeptCredit = { ...SHARE, creditNoteId: keptFor, at: new Date() };
  const credits = { version: 1, list: [kept] };
  const original = pendingInvoice({ id: 'inv_1', status: 'accepted', lines: [LINE], amount: 12_000, credits });
  const state = { status: 'pending', rejectionReason: null, originalId: 'inv_1', replaces: null } as const;
  const invoices = {
    find: async () => original,
    correctionStatesOf: async (ids: readonly string[]) => new Map(ids.map((id) => [id, state])),
    keepCredits: async () => true,
  };
  const check = createCheckCorrection({ invoices, queue: {} } as unknown as PipelineParts);
  const named = { id: 'inv_1', number: '2026-000001', issueDate: '2026-11-29', dgiId: null };
  const credit = { ...SHARE, original: named, reason: 'error', note: null } as const;
  return check(pendingInvoice({ id: 'crn_1', kind: 'credit_note', credit }));
}

it('a credit note gets its number only while its invoice has that much left', async () => {
  expect(await checked('crn_1')).toEqual({ kind: 'issue' });
  expect(await checked('crn_2')).toEqual({ kind: 'reject', reason: creditExceedsInvoice() });
});
