import { describe, expect, it } from 'vitest';
import { EVENTS, type RolesChaosOutcome } from '../../support/roles-chaos.ts';
import { brokenPromises } from '../../support/roles-chaos-verdict.ts';

const events = EVENTS.map((type, nth) => ({ id: `evt_${nth}`, type }));
const invoice = { _id: 'inv_1', status: 'accepted', dgiId: 'DGI-1', events, series: { serial: 1 } };
const stream = { invoiceId: 'inv_1', statuses: ['signing', 'transmitted', 'accepted'], silent: 0, ended: true };

/** A run with one invoice, which broke nothing but what is given. */
function outcome(changes: object = {}): RolesChaosOutcome {
  return {
    created: new Map([['order-0', 'inv_1']]),
    invoices: [invoice],
    streams: [stream],
    ledger: [{ _id: 'inv_1', decision: { dgiId: 'DGI-1' } }],
    received: new Map([['inv_1', events]]),
    ...changes,
  } as unknown as RolesChaosOutcome;
}

const receives = (...got: object[]) => ({ received: new Map([['inv_1', got]]) });

describe('the verdict about several processes', () => {
  it('finds nothing in a good run', () => {
    expect(brokenPromises(outcome())).toEqual([]);
  });

  it.each<[string, object, RegExp]>([
    ['a lost invoice', { invoices: [], ledger: [] }, /which is lost/],
    ['two creations with one invoice', { created: new Map(['a', 'b'].map((key) => [key, 'inv_1'])) }, /same invoice/],
    ['an invoice that nobody was answered', { created: new Map() }, /0 creations were answered, 1 are stored/],
    ['an invoice that never ends', { invoices: [{ ...invoice, status: 'signing' }] }, /it is signing/],
    ['a submission of no invoice', { ledger: [{ _id: 'inv_2', decision: {} }] }, /inv_2, which is no invoice/],
    ['another identifier', { ledger: [{ _id: 'inv_1', decision: { dgiId: 'DGI-2' } }] }, /the authority says DGI-2/],
    ['a change twice', { invoices: [{ ...invoice, events: [...events, events[2]] }] }, /its events are/],
    ['an event never received', receives(...events.slice(0, 2)), /the receiver got/],
    ['an event with two ids', receives(...events, { id: 'evt_9', type: 'invoice.accepted' }), /the receiver got/],
    ['an event that is not stored', receives(...events.slice(0, 2), { ...events[2], id: 'evt_9' }), /is not stored/],
    ['events in another order', receives(...events.toReversed()), /the receiver got/],
    ['a gap in the numbers', { invoices: [{ ...invoice, series: { serial: 2 } }] }, /a gap or a double/],
    ['a stream without a status', { streams: [{ ...stream, statuses: ['signing', 'accepted'] }] }, /its stream had/],
    ['a stream without an end', { streams: [{ ...stream, ended: false }] }, /did not end/],
    ['a dead stream', { streams: [{ ...stream, silent: 1 }] }, /dead without a sign/],
  ])('finds %s', (_what, changes, flaw) => {
    expect(brokenPromises(outcome(changes)).join()).toMatch(flaw);
  });
});
