import { setTimeout as sleep } from 'node:timers/promises';
import fc from 'fast-check';
import type { Db } from 'mongodb';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { randomNumbers } from '../../scripts/random-numbers.ts';
import { newId } from '../../src/domain/ids.ts';
import type { Invoice } from '../../src/domain/invoice/invoice.ts';
import { createNumbering } from '../../src/domain/invoice/numbering.ts';
import { type Claim, ClaimLost, type InvoiceRepository } from '../../src/domain/invoice/repository.ts';
import { legalNumber, type SeriesNumber } from '../../src/domain/invoice/series-number.ts';
import { moroccanYear } from '../../src/domain/morocco/time.ts';
import { newCreationMoment } from '../../src/domain/order-key.ts';
import { connect, type Store } from '../../src/storage/connect.ts';
import { findInconsistencies } from '../../src/storage/consistency.ts';
import type { InvoiceDocument } from '../../src/storage/invoice-document.ts';
import { type NumberDocument, seriesKey } from '../../src/storage/invoice-numbers.ts';
import { createInvoiceRepository } from '../../src/storage/invoices.ts';
import { createLostNumbers } from '../../src/storage/lost-numbers.ts';
import { createNumberSeries } from '../../src/storage/number-series.ts';
import { createSeriesTurns } from '../../src/storage/series-turns.ts';
import { beginVersions, DATA_VERSION } from '../../src/storage/upgrades.ts';
import { claimOne, pendingInvoice } from '../support/invoices.ts';
import { startTestMongo } from '../support/mongodb.ts';
import { sampled } from '../support/samples.ts';
import { openTestStore } from '../support/store.ts';

const SERIES = '2026';
const HOUR_MS = 3_600_000;
const KEEP = { stage: 'sign', attempts: 0, outcomeUnknown: false, in: 0, keep: true } as const;
const createdAt = new Date('2026-06-01T10:00:00Z');

let store: Store;
let uri: string;
/** One process creates all invoices: many would take turns at the list of a tenant, which has its own tests. */
let creating: InvoiceRepository;

beforeAll(async () => {
  store = await openTestStore('invoice-numbers');
  creating = createInvoiceRepository(store.db);
  uri = (await startTestMongo()).uri;
});
afterAll(() => store.close());

const collections = () => ({
  invoices: store.db.collection<InvoiceDocument>('invoices'),
  numbers: store.db.collection<NumberDocument>('invoice_numbers'),
});

/** A worker process: a client of its own, which numbers invoices. @param change changes its database, e.g. to fail */
async function worker(change = (db: Db) => db) {
  const own = await connect(uri, store.db.databaseName);
  let isClosing = false;
  onTestFinished(() => {
    isClosing = true;
    return own.close();
  });
  const invoices = createInvoiceRepository(change(own.db));
  // A turn is left without being waited for.
  const turns = createSeriesTurns(own.db, (failure) => (isClosing ? undefined : Promise.reject(failure)));
  const numbering = createNumbering<number>(invoices, turns, (changes, reserved) =>
    invoices.changeAll(changes, HOUR_MS, reserved),
  );
  const prepare = async (series: SeriesNumber) => ({ change: { series, work: KEEP }, made: series.serial });
  return { invoices, number: (claim: Claim) => numbering.assign(claim, prepare) };
}

/** The database, whose updates of invoices, apart from those in transactions, go through `between`. */
function withWrites(db: Db, between: (write: () => Promise<unknown>) => Promise<unknown>): Db {
  const bound = (target: object, name: string | symbol) => {
    const value = Reflect.get(target, name);
    return typeof value === 'function' ? value.bind(target) : value;
  };
  const invoices = new Proxy(db.collection<InvoiceDocument>('invoices'), {
    get(target, name) {
      if (name !== 'bulkWrite') return bound(target, name);
      return (...args: Parameters<typeof target.bulkWrite>) => {
        const write = () => target.bulkWrite(...args);
        return args[1]?.session ? write() : between(write);
      };
    },
  });
  return new Proxy(db, {
    get(target, name) {
      if (name !== 'collection') return bound(target, name);
      return (of: string) => (of === 'invoices' ? invoices : target.collection(of));
    },
  });
}

async function claimed(changes: Partial<Invoice>, leaseMs = HOUR_MS): Promise<Claim> {
  const invoice = pendingInvoice({ createdAt, ...changes });
  await creating.insert(invoice, newCreationMoment().order, null);
  return claimOf(invoice.id, leaseMs);
}

async function claimOf(id: string, leaseMs = HOUR_MS): Promise<Claim> {
  const claim = await claimOne(creating, id, leaseMs);
  if (!claim) throw new Error('the invoice cannot be claimed');
  return claim;
}

/** Serials of the tenant's invoices in a series, in order. Checks that the numbers name the same invoices. */
async function serialsOf(tenantId: string, name = SERIES): Promise<number[]> {
  const { invoices, numbers } = collections();
  const stored = await invoices.find({ tenantId, 'series.name': name }).toArray();
  const taken = await numbers.find({ _id: { $regex: `^${tenantId} test ${name} ` } }).toArray();
  const series = (document: InvoiceDocument) => document.series as SeriesNumber;
  expect(taken.map(({ _id, invoiceId }) => `${_id} ${invoiceId}`).sort()).toEqual(
    stored.map((each) => `${seriesKey(each, series(each))} ${each._id}`).sort(),
  );
  return stored.map((each) => series(each).serial).sort((a, b) => a - b);
}

const upTo = (count: number) => Array.from({ length: count }, (_, i) => i + 1);

describe('the numbers of a series', () => {
  it('are unique and without gaps if several processes number at once, alone and in groups', async () => {
    const tenantId = newId('ten');
    const workers = await Promise.all([worker(), worker(), worker()]);
    const claims = await Promise.all(upTo(60).map(() => claimed({ tenantId })));
    const made = await Promise.all(
      workers.map(async ({ number }, w) => {
        const own = claims.filter((_, i) => i % workers.length === w);
        const serials: number[] = [];
        for (const claim of own.slice(0, 8)) serials.push((await number(claim)).made);
        return [...serials, ...(await Promise.all(own.slice(8).map(number))).map((each) => each.made)];
      }),
    );
    expect(made.flat().sort((a, b) => a - b)).toEqual(upTo(60));
    expect(await serialsOf(tenantId)).toEqual(upTo(60));
  });

  it('have no gap if a credit note is rejected between taking a number for it and writing it', async () => {
    const tenantId = newId('ten');
    const { invoices, numbers } = collections();
    const { number, invoices: repository } = await worker();
    expect((await number(await claimed({ tenantId }))).made).toBe(1);
    const rejected = await claimed({ tenantId });
    const series = { name: SERIES, serial: 2 };
    await numbers.insertOne({ _id: seriesKey(rejected.invoice, series), invoiceId: rejected.invoice.id });
    await invoices.updateOne(
      { _id: rejected.invoice.id },
      { $set: { status: 'rejected' }, $unset: { awaitsNumber: '' } },
    );
    expect(await repository.highestSerial(tenantId, 'test', SERIES)).toBe(1);
    expect((await invoices.findOne({ _id: rejected.invoice.id }))?.series).toBeUndefined();
    expect((await number(await claimed({ tenantId }))).made).toBe(2);
    expect(await serialsOf(tenantId)).toEqual([1, 2]);
  });

  it('writes no number that was taken for another one to an invoice that is rejected meanwhile', async () => {
    const tenantId = newId('ten');
    const { invoices } = collections();
    const { invoices: repository } = await worker();
    const [claim, other] = [await claimed({ tenantId }), await claimed({ tenantId })];
    await invoices.updateOne({ _id: other.invoice.id }, { $set: { status: 'rejected' } });
    const change = { series: { name: SERIES, serial: 1 }, work: KEEP };
    const reserved = [{ invoice: other.invoice, series: { name: SERIES, serial: 2 } }];
    await expect(repository.changeAll([[claim, change]], HOUR_MS, reserved)).rejects.toBeInstanceOf(ClaimLost);
    expect((await invoices.findOne({ _id: other.invoice.id }))?.series).toBeUndefined();
    expect(await serialsOf(tenantId)).toEqual([]);
  });

  it('have no gap if a process dies between taking a number and writing it', async () => {
    const tenantId = newId('ten');
    const { number, invoices } = await worker();
    expect((await number(await claimed({ tenantId }))).made).toBe(1);
    const slow = await claimed({ tenantId }, -1);
    const series = { name: SERIES, serial: 2 };
    await collections().numbers.insertOne({ _id: seriesKey(slow.invoice, series), invoiceId: slow.invoice.id });
    expect(await invoices.findByNumber(tenantId, 'test', legalNumber(series))).toBeNull();
    expect((await number(await claimed({ tenantId }))).made).toBe(3);
    expect(await serialsOf(tenantId)).toEqual([1, 2, 3]);
    expect((await invoices.findByNumber(tenantId, 'test', legalNumber(series)))?.id).toBe(slow.invoice.id);
    expect((await claimOf(slow.invoice.id)).invoice.number).toBe('2026-000002');
  });

  it('have no gap if a claim is lost between taking a number and writing it', async () => {
    const tenantId = newId('ten');
    const { number, invoices } = await worker();
    const lost = await claimed({ tenantId }, -1);
    await claimOf(lost.invoice.id);
    const change = { series: { name: SERIES, serial: 1 }, work: KEEP };
    await expect(invoices.change(lost, change, HOUR_MS)).rejects.toThrow(ClaimLost);
    expect((await number(await claimed({ tenantId }))).made).toBe(2);
    expect(await serialsOf(tenantId)).toEqual([1, 2]);
  });

  it('are never two of an invoice, and the second one goes to another invoice', async () => {
    const tenantId = newId('ten');
    const { number, invoices } = await worker();
    // The invoice as it was claimed, before another process wrote the number that was taken for it.
    const claim = await claimed({ tenantId });
    expect((await number(claim)).made).toBe(1);
    const second = { series: { name: SERIES, serial: 2 }, work: KEEP };
    await expect(invoices.change(claim, second, HOUR_MS)).rejects.toThrow(ClaimLost);
    const both = [claim, await claimed({ tenantId })].map((each, i) => {
      return [each, { series: { name: SERIES, serial: 3 + i }, work: KEEP }] as const;
    });
    await expect(invoices.changeAll(both, HOUR_MS)).rejects.toThrow(ClaimLost);
    const { number: next } = await worker();
    // The second number goes to the invoice that was created before this one.
    expect((await next(await claimed({ tenantId }))).made).toBe(3);
    expect(await serialsOf(tenantId)).toEqual([1, 2, 3]);
  });

  it('are unique and without gaps while processes die and are slow between taking numbers and writing them', async () => {
    const step = fc.constantFrom('dies', 'writes, then dies', 'is slow', 'writes', 'writes');
    const property = async (steps: readonly string[]) => {
      const tenantId = newId('ten');
      let place = 0;
      const between = async (write: () => Promise<unknown>) => {
        const now = steps[place++ % steps.length];
        if (now === 'is slow') await sleep(place % 7);
        if (now === 'dies') throw new Error('died');
        const result = await write();
        if (now === 'writes, then dies') throw new Error('died');
        return result;
      };
      const workers = await Promise.all([1, 2, 3].map(() => worker((db) => withWrites(db, between))));
      const waiting = await Promise.all(upTo(24).map(async () => (await claimed({ tenantId }, -1)).invoice.id));
      for (let turn = 0; waiting.length > 0; turn++) {
        if (turn > 99) throw new Error('an invoice gets no number');
        const tried = waiting.splice(0, 1 + (turn % 5));
        await Promise.all(
          tried.map(async (id, i) => {
            // Its lease ends at once, as if the worker were dead; another one may work at the same invoice.
            const claim = workers[0] && (await claimOne(workers[0].invoices, id, -1));
            // Otherwise its number was written before the process died.
            if (!claim || claim.invoice.number !== null) return;
            await workers[(turn + i) % workers.length]?.number(claim).catch(() => waiting.push(id));
          }),
        );
      }
      const { number } = await worker();
      expect((await number(await claimed({ tenantId }))).made).toBe(25);
      expect(await serialsOf(tenantId)).toEqual(upTo(25));
    };
    const lively = fc.array(step, { minLength: 3, maxLength: 30 }).filter((steps) => steps.includes('writes'));
    await fc.assert(fc.asyncProperty(lively, property), { numRuns: sampled(8) });
  });

  it('are those of the series alone: credit notes have another one, also if both are numbered at once', async () => {
    const tenantId = newId('ten');
    const workers = await Promise.all([worker(), worker()]);
    const claims: Claim[] = [];
    for (const n of upTo(40)) claims.push(await claimed({ tenantId, kind: n % 3 === 0 ? 'credit_note' : 'invoice' }));
    await Promise.all(claims.toReversed().map((claim, i) => workers[i % 2]?.number(claim)));
    expect(await serialsOf(tenantId)).toEqual(upTo(27));
    expect(await serialsOf(tenantId, `AV-${SERIES}`)).toEqual(upTo(13));
    const stored = await collections().invoices.find({ tenantId }).sort({ order: 1 }).toArray();
    for (const kind of ['invoice', 'credit_note']) {
      const ofKind = stored.filter((each) => each.kind === kind);
      expect(ofKind.map(({ series }) => series?.serial)).toEqual(upTo(ofKind.length));
    }
    const { invoices } = await worker();
    const [invoice, note] = [stored[3], stored[2]];
    expect((await invoices.findByNumber(tenantId, 'test', '2026-000003'))?.id).toBe(invoice?._id);
    expect((await invoices.findByNumber(tenantId, 'test', 'AV-2026-000001'))?.id).toBe(note?._id);
    expect(await createNumberSeries(store.db).lastNumbers({ tenantId, environment: 'test' })).toEqual([
      { name: '2026', serial: 27 },
      { name: 'AV-2026', serial: 13 },
    ]);
  });

  it('stay in order beyond six digits', async () => {
    const tenantId = newId('ten');
    const { invoices } = await worker();
    for (const serial of [999_999, 1_000_000])
      await invoices.change(await claimed({ tenantId }), { series: { name: SERIES, serial }, work: KEEP }, HOUR_MS);
    expect(await invoices.highestSerial(tenantId, 'test', SERIES)).toBe(1_000_000);
    expect((await invoices.findByNumber(tenantId, 'test', '2026-1000000'))?.number).toBe('2026-1000000');
  });
});

describe('numbers of invoices that were lost', () => {
  it('are passed over by the series, and by the check', async () => {
    const tenantId = newId('ten');
    await store.db.collection<{ _id: string }>('tenants').insertOne({ _id: tenantId });
    const owner = { tenantId, environment: 'test' } as const;
    const lost = createLostNumbers(store.db);
    const goOn = (serial: number) => lost.continueAfter(owner, { name: SERIES, serial }, { mayBegin: false });
    const versions = store.db.collection<{ _id: string }>('installation');
    await versions.updateOne({ _id: 'data-version' }, { $set: { version: DATA_VERSION - 1 } }, { upsert: true });
    await expect(goOn(5)).rejects.toThrow('this data is of an earlier version');
    await versions.deleteOne({ _id: 'data-version' });
    await beginVersions(store.db);
    const faults = async () =>
      (await Array.fromAsync(findInconsistencies(store.db))).filter((text) => text.startsWith(`number '${tenantId}`));
    const { number } = await worker();
    for (const serial of [1, 2]) expect((await number(await claimed({ tenantId }))).made).toBe(serial);
    expect(await goOn(2)).toBe('reached');
    expect(await goOn(5)).toEqual({ from: 3, until: 5 });
    expect(await goOn(5)).toBe('reached');
    expect(await goOn(4)).toBe('reached');
    expect(await goOn(9)).toEqual({ from: 6, until: 9 });
    const { number: later } = await worker();
    for (const serial of [10, 11]) expect((await later(await claimed({ tenantId }))).made).toBe(serial);
    expect(await faults()).toEqual([]);
    await collections().numbers.updateOne(
      { _id: seriesKey(owner, { name: SERIES, serial: 9 }) },
      { $unset: { lostFrom: 1 } },
    );
    expect(await faults()).toEqual([
      expect.stringMatching(/ 0*9': there are none from 6 to 8$/),
      expect.stringMatching(/ 0*9': its invoice lost does not exist$/),
    ]);
  });

  it('are those of the series of credit notes alone, while the invoices go on', async () => {
    const tenantId = newId('ten');
    await store.db.collection<{ _id: string }>('tenants').insertOne({ _id: tenantId });
    await beginVersions(store.db);
    const { number } = await worker();
    for (const kind of ['invoice', 'credit_note'] as const)
      expect((await number(await claimed({ tenantId, kind }))).made).toBe(1);
    const owner = { tenantId, environment: 'test' } as const;
    const lost = { name: `AV-${SERIES}`, serial: 4 };
    expect(await createLostNumbers(store.db).continueAfter(owner, lost, { mayBegin: false })).toEqual({
      from: 2,
      until: 4,
    });
    const { number: later } = await worker();
    expect((await later(await claimed({ tenantId, kind: 'credit_note' }))).made).toBe(5);
    expect((await later(await claimed({ tenantId }))).made).toBe(2);
    const faults = async () =>
      (await Array.fromAsync(findInconsistencies(store.db))).filter((text) => text.startsWith(`number '${tenantId}`));
    expect(await faults()).toEqual([]);
    await collections().numbers.updateOne({ _id: seriesKey(owner, lost) }, { $unset: { lostFrom: 1 } });
    expect(await faults()).toEqual([
      expect.stringMatching(/ AV-2026 0*4': there are none from 2 to 3$/),
      expect.stringMatching(/ AV-2026 0*4': its invoice lost does not exist$/),
    ]);
  });

  it('are not marked if the number is a mistake, and the series goes on as before', async () => {
    const tenantId = newId('ten');
    await beginVersions(store.db);
    const lost = createLostNumbers(store.db);
    const goOn = (series: SeriesNumber, mayBegin = true) =>
      lost.continueAfter({ tenantId, environment: 'test' }, series, { mayBegin });
    const present = moroccanYear(new Date());
    expect(await goOn({ name: SERIES, serial: 5 }, false)).toBe('empty');
    await expect(goOn({ name: SERIES, serial: 1_000_001 })).rejects.toThrow(
      '2026-1000001 is too high: 2026 has no number yet, and at most 1,000,000',
    );
    const { number } = await worker();
    for (const serial of [1, 2]) expect((await number(await claimed({ tenantId }))).made).toBe(serial);
    await expect(goOn({ name: `${present + 1}`, serial: 3 })).rejects.toThrow(
      `the year ${present + 1} has not begun: the present series is that of ${present}`,
    );
    await expect(goOn({ name: `AV-${present + 1}`, serial: 3 })).rejects.toThrow(
      `the year ${present + 1} has not begun`,
    );
    for (const serial of [1_000_003, 2 ** 53])
      await expect(goOn({ name: SERIES, serial })).rejects.toThrow('the highest number of 2026 is 2026-000002');
    expect(await serialsOf(tenantId)).toEqual([1, 2]);
    expect(await collections().numbers.countDocuments({ _id: { $regex: `^${tenantId}` } })).toBe(2);
    // Other series of the tenant have numbers, and the highest number that is allowed leaves a next one.
    expect(await goOn({ name: '2025', serial: 5 }, false)).toBe('empty');
    expect(await goOn({ name: '2025', serial: 5 })).toEqual({ from: 1, until: 5 });
    expect(await goOn({ name: SERIES, serial: 1_000_002 }, false)).toEqual({ from: 3, until: 1_000_002 });
    const { number: later } = await worker();
    expect((await later(await claimed({ tenantId }))).made).toBe(1_000_003);
  });

  it('are not marked while a worker runs, which remembers the last one', async () => {
    const tenantId = newId('ten');
    const members = store.db.collection<{ _id: string; beat: number }>('claim_members');
    let beat = 0;
    const beats = setInterval(() => {
      void members.updateOne({ _id: 'invoices' }, { $set: { beat: beat++ } }, { upsert: true });
    }, 200);
    onTestFinished(() => clearInterval(beats));
    await expect.poll(() => members.countDocuments()).toBe(1);
    const series = { name: SERIES, serial: 5 };
    const marking = createLostNumbers(store.db).continueAfter({ tenantId, environment: 'test' }, series, {
      mayBegin: true,
    });
    await expect(marking).rejects.toThrow('a worker of the service runs');
    expect(await collections().numbers.countDocuments({ _id: { $regex: `^${tenantId}` } })).toBe(0);
  });
});

describe('the order of the numbers', () => {
  /** Numbers of the tenant's invoices in the order of their creation; null: none yet. */
  async function inOrder(tenantId: string): Promise<(number | null)[]> {
    const stored = await collections().invoices.find({ tenantId }).sort({ order: 1 }).toArray();
    return stored.map(({ series }) => series?.serial ?? null);
  }

  it('is that of the creations: earlier invoices without a number get theirs first, and keep them', async () => {
    const tenantId = newId('ten');
    const { number } = await worker();
    const [first, second, third, fourth] = [
      await claimed({ tenantId }),
      await claimed({ tenantId }),
      await claimed({ tenantId }),
      await claimed({ tenantId }),
    ];
    expect((await number(third as Claim)).made).toBe(3);
    expect(await inOrder(tenantId)).toEqual([1, 2, 3, null]);
    // Another process, and one that claimed it when it had no number.
    expect((await (await worker()).number(second as Claim)).made).toBe(2);
    expect((await number(first as Claim)).made).toBe(1);
    expect((await number(fourth as Claim)).made).toBe(4);
    expect(await serialsOf(tenantId)).toEqual(upTo(4));
  });

  it('leaves out those that are rejected without a number, and those with a number of their own', async () => {
    const tenantId = newId('ten');
    const { number, invoices } = await worker();
    const gone = await claimed({ tenantId });
    await invoices.change(gone, { status: 'rejected', work: null }, HOUR_MS);
    await claimed({ tenantId, ownNumber: 'A 1', number: 'A 1' });
    expect((await number(await claimed({ tenantId }))).made).toBe(1);
    expect(await inOrder(tenantId)).toEqual([null, null, 1]);
  });

  it('holds for hundreds that wait, also where they are more than are numbered at once', async () => {
    const tenantId = newId('ten');
    const { number } = await worker();
    const invoices = createInvoiceRepository(store.db);
    const all = Array.from({ length: 300 }, () => pendingInvoice({ tenantId, createdAt }));
    for (const invoice of all) await invoices.insert(invoice, newCreationMoment().order, null);
    const last = (await claimOf((all.at(-1) as Invoice).id)) as Claim;
    expect((await number(last)).made).toBe(300);
    expect(await inOrder(tenantId)).toEqual(upTo(300));
  });

  it('costs no further command if each invoice is the next one of its series', async () => {
    const tenantId = newId('ten');
    const own = await openTestStore('numbers_in_line', true);
    onTestFinished(() => own.close());
    const invoices = createInvoiceRepository(own.db);
    const numbering = createNumbering<number>(invoices, { enter: async () => () => {} }, (changes, reserved) =>
      invoices.changeAll(changes, HOUR_MS, reserved),
    );
    const commands: string[] = [];
    for (let nth = 1; nth <= 3; nth++) {
      const invoice = pendingInvoice({ tenantId, createdAt });
      await invoices.insert(invoice, newCreationMoment().order, null);
      const claim = (await claimOne(invoices, invoice.id, HOUR_MS)) as Claim;
      commands.length = 0;
      own.client.on('commandStarted', ({ commandName }) => commands.push(commandName));
      await numbering.assign(claim, async (series) => ({ change: { series, work: KEEP }, made: series.serial }));
      own.client.removeAllListeners('commandStarted');
    }
    expect(commands).toEqual(['insert', 'update']);
  });

  it.each(upTo(sampled(3)))(
    'holds whoever numbers them, in whatever order, and whoever dies (seed %i)',
    async (seed) => {
      const random = randomNumbers(seed);
      const tenantId = newId('ten');
      const left: string[] = [];
      let created = 0;
      const creating = (async () => {
        const repositories = [createInvoiceRepository(store.db), (await worker()).invoices];
        for (; created < 80; created++) {
          const invoice = pendingInvoice({ tenantId, createdAt });
          await repositories[created % 2]?.insert(invoice, newCreationMoment().order, null);
          left.push(invoice.id);
          if (random() < 0.3) await sleep(random() * 10);
        }
      })();
      const working = Array.from({ length: 4 }, async () => {
        const { number } = await worker();
        const one = async () => {
          while (created < 80 || left.length > 0) {
            const [id] = left.splice(Math.floor(random() * left.length), 1);
            if (id === undefined) await sleep(2);
            // Of a worker that dies: its lease ends soon, and another one takes it up.
            else if (random() < 0.15) {
              await claimOf(id, 1);
              left.push(id);
            } else {
              const claim = await claimOne(createInvoiceRepository(store.db), id, HOUR_MS);
              const failed =
                claim === null ||
                (await number(claim).then(
                  () => false,
                  (error) => error,
                ));
              if (failed === true || failed instanceof ClaimLost) left.push(id);
              else if (failed !== false) throw failed;
            }
          }
        };
        await Promise.all([one(), one(), one()]);
      });
      await Promise.all([creating, ...working]);
      expect(await inOrder(tenantId)).toEqual(upTo(80));
      expect(await serialsOf(tenantId)).toEqual(upTo(80));
    },
  );
});
