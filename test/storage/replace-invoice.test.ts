import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { soleKey } from '../../src/domain/data-keys.ts';
import { createClientSecrets } from '../../src/domain/invoice/client-secret.ts';
import { creditInvoice } from '../../src/domain/invoice/credit-invoice.ts';
import type { Invoice } from '../../src/domain/invoice/invoice.ts';
import { createInvoiceIds } from '../../src/domain/invoice/invoice-ids.ts';
import { abandonedByOperator } from '../../src/domain/invoice/rejection-reasons.ts';
import { replaceInvoice } from '../../src/domain/invoice/replace-invoice.ts';
import type { InvoiceRepository } from '../../src/domain/invoice/repository.ts';
import { createCheckCorrection } from '../../src/domain/invoice/stages/check-correction.ts';
import { createInvoiceWarnings } from '../../src/domain/invoice/unprintable-warnings.ts';
import { newCreationMoment } from '../../src/domain/order-key.ts';
import type { Member } from '../../src/domain/principal.ts';
import { NO_TRACING } from '../../src/domain/tracing.ts';
import type { Store } from '../../src/storage/connect.ts';
import { invoicesOf, pendingInvoice } from '../support/invoices.ts';
import { openTestStore } from '../support/store.ts';

let store: Store;

beforeAll(async () => {
  store = await openTestStore('replace-invoice', true);
});
afterAll(() => store.close());

const BY: Member = {
  kind: 'secret',
  keyId: 'key_test',
  tenant: { id: 'ten_test', name: 'Test', profile: {}, createdAt: new Date(0), suspendedAt: null },
  environment: 'test',
};
const CORRECTED = {
  amount: 6000,
  currency: 'MAD' as const,
  customer: { ice: '001234567000089', name: 'Atlas' },
  lines: [{ description: 'Conseil', quantity: 1, unitPrice: 5000, taxRate: 20 as const }],
  metadata: {},
};
const QUEUE = { enqueue: async () => {} };
const IDS = createInvoiceIds('secret');

class Killed extends Error {}

/** A process whose calls of the store go through until the one numbered `last`: that one and all later ones fail. */
function dying(last: number): { invoices: InvoiceRepository; calls: () => number } {
  let calls = 0;
  const invoices = new Proxy(invoicesOf(store.db), {
    get(target, name: keyof InvoiceRepository) {
      const method = target[name] as (...args: unknown[]) => Promise<unknown>;
      return (...args: unknown[]) => (calls++ < last ? method(...args) : Promise.reject(new Killed()));
    },
  });
  return { invoices, calls: () => calls };
}

function needsOf(invoices: InvoiceRepository) {
  return {
    invoices,
    queue: QUEUE,
    invoiceIds: IDS,
    clientSecrets: createClientSecrets(soleKey(Buffer.alloc(32))),
    invoiceWarnings: createInvoiceWarnings(async () => ({ withoutFont: [], distorting: [] })),
    logWarnings: () => {},
    tracing: NO_TRACING,
    missingForIssue: () => [],
  };
}

function replace(invoices: InvoiceRepository, invoiceId: string, key: string | null, changes: object = {}) {
  return replaceInvoice.run(
    needsOf(invoices),
    { by: BY, record: async () => undefined },
    invoiceId,
    { ...CORRECTED, ...changes },
    { reason: 'error' },
    key,
  );
}

function credit(invoiceId: string, what: object = {}) {
  return creditInvoice.run(
    needsOf(invoicesOf(store.db)),
    { by: BY, record: async () => undefined },
    invoiceId,
    { reason: 'error', metadata: {}, ...what },
    null,
  );
}

async function original(changes: Partial<Invoice> = {}): Promise<Invoice> {
  const invoice = pendingInvoice({ status: 'accepted', ownNumber: `N-${Math.random()}`, work: null, ...changes });
  await invoicesOf(store.db).insert(invoice, newCreationMoment().order, null);
  return read(invoice.id) as Promise<Invoice>;
}

const read = (id: string) => invoicesOf(store.db).find(id);
const check = (invoice: Invoice) => createCheckCorrection({ invoices: invoicesOf(store.db), queue: QUEUE })(invoice);
const decide = (id: string, status: string, changes: Partial<Invoice> = {}) =>
  store.db.collection('invoices').updateOne({ _id: id as never }, { $set: { status, ...changes } });
const abandon = (invoice: Invoice) =>
  decide(invoice.id, 'rejected', { rejectionReason: abandonedByOperator(invoice, 'Restauration.') });

/** The stored documents that correct an invoice. */
async function corrections(of: Invoice): Promise<{ invoices: Invoice[]; notes: Invoice[] }> {
  const rows = await store.db
    .collection('invoices')
    .find({ $or: [{ 'replaces.invoice.id': of.id }, { 'credit.original.id': of.id }] })
    .project<{ _id: string }>({ _id: 1 })
    .toArray();
  const all = (await Promise.all(rows.map(({ _id }) => read(_id)))) as Invoice[];
  return {
    invoices: all.filter(({ kind }) => kind === 'invoice'),
    notes: all.filter(({ kind }) => kind !== 'invoice'),
  };
}

/** Calls of the store that one replacement makes. */
async function callsOf(status: 'accepted' | 'rejected'): Promise<number> {
  const { invoices, calls } = dying(Number.POSITIVE_INFINITY);
  await replace(invoices, (await original({ status })).id, null);
  return calls();
}

describe.each(['accepted', 'rejected'] as const)('a process that replaces an %s invoice and dies', (status) => {
  it('at any call of the store leaves both documents to be issued, or none', async () => {
    const calls = await callsOf(status);
    expect(calls).toBeGreaterThan(3);
    let stored = 0;
    for (let last = 0; last < calls; last++) {
      const replaced = await original({ status });
      await expect(replace(dying(last).invoices, replaced.id, null)).rejects.toThrow(Killed);
      const left = await corrections(replaced);
      if (left.invoices.length === 0) {
        expect(left.notes).toEqual([]);
        continue;
      }
      stored++;
      const [replacing] = left.invoices as [Invoice];
      // The next process takes up the invoice.
      const first = await check(replacing);
      const { invoices, notes } = await corrections(replaced);
      expect(invoices).toHaveLength(1);
      if (status === 'rejected') {
        expect([first, notes]).toEqual([{ kind: 'issue' }, []]);
        continue;
      }
      expect(first).toMatchObject({ kind: 'wait' });
      expect(notes).toMatchObject([{ id: replacing.replaces?.credited?.creditNoteId, amount: 12_000 }]);
      await decide(notes[0]?.id ?? '', 'accepted');
      expect(await check(replacing)).toEqual({ kind: 'issue' });
    }
    // At least one process dies after the decisive insertion, if something follows it.
    expect(stored > 0).toBe(status === 'accepted');
  });

  it('is continued by a repeated request with its key', async () => {
    const calls = await callsOf(status);
    for (let last = 0; last < calls; last++) {
      const replaced = await original({ status });
      const key = `${status} ${last} ${replaced.id}`;
      await expect(replace(dying(last).invoices, replaced.id, key)).rejects.toThrow(Killed);
      const again = await replace(invoicesOf(store.db), replaced.id, key);
      const { invoices, notes } = await corrections(replaced);
      expect(invoices).toMatchObject([{ id: again.invoice.id }]);
      expect(notes.map(({ id }) => id)).toEqual(again.creditNote ? [again.creditNote.invoice.id] : []);
      expect(again.creditNote === null).toBe(status === 'rejected');
    }
  });
});

describe('after five minutes', () => {
  const later = (minutes: number) => {
    const now = Date.now() + minutes * 60_000;
    vi.useFakeTimers({ now, toFake: ['Date'] });
  };

  it('a link and a share without a stored invoice no longer count', async () => {
    const replaced = await original();
    const calls = await callsOf('accepted');
    let last = 0;
    // The last call before the insertion of the invoice.
    for (; last < calls; last++) {
      const probe = await original();
      await replace(dying(last).invoices, probe.id, null).catch(() => {});
      if ((await corrections(probe)).invoices.length > 0) break;
    }
    await expect(replace(dying(last - 1).invoices, replaced.id, null)).rejects.toThrow(Killed);
    expect((await read(replaced.id))?.replacedBy).not.toBeNull();
    await expect(replace(invoicesOf(store.db), replaced.id, null)).rejects.toMatchObject({
      code: 'invoice_not_replaceable',
      message: expect.stringContaining('Another request'),
    });
    later(6);
    try {
      const made = await replace(invoicesOf(store.db), replaced.id, null);
      expect(made.creditNote?.invoice.amount).toBe(12_000);
    } finally {
      vi.useRealTimers();
    }
  });

  it('a share counts as long as the invoice is stored for which its credit note will be made', async () => {
    const calls = await callsOf('accepted');
    let seen = 0;
    for (let last = 0; last < calls; last++) {
      const each = await original();
      await replace(dying(last).invoices, each.id, null).catch(() => {});
      const { invoices, notes } = await corrections(each);
      if (invoices.length === 0 || notes.length > 0) continue;
      seen++;
      later(60);
      try {
        await expect(credit(each.id)).rejects.toMatchObject({ code: 'credit_exceeds_invoice' });
        expect(await check(invoices[0] as Invoice)).toMatchObject({ kind: 'wait' });
      } finally {
        vi.useRealTimers();
      }
      expect(await corrections(each)).toMatchObject({ invoices: [{}], notes: [{ amount: 12_000 }] });
    }
    expect(seen).toBeGreaterThan(0);
  });

  it('an invoice that was stored too late is rejected if another one replaces the same invoice', async () => {
    const replaced = await original({ status: 'rejected' });
    const slow = await replace(invoicesOf(store.db), replaced.id, null);
    // Its link was dropped while it was not stored yet.
    await store.db.collection('invoices').updateOne({ _id: replaced.id as never }, { $unset: { replacedBy: '' } });
    const fast = await replace(invoicesOf(store.db), replaced.id, null);
    expect(await check(fast.invoice)).toEqual({ kind: 'issue' });
    expect(await check(slow.invoice)).toMatchObject({
      kind: 'reject',
      reason: expect.stringMatching(/n’a pas été émise/),
    });
  });
});

describe.each(['accepted', 'rejected'] as const)('a request that loses a race for an %s invoice', (status) => {
  /** A store that does not find at first what another request has stored. */
  const blind = (name: 'findByOwnNumber' | 'findCreatedAs'): InvoiceRepository => {
    const invoices = invoicesOf(store.db);
    return { ...invoices, [name]: vi.fn(invoices[name] as () => Promise<never>).mockResolvedValueOnce(null as never) };
  };

  it('takes nothing with it: the invoice can be replaced at once', async () => {
    const [replaced, other] = [await original({ status }), await original()];
    const { ownNumber: number } = other;
    await expect(replace(blind('findByOwnNumber'), replaced.id, null, { number })).rejects.toMatchObject({
      code: 'duplicate_number',
    });
    expect((await read(replaced.id))?.credits).toMatchObject({ version: status === 'accepted' ? 2 : 0, list: [] });
    const made = await replace(invoicesOf(store.db), replaced.id, null);
    expect(await corrections(replaced)).toMatchObject({
      invoices: [{ id: made.invoice.id }],
      notes: status === 'accepted' ? [{ amount: 12_000 }] : [],
    });
  });

  it('leaves what the winner has with the same key', async () => {
    const replaced = await original({ status });
    const key = `race ${replaced.id}`;
    const won = await replace(invoicesOf(store.db), replaced.id, key);
    const { credits } = (await read(replaced.id)) as Invoice;
    await expect(replace(blind('findCreatedAs'), replaced.id, key, { metadata: { a: 'b' } })).rejects.toMatchObject({
      code: 'idempotency_conflict',
    });
    const after = (await read(replaced.id)) as Invoice;
    expect(after.credits.list).toMatchObject(credits.list.map(({ at: _, ...share }) => share));
    await expect(replace(invoicesOf(store.db), replaced.id, null)).rejects.toMatchObject({
      message: expect.stringContaining(`is replaced already, by ${won.invoice.id}`),
    });
  });
});

describe('an operator ends a credit note whose fate at the authority is unknown', () => {
  it('of a replacement: neither the invoice nor its rejected correction can be replaced', async () => {
    const replaced = await original();
    const { invoice, creditNote } = await replace(invoicesOf(store.db), replaced.id, null);
    await abandon(creditNote?.invoice as Invoice);
    expect(await check(invoice)).toMatchObject({ kind: 'reject' });
    await decide(invoice.id, 'rejected');
    await expect(replace(invoicesOf(store.db), invoice.id, null)).rejects.toMatchObject({
      code: 'invoice_not_replaceable',
      message: expect.stringMatching(
        new RegExp(`ended credit note ${creditNote?.invoice.id} of invoice ${replaced.id}`),
      ),
    });
    expect(await corrections(invoice)).toEqual({ invoices: [], notes: [] });
    expect((await read(invoice.id))?.replacedBy).toBeNull();
  });

  it('of a part: the invoice cannot be replaced', async () => {
    const replaced = await original();
    const { invoice: note } = await credit(replaced.id, { amounts: [{ taxRate: 20, net: 100 }] });
    await abandon(note);
    await expect(replace(invoicesOf(store.db), replaced.id, null)).rejects.toMatchObject({
      code: 'invoice_not_replaceable',
    });
    expect(await corrections(replaced)).toMatchObject({ invoices: [], notes: [{ id: note.id }] });
  });
});

describe('the corrected invoice', () => {
  it('waits for its credit note, is issued when it is accepted, and rejected when it is rejected', async () => {
    for (const [status, kind] of [
      ['accepted', 'issue'],
      ['rejected', 'reject'],
    ] as const) {
      const made = await replace(invoicesOf(store.db), (await original()).id, null);
      for (const waiting of ['pending', 'signing', 'transmitted']) {
        await decide(made.creditNote?.invoice.id ?? '', waiting);
        expect(await check(made.invoice)).toMatchObject({ kind: 'wait', ms: 1000 });
      }
      await decide(made.creditNote?.invoice.id ?? '', status);
      expect(await check(made.invoice)).toMatchObject({ kind });
    }
  });

  it('asks again after a tenth of its age, at most five minutes', async () => {
    const made = await replace(invoicesOf(store.db), (await original()).id, null);
    for (const [minutes, ms] of [
      [10, 60_000],
      [1000, 300_000],
    ] as const) {
      const createdAt = new Date(Date.now() - minutes * 60_000);
      const { ms: pause } = (await check({ ...made.invoice, createdAt })) as { ms: number };
      expect(Math.abs(pause - ms)).toBeLessThan(1000);
    }
  });
});
