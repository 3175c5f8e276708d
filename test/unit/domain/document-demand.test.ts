import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { createDocumentDemand } from '../../../src/domain/invoice/document-demand.ts';
import type { InvoiceNews } from '../../../src/domain/invoice/feed.ts';
import type { Invoice } from '../../../src/domain/invoice/invoice.ts';
import { DOCUMENT_WAIT_MS } from '../../../src/domain/limits.ts';
import { pendingInvoice } from '../../support/invoices.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** Lets promises that are settled go on. */
const settle = () => vi.advanceTimersByTimeAsync(0);

function bench() {
  const stored = new Map<string, Invoice>();
  const listeners = new Map<string, Set<(news: InvoiceNews) => void>>();
  const hurried: string[] = [];
  const queued: string[] = [];
  const found: string[] = [];
  const failures: unknown[] = [];
  const away = { now: false };
  const demand = createDocumentDemand(
    {
      async find(id) {
        found.push(id);
        return stored.get(id) ?? null;
      },
      async hurry(id) {
        if (away.now) throw new Error('the store is away');
        const invoice = stored.get(id);
        if (!invoice?.work || !(invoice.work.idle || invoice.work.dueAt > new Date())) return null;
        hurried.push(id);
        const due = { ...invoice, work: { ...invoice.work, idle: false, dueAt: new Date() } };
        stored.set(id, due);
        return due;
      },
    },
    { enqueue: async ({ id }) => void queued.push(id) },
    {
      subscribe(id, listener) {
        const own = listeners.get(id) ?? new Set();
        listeners.set(id, own.add(listener));
        return () => own.delete(listener);
      },
    },
    (error) => failures.push(error),
  );
  const put = (invoice: Invoice) => {
    stored.set(invoice.id, invoice);
    const news = { invoiceId: invoice.id, events: [], documentStored: true };
    for (const listener of listeners.get(invoice.id) ?? []) listener(news);
    return invoice;
  };
  const at = (id: string, tenantId: string, stage: 'receipt' | 'render') => {
    const invoice = pendingInvoice({ id, tenantId, status: 'accepted' });
    return put({ ...invoice, work: { ...invoice.work!, stage, idle: stage === 'render' } });
  };
  const draw = (id: string) => put({ ...stored.get(id)!, pdf: { file: id, sha256: '', size: 1 }, work: null });
  return { demand, at, draw, hurried, queued, found, failures, away, put };
}

it('all who ask for a PDF make it due once', async () => {
  const { demand, at, draw, hurried, queued } = bench();
  const invoice = at('inv_1', 'a', 'render');
  const asked = Promise.all([1, 2, 3].map(() => demand.await(invoice, 'pdf')));
  await settle();
  expect([hurried, queued, demand.isAwaited(invoice)]).toEqual([['inv_1'], ['inv_1'], true]);
  draw('inv_1');
  expect((await asked).map((each) => each?.pdf?.file)).toEqual(['inv_1', 'inv_1', 'inv_1']);
  expect(demand.isAwaited(invoice)).toBe(false);
});

it('a PDF that was drawn since the caller read the invoice is found at once', async () => {
  const { demand, at, draw, hurried } = bench();
  const invoice = at('inv_1', 'a', 'render');
  draw('inv_1');
  const asked = [demand.await(invoice, 'pdf'), demand.await(invoice, 'pdf')];
  await settle();
  expect(hurried).toEqual([]);
  expect((await Promise.all(asked)).map((each) => each?.pdf?.file)).toEqual(['inv_1', 'inv_1']);
});

it('a PDF that was drawn since the caller read the invoice is found at once, also while its tenant has no place', async () => {
  const { demand, at, draw } = bench();
  for (let n = 0; n < 8; n++) void demand.await(at(`inv_${n}`, 'a', 'render'), 'pdf');
  await settle();
  const invoice = at('inv_x', 'a', 'render');
  draw('inv_x');
  let found: Invoice | null = null;
  void demand.await(invoice, 'pdf').then((each) => (found = each));
  await settle();
  expect(found).toMatchObject({ pdf: { file: 'inv_x' } });
});

it('a PDF that failed a while ago is tried again at once, one that failed a moment ago is not', async () => {
  const { demand, at, draw, hurried, put } = bench();
  const failed = (id: string, agoMs: number) => {
    const invoice = at(id, 'a', 'render');
    const times = { since: new Date(Date.now() - agoMs), dueAt: new Date(Date.now() + 500_000) };
    return put({ ...invoice, work: { ...invoice.work!, idle: false, attempts: 4, ...times } });
  };
  const asked = [demand.await(failed('inv_1', 60_000), 'pdf'), demand.await(failed('inv_2', 5_000), 'pdf')];
  await settle();
  expect(hurried).toEqual(['inv_1']);
  draw('inv_1');
  expect((await asked[0])?.pdf?.file).toBe('inv_1');
  await vi.advanceTimersByTimeAsync(DOCUMENT_WAIT_MS);
  expect(await asked[1]).toBeNull();
});

it('PDFs that wait for something else take no place of their tenant', async () => {
  const { demand, at, hurried, put } = bench();
  const held = Array.from({ length: 8 }, (_, n) => {
    const invoice = at(`inv_${n}`, 'a', 'render');
    const times = { since: new Date(Date.now() - 60_000), dueAt: new Date(Date.now() + 500_000) };
    return put({ ...invoice, work: { ...invoice.work!, idle: false, claims: 3, ...times } });
  });
  // Read before another worker took them up.
  const taken = Array.from({ length: 8 }, (_, n) => {
    const invoice = at(`inv_taken_${n}`, 'a', 'render');
    put({ ...invoice, work: { ...invoice.work!, idle: false, dueAt: new Date(0) } });
    return invoice;
  });
  for (const each of [...held, ...taken]) void demand.await(each, 'pdf');
  await settle();
  const idle = at('inv_idle', 'a', 'render');
  void demand.await(idle, 'pdf');
  await settle();
  expect([hurried, demand.isAwaited(idle)]).toEqual([['inv_idle'], true]);
});

it('another document than the PDF makes no PDF due', async () => {
  const { demand, at, hurried, found } = bench();
  const asked = demand.await(at('inv_1', 'a', 'render'), 'receipt');
  await vi.advanceTimersByTimeAsync(DOCUMENT_WAIT_MS);
  expect([await asked, hurried, found.length]).toEqual([null, [], 2]);
});

it('a PDF that another worker has begun since the caller read the invoice is waited for', async () => {
  const { demand, at, draw, hurried, put } = bench();
  const invoice = at('inv_1', 'a', 'render');
  put({ ...invoice, work: { ...invoice.work!, idle: false } });
  const asked = demand.await(invoice, 'pdf');
  await settle();
  expect(hurried).toEqual([]);
  draw('inv_1');
  expect((await asked)?.pdf?.file).toBe('inv_1');
});

it('an invoice whose PDF is idle is not read again before its PDF is made due', async () => {
  const { demand, at, draw, hurried, found } = bench();
  const asked = demand.await(at('inv_1', 'a', 'render'), 'pdf');
  await settle();
  expect([hurried, found]).toEqual([['inv_1'], []]);
  draw('inv_1');
  expect((await asked)?.pdf?.file).toBe('inv_1');
});

it('a PDF whose receipt is still to come is made due when its work becomes idle', async () => {
  const { demand, at, draw, hurried } = bench();
  const asked = demand.await(at('inv_1', 'a', 'receipt'), 'pdf');
  await settle();
  expect(hurried).toEqual([]);
  at('inv_1', 'a', 'render');
  await settle();
  expect(hurried).toEqual(['inv_1']);
  draw('inv_1');
  expect((await asked)?.pdf).not.toBeNull();
});

it('a tenant has 8 PDFs drawn at a time, the others in their order; another tenant does not wait', async () => {
  const { demand, at, draw, hurried } = bench();
  const ids = Array.from({ length: 12 }, (_, i) => `inv_${i}`);
  const asked = ids.map((id) => demand.await(at(id, 'a', 'render'), 'pdf'));
  await settle();
  expect(hurried).toEqual(ids.slice(0, 8));
  const late = at('inv_late', 'a', 'receipt');
  const lateAsked = demand.await(late, 'pdf');
  expect(demand.isAwaited(late)).toBe(false);
  const other = demand.await(at('inv_b', 'b', 'render'), 'pdf');
  await settle();
  expect(hurried.at(-1)).toBe('inv_b');
  for (const id of ids) {
    draw(id);
    await settle();
  }
  expect(hurried.filter((id) => id !== 'inv_b')).toEqual(ids);
  draw('inv_b');
  draw('inv_late');
  expect((await Promise.all([...asked, lateAsked, other])).every((each) => each?.pdf)).toBe(true);
});

it('who has waited too long gets nothing and leaves the line', async () => {
  const { demand, at, hurried } = bench();
  const ids = Array.from({ length: 9 }, (_, i) => `inv_${i}`);
  const asked = Promise.all(ids.map((id) => demand.await(at(id, 'a', 'render'), 'pdf')));
  await vi.advanceTimersByTimeAsync(DOCUMENT_WAIT_MS);
  expect(await asked).toEqual(Array(9).fill(null));
  const again = at('inv_again', 'a', 'render');
  void demand.await(again, 'pdf');
  await settle();
  expect([hurried.at(-1), demand.isAwaited(again)]).toEqual(['inv_again', true]);
});

it('a failure to make a PDF due is reported, and the next request tries again', async () => {
  const { demand, at, hurried, failures, away } = bench();
  away.now = true;
  const asked = demand.await(at('inv_1', 'a', 'render'), 'pdf');
  await vi.advanceTimersByTimeAsync(DOCUMENT_WAIT_MS);
  expect([await asked, hurried, failures.length]).toEqual([null, [], 1]);
  away.now = false;
  void demand.await(at('inv_1', 'a', 'render'), 'pdf');
  await settle();
  expect(hurried).toEqual(['inv_1']);
});
