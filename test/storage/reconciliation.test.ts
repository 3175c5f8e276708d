import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { LedgerEntry } from '../../src/domain/authority/ports.ts';
import {
  type Finding,
  MOST_OF_A_KIND,
  ReconciliationBusy,
  type ReconciliationRun,
} from '../../src/domain/authority/reconciliation.ts';
import type { AuthorityAttempt } from '../../src/domain/invoice/authority-attempt.ts';
import { ALL_PARTITIONS } from '../../src/domain/invoice/lanes.ts';
import { newCreationMoment } from '../../src/domain/order-key.ts';
import { createDifferenceRepository } from '../../src/storage/authority-differences.ts';
import { createLedgerCopy } from '../../src/storage/authority-ledger.ts';
import type { Store } from '../../src/storage/connect.ts';
import type { InvoiceDocument } from '../../src/storage/invoice-document.ts';
import { createReconciliationState } from '../../src/storage/reconciliation-state.ts';
import { createTransmissions } from '../../src/storage/transmissions.ts';
import { claimOne, invoicesOf, pendingInvoice } from '../support/invoices.ts';
import { queryPlans } from '../support/query-plans.ts';
import { openTestStore } from '../support/store.ts';

// The table of cases is made when the file is read: the quiet time is longer than a loaded machine takes to reach a case.
const RULE = { quietMs: 60_000, mostAnHour: 30 };
const digest = (text: string) => Buffer.from(text).toString('hex').padEnd(64, '0').slice(0, 64);
const NOTED = { at: new Date(), reason: 'known' };
const ago = (seconds: number) => new Date(Date.now() - seconds * 1000);

let store: Store;
let plans: ReturnType<typeof queryPlans>;
let transmissions: ReturnType<typeof createTransmissions>;
let place = 0;

beforeAll(async () => {
  store = await openTestStore('reconciliation', true);
  transmissions = createTransmissions(store.db);
  plans = queryPlans(store);
});
afterAll(() => store.close());
beforeEach(async () => {
  // Without its list's head: the next invoice would wait for the last one, as for that of a process that died.
  for (const name of [
    'invoices',
    'list_heads',
    'authority_ledger',
    'authority_differences',
    'authority_reconciliation',
  ])
    await store.db.collection(name).deleteMany({});
});

/** Stores a live invoice that waits for its next look-up, with these fields changed. @returns its id */
async function stored(changes: Record<string, unknown> = {}): Promise<string> {
  const invoice = pendingInvoice({ environment: 'live', tenantId: `ten_${++place % 3}` });
  await invoicesOf(store.db).insert(invoice, newCreationMoment().order, null);
  const $set = {
    status: 'transmitted',
    'work.stage': 'decide',
    'work.token': null,
    'work.lane': 'answers',
    'work.dueAt': ago(-600),
    ...changes,
  };
  await store.db.collection<InvoiceDocument>('invoices').updateOne({ _id: invoice.id }, { $set } as never);
  return invoice.id;
}

const document = (id: string) => store.db.collection<InvoiceDocument>('invoices').findOne({ _id: id });
const lookUp = (at: Date): AuthorityAttempt => ({
  at,
  purpose: 'look_up',
  outcome: 'received',
  message: null,
  milliseconds: 1,
  requestId: null,
});

describe('a look-up is made due', () => {
  it.each<[string, Record<string, unknown>]>([
    ['at stage decide', {}],
    [
      'at transmit with an unknown outcome',
      { status: 'signing', 'work.stage': 'transmit', 'work.outcomeUnknown': true },
    ],
    ['after earlier look-ups', { authorityAttempts: [lookUp(ago(4000)), lookUp(ago(61))] }],
    ['after a submission a moment ago', { authorityAttempts: [{ ...lookUp(ago(0)), purpose: 'submit' }] }],
  ])('%s', async (_name, changes) => {
    const id = await stored(changes);
    const due = await transmissions.makeLookUpDue(id, RULE);
    expect(due).toMatchObject({ id, work: { stage: expect.any(String), attempts: 0 } });
    const { work } = (await document(id)) ?? {};
    for (const at of [work?.dueAt, work?.since]) expect(Date.now() - Number(at)).toBeLessThan(60_000);
    expect(work?.token).toBeNull();
    // Due already: nothing is changed a second time.
    expect(await transmissions.makeLookUpDue(id, RULE)).toBeNull();
    expect(await claimOne(invoicesOf(store.db), id, 1000)).not.toBeNull();
  });

  it('under the id under which the authority holds it', async () => {
    const id = await stored({ heldAs: 'inv_original' });
    expect(await transmissions.makeLookUpDue('inv_original', RULE)).toMatchObject({ id });
  });

  it.each<[string, Record<string, unknown>]>([
    ['a test invoice', { environment: 'test' }],
    ['one that a worker holds', { 'work.token': 'a worker' }],
    ['one that waits for an operator', { 'work.blocked': 'digest_mismatch' }],
    ['one that waits to be sent', { 'work.stage': 'transmit', 'work.outcomeUnknown': false }],
    ['one that is drawn', { status: 'accepted', 'work.stage': 'render' }],
    ['one that was looked up a moment ago', { authorityAttempts: [lookUp(ago(2))] }],
    [
      'one with as many look-ups in the last hour as the rule allows',
      { authorityAttempts: Array(30).fill(lookUp(ago(600))) },
    ],
  ])('but not of %s', async (_name, changes) => {
    const id = await stored(changes);
    const before = await document(id);
    expect(await transmissions.makeLookUpDue(id, RULE)).toBeNull();
    expect(await transmissions.makeLookUpsDue([id], RULE)).toBe(0);
    expect(await document(id)).toEqual(before);
  });

  it('for many at once, whatever else is asked for', async () => {
    const ids = [await stored(), await stored({ 'work.token': 'a worker' }), await stored(), 'inv_unknown'];
    expect(await transmissions.makeLookUpsDue(ids, RULE)).toBe(2);
    const due = await invoicesOf(store.db).due('answers', ALL_PARTITIONS, 100);
    expect(due.map(({ invoiceId }) => invoiceId)).toEqual(expect.arrayContaining([ids[0], ids[2]]));
    expect(due.map(({ invoiceId }) => invoiceId)).not.toContain(ids[1]);
  });

  it('never, by a budget of none', async () => {
    expect(await transmissions.makeLookUpDue(await stored(), { quietMs: 0, mostAnHour: 0 })).toBeNull();
  });
});

describe('live invoices', () => {
  const xml = (sha256: string) => ({ file: 'f', sha256, size: 1 });

  it('are found by their id, by the id under which they are held, and by their digest', async () => {
    const events = [{ status: 'signing' }, { status: 'transmitted' }];
    const own = await stored({ xml: xml(digest('a')), events, receipt: { file: 'r' } });
    const other = await stored({ heldAs: 'inv_original', status: 'accepted', dgiId: 'DGI-1' });
    const test = await stored({ environment: 'test', xml: xml(digest('a')) });
    const found = await transmissions.bySubmission([own, 'inv_original', test, 'inv_unknown']);
    expect(new Map(found.map((each) => [each.invoiceId, each]))).toEqual(
      new Map([
        [
          own,
          {
            invoiceId: own,
            submissionId: own,
            tenantId: expect.any(String),
            status: 'transmitted',
            dgiId: null,
            wasHeld: true,
            sha256: digest('a'),
            hasReceipt: true,
            changedAt: expect.any(Date),
          },
        ],
        [
          other,
          {
            invoiceId: other,
            submissionId: 'inv_original',
            tenantId: expect.any(String),
            status: 'accepted',
            dgiId: 'DGI-1',
            wasHeld: false,
            sha256: null,
            hasReceipt: false,
            changedAt: expect.any(Date),
          },
        ],
      ]),
    );
    expect((await transmissions.bySubmission([other])).map(({ submissionId }) => submissionId)).toEqual([
      'inv_original',
    ]);
    expect((await transmissions.byDigest([digest('a'), digest('b')])).map(({ invoiceId }) => invoiceId)).toEqual([own]);
  });

  it('that became final in a time are read in batches, oldest first', async () => {
    const prototype = await document(await stored());
    await store.db.collection<InvoiceDocument>('invoices').insertMany(
      Array.from({ length: 1200 }, (_, i) => ({
        ...(prototype as InvoiceDocument),
        _id: `inv_${i}`,
        order: `order ${i}`,
        updatedAt: new Date(1_000_000 + Math.floor(i / 700)),
        status: i % 2 ? ('accepted' as const) : ('rejected' as const),
      })),
    );
    await stored({ environment: 'test', status: 'accepted', updatedAt: new Date(1_000_000) });
    const sizes: number[] = [];
    const seen = new Set<string>();
    for await (const batch of transmissions.decided(new Date(1_000_000), new Date(1_000_001))) {
      sizes.push(batch.length);
      for (const { invoiceId } of batch) seen.add(invoiceId);
    }
    expect(sizes).toEqual([500, 500, 200]);
    expect(seen.size).toBe(1200);
    for await (const batch of transmissions.decided(new Date(1_000_001), new Date(1_000_001)))
      expect(batch).toHaveLength(500);
  });
});

describe('the copy of the ledger', () => {
  const decidedAt = new Date('2026-11-01T10:00:00Z');
  const accepted: LedgerEntry = {
    submissionId: 'inv_a',
    sha256: digest('a'),
    decision: { outcome: 'accepted', dgiId: 'DGI-a', decidedAt },
  };
  const rejected: LedgerEntry = {
    ...accepted,
    submissionId: 'inv_r',
    decision: { outcome: 'rejected', problems: [], decidedAt },
  };

  it('has the last entry of each submission, and counts those that have changed', async () => {
    const copy = createLedgerCopy(store.db);
    expect(await copy.keep([accepted, rejected])).toBe(0);
    expect(await copy.keep([rejected, accepted])).toBe(0);
    const changed = { ...accepted, sha256: digest('b') };
    expect(await copy.keep([changed, rejected, { ...rejected, submissionId: 'inv_n' }])).toBe(1);
    const found = await copy.find(['inv_a', 'inv_r', 'inv_unknown']);
    expect(found.sort((a, b) => a.submissionId.localeCompare(b.submissionId))).toEqual([changed, rejected]);
  });
});

describe('differences', () => {
  const finding: Finding = {
    kind: 'other_digest',
    submissionId: 'inv_a',
    invoiceId: 'inv_a',
    tenantId: 'ten_1',
    ours: digest('a'),
    theirs: digest('b'),
  };

  it('are stored once for each kind and submission, until they are resolved, and arise again', async () => {
    const differences = createDifferenceRepository(store.db);
    const [first, second, third] = [new Date(1000), new Date(2000), new Date(3000)];
    const other: Finding = { ...finding, kind: 'held_twice', theirs: null };
    expect(await differences.observe([finding, finding, other], first)).toEqual({
      fresh: [finding, other],
      leftOut: 0,
    });
    expect(await differences.observe([{ ...finding, theirs: 'c' }], second)).toEqual({ fresh: [], leftOut: 0 });
    expect(await differences.unresolved('other_digest', null, 10)).toEqual([
      { ...finding, theirs: 'c', firstSeen: first, lastSeen: second, acknowledged: null },
    ]);
    expect(await differences.count()).toMatchObject({ other_digest: 1, held_twice: 1, not_in_ledger: 0 });
    await differences.resolve('other_digest', ['inv_a', 'inv_unknown'], third);
    expect(await differences.unresolved('other_digest', null, 10)).toEqual([]);
    expect(await store.db.collection('authority_differences').countDocuments({ resolvedAt: third })).toBe(1);
    expect(await differences.observe([finding], third)).toMatchObject({ fresh: [finding] });
    expect(await store.db.collection('authority_differences').countDocuments({ resolvedAt: third })).toBe(0);
  });

  it('are acknowledged with their facts: they stay listed, count no longer, and are no news', async () => {
    const differences = createDifferenceRepository(store.db);
    const other: Finding = { ...finding, kind: 'held_twice' };
    await differences.observe([finding, other], new Date(1000));
    expect(await differences.unresolved('other_digest', null, 10)).toMatchObject([{ acknowledged: null }]);
    const acknowledged = { at: new Date(2000), reason: 'Restored on 3 November' };
    const acknowledge = () => differences.acknowledge('other_digest', 'inv_a', acknowledged);
    const difference = { ...finding, firstSeen: new Date(1000), lastSeen: new Date(1000), acknowledged };
    expect(await acknowledge()).toEqual({ difference, isNew: true });
    expect(await differences.acknowledge('other_digest', 'inv_a', { at: new Date(), reason: 'again' })).toEqual({
      difference,
      isNew: false,
    });
    expect(await differences.count()).toMatchObject({ other_digest: 0, held_twice: 1 });
    expect(await differences.observe([finding], new Date(3000))).toEqual({ fresh: [], leftOut: 0 });
    const seen = { ...difference, lastSeen: new Date(3000) };
    expect(await differences.unresolved('other_digest', null, 10)).toEqual([seen]);
    expect(await differences.acknowledge('other_digest', 'inv_x', acknowledged)).toBeNull();
    expect(await differences.acknowledge('other_dgi_id', 'inv_a', acknowledged)).toBeNull();

    await differences.resolve('other_digest', ['inv_a'], new Date(4000));
    expect(await acknowledge()).toBeNull();
    expect(await store.db.collection('authority_differences').countDocuments({ acknowledged: { $exists: true } })).toBe(
      0,
    );
    expect(await differences.observe([finding], new Date(5000))).toEqual({ fresh: [finding], leftOut: 0 });
    expect(await differences.count()).toMatchObject({ other_digest: 1 });
  });

  it.each([
    ['the authority states something else', { theirs: digest('c') }],
    ['something else is stored here', { ours: digest('c') }],
    ['there is an invoice now', { invoiceId: 'inv_b' }],
  ])('are open again when %s', async (_name, change) => {
    const differences = createDifferenceRepository(store.db);
    await differences.observe([finding], new Date(1000));
    await differences.acknowledge('other_digest', 'inv_a', { at: new Date(2000), reason: 'known' });
    const changed = { ...finding, ...change };
    expect(await differences.observe([changed], new Date(3000))).toEqual({ fresh: [changed], leftOut: 0 });
    expect(await differences.count()).toMatchObject({ other_digest: 1 });
    expect(await differences.unresolved('other_digest', null, 10)).toEqual([
      { ...changed, firstSeen: new Date(1000), lastSeen: new Date(3000), acknowledged: null },
    ]);
    // Now with these facts.
    expect(
      await differences.acknowledge('other_digest', 'inv_a', { at: new Date(4000), reason: 'known' }),
    ).toMatchObject({
      isNew: true,
      difference: change,
    });
    expect(await differences.observe([changed], new Date(5000))).toEqual({ fresh: [], leftOut: 0 });
  });

  it('that are acknowledged take no room from open ones', async () => {
    const differences = createDifferenceRepository(store.db);
    const many = Array.from({ length: MOST_OF_A_KIND }, (_, i) => ({ ...finding, submissionId: `inv_${i}` }));
    await differences.observe(many, new Date());
    const further = { ...finding, submissionId: 'inv_further' };
    expect(await differences.observe([further], new Date())).toEqual({ fresh: [], leftOut: 1 });
    await differences.acknowledge('other_digest', 'inv_7', { at: new Date(), reason: 'known' });
    expect(await differences.observe([further], new Date())).toEqual({ fresh: [further], leftOut: 0 });
    // One that changes finds no room, so that it is told of by a later run.
    const changed = { ...finding, submissionId: 'inv_7', theirs: 'c' };
    expect(await differences.observe([changed], new Date())).toEqual({ fresh: [], leftOut: 1 });
  });

  it('are listed in pages', async () => {
    const differences = createDifferenceRepository(store.db);
    const ids = ['inv_1', 'inv_2', 'inv_3', 'inv_4', 'inv_5'];
    await differences.observe(
      ids.map((submissionId) => ({ ...finding, submissionId })),
      new Date(),
    );
    const read = async (after: string | null) =>
      (await differences.unresolved('other_digest', after, 2)).map(({ submissionId }) => submissionId);
    expect([await read(null), await read('inv_2'), await read('inv_4')]).toEqual([
      ['inv_1', 'inv_2'],
      ['inv_3', 'inv_4'],
      ['inv_5'],
    ]);
  });

  it('are bounded for each kind, and what is left out is counted', async () => {
    const differences = createDifferenceRepository(store.db);
    const many = (start: number, count: number) =>
      Array.from({ length: count }, (_, i) => ({ ...finding, submissionId: `inv_${start + i}` }));
    expect((await differences.observe(many(0, MOST_OF_A_KIND - 1), new Date())).fresh).toHaveLength(MOST_OF_A_KIND - 1);
    const { fresh, leftOut } = await differences.observe([...many(0, 5), ...many(5000, 3)], new Date());
    expect([fresh.length, leftOut]).toEqual([1, 2]);
    expect(await differences.observe([{ ...finding, kind: 'held_twice' }], new Date())).toMatchObject({ leftOut: 0 });
    expect(await differences.count()).toMatchObject({ other_digest: MOST_OF_A_KIND, held_twice: 1 });
  });
});

describe('the state of reconciliation', () => {
  const run: ReconciliationRun = {
    startedAt: new Date(1000),
    finishedAt: new Date(2000),
    outcome: 'complete',
    message: null,
    entries: 1,
    changed: 0,
    invoices: 2,
    healed: 0,
    found: 0,
    resolved: 0,
    leftOut: 0,
  };

  it('is in the hands of one process, and progress survives it', async () => {
    const state = createReconciliationState(store.db);
    expect(await state.last()).toBeNull();
    const begun = await Promise.all(['a', 'b', 'c'].map(() => state.begin(60_000)));
    const winners = begun.filter((each) => each !== null);
    expect(winners.map(({ progress }) => progress)).toEqual([{ cursor: null, checkedUntil: null, stalled: 0 }]);
    const token = winners[0]?.token ?? '';
    await state.advance(token, 60_000, { cursor: '7' });
    await expect(state.advance('another', 60_000, { cursor: '8' })).rejects.toThrow(ReconciliationBusy);
    await state.end('another', run, { cursor: '9' });
    expect(await state.begin(60_000)).toBeNull();
    await state.end(token, run, { checkedUntil: new Date(5000) });
    expect(await state.last()).toEqual(run);
    const next = await state.begin(60_000);
    expect(next?.progress).toEqual({ cursor: '7', checkedUntil: new Date(5000), stalled: 0 });
    await state.release(token);
    expect(await state.begin(60_000)).toBeNull();
    await state.release(next?.token ?? '');
    expect(await state.begin(60_000)).not.toBeNull();
  });

  it('is taken over from a process that has died', async () => {
    const state = createReconciliationState(store.db);
    const dead = (await state.begin(0))?.token ?? '';
    await state.advance(dead, 0, { cursor: '3' });
    expect((await state.begin(60_000))?.progress).toMatchObject({ cursor: '3' });
    await expect(state.advance(dead, 60_000, { cursor: '4' })).rejects.toThrow(ReconciliationBusy);
  });

  it('is taken over from a process that died with its clock ahead', async () => {
    const state = createReconciliationState(store.db);
    await state.begin(86_400_000);
    expect(await state.begin(60_000)).not.toBeNull();
    expect(await state.begin(60_000)).toBeNull();
  });
});

describe('has an index', () => {
  const some = Array.from({ length: 10 }, (_, i) => `inv_${i}`);
  const CALLS: [string, () => Promise<unknown>, number][] = [
    ['transmissions.bySubmission', () => transmissions.bySubmission(some), 10],
    ['transmissions.byDigest', () => transmissions.byDigest(some.map(digest)), 10],
    ['transmissions.decided', () => Array.fromAsync(transmissions.decided(new Date(0), new Date(1000))), 1],
    ['transmissions.makeLookUpDue', () => transmissions.makeLookUpDue('inv_1', RULE), 1],
    ['transmissions.makeLookUpsDue', () => transmissions.makeLookUpsDue(some, RULE), 10],
    ['copy.find', () => createLedgerCopy(store.db).find(some), 10],
    ['differences.unresolved', () => createDifferenceRepository(store.db).unresolved('other_digest', null, 5), 5],
    [
      'differences.unresolved, further',
      () => createDifferenceRepository(store.db).unresolved('other_digest', 'inv_1', 5),
      5,
    ],
    [
      'differences.observe',
      () =>
        createDifferenceRepository(store.db).observe([{ kind: 'held_twice', submissionId: 'a' } as Finding], ago(1)),
      1,
    ],
    ['differences.acknowledge', () => createDifferenceRepository(store.db).acknowledge('other_digest', 'a', NOTED), 1],
    ['differences.resolve', () => createDifferenceRepository(store.db).resolve('other_digest', some, new Date()), 10],
    ['differences.count', () => createDifferenceRepository(store.db).count(), 1],
    ['state.begin', () => createReconciliationState(store.db).begin(1000), 1],
    ['state.last', () => createReconciliationState(store.db).last(), 1],
  ];
  it.each(CALLS)('%s', async (_name, call, most) => {
    const invoice = (i: number) =>
      stored({ heldAs: i % 3 ? null : `held_${i}`, xml: { file: 'f', sha256: digest(`${i}`), size: 1 } });
    await Promise.all(Array.from({ length: 30 }, (_, i) => invoice(i)));
    await plans.expectIndexed(call, most);
  });
});
