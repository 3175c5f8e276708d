import fc from 'fast-check';
import type { Collection } from 'mongodb';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { newId } from '../../src/domain/ids.ts';
import { type Claim, ClaimLost, type InvoiceChange, NumberTaken } from '../../src/domain/invoice/repository.ts';
import { newCreationMoment } from '../../src/domain/order-key.ts';
import type { Store } from '../../src/storage/connect.ts';
import type { InvoiceDocument } from '../../src/storage/invoice-document.ts';
import { type NumberDocument, seriesKey } from '../../src/storage/invoice-numbers.ts';
import { transitionsOf } from '../../src/storage/invoice-transitions.ts';
import { createInvoiceRepository } from '../../src/storage/invoices.ts';
import { claimOne, pendingInvoice } from '../support/invoices.ts';
import { sampled } from '../support/samples.ts';
import { openTestStore } from '../support/store.ts';

const SERIES = '2026';
const HOUR_MS = 3_600_000;

/** One worker's change of an invoice in a group of changes, and what happens around it. */
interface Attempt {
  /** Whether the run goes on (`keep`), is due again (`release`), or ends (`end`). */
  readonly work: 'keep' | 'release' | 'end';
  /** Whether the change has an event. */
  readonly told: boolean;
  /** Serial of the change in the series of the tenant; of 1 it is taken before. */
  readonly serial: number | null;
  /** The claim was lost to another worker, which changes the invoice in the same group, or not. */
  readonly lost: 'no' | 'to one that waits' | 'to one that changes it';
  /** Another worker claims the invoice as soon as the change is written, if that makes it due. */
  readonly claimedAfter: boolean;
}

const ATTEMPT: fc.Arbitrary<Attempt> = fc.record({
  work: fc.constantFrom('keep', 'release', 'end'),
  told: fc.boolean(),
  serial: fc.option(fc.integer({ min: 1, max: 4 }), { freq: 2 }),
  lost: fc.constantFrom('no', 'no', 'to one that waits', 'to one that changes it'),
  claimedAfter: fc.boolean(),
});

/** Only the number is in the way of this change. */
const TAKEN: Attempt = { work: 'keep', told: false, serial: 1, lost: 'no', claimedAfter: false };

let store: Store;
let collection: Collection<InvoiceDocument>;
let numbers: Collection<NumberDocument>;
let bulkWrites: number;
let reads: number;

beforeAll(async () => {
  store = await openTestStore('grouped-changes', true);
  collection = store.db.collection<InvoiceDocument>('invoices');
  numbers = store.db.collection<NumberDocument>('invoice_numbers');
  store.client.on('commandStarted', ({ commandName, command }) => {
    if (commandName === 'update' && command.updates.length > 1) bulkWrites++;
    if (commandName === 'find') reads++;
  });
});
afterAll(() => store.close());

/** The collection, which calls `then` after each group is written and before its outcome is read. */
function withPause(pause: () => Promise<unknown>): Collection<InvoiceDocument> {
  return new Proxy(collection, {
    get(target, name) {
      if (name !== 'bulkWrite') return Reflect.get(target, name).bind?.(target) ?? Reflect.get(target, name);
      return (...args: Parameters<typeof target.bulkWrite>) => target.bulkWrite(...args).finally(pause);
    },
  });
}

/** A change that no other one equals, so that the stored invoice says whether it was written. */
function changeOf({ work, told, serial }: Attempt, mark: number, tenantId: string): InvoiceChange {
  const next = { stage: 'transmit', attempts: mark, outcomeUnknown: false, in: 0, keep: work === 'keep' } as const;
  const event = { type: 'invoice.signing', status: 'pending', dgiId: null, rejectionReason: null } as const;
  return {
    heldAs: `${tenantId} ${mark}`,
    ...(serial && { series: { name: SERIES, serial } }),
    ...(told && { events: [{ ...event, id: newId('evt'), sequence: 1, at: new Date() }] }),
    work: work === 'end' ? null : next,
  };
}

const invoices = () => createInvoiceRepository(store.db);

async function claimOf(id: string, leaseMs: number): Promise<Claim> {
  const claim = await claimOne(invoices(), id, leaseMs);
  if (!claim) throw new Error('the invoice cannot be claimed');
  return claim;
}

/** The claims of the workers that change the invoice of this attempt: of those, the last one is not lost. */
async function workersOf({ lost }: Attempt, tenantId: string): Promise<{ claim: Claim; isLost: boolean }[]> {
  const invoice = pendingInvoice({ tenantId });
  await invoices().insert(invoice, newCreationMoment().order, null);
  if (lost === 'no') return [{ claim: await claimOf(invoice.id, HOUR_MS), isLost: false }];
  const first = { claim: await claimOf(invoice.id, -1), isLost: true };
  const second = { claim: await claimOf(invoice.id, HOUR_MS), isLost: false };
  return lost === 'to one that waits' ? [first] : [first, second];
}

it('a change in a group succeeds exactly if it is stored, and fails with the reason', async () => {
  const property = async (attempts: readonly Attempt[]) => {
    const tenantId = newId('ten');
    const taken = pendingInvoice({ tenantId });
    await invoices().insert(taken, newCreationMoment().order, null);
    await invoices().change(
      await claimOf(taken.id, HOUR_MS),
      { series: { name: SERIES, serial: 1 }, work: null },
      HOUR_MS,
    );
    const writers = (
      await Promise.all(
        attempts.map(async (attempt) => {
          const workers = await workersOf(attempt, tenantId);
          return workers.map((worker) => ({ attempt, ...worker }));
        }),
      )
    ).flat();
    const reclaimed = writers.filter(({ attempt }) => attempt.claimedAfter).map(({ claim }) => claim.invoice.id);
    const paused = withPause(() =>
      collection.updateMany(
        { _id: { $in: reclaimed }, 'work.token': null, 'work.stage': { $exists: true } },
        {
          $set: { 'work.token': 'another', 'work.dueAt': new Date(Date.now() + HOUR_MS) },
          $inc: { 'work.claims': 1 },
        },
      ),
    );
    const { change } = transitionsOf({ invoices: paused, numbers }, store.client);
    [bulkWrites, reads] = [0, 0];
    const outcomes = await Promise.allSettled(
      writers.map(({ attempt, claim }, mark) => change(claim, changeOf(attempt, mark, tenantId), HOUR_MS)),
    );
    const isRefused = (index: number) => (outcomes[index] as { reason?: unknown }).reason instanceof NumberTaken;
    const updated = writers.filter((_, index) => !isRefused(index));
    expect(bulkWrites).toBe(updated.length > 1 ? 1 : 0);
    expect(reads).toBe(updated.some(({ isLost }) => isLost) ? 1 : 0);
    const stored = new Map((await collection.find({ tenantId }).toArray()).map((each) => [each._id, each]));
    const holders = new Map(
      (await numbers.find({ _id: { $regex: `^${tenantId} ` } }).toArray()).map((n) => [n._id, n]),
    );
    const holderOf = (serial: number) =>
      holders.get(seriesKey({ tenantId, environment: 'test' }, { name: SERIES, serial }))?.invoiceId;
    for (const [mark, { attempt, claim, isLost }] of writers.entries()) {
      const outcome = outcomes[mark];
      const { serial } = attempt;
      const isStored = stored.get(claim.invoice.id)?.heldAs === `${tenantId} ${mark}`;
      expect(outcome?.status).toBe(isStored ? 'fulfilled' : 'rejected');
      if (isStored && serial) expect(holderOf(serial)).toBe(claim.invoice.id);
      // The number is decided before the claim.
      if (isRefused(mark)) expect(serial && holderOf(serial)).toBeTruthy();
      else if (!isStored)
        expect([isLost, (outcome as PromiseRejectedResult).reason]).toEqual([true, expect.any(ClaimLost)]);
      if (isLost) expect(isStored).toBe(false);
      else if (serial === null) expect(isStored).toBe(true);
    }
    // A number that is wanted has one invoice, which is of the writers unless it was taken before.
    const wanted = new Set(writers.flatMap(({ attempt }) => (attempt.serial ? [attempt.serial] : [])));
    const won = writers
      .filter((_, mark) => outcomes[mark]?.status === 'fulfilled')
      .map(({ attempt }) => attempt.serial);
    for (const serial of wanted) {
      const holder = writers.find(({ claim }) => claim.invoice.id === holderOf(serial));
      expect(serial === 1 ? holderOf(serial) === taken.id : holder !== undefined).toBe(true);
      const isUnwritten = writers.some(({ claim, isLost }) => isLost && claim.invoice.id === holderOf(serial));
      const wins = won.filter((each) => each === serial).length;
      if (serial === 1) expect(wins).toBe(0);
      else expect(wins).toBeLessThanOrEqual(1);
      if (serial !== 1 && !isUnwritten) expect(wins).toBe(1);
    }
  };
  await fc.assert(fc.asyncProperty(fc.array(ATTEMPT, { minLength: 1, maxLength: 12 }), property), {
    numRuns: sampled(120),
    examples: [[[TAKEN]], [[TAKEN, { ...TAKEN, serial: 2 }]]],
  });
});
