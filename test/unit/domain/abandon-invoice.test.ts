import { describe, expect, it } from 'vitest';
import type { LedgerEntry } from '../../../src/domain/authority/ports.ts';
import { createAbandonInvoice, NotAbandoned } from '../../../src/domain/invoice/abandon-invoice.ts';
import { MANY_ATTEMPTS, NEVER } from '../../../src/domain/invoice/attention.ts';
import type { AttemptOutcome, AttemptPurpose } from '../../../src/domain/invoice/authority-attempt.ts';
import { MOST_ATTEMPTS } from '../../../src/domain/invoice/authority-attempts.ts';
import { type Invoice, NEW_WORK, type Work } from '../../../src/domain/invoice/invoice.ts';
import type { InvoiceChange } from '../../../src/domain/invoice/repository.ts';
import { pendingInvoice } from '../../support/invoices.ts';

const NOW = new Date('2026-11-20T08:00:00Z');
const ago = (minutes: number) => new Date(NOW.getTime() - minutes * 60_000);
const DIGEST = 'ab'.repeat(32);
const OTHER = 'ff'.repeat(32);

function waiting(
  changes: Partial<Invoice>,
  work: Partial<Work> = {},
  calls: [AttemptPurpose, AttemptOutcome][] = [],
): Invoice {
  return pendingInvoice({
    environment: 'live',
    status: 'signing',
    createdAt: ago(60),
    xml: { file: 'f', sha256: DIGEST, size: 1 },
    authorityAttempts: calls.map(([purpose, outcome]) => ({
      at: ago(30),
      purpose,
      outcome,
      message: null,
      milliseconds: 1,
      requestId: 'r',
    })),
    ...changes,
    work: { ...NEW_WORK, stage: 'transmit', dueAt: NEVER, claims: 0, since: ago(30), ...work },
  });
}

const blocked = (
  calls: [AttemptPurpose, AttemptOutcome][] = [['submit', 'conflict']],
  changes: Partial<Invoice> = {},
) => waiting(changes, { blocked: 'digest_mismatch' }, calls);
/** Look-ups find another document again and again. */
const foreign = (changes: Partial<Invoice> = {}) =>
  waiting(
    changes,
    {
      stage: changes.status === 'transmitted' ? 'decide' : 'transmit',
      attempts: MANY_ATTEMPTS,
      outcomeUnknown: changes.status !== 'transmitted',
    },
    [
      ['submit', changes.status === 'transmitted' ? 'received' : 'unknown'],
      ['look_up', 'conflict'],
    ],
  );
const entry = (sha256: string, decidedAt: Date): LedgerEntry => ({
  submissionId: 'x',
  sha256,
  decision: { outcome: 'accepted', dgiId: 'DGI-1', decidedAt },
});

async function abandon(invoice: Invoice | null, ledger: LedgerEntry[] = [], isAsRead = true, id = 'inv_1') {
  const changes: Omit<InvoiceChange, 'series'>[] = [];
  const run = createAbandonInvoice(
    {
      findEvenWithheld: async () => invoice,
      async changeWaiting(read, change) {
        changes.push(change);
        return isAsRead
          ? { ...read, status: 'rejected', rejectionReason: change.rejectionReason ?? null, work: null }
          : null;
      },
    },
    { find: async () => ledger },
    () => NOW,
  );
  const result = await run(id, 'Restauration').catch((error: unknown) => {
    expect(error).toBeInstanceOf(NotAbandoned);
    return (error as Error).message;
  });
  return { result, changes };
}

it('a refusal names the kind of document', async () => {
  const ofNote = async (invoice: Invoice | null) => (await abandon(invoice, [], true, 'crn_1')).result;
  expect(await ofNote(null)).toBe("There is no credit note 'crn_1'.");
  expect(await ofNote(waiting({}, { dueAt: NOW }))).toMatch(/^The credit note waits for nobody/);
  expect(await ofNote(waiting({}, { claims: 9 }))).toMatch(/it would be a legal credit note that is shown/);
});

describe('is abandoned', () => {
  const before = [entry(OTHER, ago(90))];
  it.each<[string, Invoice, LedgerEntry[]]>([
    ['refused at its first submission', blocked(), []],
    [
      'refused again after a retry',
      blocked([
        ['submit', 'not_received'],
        ['submit', 'conflict'],
        ['submit', 'conflict'],
      ]),
      [],
    ],
    [
      'refused after a lost answer, and the id was decided before',
      blocked([
        ['submit', 'unknown'],
        ['look_up', 'not_received'],
        ['submit', 'conflict'],
      ]),
      before,
    ],
    ['looked up after a lost answer, and the id was decided before', foreign(), before],
    ['looked up after a receipt, and the id was decided before', foreign({ status: 'transmitted' }), before],
  ])('an invoice that was %s', async (_name, invoice, ledger) => {
    const { result, changes } = await abandon(invoice, ledger);
    expect(result).toMatchObject({ isNew: true, invoice: { status: 'rejected' } });
    const event = {
      type: 'invoice.rejected',
      status: 'rejected',
      rejectionReason: expect.stringContaining('Restauration'),
    };
    expect(changes).toEqual([
      {
        status: 'rejected',
        rejectionReason: expect.stringContaining(invoice.id),
        work: null,
        events: [expect.objectContaining(event)],
      },
    ]);
  });

  it('once: repeated, nothing is written', async () => {
    const { result } = await abandon(blocked());
    const { invoice } = result as { invoice: Invoice };
    expect(await abandon(invoice)).toEqual({ result: { invoice, isNew: false }, changes: [] });
  });
});

describe('is refused, and nothing is written', () => {
  const lost = blocked([
    ['submit', 'unknown'],
    ['look_up', 'not_received'],
    ['submit', 'conflict'],
  ]);
  it.each<[string, Invoice | null, LedgerEntry[], RegExp]>([
    ['an unknown invoice', null, [], /no invoice 'inv_1'/],
    ['an accepted one', pendingInvoice({ status: 'accepted', work: null }), [], /is accepted, which is final/],
    [
      'one that the authority rejected',
      pendingInvoice({ status: 'rejected', rejectionReason: 'x', work: null }),
      [],
      /is rejected/,
    ],
    ['one that goes on', waiting({}, { dueAt: NOW }), [], /waits for nobody/],
    [
      'an outcome that is unknown',
      waiting({}, { outcomeUnknown: true, attempts: 9 }, [['look_up', 'unknown']]),
      [],
      /because of outcome_unknown/,
    ],
    [
      'an undecided one',
      waiting({ status: 'transmitted', events: [], createdAt: ago(9999) }, { stage: 'decide', since: ago(9999) }),
      [],
      /because of undecided/,
    ],
    ['a defect', waiting({}, { claims: 9 }), [], /because of internal_error/],
    ['a refusal after a lost answer', lost, [], /may have reached the authority/],
    ['the same, with a decision on this document', lost, [entry(DIGEST, ago(90))], /may have reached the authority/],
    ['the same, with a decision after its creation', lost, [entry(OTHER, ago(59))], /may have reached the authority/],
    [
      'the same, with a decision just before its creation',
      lost,
      [entry(OTHER, ago(60.5))],
      /may have reached the authority/,
    ],
    ['a refusal of which no call is recorded', blocked([]), [], /may have reached the authority/],
    [
      'a refusal with a full record',
      blocked(Array(MOST_ATTEMPTS).fill(['submit', 'conflict'])),
      [],
      /may have reached the authority/,
    ],
    ['look-ups that find another document', foreign(), [], /may have reached the authority/],
    ['the same after a receipt', foreign({ status: 'transmitted' }), [], /may have reached the authority/],
    [
      'one that is followed under another id',
      foreign({ status: 'transmitted', heldAs: 'inv_0' }),
      [entry(OTHER, ago(90))],
      /may have reached/,
    ],
  ])('%s', async (_name, invoice, ledger, message) => {
    expect(await abandon(invoice, ledger)).toEqual({ result: expect.stringMatching(message), changes: [] });
  });

  it('one that is no longer as it was read', async () => {
    expect((await abandon(blocked(), [], false)).result).toMatch(/A worker is processing the invoice/);
  });
});
