import { describe, expect, it } from 'vitest';
import { OPEN_GATE } from '../../../src/domain/authority/gate.ts';
import type {
  AuthorityReceipt,
  ClearedAnswer,
  ReceiptAnswer,
  ReceiptPlace,
} from '../../../src/domain/authority/ports.ts';
import { attentionOf } from '../../../src/domain/invoice/attention.ts';
import { legalXml } from '../../../src/domain/invoice/documents.ts';
import { type Invoice, NEW_WORK } from '../../../src/domain/invoice/invoice.ts';
import type { InvoiceChange } from '../../../src/domain/invoice/repository.ts';
import { createReceiptStage } from '../../../src/domain/invoice/stages/receipt.ts';
import type { PipelineParts, PipelineReport, Progress } from '../../../src/domain/invoice/stages/stage.ts';
import { pendingInvoice } from '../../support/invoices.ts';

const SENT = { file: 'sent', sha256: 'ab'.repeat(32), size: 1 };
const DECIDED = new Date('2026-11-22T10:00:00Z');
const CALLED = { requestId: 'req_1' } as const;

const receipt = (changes: Partial<AuthorityReceipt> = {}): ReceiptAnswer => ({
  kind: 'receipt',
  ...CALLED,
  receipt: {
    document: Buffer.from('<Receipt/>'),
    submissionId: 'inv_1',
    dgiId: 'DGI-1',
    sha256: SENT.sha256,
    status: 'accepted',
    decidedAt: DECIDED,
    ...changes,
  },
});
const cleared: ClearedAnswer = { kind: 'document', ...CALLED, document: Buffer.from('<Cleared/>') };
const away = { kind: 'unknown', ...CALLED, message: 'no reply', retryAfterMs: null } as const;

/** An accepted invoice at this stage. `fault` is what is wrong with the cleared document. */
function bench(
  answers: {
    receipt?: ReceiptAnswer;
    cleared?: ClearedAnswer;
    clears?: boolean;
    fault?: string | null;
    wait?: number;
    awaited?: boolean;
  },
  changes: Partial<Invoice> = {},
) {
  let invoice = pendingInvoice({
    id: 'inv_1',
    status: 'accepted',
    dgiId: 'DGI-1',
    xml: SENT,
    number: '2026-000001',
    ...changes,
  });
  invoice = { ...invoice, work: { ...invoice.work!, stage: 'receipt' } };
  const calls: string[] = [];
  const delays: number[] = [];
  const failures: (number | null)[] = [];
  const stored: string[] = [];
  const reports: PipelineReport[] = [];
  const apply = ({ work, events: _events, series: _series, ...fields }: InvoiceChange) => {
    const state = work && { ...NEW_WORK, ...work, dueAt: new Date(), claims: 0, since: new Date() };
    invoice = { ...invoice, ...fields, work: state };
    return { invoice, token: 't' };
  };
  const progress: Progress = {
    change: async (_claim, what) => apply(what),
    changeAll: () => Promise.reject(new Error('not of this stage')),
    putOff: async (_claim, work, delayMs, what = {}) => {
      delays.push(delayMs);
      apply({ ...what, work: { ...work, in: delayMs, keep: false } });
      return null;
    },
    handOver: async (_claim, stage, what) => {
      apply({ ...what, work: { ...NEW_WORK, stage, in: 0, keep: false } });
      return null;
    },
    leave: async (_claim, work, inMs, what = {}) => {
      apply({ ...what, work: { ...work, in: inMs, keep: false } });
      return null;
    },
  };
  const authority = {
    capabilities: () => ({ clearedDocument: answers.clears ?? false }),
    receipt: async ({ dgiId, submissionId }: ReceiptPlace) => {
      calls.push(`receipt ${dgiId} of ${submissionId}`);
      return answers.receipt ?? receipt();
    },
    cleared: async (id: string) => {
      calls.push(`cleared ${id}`);
      return answers.cleared ?? cleared;
    },
  };
  const stage = createReceiptStage(
    {
      documents: {
        put: async (bytes: Uint8Array, name: string, type: string) => {
          stored.push(`${name} ${type}`);
          return { file: name, sha256: 'cd'.repeat(32), size: bytes.length };
        },
        get: async () => Buffer.from('<Sent/>'),
      },
      authorityOf: () => authority,
      gateOf: () => ({
        ...OPEN_GATE,
        lookUpWait: () => answers.wait ?? 0,
        answered: () => undefined,
        lookUpFailed: async (ms: number | null) => void failures.push(ms),
      }),
      isErased: async () => false,
      isAwaited: () => answers.awaited ?? true,
      checkCleared: async () => answers.fault ?? null,
      report: (report: PipelineReport) => reports.push(report),
    } as unknown as PipelineParts,
    progress,
  );
  return {
    answers,
    calls,
    delays,
    failures,
    stored,
    reports,
    run: () => stage({ invoice, token: 't' }, false),
    invoice: () => invoice,
    attempts: () => invoice.authorityAttempts.map(({ purpose, outcome }) => `${purpose} ${outcome}`),
    attention: () => attentionOf(invoice, new Date())?.reason ?? null,
  };
}

describe('the receipt', () => {
  it('that fits the invoice is stored, and rendering follows', async () => {
    const it = bench({});
    await it.run();
    expect(it.invoice().work).toMatchObject({ stage: 'render', keep: false, in: 0 });
    expect(it.invoice().receipt).toEqual({
      file: 'inv_1.receipt.xml',
      sha256: 'cd'.repeat(32),
      size: 10,
      decidedAt: DECIDED,
    });
    expect([it.calls, it.stored]).toEqual([['receipt DGI-1 of inv_1'], ['inv_1.receipt.xml application/xml']]);
    expect(it.invoice().authorityAttempts).toMatchObject([
      { purpose: 'receipt', outcome: 'fetched', message: null, requestId: 'req_1' },
    ]);
    expect(it.invoice().awaitsCleared).toBe(false);
  });

  it('is compared with the id under which the authority holds the invoice', async () => {
    const it = bench({ receipt: receipt({ submissionId: 'inv_0' }) }, { heldAs: 'inv_0' });
    await it.run();
    expect(it.invoice().receipt).not.toBeNull();
    const other = bench({}, { heldAs: 'inv_0' });
    await other.run();
    expect(other.invoice().receipt).toBeNull();
  });

  it.each([
    ['submissionId', { submissionId: 'inv_2' }],
    ['dgiId', { dgiId: 'DGI-2' }],
    ['sha256', { sha256: 'ff'.repeat(32) }],
    ['status', { status: 'rejected' }],
  ] as const)('with another %s is not stored; operators are told at once', async (name, changes) => {
    const it = bench({ receipt: receipt(changes) });
    expect(await it.run()).toBeNull();
    expect([it.invoice().receipt, it.stored]).toEqual([null, []]);
    expect(it.attempts()).toEqual(['receipt invalid']);
    expect(it.invoice().authorityAttempts[0]?.message).toContain(name);
    expect(it.attention()).toBe('receipt_invalid');
    expect(it.reports).toMatchObject([{ level: 'error', stage: 'receipt' }]);
    // It is asked for again all the same: the authority may correct it.
    it.answers.receipt = receipt();
    await it.run();
    expect(it.invoice().receipt).not.toBeNull();
    expect(it.attention()).toBeNull();
  });

  it('whose signature is wrong is not stored either', async () => {
    const it = bench({ receipt: { kind: 'invalid', ...CALLED, message: 'forged' } });
    await it.run();
    expect([it.invoice().receipt, it.attention(), it.attempts()]).toEqual([
      null,
      'receipt_invalid',
      ['receipt invalid'],
    ]);
  });

  it.each([
    ['absent', { kind: 'absent', ...CALLED } as const, 'receipt not_available'],
    ['not answered for', away, 'receipt unknown'],
  ])('that is %s is fetched again without limit, ever more slowly', async (_what, answer, attempt) => {
    const it = bench({ receipt: answer });
    for (let run = 1; run <= 4; run++) await it.run();
    expect(it.attention()).toBeNull();
    for (let run = 5; run <= 8; run++) await it.run();
    expect(it.delays).toEqual([1000, 5000, 30_000, 120_000, 600_000, 600_000, 600_000, 600_000]);
    expect(new Set(it.attempts())).toEqual(new Set([attempt]));
    expect(it.attention()).toBe('receipt_delayed');
    expect(it.invoice().status).toBe('accepted');
    it.answers.receipt = receipt();
    await it.run();
    expect(it.invoice().work).toMatchObject({ stage: 'render', attempts: 0 });
  });

  it('is not asked for before the authority’s own delay is over', async () => {
    const it = bench({ receipt: { ...away, retryAfterMs: 45_000 } });
    await it.run();
    expect([it.delays, it.failures]).toEqual([[45_000], [45_000]]);
  });

  it('is not asked for while the breaker is open, which counts nothing; a call without answer is told to it', async () => {
    const it = bench({ wait: 7000, receipt: away });
    for (let run = 1; run <= 6; run++) await it.run();
    expect([it.calls, it.attempts(), it.attention(), it.failures]).toEqual([[], [], null, []]);
    expect(new Set(it.delays)).toEqual(new Set([7000]));
    it.answers.wait = 0;
    await it.run();
    expect([it.calls, it.failures, it.delays.at(-1)]).toEqual([['receipt DGI-1 of inv_1'], [null], 1000]);
  });
});

describe('rendering', () => {
  const customer = pendingInvoice({}).customer;

  it('is left for idle time if nobody waits for the PDF; the receipt is stored', async () => {
    const it = bench({ awaited: false });
    expect(await it.run()).toBeNull();
    expect(it.invoice().work).toMatchObject({ stage: 'render', attempts: 0, idle: true, in: 0, keep: false });
    expect(it.invoice().receipt).toMatchObject({ file: 'inv_1.receipt.xml' });
  });

  it('follows at once if the invoice is mailed, or if somebody waits for the PDF', async () => {
    const mailed = bench({ awaited: false }, { customer: { ...customer, email: 'a@example.org' } });
    await mailed.run();
    expect(mailed.invoice().work).toMatchObject({ stage: 'render', idle: false, in: 0 });
    const awaited = bench({ awaited: true });
    await awaited.run();
    expect(awaited.invoice().work).toMatchObject({ stage: 'render', idle: false, in: 0 });
  });
});

describe('the cleared document', () => {
  it('is stored beside the one that was sent, and is then the legal one', async () => {
    const it = bench({ clears: true }, { awaitsCleared: true });
    expect(legalXml(it.invoice())).toBeNull();
    await it.run();
    expect(it.invoice().work?.stage).toBe('render');
    expect(it.calls).toEqual(['receipt DGI-1 of inv_1', 'cleared inv_1']);
    expect(it.attempts()).toEqual(['receipt fetched', 'cleared fetched']);
    expect(it.invoice()).toMatchObject({ xml: SENT, cleared: { file: 'inv_1.cleared.xml' }, awaitsCleared: false });
    expect(legalXml(it.invoice())).toMatchObject({ file: 'inv_1.cleared.xml' });
  });

  it('is not asked for where the authority makes none', async () => {
    const it = bench({ clears: false });
    await it.run();
    expect(it.calls).toEqual(['receipt DGI-1 of inv_1']);
    expect(legalXml(it.invoice())).toBe(SENT);
  });

  it('is asked for under the id under which the authority holds the invoice', async () => {
    const it = bench({ clears: true, receipt: receipt({ submissionId: 'inv_0' }) }, { heldAs: 'inv_0' });
    await it.run();
    expect(it.calls).toEqual(['receipt DGI-1 of inv_0', 'cleared inv_0']);
  });

  it.each([
    ['away', away, 'receipt_delayed'],
    ['absent', { kind: 'absent', ...CALLED } as const, 'receipt_delayed'],
  ])('that is %s delays the PDF; the receipt is kept and not fetched again', async (_what, answer, reason) => {
    const it = bench({ clears: true, cleared: answer }, { awaitsCleared: true });
    for (let run = 1; run <= 5; run++) expect(await it.run()).toBeNull();
    expect(it.invoice()).toMatchObject({ receipt: { decidedAt: DECIDED }, cleared: null, awaitsCleared: true });
    expect(it.calls.filter((call) => call.startsWith('receipt'))).toHaveLength(1);
    expect(it.attention()).toBe(reason);
    it.answers.cleared = cleared;
    await it.run();
    expect(it.invoice().cleared).not.toBeNull();
  });

  it('that is wrong is never stored; operators are told at once', async () => {
    const it = bench({ clears: true, fault: 'It is of another invoice.' }, { awaitsCleared: true });
    expect(await it.run()).toBeNull();
    expect(it.invoice()).toMatchObject({ cleared: null, awaitsCleared: true });
    expect(it.stored).toEqual(['inv_1.receipt.xml application/xml']);
    expect([it.attempts(), it.attention()]).toEqual([['receipt fetched', 'cleared invalid'], 'receipt_invalid']);
  });
});
