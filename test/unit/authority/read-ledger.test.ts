import { expect, it } from 'vitest';
import type { ChangesAnswer, LedgerEntry } from '../../../src/domain/authority/ports.ts';
import { LedgerUnreadable, readLedger } from '../../../src/domain/authority/read-ledger.ts';

const BYTES = 100;
const decidedAt = new Date('2026-11-20T03:00:00Z');
const entryOf = (n: number): LedgerEntry => ({
  submissionId: `s${n}`,
  sha256: '0'.repeat(64),
  decision: { outcome: 'accepted', dgiId: `DGI-${n}`, decidedAt },
});

/** A ledger of entries of these sizes. An answer of more than `BYTES` cannot be read. */
function ledgerOf(sizes: readonly number[]) {
  const asked: number[] = [];
  return {
    asked,
    async changes(after: string | null, limit: number): Promise<ChangesAnswer> {
      asked.push(limit);
      const from = Number(after ?? 0);
      const until = Math.min(from + limit, sizes.length);
      const bytes = sizes.slice(from, until).reduce((sum, size) => sum + size, 0);
      if (bytes > BYTES)
        return { kind: 'unknown', requestId: null, message: 'too long', retryAfterMs: null } as ChangesAnswer;
      const entries = sizes.slice(from, until).map((_, index) => entryOf(from + index));
      return {
        kind: 'changes',
        requestId: null,
        entries,
        nextCursor: String(until),
        highWaterMark: String(sizes.length),
      } as ChangesAnswer;
    },
  };
}

async function read(sizes: readonly number[]) {
  const ledger = ledgerOf(sizes);
  const found: string[] = [];
  const pause = async () => undefined;
  for await (const { entries } of readLedger(ledger, null, pause))
    found.push(...entries.map(({ submissionId }) => submissionId));
  return { found, asked: ledger.asked };
}

const all = (count: number) => Array.from({ length: count }, (_, n) => `s${n}`);

it('reads entries that are too long for one answer in smaller pages, each once, and then in large ones again', async () => {
  const sizes = [...Array(28).fill(45), ...Array(3000).fill(0)];
  const { found, asked } = await read(sizes);
  expect(found).toEqual(all(sizes.length));
  expect(asked.slice(0, 5)).toEqual([1000, 100, 10, 1, 2]);
  expect(asked.at(-1)).toBe(1000);
});

it('asks for whole pages where they can be read', async () => {
  expect((await read(Array(2500).fill(0))).asked).toEqual([1000, 1000, 1000]);
});

it('ends at an entry that alone is too long', async () => {
  await expect(read([1, BYTES + 1])).rejects.toThrow(LedgerUnreadable);
});
