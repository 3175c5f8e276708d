import { createHash, randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { CommandStartedEvent } from 'mongodb';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { newId } from '../../src/domain/ids.ts';
import type { InvoiceNews } from '../../src/domain/invoice/feed.ts';
import { type Invoice, type InvoiceEvent, NEW_WORK } from '../../src/domain/invoice/invoice.ts';
import { createInvoiceIds } from '../../src/domain/invoice/invoice-ids.ts';
import { ALL_PARTITIONS, LANE_NAMES, type Lane, slotAfter, slotOf } from '../../src/domain/invoice/lanes.ts';
import { pauseAfter } from '../../src/domain/invoice/pauses.ts';
import { type Claim, ClaimLost, type InvoiceRepository, NumberTaken } from '../../src/domain/invoice/repository.ts';
import { NO_TERMS } from '../../src/domain/invoice/terms.ts';
import { later } from '../../src/domain/later.ts';
import { newCreationMoment } from '../../src/domain/order-key.ts';
import type { Store } from '../../src/storage/connect.ts';
import { createDocumentStore } from '../../src/storage/documents.ts';
import { type InvoiceDocument, invoiceOf } from '../../src/storage/invoice-document.ts';
import { createInvoiceFeed } from '../../src/storage/invoice-feed.ts';
import { createInvoiceRepository } from '../../src/storage/invoices.ts';
import { createSubmissionLedger } from '../../src/storage/submission-ledger.ts';
import { claimOne, pendingInvoice } from '../support/invoices.ts';
import { deviates } from '../support/reference-deviations.ts';
import { openTestStore } from '../support/store.ts';

let store: Store;
let invoices: InvoiceRepository;

beforeAll(async () => {
  store = await openTestStore('invoices', true);
  invoices = createInvoiceRepository(store.db);
});
afterAll(() => store.close());

/** The outcome of a creation that was no replay. */
const STORED = { earlier: null };

async function stored(changes: Partial<Invoice> = {}): Promise<Invoice> {
  const invoice = pendingInvoice(changes);
  await invoices.insert(invoice, newCreationMoment().order, null);
  return invoice;
}

/** An invoice that a request with this Idempotency-Key creates. */
function keyed(key: string, changes: Partial<Invoice> = {}): Invoice {
  const invoice = pendingInvoice(changes);
  return { ...invoice, id: createInvoiceIds('secret').ofKey(invoice, key) };
}

async function claimed(invoice: Invoice, leaseMs = 60_000): Promise<Claim> {
  const claim = await claimOne(invoices, invoice.id, leaseMs);
  if (!claim) throw new Error('the invoice cannot be claimed');
  return claim;
}

function event(sequence: number, status: InvoiceEvent['status']): InvoiceEvent {
  return {
    id: newId('evt'),
    sequence,
    type: 'invoice.signing',
    status,
    dgiId: null,
    rejectionReason: null,
    at: new Date(),
  };
}

/** The ids of all due invoices of a lane. */
async function dueIds(lane: Lane = 'stages', range = ALL_PARTITIONS): Promise<string[]> {
  return (await invoices.due(lane, range, 10_000)).map(({ invoiceId }) => invoiceId);
}

const keep = { stage: 'sign', attempts: 0, outcomeUnknown: false, in: 0, keep: true } as const;

describe('the backlog of a lane', () => {
  it('tells how much is due and since when, without what a worker has and what is not due yet', async () => {
    const due = async (stage: 'decide' | 'receipt', agoMs: number) => {
      const dueAt = new Date(Date.now() - agoMs);
      const work = { ...NEW_WORK, stage, dueAt, claims: 0, since: dueAt };
      return stored({ environment: 'live', work });
    };
    const oldest = await due('decide', 60_000);
    await due('decide', 1000);
    await due('receipt', 30_000);
    await due('decide', -60_000);
    await claimed(await due('decide', 90_000));
    expect(await invoices.backlog('answers', 100)).toEqual({ waiting: 3, oldest: oldest.work?.dueAt });
    expect((await invoices.backlog('answers', 2)).waiting).toBe(2);
    for (const id of await dueIds('answers')) await claimed({ id } as Invoice);
  });
});

describe('idle work', () => {
  const idleFor = async (agoMs: number) => {
    const claim = await claimed(await stored());
    const work = { stage: 'render', attempts: 0, outcomeUnknown: false, idle: true, in: -agoMs, keep: false } as const;
    await invoices.change(claim, { work }, 60_000);
    return claim.invoice.id;
  };
  const DAY = 86_400_000;
  const LONG_AGO = new Date(0);

  const idleFound = async (ageMs = 0) =>
    (await invoices.due('idle', ALL_PARTITIONS, 100, ageMs)).map(({ invoiceId }) => invoiceId);

  it('has a lane of its own, is found by its age, and is counted', async () => {
    const [younger, older] = [await idleFor(2 * DAY), await idleFor(3 * DAY)];
    const ids = await idleFound(DAY);
    expect(ids.toSorted()).toEqual([older, younger].sort());
    expect(await idleFound(2.5 * DAY)).toEqual([older]);
    expect(await idleFound(4 * DAY)).toEqual([]);
    expect([await invoices.idleCount(1), await invoices.idleCount(10)]).toEqual([1, 2]);
    for (const lane of LANE_NAMES.filter((each) => each !== 'idle'))
      for (const id of await dueIds(lane)) expect(ids).not.toContain(id);
    expect((await invoices.find(older))?.work).toMatchObject({ stage: 'render', idle: true, claims: 0 });
    for (const id of ids) await invoices.hurry(id, LONG_AGO);
    expect(await invoices.idleCount(10)).toBe(0);
  });

  it('is due at once when it is hurried, only once, and is not hurried while a worker draws it', async () => {
    const asked = await idleFor(0);
    const due = await invoices.hurry(asked, LONG_AGO);
    expect(due?.work).toMatchObject({ stage: 'render', idle: false });
    expect(await invoices.hurry(asked, LONG_AGO)).toBeNull();
    expect(await dueIds('documents')).toContain(asked);
    expect(await claimOne(invoices, asked, 1000)).not.toBeNull();

    const drawing = await idleFor(0);
    expect(await invoices.claimMany('idle', [drawing], 60_000)).toHaveLength(1);
    expect(await invoices.hurry(drawing, new Date())).toBeNull();
    expect(await claimOne(invoices, drawing, 60_000)).toBeNull();
    expect(await idleFound()).toEqual([]);
    expect(await invoices.hurry((await stored()).id, new Date())).toBeNull();
  });

  it('that failed and waits for its next attempt is due at once when it is hurried, unless it failed a moment ago', async () => {
    const claim = await claimed(await stored());
    const work = { stage: 'render', attempts: 4, outcomeUnknown: false, in: 600_000, keep: false } as const;
    await invoices.change(claim, { work }, 60_000);
    const { id } = claim.invoice;
    expect(await invoices.hurry(id, new Date(Date.now() - 30_000))).toBeNull();
    const due = await invoices.hurry(id, new Date());
    expect(due?.work).toMatchObject({ stage: 'render', attempts: 4 });
    expect(due?.work?.dueAt.getTime()).toBeLessThanOrEqual(Date.now());
    expect(await invoices.hurry(id, new Date())).toBeNull();
    expect(await dueIds('documents')).toContain(id);
  });

  it('of a dead worker is idle no longer; an operator makes idle work due', async () => {
    const dead = await idleFor(0);
    await invoices.claimMany('idle', [dead], -1000);
    expect(await dueIds('documents')).toContain(dead);
    const retried = await idleFor(0);
    expect(await invoices.retryNow(retried)).toBe(true);
    expect(await dueIds('documents')).toContain(retried);
    expect((await invoices.find(retried))?.work?.idle).toBe(false);
  });
});

describe('waiting and blocked transmissions', () => {
  const transmit = { stage: 'transmit', attempts: 0, outcomeUnknown: false, in: 0, keep: false } as const;

  it('are found by tenants in turn, the oldest of each first, and counted by tenant', async () => {
    const placed = async (tenantId: string, agoMs: number) => {
      const invoice = await stored({ tenantId, environment: 'live' });
      const work = { ...transmit, failures: [7], in: -agoMs };
      return (await invoices.change(await claimed(invoice), { work }, 60_000)).invoice;
    };
    const [a, b] = [newId('ten'), newId('ten')];
    const [a2, a1, b1] = [await placed(a, 1000), await placed(a, 5000), await placed(b, 3000)];
    const slot = slotOf(a1, 'transmissions');
    expect(slotOf(a2, 'transmissions')).toBe(slot);
    const dueOf = async (invoice: Invoice) => {
      const from = slotOf(invoice, 'transmissions');
      return (await invoices.due('transmissions', { from, until: slotAfter(from) }, 5)).map((due) => due.invoiceId);
    };
    expect([await dueOf(a1), await dueOf(b1)]).toEqual([[a1.id, a2.id], [b1.id]]);
    const counts = async () =>
      (await invoices.transmissionsByTenant(1000, 2)).filter(({ tenantId }) => tenantId === a || tenantId === b);
    const both = [{ tenantId: a, waiting: 2 }, { tenantId: b, waiting: 1 }]; // biome-ignore format: one line
    expect(await counts()).toEqual(both.sort((one, other) => (one.tenantId < other.tenantId ? -1 : 1)));
    expect(await invoices.transmissionsByTenant(1, 2)).toHaveLength(1);
    expect(await invoices.claimMany('signing', [a1.id, a2.id, b1.id], 60_000)).toEqual([]);
    // A claimed one is not offered, and offered again when its worker has died.
    const [claim] = await invoices.claimMany('transmissions', [a1.id], 60_000);
    expect(claim?.invoice.work).toMatchObject({ failures: [7], claims: 1, outcomeUnknown: false });
    expect(await dueOf(a1)).toEqual([a2.id]);
    await invoices.renew([{ claim: claim as Claim, leaseMs: -1 }]);
    expect(await dueOf(a1)).toEqual([a2.id, a1.id]);
    expect((await claimOne(invoices, a1.id, 60_000))?.invoice.work?.claims).toBe(2);
  });

  it('are unfinished live invoices, like those that are due, leased, without a receipt, or wait for a retry', async () => {
    const tenantId = newId('ten');
    const live = async (work: object | null, changes: Partial<Invoice> = {}) =>
      invoices.change(
        await claimed(await stored({ tenantId, environment: 'live', ...changes })),
        { work: work && ({ ...transmit, ...work } as never) },
        60_000,
      );
    const [before, unsigned] = await Promise.all([
      invoices.unfinishedLive(100_000),
      invoices.unsignedLive(new Set(), 100_000),
    ]);
    const count = async () => (await invoices.unfinishedLive(100_000)) - before;
    await stored({ tenantId, environment: 'live' });
    await claimed(await stored({ tenantId, environment: 'live' }));
    await live({ in: 3_600_000 });
    await live({ in: -1000 });
    await live({ blocked: 'digest_mismatch' });
    await live({ stage: 'decide', in: 3_600_000 });
    await live({ stage: 'receipt' });
    expect(await count()).toBe(7);
    await live(null);
    await live({ stage: 'render' });
    await live({ stage: 'email' });
    await live({ blocked: 'digest_mismatch' }, { environment: 'test' });
    expect(await count()).toBe(7);
    expect(await invoices.unfinishedLive(2)).toBe(2);
    await live({ stage: 'sign', in: 60_000 });
    expect(await invoices.unsignedLive(new Set(), 100_000)).toBe(unsigned + 3);
    expect(await invoices.unsignedLive(new Set(), 2)).toBe(2);
    expect(await invoices.unsignedLive(new Set([tenantId]), 100_000)).toBe(unsigned);
  });

  it('those that an outage held up get their places by age at its end, and no others', async () => {
    const put = async (work: object, claimAgain = false) => {
      const { invoice } = await invoices.change(
        await claimed(await stored()),
        { work: { ...transmit, in: 3_600_000, ...work } },
        60_000,
      );
      if (claimAgain) await claimed(invoice);
      return invoice.id;
    };
    const [from, to] = [9_000_001, 9_000_005];
    const failed = [await put({ failures: [3, from] }), await put({ failures: [to], outcomeUnknown: true })];
    const others = [
      await put({ failures: [3, from - 1] }),
      await put({ failures: [from - 1, to + 1] }),
      await put({}),
      await put({ failures: [from], blocked: 'digest_mismatch' }),
      await put({ failures: [from], in: 0 }, true),
    ];
    const tried = await put({ tried: true, in: 0 });
    const claimedTried = await put({ tried: true, in: -1000 }, true);
    await invoices.releaseHeldUp(from, to);
    for (const id of [...failed, tried]) {
      const { work, createdAt } = (await invoices.find(id)) as Invoice;
      expect(work).toMatchObject({ tried: false, dueAt: createdAt });
    }
    expect((await invoices.find(claimedTried))?.work).toMatchObject({ tried: true });
    const swept = await dueIds();
    for (const id of failed) expect(swept).toContain(id);
    for (const id of others) expect(swept).not.toContain(id);
    const claim = await claimOne(invoices, failed[1] ?? '', 60_000);
    expect(claim?.invoice.work).toMatchObject({ failures: [to], outcomeUnknown: true, claims: 1 });
  });

  it('blocked ones need attention, are never due, and are released by a retry', async () => {
    const claim = await claimed(await stored());
    const { invoice } = await invoices.change(claim, { work: { ...transmit, blocked: 'digest_mismatch' } }, 60_000);
    expect(await claimOne(invoices, invoice.id, 1000)).toBeNull();
    expect(await dueIds()).not.toContain(invoice.id);
    expect(await invoices.claimMany('stages', [invoice.id], 1000)).toEqual([]);
    expect((await invoices.needingAttention(1000)).map(({ id }) => id)).toContain(invoice.id);
    expect(await invoices.retryNow(invoice.id)).toBe(true);
    expect(await dueIds()).toContain(invoice.id);
    const again = await claimOne(invoices, invoice.id, 1000);
    expect(again?.invoice.work).toMatchObject({ blocked: null, outcomeUnknown: false, claims: 1 });
  });

  it('are changed without a claim only while they are as they were read, and no worker has them', async () => {
    const rejected = { status: 'rejected', rejectionReason: 'x', events: [event(1, 'rejected')], work: null } as const;
    const blocked = { ...transmit, blocked: 'digest_mismatch' } as const;
    const put = async (work: typeof blocked | typeof transmit) =>
      (await invoices.find(
        (
          await invoices.change(await claimed(await stored()), { work }, 60_000)
        ).invoice.id,
      )) as Invoice;
    const refused = async (read: Invoice) => {
      expect(await invoices.changeWaiting(read, rejected)).toBeNull();
      expect(await invoices.find(read.id)).toMatchObject({ status: 'pending', events: [], rejectionReason: null });
    };
    const held = await put(transmit);
    const claim = await claimed(held);
    await refused(held);
    await refused(claim.invoice);
    await invoices.release([claim]);
    await refused(held);
    const retried = await put(blocked);
    await invoices.retryNow(retried.id);
    await refused(retried);
    // It was retried, and is blocked again.
    const again = await put(blocked);
    await invoices.retryNow(again.id);
    await invoices.change(await claimed(again), { work: blocked }, 60_000);
    await refused(again);
    await refused({ ...(await put(blocked)), status: 'signing' });
    await refused({ ...(await put(blocked)), work: null });

    const waits = await put(blocked);
    expect(await invoices.changeWaiting(waits, rejected)).toMatchObject({ status: 'rejected', work: null });
    expect(await invoices.find(waits.id)).toMatchObject({ status: 'rejected', rejectionReason: 'x', work: null });
    const document = await store.db.collection<InvoiceDocument>('invoices').findOne({ _id: waits.id });
    expect(document).toMatchObject({ outbox: { sequence: 1 }, events: [{ status: 'rejected' }] });
    expect(document?.updatedAt).toEqual(document?.events[0]?.at);
    expect(await claimOne(invoices, waits.id, 1000)).toBeNull();
    expect(await invoices.changeWaiting(waits, rejected)).toBeNull();
  });

  it('a withheld one is found by operators alone', async () => {
    const { id } = await stored();
    await store.db.collection<InvoiceDocument>('invoices').updateOne({ _id: id }, { $set: { withheld: new Date() } });
    expect(await invoices.find(id)).toBeNull();
    expect(await invoices.findEvenWithheld(id)).toMatchObject({ id });
    expect(await invoices.findEvenWithheld('inv_x')).toBeNull();
  });

  it('a retry of a run that ended in the middle asks first', async () => {
    const claim = await claimed(await stored());
    const { invoice } = await invoices.change(claim, { work: transmit }, 60_000);
    await claimed(invoice);
    expect(await invoices.retryNow(invoice.id)).toBe(true);
    expect((await claimOne(invoices, invoice.id, 1000))?.invoice.work).toMatchObject({
      outcomeUnknown: true,
      claims: 1,
    });
  });

  it('work that was kept counts its claim, so that the next claim knows of the dead worker', async () => {
    const claim = await claimed(await stored());
    const kept = await invoices.change(claim, { work: { ...transmit, keep: true } }, -1);
    expect(kept.invoice.work?.claims).toBe(1);
    expect((await claimOne(invoices, kept.invoice.id, 1000))?.invoice.work?.claims).toBe(2);
  });

  it('the id under which the authority holds a document is stored', async () => {
    const claim = await claimed(await stored());
    await invoices.change(claim, { heldAs: 'inv_original', work: null }, 1000);
    expect(await invoices.find(claim.invoice.id)).toMatchObject({ heldAs: 'inv_original' });
    expect((await stored()).heldAs).toBeNull();
  });
});

describe('an invoice', () => {
  it('is read as it was stored, including names with dots and dollar signs', async () => {
    const metadata = { 'a.b': '1', $where: '2', ['__proto__']: '3', '': '4' };
    const invoice = await stored({ metadata, amount: 2 ** 53 - 1 });
    expect(await invoices.find(invoice.id)).toEqual(invoice);
    expect(Object.keys((await invoices.find(invoice.id))?.metadata ?? {})).toEqual(Object.keys(metadata));
  });

  it('stores its given terms, and is read without terms if none are stored', async () => {
    const terms = { ...NO_TERMS, dueDate: '2027-01-20', paymentMeans: 'cash' } as const;
    const invoice = await stored({ terms });
    expect(await invoices.find(invoice.id)).toEqual(invoice);
    const collection = store.db.collection<InvoiceDocument>('invoices');
    expect(await collection.findOne({ _id: invoice.id })).toMatchObject({
      terms: { dueDate: '2027-01-20', paymentMeans: 'cash' },
    });
    const old = await stored();
    expect(await collection.findOne({ _id: old.id })).not.toHaveProperty('terms');
    expect((await invoices.find(old.id))?.terms).toEqual(NO_TERMS);
  });

  it('is found in its stored state after each change, also if it was found before', async () => {
    const invoice = await stored();
    const { id } = invoice;
    const seen: Invoice[] = [];
    const look = async () => {
      const plain = await store.db.collection<InvoiceDocument>('invoices').findOne({ _id: id });
      const found = await Promise.all([invoices.find(id), invoices.find(id)]);
      expect(found).toEqual([plain && invoiceOf(plain), plain && invoiceOf(plain)]);
      expect(await invoices.find(id)).toEqual(found[0]);
      if (found[0]) seen.push(found[0]);
    };
    await look();
    let claim = await claimed(invoice);
    const document = { file: 'file', sha256: 'ab', size: 1 };
    const accepted = { dgiId: 'DGI-1', rejectionReason: 'none', xml: document, pdf: document, authorityAttempts: [] };
    for (const change of [
      { series: { name: '2031', serial: 1 }, work: keep },
      { status: 'signing', events: [event(1, 'signing')], work: keep },
      { status: 'accepted', events: [event(2, 'accepted')], ...accepted, work: { ...keep, attempts: 1 } },
      { work: null },
    ] as const) {
      await look();
      claim = await invoices.change(claim, change, 5000);
    }
    await look();
    await invoices.raiseDocumentRevision('ten_test', 'test', id);
    await look();
    const mail = {
      status: 'waiting',
      to: 'a@b.ma',
      sending: 1,
      messageId: '<1@b.ma>',
      composedAt: new Date(),
    } as const;
    const requested = { ...mail, attempts: 0, lastError: null, sentAt: null };
    expect(await invoices.requestEmail(claim.invoice, requested)).toMatchObject({ email: requested });
    await look();
    // Only the due time changes, so it must be in another millisecond.
    await sleep(2);
    await invoices.retryNow(id);
    await look();
    await claimed(claim.invoice);
    await look();
    expect(new Set(seen.map((each) => JSON.stringify(each))).size).toBe(seen.length);
    await store.db.collection<InvoiceDocument>('invoices').deleteOne({ _id: id });
    expect(await invoices.find(id)).toBeNull();
  });

  it('is stored once for an idempotency key of a tenant and environment', async () => {
    const mark = { key: 'k', fingerprint: 'f' };
    const first = keyed('k');
    expect(await invoices.findCreatedAs(first.id)).toBeNull();
    expect(await invoices.insert(first, newCreationMoment().order, mark)).toEqual({ invoice: first, earlier: null });
    const again = await invoices.insert(keyed('k'), newCreationMoment().order, { key: 'k', fingerprint: 'g' });
    expect(again).toEqual({ invoice: first, earlier: mark });
    expect(await invoices.findCreatedAs(first.id)).toEqual({ invoice: first, earlier: mark });
    for (const other of [{ tenantId: 'ten_other' }, { environment: 'live' as const }])
      expect(await invoices.insert(keyed('k', other), newCreationMoment().order, mark)).toMatchObject(STORED);
  });
});

describe("a number of the client's own series", () => {
  it('is unique in a tenant and environment, and found by its index', async () => {
    const first = await stored({ ownNumber: 'FA 1', number: 'FA 1' });
    expect(await invoices.find(first.id)).toEqual(first);
    expect(await invoices.findByOwnNumber('ten_test', 'test', 'FA 1')).toBe(first.id);
    expect(await invoices.findByOwnNumber('ten_test', 'live', 'FA 1')).toBeNull();
    await expect(stored({ ownNumber: 'FA 1' })).rejects.toThrow(NumberTaken);
    await stored({ ownNumber: 'FA 1', environment: 'live' });
    await stored({ ownNumber: 'FA 1', tenantId: 'ten_other' });
    await stored({ ownNumber: 'fa 1' });
    // Accepted before several spaces in a row were refused.
    const spaced = await stored({ ownNumber: 'FA  1', number: 'FA  1' });
    expect(await invoices.findByNumber('ten_test', 'test', 'FA  1')).toEqual(spaced);
  });

  const create = (key: string, ownNumber: string | null) => {
    const invoice = keyed(key, { tenantId: 'ten_group', ...(ownNumber && { ownNumber, number: ownNumber }) });
    return invoices.insert(invoice, newCreationMoment().order, { key, fingerprint: `${key} ${ownNumber}` });
  };
  /** The commands of creations at the same time, and their outcomes. */
  const together = async (creations: () => Promise<unknown>[]) => {
    const commands: string[] = [];
    const note = ({ commandName, command }: CommandStartedEvent) =>
      commands.push(`${commandName} ${command[commandName]}`);
    store.client.on('commandStarted', note);
    const results = await Promise.allSettled(creations());
    store.client.off('commandStarted', note);
    return { commands, results };
  };
  const MORE = Array.from({ length: 40 }, (_, n) => n);

  it('is inserted together with others that are created at the same time', async () => {
    const { commands, results } = await together(() =>
      MORE.map((n) => create(`together ${n}`, n % 2 === 0 ? `T ${n}` : null)),
    );
    expect(results).toMatchObject(MORE.map(() => ({ value: STORED })));
    // The first two and the update are the first turn at the list.
    expect(commands.sort()).toEqual([
      'commitTransaction 1',
      'find list_heads',
      'insert invoice_numbers',
      'insert invoices',
      'insert invoices',
      'update list_heads',
    ]);
  });

  it('is stored or not by itself, also among others that are created at the same time', async () => {
    await stored({ tenantId: 'ten_group', ownNumber: 'G 1', number: 'G 1' });
    await create('g1', null);
    const before = await store.db.collection('invoices').countDocuments({ tenantId: 'ten_group' });
    const { commands, results } = await together(() => [
      create('g1', 'G 2'),
      create('g2', 'G 1'),
      create('g3', 'G 3'),
      create('g4', 'G 3'),
      ...MORE.map((n) => create(`more ${n}`, null)),
    ]);
    expect(commands.filter((name) => name === 'insert invoices').length).toBeLessThan(10);
    const [replay, taken, third, fourth, ...more] = results;
    expect(replay).toMatchObject({ value: { earlier: { fingerprint: 'g1 null' } } });
    expect(taken).toMatchObject({ reason: expect.any(NumberTaken) });
    expect(third).toMatchObject({ value: STORED });
    expect(fourth).toMatchObject({ reason: expect.any(NumberTaken) });
    expect(more).toMatchObject(MORE.map(() => ({ value: STORED })));
    const after = await store.db.collection('invoices').countDocuments({ tenantId: 'ten_group' });
    expect(after - before).toBe(MORE.length + 1);
    // The replay has not taken the number.
    expect(await create('g5', 'G 2')).toMatchObject(STORED);
  });

  it('does not prevent a replay with the idempotency key of the same invoice', async () => {
    const invoice = keyed('own_number', { ownNumber: 'series', number: 'series' });
    const mark = { key: 'own_number', fingerprint: 'f' };
    expect(await invoices.insert(invoice, newCreationMoment().order, mark)).toEqual({ invoice, earlier: null });
    const again = keyed('own_number', { ownNumber: 'series', number: 'series' });
    expect(await invoices.insert(again, newCreationMoment().order, mark)).toEqual({ invoice, earlier: mark });
    const other = keyed('other', { ownNumber: 'series', number: 'series' });
    const otherMark = { key: 'other', fingerprint: 'f' };
    await expect(invoices.insert(other, newCreationMoment().order, otherMark)).rejects.toThrow(NumberTaken);
  });
});

describe('a claim', () => {
  it('is given to one of many concurrent callers', async () => {
    const invoice = await stored();
    const claims = await Promise.all(Array.from({ length: 20 }, () => claimOne(invoices, invoice.id, 60_000)));
    expect(claims.filter(Boolean)).toHaveLength(1);
  });

  it('ends with its lease; its former holder cannot write any more', async () => {
    const invoice = await stored();
    const late = await claimed(invoice, 50);
    await sleep(60);
    const current = await claimed(invoice);
    await expect(
      invoices.change(late, { status: 'signing', events: [event(1, 'signing')], work: keep }, 5000),
    ).rejects.toThrow(ClaimLost);
    expect(await invoices.renew([{ claim: late, leaseMs: 5000 }])).toBe(0);
    const changed = await invoices.change(
      current,
      { status: 'signing', events: [event(1, 'signing')], work: keep },
      5000,
    );
    expect(changed.invoice).toMatchObject({ status: 'signing', events: [{ sequence: 1 }], work: { stage: 'sign' } });
    const after = await invoices.find(invoice.id);
    expect({ ...after, work: null }).toEqual({ ...changed.invoice, work: null });
  });

  it('is extended by renewal', async () => {
    const invoice = await stored();
    const claim = await claimed(invoice, 100);
    expect(await invoices.renew([{ claim, leaseMs: 60_000 }])).toBe(1);
    await sleep(110);
    expect(await claimOne(invoices, invoice.id, 1000)).toBeNull();
  });

  it('is renewed with others by one command, apart from those that are lost', async () => {
    const [first, second, lost] = [await stored(), await stored(), await stored()];
    const claims = [await claimed(first, 100), await claimed(second, 100), await claimed(lost, -1)];
    const current = await claimed(lost, 50_000);
    expect(await invoices.renew(claims.map((claim, index) => ({ claim, leaseMs: 60_000 + index })))).toBe(2);
    await sleep(110);
    expect(await Promise.all([first, second, lost].map(({ id }) => claimOne(invoices, id, 1000)))).toEqual([
      null,
      null,
      null,
    ]);
    const end = (await invoices.find(lost.id))?.work?.dueAt;
    expect(Number(end)).toBeLessThan(Date.now() + 50_000);
    await invoices.renew([{ claim: current, leaseMs: 1000 }]);
  });

  it.skipIf(deviates.dateArithmetic)(
    'that is longer than any pause is shortened at a start; the pause after defects stays',
    async () => {
      const paused = await Promise.all(
        [1, 2, 5, 12].map(async (claims) => {
          const { id } = await stored();
          for (let nth = 1; nth < claims; nth++) expect(await claimOne(invoices, id, -1)).not.toBeNull();
          return { claim: (await claimOne(invoices, id, -1)) as Claim, pause: pauseAfter(claims) };
        }),
      );
      const endOf = async ({ claim }: { claim: Claim }) => (await invoices.find(claim.invoice.id))?.work?.dueAt;
      for (const { claim, pause } of paused) await invoices.renew([{ claim, leaseMs: pause }]);
      const before = await Promise.all(paused.map(endOf));
      await invoices.reschedule(new Date(), 4000);
      expect(await Promise.all(paused.map(endOf))).toEqual(before);
      for (const { claim, pause } of paused) await invoices.renew([{ claim, leaseMs: pause + 60_000 }]);
      const now = new Date();
      await invoices.reschedule(now, 4000);
      const ends = await Promise.all(paused.map(endOf));
      expect(ends).toEqual(paused.map(() => later(now, 4000)));
    },
  );

  it('is refused before the next attempt is due, and without work', async () => {
    const putOff = async (ms: number) => {
      const invoice = await stored();
      const put = await invoices.change(await claimed(invoice), { work: { ...keep, keep: false, in: ms } }, 5000);
      expect(put.invoice.work?.stage).toBe('sign');
      return invoice;
    };
    expect(await claimOne(invoices, (await putOff(60_000)).id, 1000)).toBeNull();
    const invoice = await putOff(100);
    await sleep(110);
    await invoices.change(await claimed(invoice), { work: null }, 5000);
    expect(await claimOne(invoices, invoice.id, 1000)).toBeNull();
    expect((await invoices.find(invoice.id))?.work).toBeNull();
  });

  it('changes nothing if the status is no longer the one at the start of the change', async () => {
    const claim = await claimed(await stored());
    const stale = { ...claim, invoice: { ...claim.invoice, status: 'signing' as const } };
    await expect(invoices.change(stale, { work: null }, 5000)).rejects.toThrow(ClaimLost);
  });
});

describe('numbers', () => {
  it('are unique in a series, and the highest one is found', async () => {
    const tenantId = newId('ten');
    expect(await invoices.highestSerial(tenantId, 'test', '2026')).toBe(0);
    for (const serial of [1, 2, 10]) {
      await invoices.change(
        await claimed(await stored({ tenantId })),
        { series: { name: '2026', serial }, work: keep },
        5000,
      );
    }
    expect(await invoices.highestSerial(tenantId, 'test', '2026')).toBe(10);
    expect(await invoices.highestSerial(tenantId, 'live', '2026')).toBe(0);
    expect(await invoices.highestSerial(tenantId, 'test', '2027')).toBe(0);
    const claim = await claimed(await stored({ tenantId }));
    await expect(invoices.change(claim, { series: { name: '2026', serial: 2 }, work: keep }, 5000)).rejects.toThrow(
      NumberTaken,
    );
    const next = await invoices.change(claim, { series: { name: '2026', serial: 11 }, work: keep }, 5000);
    expect(next.invoice.number).toBe('2026-000011');
    expect((await invoices.find(claim.invoice.id))?.number).toBe('2026-000011');
  });
});

describe('due invoices', () => {
  const ago = (ms: number) => new Date(Date.now() - ms);
  const dueSince = (ms: number, changes: Partial<Invoice> = {}) =>
    stored({ work: { ...NEW_WORK, stage: 'sign', dueAt: ago(ms), claims: 0, since: ago(ms) }, ...changes });

  it('are found by lane and slot, within a slot the oldest first, until they are claimed', async () => {
    const tenantId = newId('ten');
    const made = await Promise.all(Array.from({ length: 24 }, (_, i) => dueSince(1000 * (i + 1), { tenantId })));
    const slots = new Set(made.map((each) => slotOf(each, 'stages')));
    expect(slots.size).toBeLessThanOrEqual(4);
    for (const slot of slots) {
      const range = { from: slot, until: slotAfter(slot) };
      const own = made.filter((each) => slotOf(each, 'stages') === slot).reverse();
      const found = (await dueIds('stages', range)).filter((id) => made.some((each) => each.id === id));
      expect(found).toEqual(own.map(({ id }) => id));
      expect(await invoices.due('stages', range, 1, 60_000)).toEqual([]);
      expect(await invoices.due('mail', range, 1)).toEqual([]);
    }
    const ids = made.map(({ id }) => id);
    const claims = await invoices.claimMany('stages', ids, 60_000);
    expect(claims.map(({ invoice }) => invoice.id).sort()).toEqual(ids.sort());
    expect(new Set(claims.map(({ invoice }) => invoice.work?.claims))).toEqual(new Set([1]));
    for (const id of await dueIds()) expect(ids).not.toContain(id);
    await invoices.change(claims[0]!, { work: keep }, 60_000);
  });

  it('are claimed by one of several callers', async () => {
    const ids = (await Promise.all(Array.from({ length: 12 }, () => dueSince(0)))).map(({ id }) => id);
    const all = await Promise.all([1, 2, 3].map(() => invoices.claimMany('stages', ids, 60_000)));
    expect(all.flatMap((claims) => claims.map(({ invoice }) => invoice.id)).sort()).toEqual(ids.sort());
    expect(await invoices.claimMany('stages', [...ids, 'inv_unknown'], 1000)).toEqual([]);
  });

  it('that are handed back are due again and count no claim; a lost one stays as it is', async () => {
    const [mine, lost] = [await dueSince(0), await dueSince(0)];
    const claims = await invoices.claimMany('stages', [mine.id, lost.id], 0);
    const later = await claimed(lost);
    await invoices.release(claims);
    expect(await dueIds()).toContain(mine.id);
    expect((await claimOne(invoices, mine.id, 1000))?.invoice.work?.claims).toBe(1);
    await invoices.renew([{ claim: later, leaseMs: 60_000 }]);
    expect((await invoices.find(lost.id))?.work?.claims).toBe(2);
  });

  it.each([
    ['of a test invoice', 'test', 'transmit', 'stages'],
    ['of a live invoice to be signed', 'live', 'normalize', 'signing'],
    ['of a live invoice to be sent', 'live', 'transmit', 'transmissions'],
    ['of a live invoice to be decided', 'live', 'decide', 'answers'],
    ['of a PDF', 'live', 'render', 'documents'],
    ['of a mail', 'test', 'email', 'mail'],
  ] as const)('change their lane with their work: that %s', async (_name, environment, stage, lane) => {
    const claim = await claimed(await dueSince(0, { environment }));
    await invoices.change(claim, { work: { ...keep, stage, keep: false } }, 60_000);
    expect(await dueIds(lane)).toContain(claim.invoice.id);
  });
});

describe('the feed', () => {
  it('tells each event as it happened, also of fast transitions, and only to the listeners of that invoice', async () => {
    const errors: unknown[] = [];
    const feed = createInvoiceFeed(store.db, (error) => errors.push(error));
    await feed.start();
    const [invoice, other] = [await stored(), await stored()];
    const news: InvoiceNews[] = [];
    const unsubscribe = feed.subscribe(invoice.id, (each) => news.push(each));
    const ofOther: InvoiceNews[] = [];
    feed.subscribe(other.id, (each) => ofOther.push(each));
    let claim = await claimed(invoice);
    for (const [index, status] of (['signing', 'transmitted', 'accepted'] as const).entries()) {
      claim = await invoices.change(claim, { status, events: [event(index + 1, status)], work: keep }, 5000);
    }
    await invoices.change(claim, { pdf: { file: 'f', sha256: 's', size: 1 }, work: null }, 5000);
    await expect.poll(() => news.length).toBe(4);
    expect(news.flatMap(({ events }) => events)).toEqual(claim.invoice.events);
    expect(news.map(({ documentStored }) => documentStored)).toEqual([false, false, false, true]);
    expect(ofOther).toEqual([]);
    unsubscribe();
    expect(feed.listeners()).toBe(1);
    await feed.close();
    expect(errors).toEqual([]);
  });

  it('follows changes only while somebody listens, and again when somebody does', async () => {
    const errors: unknown[] = [];
    const feed = createInvoiceFeed(store.db, (error) => errors.push(error));
    const commands: string[] = [];
    const note = ({ commandName, command }: CommandStartedEvent) => {
      if ([command.collection, command.killCursors].includes('invoices')) commands.push(commandName);
    };
    store.client.on('commandStarted', note);
    try {
      for (let time = 0; time < 2; time++) {
        const invoice = await stored();
        const claim = await claimed(invoice);
        const seen: number[] = [];
        const unsubscribe = feed.subscribe(invoice.id, (news) =>
          seen.push(...news.events.map(({ sequence }) => sequence)),
        );
        const change = { status: 'signing', events: [event(1, 'signing')], work: keep } as const;
        const next = await invoices.change(claim, change, 5000);
        await expect.poll(() => seen).toContain(1);
        await invoices.change(next, { status: 'accepted', events: [event(2, 'accepted')], work: null }, 5000);
        await expect.poll(() => seen).toContain(2);
        unsubscribe();
        // It follows them for 5 s more.
        if (time > 0) break;
        await expect.poll(() => commands).toContain('killCursors');
        commands.length = 0;
        await sleep(1500);
        expect(commands).toEqual([]);
      }
    } finally {
      store.client.off('commandStarted', note);
      await feed.close();
    }
    expect(errors).toEqual([]);
  });

  it('tells what happened while its stream was being opened', async () => {
    const [invoice, gate] = [await stored(), Promise.withResolvers<void>()];
    const collection = store.db.collection('invoices');
    const watch = (...options: Parameters<typeof collection.watch>) => {
      const stream = collection.watch(...options);
      const begin = stream[Symbol.asyncIterator].bind(stream);
      // The driver opens a stream when it is first read.
      stream[Symbol.asyncIterator] = async function* () {
        await gate.promise;
        yield* begin();
      };
      return stream;
    };
    const late = Object.assign(Object.create(collection), { watch });
    const feed = createInvoiceFeed(Object.assign(Object.create(store.db), { collection: () => late }), () => {});
    try {
      const seen: number[] = [];
      feed.subscribe(invoice.id, (news) => seen.push(...news.events.map(({ sequence }) => sequence)));
      const change = { status: 'signing', events: [event(1, 'signing')], work: null } as const;
      await invoices.change(await claimed(invoice), change, 5000);
      await sleep(100);
      expect(seen).toEqual([]);
      gate.resolve();
      await expect.poll(() => seen).toEqual([1]);
    } finally {
      await feed.close();
    }
  });

  it('after a gap, tells listeners the missed events, and continues', async () => {
    const own = store.client.db(`${store.db.databaseName}_gap`);
    const repository = createInvoiceRepository(own);
    const events = [event(1, 'signing'), event(2, 'transmitted')];
    const invoice = pendingInvoice({ status: 'transmitted', events });
    const feed = createInvoiceFeed(own, () => {});
    try {
      await own.createCollection('invoices');
      await feed.start();
      const seen: number[] = [];
      feed.subscribe(invoice.id, (news) => seen.push(...news.events.map(({ sequence }) => sequence)));
      // Invalidates the change stream. These two events are in no stream, because insertions are not updates.
      await own.dropCollection('invoices');
      await repository.insert(invoice, newCreationMoment().order, null);
      await expect.poll(() => seen).toEqual([1, 2]);
      const claim = await claimOne(repository, invoice.id, 5000);
      await repository.change(claim as Claim, { status: 'accepted', events: [event(3, 'accepted')], work: null }, 5000);
      await expect.poll(() => seen).toEqual([1, 2, 3]);
    } finally {
      await feed.close();
      await own.dropDatabase();
    }
  });
});

describe('documents', () => {
  it.each([0, 1, 100_000, 5_000_000])('of %i bytes are read as stored', async (size) => {
    const documents = createDocumentStore(store.db);
    const bytes = randomBytes(size);
    const kept = await documents.put(bytes, 'x.xml', 'application/xml');
    expect(kept).toMatchObject({ size, sha256: createHash('sha256').update(bytes).digest('hex') });
    expect(Buffer.compare(Buffer.from(await documents.get(kept)), bytes)).toBe(0);
  });
});

describe('the ledger', () => {
  it('keeps the first row of a submission', async () => {
    const ledger = createSubmissionLedger(store.db);
    const now = new Date();
    const row = (sha256: string) => ({
      submissionId: 'inv_ledger',
      sha256,
      receivedAt: now,
      receiptAt: now,
      decisionAt: now,
      decision: { outcome: 'accepted', dgiId: 'D', decidedAt: now } as const,
    });
    const kept = await Promise.all(['a', 'b', 'c'].map((sha256) => ledger.record(row(sha256))));
    expect(new Set(kept.map(({ sha256 }) => sha256)).size).toBe(1);
    expect(await ledger.find('inv_ledger')).toEqual(kept[0]);
    expect(await ledger.find('inv_none')).toBeNull();
    expect([await ledger.countRefusal('x'), await ledger.countRefusal('x')]).toEqual([1, 2]);
  });
});
