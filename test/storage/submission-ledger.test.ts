import { createHash } from 'node:crypto';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createMockAuthority } from '../../src/adapters/authority/mock/mock-authority.ts';
import type { Authority, LedgerEntry, LedgerRow } from '../../src/domain/authority/ports.ts';
import type { Store } from '../../src/storage/connect.ts';
import { createSubmissionLedger } from '../../src/storage/submission-ledger.ts';
import { openTestStore } from '../support/store.ts';

let store: Store;
let authority: Authority;
let now = new Date('2026-11-01T10:00:00Z');

beforeAll(async () => {
  store = await openTestStore('submission-ledger', true);
  authority = createMockAuthority({
    ledger: createSubmissionLedger(store.db),
    verify: async () => ({ valid: true }),
    examineContent: async () => ({ isVerified: true, fault: null }),
    clock: () => now,
    signer: { sign: () => Promise.reject(new Error('no receipt is asked for')) },
    readReceipt: () => Promise.reject(new Error('no receipt is asked for')),
  });
});
afterAll(() => store.close());

async function submit(submissionId: string, customerIce = '001525713000085'): Promise<void> {
  const document = Buffer.from(submissionId);
  const sha256 = createHash('sha256').update(document).digest('hex');
  await authority.submit({ submissionId, customerIce, sha256, document });
}

async function page(after: string | null, limit: number) {
  const answer = await authority.changes(after, limit);
  if (answer.kind !== 'changes') throw new Error(answer.message);
  return answer;
}

/** All entries, read in pages of `limit`. */
async function all(limit: number, from: string | null = null): Promise<LedgerEntry[]> {
  const read: LedgerEntry[] = [];
  for (let cursor = from; ; ) {
    const { entries, nextCursor, highWaterMark } = await page(cursor, limit);
    expect(entries.length).toBeLessThanOrEqual(limit);
    read.push(...entries);
    if (nextCursor === highWaterMark) return read;
    cursor = nextCursor;
  }
}

it('an empty ledger ends at once, with a cursor that goes on later', async () => {
  const { entries, nextCursor, highWaterMark } = await page(null, 10);
  expect(entries).toEqual([]);
  expect(nextCursor).toBe(highWaterMark);
  await submit('inv_0');
  expect((await page(nextCursor, 10)).entries.map(({ submissionId }) => submissionId)).toEqual(['inv_0']);
});

it('has each decision once, in the order it was taken, in pages of any size', async () => {
  // Five at the same moment, so that pages end between equal times.
  now = new Date('2026-11-01T10:01:00Z');
  for (const id of ['inv_3', 'inv_1', 'inv_5', 'inv_2', 'inv_4']) await submit(id);
  // Magic ICE: decided ten seconds later than the one that is submitted after it.
  await submit('inv_slow', '999000000000393');
  now = new Date('2026-11-01T10:01:05Z');
  await submit('inv_6');
  const early = ['inv_0', 'inv_1', 'inv_2', 'inv_3', 'inv_4', 'inv_5', 'inv_6'];
  for (const limit of [1, 2, 3, 7, 8]) {
    expect((await all(limit)).map(({ submissionId }) => submissionId)).toEqual(early);
  }
  const { nextCursor } = await page(null, 1000);
  now = new Date('2026-11-01T10:02:00Z');
  expect((await all(1000, nextCursor)).map(({ submissionId }) => submissionId)).toEqual(['inv_slow']);
  const [entry] = await all(1000);
  expect(entry).toEqual({
    submissionId: 'inv_0',
    sha256: createHash('sha256').update('inv_0').digest('hex'),
    decision: { outcome: 'accepted', dgiId: expect.stringMatching(/^DGI-TEST-/), decidedAt: expect.any(Date) },
  });
});

it('refuses a cursor of another ledger', async () => {
  expect(await authority.changes('elsewhere', 10)).toMatchObject({ kind: 'unknown' });
});

it('records and finds what comes at the same time with one command each, and keeps the first row of an id', async () => {
  const ledger = createSubmissionLedger(store.db);
  const at = new Date('2026-11-02T10:00:00Z');
  const row = (submissionId: string, sha256: string): LedgerRow => ({
    submissionId,
    sha256,
    receivedAt: at,
    decisionAt: at,
    receiptAt: at,
    decision: { outcome: 'rejected', problems: [], decidedAt: at },
  });
  await ledger.record(row('sub_0', 'first'));
  const commands: string[] = [];
  const note = ({ commandName }: { commandName: string }) => commands.push(commandName);
  store.client.on('commandStarted', note);
  const rows = [row('sub_0', 'later'), row('sub_1', 'one'), row('sub_1', 'two'), row('sub_2', 'new')];
  const kept = await Promise.all(rows.map(ledger.record));
  expect(commands).toEqual(['insert', 'find']);
  expect(kept.map(({ sha256 }) => sha256)).toEqual(['first', 'one', 'one', 'new']);
  const found = await Promise.all(['sub_0', 'sub_1', 'sub_2', 'sub_none'].map(ledger.find));
  expect(commands).toEqual(['insert', 'find', 'find']);
  store.client.off('commandStarted', note);
  expect(found).toEqual([kept[0], kept[1], kept[3], null]);
});
