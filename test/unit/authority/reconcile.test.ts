import { describe, expect, it, vi } from 'vitest';
import type { ChangesAnswer, Decision, LedgerEntry } from '../../../src/domain/authority/ports.ts';
import {
  createReconcile,
  type ReconcileParts,
  type ReconciliationReport,
} from '../../../src/domain/authority/reconcile.ts';
import {
  DIFFERENCE_KINDS,
  type Difference,
  type DifferenceKind,
  type Finding,
  MOST_OF_A_KIND,
  ReconciliationBusy,
  type ReconciliationProgress,
  type ReconciliationRun,
  type Transmission,
} from '../../../src/domain/authority/reconciliation.ts';

const HOUR_MS = 3_600_000;
const NOW = new Date('2026-11-20T03:00:00Z');
const ago = (hours: number) => new Date(NOW.getTime() - hours * HOUR_MS);
const digest = (text: string) => Buffer.from(text).toString('hex').padEnd(64, '0').slice(0, 64);
const LIMITS = {
  submissionsPerMinute: 600,
  lookUpsPerMinute: 600,
  lookUpsPerSubmissionPerHour: 60,
  concurrent: 16,
};

function entry(submissionId: string, changes: Partial<LedgerEntry> = {}): LedgerEntry {
  const decision: Decision = { outcome: 'accepted', dgiId: `DGI-${submissionId}`, decidedAt: ago(5) };
  return { submissionId, sha256: digest(submissionId), decision, ...changes };
}

const rejected: Decision = { outcome: 'rejected', problems: [], decidedAt: ago(5) };

function invoice(invoiceId: string, changes: Partial<Transmission> = {}): Transmission {
  return {
    invoiceId,
    tenantId: 'ten_1',
    submissionId: invoiceId,
    status: 'accepted',
    wasHeld: true,
    sha256: digest(invoiceId),
    dgiId: `DGI-${invoiceId}`,
    changedAt: ago(4),
    hasReceipt: true,
    ...changes,
  };
}

/** Everything in memory; `answers` scripts the authority: each call takes the next one, the last one repeats. */
function world(invoices: Transmission[], answers: (ChangesAnswer | ((after: string | null) => ChangesAnswer))[]) {
  const copy = new Map<string, LedgerEntry>();
  const differences = new Map<string, Difference & { open: boolean }>();
  let progress: ReconciliationProgress = { cursor: null, checkedUntil: null, stalled: 0 };
  let lease: string | null = null;
  let leases = 0;
  const log: ReconciliationReport[] = [];
  const asked: (string | null)[] = [];
  const healed: string[][] = [];
  const pauses: number[] = [];
  const clock = { now: NOW };
  let last: ReconciliationRun | null = null;
  const queries = { bySubmission: 0, byDigest: 0 };
  const idOf = (kind: DifferenceKind, id: string) => `${kind} ${id}`;
  const parts: ReconcileParts = {
    authority: {
      capabilities: () => ({
        decision: 'polling',
        lookUp: ['id'],
        clearedDocument: false,
        maxDocumentBytes: 1,
        limits: LIMITS,
      }),
      async changes(after) {
        asked.push(after);
        const answer = answers.length > 1 ? answers.shift() : answers[0];
        if (!answer) throw new Error('no answer is scripted');
        return typeof answer === 'function' ? answer(after) : answer;
      },
    },
    transmissions: {
      async bySubmission(ids) {
        queries.bySubmission += 1;
        return invoices.filter((each) => ids.includes(each.invoiceId) || ids.includes(each.submissionId));
      },
      async byDigest(digests) {
        queries.byDigest += 1;
        return invoices.filter(({ sha256 }) => sha256 !== null && digests.includes(sha256));
      },
      async *decided(from, until) {
        const found = invoices.filter(
          ({ status, changedAt }) =>
            (status === 'accepted' || status === 'rejected') && changedAt >= from && changedAt <= until,
        );
        if (found.length > 0) yield found;
      },
    },
    copy: {
      async keep(entries) {
        const changed = entries.filter((each) => {
          const before = copy.get(each.submissionId);
          return before && JSON.stringify(before) !== JSON.stringify(each);
        });
        for (const each of entries) copy.set(each.submissionId, each);
        return changed.length;
      },
      find: async (ids) => ids.flatMap((id) => copy.get(id) ?? []),
    },
    differences: {
      async observe(findings, at) {
        const fresh: Finding[] = [];
        for (const finding of findings) {
          const id = idOf(finding.kind, finding.submissionId);
          const before = differences.get(id);
          if (!before?.open) fresh.push(finding);
          differences.set(id, {
            ...finding,
            firstSeen: before?.firstSeen ?? at,
            lastSeen: at,
            open: true,
            acknowledged: null,
          });
        }
        return { fresh, leftOut: 0 };
      },
      async unresolved(kind, after, limit) {
        const found = [...differences.values()].filter((each) => each.open && each.kind === kind);
        return found.filter(({ submissionId }) => after === null || submissionId > after).slice(0, limit);
      },
      async resolve(kind, ids) {
        for (const id of ids) {
          const stored = differences.get(idOf(kind, id));
          if (stored) differences.set(idOf(kind, id), { ...stored, open: false });
        }
      },
      acknowledge: async () => null,
      count: async () =>
        Object.fromEntries(DIFFERENCE_KINDS.map((kind) => [kind, 0])) as Record<DifferenceKind, number>,
    },
    state: {
      async begin() {
        if (lease !== null) return null;
        lease = String(++leases);
        return { token: lease, progress };
      },
      async advance(token, _leaseMs, changes) {
        if (lease !== token) throw new ReconciliationBusy('the lease was lost');
        progress = { ...progress, ...changes };
      },
      async end(_token, run, changes) {
        [progress, last, lease] = [{ ...progress, ...changes }, run, null];
      },
      async release() {
        lease = null;
      },
      last: async () => last,
    },
    makeLookUpsDue: async (ids) => {
      healed.push([...ids]);
      return ids.length;
    },
    report: (event) => log.push(event),
    pause: async (ms) => void pauses.push(ms),
    clock: () => clock.now,
  };
  return {
    parts,
    log,
    asked,
    healed,
    pauses,
    clock,
    invoices,
    queries,
    copy,
    reconcile: createReconcile(parts),
    progress: () => progress,
    open: () => [...differences.values()].filter(({ open }) => open).map((each) => `${each.kind} ${each.submissionId}`),
    takeLease: (token: string | null) => {
      lease = token;
    },
  };
}

function page(entries: readonly LedgerEntry[], nextCursor = 'end', highWaterMark = 'end'): ChangesAnswer {
  return { kind: 'changes', requestId: null, entries, nextCursor, highWaterMark };
}

const failure = (retryAfterMs: number | null = null): ChangesAnswer => ({
  kind: 'unknown',
  requestId: null,
  message: 'HTML from a proxy',
  retryAfterMs,
});

describe('an entry', () => {
  it.each<[string, LedgerEntry, Transmission | null, string[]]>([
    ['that agrees', entry('a'), invoice('a'), []],
    [
      'rejected on both sides',
      entry('a', { decision: rejected }),
      invoice('a', { status: 'rejected', dgiId: null }),
      [],
    ],
    [
      'rejected there and refused here',
      entry('a', { decision: rejected }),
      invoice('a', { status: 'rejected', wasHeld: false }),
      [],
    ],
    ['accepted there, rejected here', entry('a'), invoice('a', { status: 'rejected' }), ['accepted_by_authority a']],
    [
      'accepted there, given up here as not received',
      entry('a'),
      invoice('a', { status: 'rejected', wasHeld: false }),
      ['accepted_by_authority a'],
    ],
    ['rejected there, accepted here', entry('a', { decision: rejected }), invoice('a'), ['rejected_by_authority a']],
    ['of another document', entry('a', { sha256: digest('b') }), invoice('a'), ['other_digest a']],
    [
      'of a document that was never signed',
      entry('a'),
      invoice('a', { status: 'pending', sha256: null, dgiId: null }),
      ['other_digest a'],
    ],
    ['with another identifier', entry('a'), invoice('a', { dgiId: 'DGI-x' }), ['other_dgi_id a']],
    ['that nobody knows', entry('a'), null, ['unknown_submission a']],
    [
      'followed under another id',
      entry('b', { sha256: digest('a') }),
      invoice('a', { submissionId: 'b', dgiId: 'DGI-b' }),
      [],
    ],
    [
      'of another document under the id of an invoice that is followed elsewhere',
      entry('a', { sha256: digest('c') }),
      invoice('a', { submissionId: 'b', status: 'transmitted' }),
      ['other_digest a'],
    ],
  ])('%s', async (_name, given, ours, expected) => {
    const { reconcile, open, log, healed } = world(ours ? [ours] : [], [page([given])]);
    const run = await reconcile();
    expect(open()).toEqual(expected);
    expect(run).toMatchObject({ outcome: 'complete', entries: 1, found: expected.length, healed: 0 });
    expect(log.filter(({ level }) => level === 'error').map(({ difference }) => difference?.kind)).toEqual(
      expected.map((each) => each.split(' ')[0]),
    );
    expect(healed).toEqual([]);
  });

  it('of another document is told with its digest and its decision', async () => {
    const theirs = async (given: LedgerEntry) => {
      const { reconcile, log } = world([invoice('a')], [page([given])]);
      await reconcile();
      return log.find(({ level }) => level === 'error')?.difference?.theirs;
    };
    const other = entry('a', { sha256: digest('b') });
    expect(await theirs(other)).toBe(`accepted as DGI-a, digest ${digest('b')}`);
    expect(await theirs({ ...other, decision: rejected })).toBe(`rejected, digest ${digest('b')}`);
  });

  it('of a document that is held under a second id, before or after ours', async () => {
    for (const order of [
      ['a', 'b'],
      ['b', 'a'],
    ]) {
      const entries = order.map((id) => entry(id, { sha256: digest('a') }));
      const { reconcile, open } = world([invoice('a')], [page(entries)]);
      await reconcile();
      expect(open()).toEqual(['held_twice b']);
    }
  });

  it.each(['signing', 'transmitted'] as const)(
    'decided there and %s here makes the look-up due, and is no difference',
    async (status) => {
      const ours = [invoice('a', { status, dgiId: null }), invoice('c', { status, dgiId: null })];
      const entries = [entry('a'), entry('b'), entry('c', { decision: rejected })];
      const { reconcile, open, healed } = world([...ours, invoice('b')], [page(entries)]);
      expect(await reconcile()).toMatchObject({ healed: 2, found: 0 });
      expect(healed).toEqual([['a', 'c']]);
      expect(open()).toEqual([]);
    },
  );
});

describe('an invoice', () => {
  it.each<[string, Transmission, string[]]>([
    ['accepted', invoice('a'), ['not_in_ledger a']],
    ['rejected by the authority', invoice('a', { status: 'rejected', dgiId: null }), ['not_in_ledger a']],
    ['rejected before the authority held it', invoice('a', { status: 'rejected', wasHeld: false }), []],
    ['not decided yet', invoice('a', { status: 'transmitted' }), []],
    ['accepted a moment before the ledger was read', invoice('a', { changedAt: ago(0.01) }), []],
    ['accepted two days ago', invoice('a', { changedAt: ago(48) }), ['not_in_ledger a']],
    [
      'accepted two days ago, without a receipt',
      invoice('a', { changedAt: ago(48), hasReceipt: false }),
      ['not_in_ledger a', 'receipt_missing a'],
    ],
  ])('%s, that the ledger lacks', async (_name, ours, expected) => {
    const { reconcile, open } = world([ours], [page([], '', '')]);
    expect(await reconcile()).toMatchObject({ outcome: 'complete' });
    expect(open()).toEqual(expected);
  });

  it('is not missed when the ledger was not read to its end', async () => {
    const { reconcile, open } = world([invoice('a')], [page([entry('b')], '1'), failure()]);
    expect(await reconcile()).toMatchObject({ outcome: 'failed' });
    expect(open()).toEqual(['unknown_submission b']);
  });

  it('may be without a receipt for a day, also if nothing new is in the ledger then', async () => {
    const ours = invoice('a', { changedAt: ago(1), hasReceipt: false });
    const { reconcile, open, clock } = world([ours], [page([entry('a')]), page([])]);
    await reconcile();
    expect(open()).toEqual([]);
    clock.now = ago(-26);
    await reconcile();
    expect(open()).toEqual(['receipt_missing a']);
  });

  it('is compared with an entry that was read before the invoice was decided', async () => {
    const { reconcile, open, clock, invoices } = world(
      [invoice('a', { status: 'transmitted' })],
      [page([entry('a')]), page([])],
    );
    await reconcile();
    invoices[0] = invoice('a', { status: 'rejected', dgiId: null, changedAt: ago(-1) });
    clock.now = ago(-24);
    await reconcile();
    expect(open()).toEqual(['accepted_by_authority a']);
  });
});

describe('a difference', () => {
  it('is logged once, and is resolved by a later run that no longer sees it', async () => {
    const { reconcile, open, invoices, clock, log } = world(
      [invoice('a', { dgiId: 'x' }), invoice('m')],
      [page([entry('a'), entry('u')]), page([])],
    );
    expect(await reconcile()).toMatchObject({ found: 3, resolved: 0 });
    clock.now = ago(-24);
    expect(await reconcile()).toMatchObject({ found: 0, resolved: 0 });
    expect(log.filter(({ level }) => level === 'error')).toHaveLength(3);
    invoices[0] = invoice('a');
    invoices.push(invoice('u'));
    clock.now = ago(-48);
    expect(await reconcile()).toMatchObject({ found: 0, resolved: 2 });
    expect(open()).toEqual(['not_in_ledger m']);
  });

  it('is resolved when the ledger is corrected, and arises when an entry is changed', async () => {
    const { reconcile, open, clock } = world(
      [invoice('a', { dgiId: 'DGI-new' }), invoice('b')],
      [
        page([entry('a'), entry('b')]),
        page([
          entry('a', { decision: { outcome: 'accepted', dgiId: 'DGI-new', decidedAt: ago(5) } }),
          entry('b', { decision: rejected }),
        ]),
      ],
    );
    await reconcile();
    expect(open()).toEqual(['other_dgi_id a']);
    clock.now = ago(-24);
    expect(await reconcile()).toMatchObject({ changed: 2, found: 1, resolved: 1 });
    expect(open()).toEqual(['rejected_by_authority b']);
  });

  it('that found no room is looked for again from the start of the ledger', async () => {
    const { parts, progress, reconcile } = world([], [page([entry('a')])]);
    vi.spyOn(parts.differences, 'observe').mockResolvedValue({ fresh: [], leftOut: 1 });
    expect(await reconcile()).toMatchObject({ leftOut: 1, outcome: 'complete' });
    expect(progress()).toMatchObject({ cursor: null, checkedUntil: null });
    expect(MOST_OF_A_KIND).toBeGreaterThan(100);
  });
});

describe('a run', () => {
  it('reads from the stored cursor to the high-water mark', async () => {
    const { reconcile, asked, progress } = world(
      [invoice('a'), invoice('b')],
      [page([entry('a')], '1'), page([entry('b')]), page([])],
    );
    expect(await reconcile()).toMatchObject({ entries: 2, outcome: 'complete', invoices: 2 });
    expect(asked).toEqual([null, '1']);
    await reconcile();
    expect(asked).toEqual([null, '1', 'end']);
    expect(progress().cursor).toBe('end');
  });

  it('keeps what it read before a failure, and the next one continues there', async () => {
    const { reconcile, asked, pauses, log } = world(
      [invoice('a'), invoice('b')],
      [page([entry('a')], '1'), failure(), failure(7000), failure(999_999_999), failure(), page([entry('b')])],
    );
    const run = await reconcile();
    expect(run).toMatchObject({ outcome: 'failed', entries: 1, message: expect.stringContaining('HTML from a proxy') });
    expect(log.map(({ level }) => level)).toEqual(['error']);
    // The authority's own delay, within limits.
    expect(pauses).toEqual([1000, 7000, 60_000]);
    expect(await reconcile()).toMatchObject({ outcome: 'complete', entries: 1 });
    expect(asked).toEqual([null, '1', '1', '1', '1', '1']);
  });

  it('resumes after a crash between two pages, and the repeated page changes nothing', async () => {
    const { parts, reconcile, asked, open, log, takeLease } = world(
      [invoice('b')],
      [
        page([entry('a')], '1'),
        page([entry('b'), entry('c')], '2'),
        page([entry('b'), entry('c')], '2'),
        page([entry('d')]),
      ],
    );
    const { advance } = parts.state;
    let pages = 0;
    const crash = vi.spyOn(parts.state, 'advance').mockImplementation(async (...args) => {
      if (++pages === 2) throw new Error('the process is killed');
      return advance(...args);
    });
    await expect(reconcile()).rejects.toThrow('killed');
    crash.mockRestore();
    takeLease(null);
    await reconcile();
    expect(asked).toEqual([null, '1', '1', '2']);
    expect(open()).toEqual(['unknown_submission a', 'unknown_submission c', 'unknown_submission d']);
    expect(log.filter(({ difference }) => difference)).toHaveLength(3);
  });

  it('with a date compares from there again, and leaves the cursor of the nightly run', async () => {
    const old = entry('a', { decision: { ...rejected, decidedAt: ago(100) } });
    const { reconcile, asked, open, progress } = world(
      [invoice('a'), invoice('b', { dgiId: 'x' })],
      [page([old]), page([old, entry('b')], 'further', 'further')],
    );
    await reconcile();
    const before = progress();
    expect(open()).toEqual(['rejected_by_authority a', 'not_in_ledger b']);
    await reconcile({ since: ago(50) });
    expect(asked).toEqual([null, null]);
    expect(open()).toContain('other_dgi_id b');
    expect(progress()).toEqual(before);
  });

  it('with a date misses nothing that was decided before it', async () => {
    const { reconcile, open } = world(
      [invoice('a')],
      [page([entry('a', { decision: { ...rejected, decidedAt: ago(100) } })])],
    );
    await reconcile({ since: ago(50) });
    // The invoice was decided here since then, and there before: it is in the ledger, and it differs.
    expect(open()).toEqual(['rejected_by_authority a']);
  });

  it('takes a cursor that cannot be read three times for expired', async () => {
    const { reconcile, asked, clock, pauses } = world(
      [],
      [page([entry('a')], 'old', 'old'), (after) => (after === 'old' ? failure() : page([entry('a')], 'new', 'new'))],
    );
    await reconcile();
    const outcomes = [];
    for (let night = 1; night <= 4; night++) {
      clock.now = ago(-24 * night);
      outcomes.push((await reconcile()).outcome);
    }
    expect(outcomes).toEqual(['failed', 'failed', 'failed', 'complete']);
    expect(asked.at(-1)).toBeNull();
    expect(pauses).toHaveLength(9);
  });

  it('is refused while another one runs, also for its further pages', async () => {
    const { reconcile, takeLease } = world(
      [],
      [
        () => {
          takeLease('another');
          return page([entry('a')], '1');
        },
      ],
    );
    await expect(reconcile()).rejects.toThrow(ReconciliationBusy);
    await expect(reconcile()).rejects.toThrow(ReconciliationBusy);
  });

  it('ends after the current page when it is told to', async () => {
    const end = new AbortController();
    const { reconcile, progress } = world([], [page([entry('a')], '1')]);
    const run = await reconcile({ signal: end.signal, progress: () => end.abort() });
    expect(run).toMatchObject({ outcome: 'stopped', entries: 1 });
    expect(progress().cursor).toBe('1');
  });

  it('asks for our invoices once a page, and once more for ids that it does not know', async () => {
    const ids = Array.from({ length: 1000 }, (_, i) => `inv_${i}`);
    const { reconcile, queries } = world(
      ids.map((id) => invoice(id, { changedAt: ago(0) })),
      [
        page(
          ids.map((id) => entry(id)),
          '1',
        ),
        page([entry('x'), entry('y')]),
      ],
    );
    await reconcile();
    expect(queries).toEqual({ bySubmission: 2, byDigest: 1 });
  });
});

describe('a ledger that lies', () => {
  it.each<[string, (ChangesAnswer | ((after: string | null) => ChangesAnswer))[], string, number]>([
    ['repeats its cursor', [page([entry('a')], '1', '9'), page([entry('a')], '1', '9')], 'does not advance', 1],
    [
      'goes round in a circle',
      [(after) => page([entry('a')], String((Number(after) + 1) % 7), 'x')],
      'does not advance',
      1,
    ],
    ['has only empty pages', [(after) => page([], String(Number(after) + 1), 'x')], 'does not advance', 0],
    [
      'sends more than it was asked for',
      [page(Array.from({ length: 1001 }, (_, i) => entry(`inv_${i}`)))],
      '1001 entries',
      0,
    ],
    ['has an endless id', [page([entry('a'.repeat(100_000))])], 'malformed', 0],
    ['has no digest', [page([entry('a', { sha256: 'x' })])], 'malformed', 0],
    ['has an endless cursor', [page([entry('a')], 'x'.repeat(10_000))], 'cursor', 0],
  ])('and %s is refused', async (_name, answers, message, atLeast) => {
    const { reconcile, progress } = world([], answers);
    const run = await reconcile();
    expect(run).toMatchObject({ outcome: 'failed', message: expect.stringContaining(message) });
    expect(run.entries).toBeGreaterThanOrEqual(atLeast);
    expect(run.entries).toBeLessThan(100);
    expect(progress().checkedUntil).toBeNull();
  });

  it('and repeats entries is read, with the last one of each submission', async () => {
    const twice = [entry('a', { decision: rejected }), entry('a'), entry('a')];
    const { reconcile, open, copy } = world([invoice('a')], [page(twice)]);
    expect(await reconcile()).toMatchObject({ entries: 3, outcome: 'complete' });
    expect(open()).toEqual([]);
    expect(copy.size).toBe(1);
  });
});
