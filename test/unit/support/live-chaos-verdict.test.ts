import { describe, expect, it } from 'vitest';
import type { SubmissionBody } from '../../../scripts/authority-simulator/submission.ts';
import type { InvoiceDocument } from '../../../src/storage/invoice-document.ts';
import type { LiveChaosOutcome } from '../../support/live-chaos.ts';
import { brokenLivePromises } from '../../support/live-chaos-verdict.ts';

const TYPES = ['invoice.signing', 'invoice.transmitted', 'invoice.accepted'];
const DIGEST = 'ab'.repeat(32);

function invoice(changes: object = {}): InvoiceDocument {
  return {
    _id: 'inv_1',
    status: 'accepted',
    dgiId: 'DGI-1',
    rejectionReason: null,
    xml: { sha256: DIGEST },
    events: TYPES.map((type) => ({ type })),
    ...changes,
  } as unknown as InvoiceDocument;
}

function entry(changes: object = {}): SubmissionBody {
  return { id: 'inv_1', digest: DIGEST, status: 'accepted', dgi_id: 'DGI-1', ...changes } as unknown as SubmissionBody;
}

/** A run with one invoice, which broke nothing but what is given. */
function outcome(changes: object = {}): LiveChaosOutcome {
  return {
    plan: { invoices: 1 },
    created: new Map([['order-0', 'inv_1']]),
    invoices: [invoice()],
    ledger: [entry()],
    published: new Map([['inv_1', TYPES]]),
    doubled: [],
    ...changes,
  } as unknown as LiveChaosOutcome;
}

const FAILED = { status: 'rejected', dgiId: null, rejectionReason: 'dgi_transmission_failed: …' };
const failedEvents = ['invoice.signing', 'invoice.rejected'];

describe('the verdict about live transmission', () => {
  it('finds nothing in a good run', () => {
    expect(brokenLivePromises(outcome())).toEqual([]);
  });

  it.each<[string, object, RegExp]>([
    ['a blind resend under a new id', { ledger: [entry(), entry({ id: 'new_1' })] }, /new_1, which is no invoice/],
    ['the same document twice in the file', { doubled: [DIGEST] }, /twice/],
    ['an event twice', { invoices: [invoice({ events: [...TYPES, TYPES[2]].map((type) => ({ type })) })] }, /events/],
    ['an event published twice', { published: new Map([['inv_1', [...TYPES, 'invoice.accepted']]]) }, /published/],
    ['an event never published', { published: new Map([['inv_1', TYPES.slice(0, 2)]]) }, /published/],
    ['an invoice that never ends', { invoices: [invoice({ status: 'transmitted', work: {} })] }, /it is transmitted/],
    ['a lost invoice', { invoices: [], ledger: [] }, /which is lost/],
    ['an acceptance that nobody gave', { ledger: [] }, /the ledger lacks it/],
    ['another decision', { ledger: [entry({ status: 'rejected' })] }, /the ledger says rejected/],
    ['another document', { ledger: [entry({ digest: 'cd'.repeat(32) })] }, /another document/],
    ['another identifier', { ledger: [entry({ dgi_id: 'DGI-2' })] }, /DGI-2/],
    [
      'a failure of what was held',
      {
        invoices: [invoice({ ...FAILED, events: failedEvents.map((type) => ({ type })) })],
        published: new Map([['inv_1', failedEvents]]),
      },
      /has failed, and the ledger holds it/,
    ],
  ])('finds %s', (_what, changes, flaw) => {
    expect(brokenLivePromises(outcome(changes)).join()).toMatch(flaw);
  });
});
