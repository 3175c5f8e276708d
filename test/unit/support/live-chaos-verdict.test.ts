import { describe, expect, it } from 'vitest';
import type { SubmissionBody } from '../../../scripts/authority-simulator/submission.ts';
import type { InvoiceDocument } from '../../../src/storage/invoice-document.ts';
import type { LiveChaosOutcome } from '../../support/live-chaos.ts';
import { brokenLivePromises } from '../../support/live-chaos-verdict.ts';
import type { Orders } from '../../support/live-orders.ts';

const TYPES = ['invoice.signing', 'invoice.transmitted', 'invoice.accepted'];
const DIGEST = 'ab'.repeat(32);

function invoice(changes: object = {}): InvoiceDocument {
  return {
    _id: 'inv_1',
    kind: 'invoice',
    amount: 12_000,
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

function orders(changes: Partial<Orders> = {}): Orders {
  const created = new Map([['order-0', 'inv_1']]);
  return { asked: ['order-0'], created, refused: [], credited: new Set(), ...changes };
}

/** A credit note of the invoice of 120.00. */
function creditNote(amount: number, changes: object = {}): InvoiceDocument {
  const events = TYPES.map((type) => ({ type: type.replace('invoice', 'credit_note') }));
  return invoice({
    _id: 'crn_1',
    kind: 'credit_note',
    amount,
    events,
    credit: { original: { id: 'inv_1' } },
    ...changes,
  });
}

/** A run in which the invoice was credited by this credit note. */
function credited(note: InvoiceDocument): object {
  return {
    orders: orders({
      asked: ['order-0', 'credit-0'],
      created: new Map([...orders().created, ['credit-0', 'crn_1']]),
      credited: new Set(['inv_1']),
    }),
    documents: [invoice(), note],
    ledger: [entry(), entry({ id: 'crn_1', status: note.status })],
    published: new Map([
      ['inv_1', TYPES],
      ['crn_1', note.events.map(({ type }) => type)],
    ]),
  };
}

/** A run with one invoice, which broke nothing but what is given. */
function outcome(changes: object = {}): LiveChaosOutcome {
  return {
    orders: orders(),
    documents: [invoice()],
    inconsistencies: [],
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
    expect(brokenLivePromises(outcome(credited(creditNote(12_000))))).toEqual([]);
    const refused = orders({ asked: ['order-0', 'credit-0'], refused: ['credit-0'] });
    expect(brokenLivePromises(outcome({ orders: refused }))).toEqual([]);
    const events = creditNote(1).events.map((each, nth) => (nth === 2 ? { type: 'credit_note.rejected' } : each));
    expect(brokenLivePromises(outcome(credited(creditNote(12_000, { status: 'rejected', events }))))).toEqual([]);
  });

  it.each<[string, object, RegExp]>([
    ['a blind resend under a new id', { ledger: [entry(), entry({ id: 'new_1' })] }, /new_1, which is no document/],
    ['the same document twice in the file', { doubled: [DIGEST] }, /twice/],
    ['an event twice', { documents: [invoice({ events: [...TYPES, TYPES[2]].map((type) => ({ type })) })] }, /events/],
    ['an event published twice', { published: new Map([['inv_1', [...TYPES, 'invoice.accepted']]]) }, /published/],
    ['an event never published', { published: new Map([['inv_1', TYPES.slice(0, 2)]]) }, /published/],
    ['an invoice that never ends', { documents: [invoice({ status: 'transmitted', work: {} })] }, /it is transmitted/],
    ['a lost invoice', { documents: [], ledger: [] }, /which is lost/],
    ['an acceptance that nobody gave', { ledger: [] }, /the ledger lacks it/],
    ['another decision', { ledger: [entry({ status: 'rejected' })] }, /the ledger says rejected/],
    ['another document', { ledger: [entry({ digest: 'cd'.repeat(32) })] }, /another document/],
    ['another identifier', { ledger: [entry({ dgi_id: 'DGI-2' })] }, /DGI-2/],
    ['an order without an answer', { orders: orders({ asked: ['order-0', 'order-1'] }) }, /order-1 was never answered/],
    ['a second document', { documents: [invoice(), invoice()] }, /1 creations were answered, and 2 documents/],
    ['what the check of the store finds', { inconsistencies: ['a share is missing'] }, /a share is missing/],
    ['more credited than the invoice', credited(creditNote(12_001)), /12001 of 12000 are credited/],
    ['less credited than the rest', credited(creditNote(11_999)), /only 11999 of 12000/],
    ["an invoice's events of a credit note", credited(creditNote(12_000, { events: invoice().events })), /its events/],
    [
      'a failure of what was held',
      {
        documents: [invoice({ ...FAILED, events: failedEvents.map((type) => ({ type })) })],
        published: new Map([['inv_1', failedEvents]]),
      },
      /has failed, and the ledger holds it/,
    ],
  ])('finds %s', (_what, changes, flaw) => {
    expect(brokenLivePromises(outcome(changes)).join()).toMatch(flaw);
  });
});
