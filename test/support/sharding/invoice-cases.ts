import type { UpdateFilter } from 'mongodb';
import { newId } from '../../../src/domain/ids.ts';
import type { Invoice } from '../../../src/domain/invoice/invoice.ts';
import { createInvoiceIds } from '../../../src/domain/invoice/invoice-ids.ts';
import { ALL_PARTITIONS } from '../../../src/domain/invoice/lanes.ts';
import { periodNamed } from '../../../src/domain/invoice/periods/period.ts';
import { summedOf } from '../../../src/domain/invoice/periods/summed-invoice.ts';
import type { Claim, InvoiceChange } from '../../../src/domain/invoice/repository.ts';
import { searchOf } from '../../../src/domain/invoice/search/query.ts';
import { newCreationMoment, orderAt } from '../../../src/domain/order-key.ts';
import type { Store } from '../../../src/storage/connect.ts';
import type { InvoiceDocument } from '../../../src/storage/invoice-document.ts';
import { createInvoiceRepository } from '../../../src/storage/invoices.ts';
import { createIssuedDays } from '../../../src/storage/issued-days.ts';
import { createIssuedNumbers } from '../../../src/storage/issued-numbers.ts';
import { createLostNumbers } from '../../../src/storage/lost-numbers.ts';
import { createNumberSeries } from '../../../src/storage/number-series.ts';
import { createOutbox } from '../../../src/storage/outbox.ts';
import { createPeriodDocuments } from '../../../src/storage/period-documents.ts';
import { createPeriodSums } from '../../../src/storage/period-sums.ts';
import { createTransmissions } from '../../../src/storage/transmissions.ts';
import { claimOne, pendingInvoice } from '../invoices.ts';
import { statusChange } from '../webhooks.ts';
import { type Case, drained, failing, LEASE_MS, OWNER, type Subject, subject } from './cases.ts';

const A_LIST =
  'a page of a list is read from the index of each shard, which is cheaper than a shard with all of a tenant';
const FEW = 'operators and sweeps look a few times a minute, and each shard reads its own index up to the limit';
const CLAIMERS = 'a claimer looks for a batch of all shards; what it then claims has the shard key';
const LEDGER = 'the reconciliation looks for invoices by what the authority knows of them';

const WORK = { stage: 'sign', attempts: 0, outcomeUnknown: false, in: 0, keep: true } as const;
const RULE = { quietMs: 0, mostAnHour: 9 };
const { tenantId, environment } = OWNER;
const owner = [tenantId, environment] as const;

export function invoiceCases(store: Store): Record<string, Subject> {
  const invoices = createInvoiceRepository(store.db);
  const lost = createLostNumbers(store.db);
  const series = createNumberSeries(store.db);
  const issued = createIssuedNumbers(store.db);
  const days = createIssuedDays(store.db);
  const ids = createInvoiceIds('s');

  async function fresh(changes: Partial<Invoice> = {}, set?: object): Promise<Invoice> {
    const invoice = pendingInvoice({ ...OWNER, ...changes });
    await invoices.insert(invoice, newCreationMoment().order, null);
    const update = { $set: set } as UpdateFilter<InvoiceDocument>;
    if (set) await store.db.collection<InvoiceDocument>('invoices').updateOne({ _id: invoice.id }, update);
    return invoice;
  }
  async function claimed(): Promise<Claim> {
    const claim = await claimOne(invoices, (await fresh()).id, LEASE_MS);
    if (!claim) throw new Error('the invoice could not be claimed');
    return claim;
  }
  const numbered = (serial: number): InvoiceChange => ({
    status: 'signing',
    series: { name: '2026', serial },
    events: [statusChange(1)],
    work: WORK,
  });
  const page = {
    ...OWNER,
    kind: 'invoice',
    status: null,
    match: null,
    limit: 5,
    cursor: null,
    createdFrom: null,
    createdUntil: null,
  } as const;
  const cursor = { direction: 'after', order: orderAt(Date.now() + 60_000) } as const;
  const sorted = { ...OWNER, kind: 'invoice', field: 'amount', isBackwards: false, after: null, limit: 5 } as const;
  const insert = (changes: Partial<Invoice> = {}, key: string | null = null) =>
    invoices.insert(
      pendingInvoice({ ...OWNER, ...changes }),
      newCreationMoment().order,
      key === null ? null : { key, fingerprint: 'f' },
    );
  async function keyed(key: string): Promise<{ id: string }> {
    const id = ids.ofKey(OWNER, key);
    await insert({ id }, key);
    return { id };
  }

  const reading = {
    find: async () => invoices.find((await fresh()).id),
    creationsOf: async () => invoices.creationsOf([(await fresh()).id]),
    tenantsOf: async () => invoices.tenantsOf([(await fresh()).id]),
    findEvenWithheld: async () => invoices.findEvenWithheld((await fresh()).id),
    findMany: async () => invoices.findMany(...owner, [(await fresh()).id, newId('inv')]),
    findCreatedAs: async () => invoices.findCreatedAs((await keyed('found')).id),
    findByNumber: [
      async () => {
        await insert({ ownNumber: 'A 1', number: 'A 1' });
        if (!(await invoices.findByNumber(...owner, 'A 1'))) throw new Error('the invoice was not found');
      },
      () => invoices.findByNumber(...owner, '2026-000001'),
    ],
    findByOwnNumber: () => invoices.findByOwnNumber(...owner, 'A 1'),
    orderOf: async () => invoices.orderOf(...owner, (await fresh()).id),
    seriesNumbersOf: async () => invoices.seriesNumbersOf([(await fresh()).id]),
    correctionStatesOf: async () => invoices.correctionStatesOf([(await fresh()).id, newId('crn')]),
    awaitingNumber: {
      call: () => invoices.awaitingNumber(...owner, '2026', 5),
      scatters: ['find invoices by awaitsNumber, environment, status, tenantId'],
      because: 'a process asks where it does not know that its invoice is the next one of the series',
    },
    highestSerial: {
      call: async () => {
        // The last number is not written to its invoice, because the claim was lost.
        const lost = { ...(await claimed()), token: 'lost' };
        await failing(invoices.change(lost, numbered(77), LEASE_MS), 'ClaimLost');
        await invoices.highestSerial(...owner, '2026');
      },
      scatters: ['find invoice_numbers by _id'],
      because: 'a process asks once for a series, and again if another process was faster; each shard reads one key',
    },
    page: [
      { call: () => invoices.page(page), scatters: ['find invoices by environment, kind, tenantId'], because: A_LIST },
      {
        call: async () => (await invoices.page({ ...page, status: 'pending', cursor, maxBytes: 1e6 })).hasOthers(),
        scatters: ['find invoices by environment, kind, order, status, tenantId'],
        because: A_LIST,
      },
      {
        call: () => invoices.page({ ...page, match: { customerKey: 'a' } }),
        scatters: ['find invoices by customerKey, environment, kind, tenantId'],
        because: A_LIST,
      },
      {
        call: () => invoices.page({ ...page, search: searchOf('atl'), status: 'pending' }),
        scatters: [
          'count invoices by environment, kind, searchTerms, tenantId',
          'find invoices by environment, kind, tenantId',
        ],
        because: A_LIST,
      },
      {
        call: () => invoices.page({ ...page, search: searchOf('at') }),
        scatters: [
          'find invoices by environment, kind, order, searchTerms, tenantId',
          'find invoices by environment, kind, tenantId',
        ],
        because: A_LIST,
      },
    ],
    sortedPage: [
      {
        call: () => invoices.sortedPage(sorted),
        scatters: ['find invoices by environment, kind, tenantId'],
        because: A_LIST,
      },
      {
        call: () => invoices.sortedPage({ ...sorted, after: { value: 1200, order: cursor.order } }),
        scatters: [
          'find invoices by amount, environment, kind, order, tenantId',
          'find invoices by amount, environment, kind, tenantId',
        ],
        because: A_LIST,
      },
    ],
    numberedPage: {
      call: () => invoices.numberedPage({ ...OWNER, kind: 'invoice', isBackwards: false, after: null, limit: 2 }),
      scatters: ['find invoice_numbers by _id, lostFrom'],
      because: A_LIST,
    },
    customers: {
      call: async () => {
        await fresh();
        await invoices.customers({ ...page, field: 'name', prefix: 'a', limit: 2 });
        await invoices.customers({ ...page, field: 'ice', prefix: '0', limit: 2 });
      },
      scatters: [
        'find invoices by customer.ice, environment, kind, tenantId',
        'find invoices by customerKey, environment, kind, tenantId',
      ],
      because: A_LIST,
    },
    countByStatus: {
      call: () => invoices.countByStatus({ ...page, from: 0, until: 1 }),
      scatters: ['count invoices by environment, kind, order, status, tenantId'],
      because: A_LIST,
    },
  };

  const changing = {
    insert: [
      () => insert(),
      () => keyed('first'),
      async () => [await keyed('twice'), await keyed('twice')],
      async () => {
        await insert({ ownNumber: 'B 1' });
        await failing(insert({ ownNumber: 'B 1' }), 'NumberTaken');
      },
    ],
    renew: async () => invoices.renew([{ claim: await claimed(), leaseMs: LEASE_MS }]),
    change: [
      async () => invoices.change(await claimed(), numbered(1), LEASE_MS),
      // The claim is lost, so the invoices of the group are read.
      async () => failing(invoices.change({ ...(await claimed()), token: 'lost' }, numbered(9), LEASE_MS), 'ClaimLost'),
    ],
    changeAll: async () => {
      const claims = [await claimed(), await claimed()];
      await invoices.changeAll(
        claims.map((claim, i) => [claim, numbered(i + 2)]),
        LEASE_MS,
      );
    },
    changeWaiting: async () => invoices.changeWaiting(await fresh(), { work: null }),
    keepCredits: async () => {
      if (!(await invoices.keepCredits(await fresh({ status: 'accepted' }), 0, [])))
        throw new Error('nothing was kept');
    },
    keepReplacement: async () => {
      const link = { invoiceId: newId('inv'), at: new Date() };
      if (!(await invoices.keepReplacement(await fresh({ status: 'accepted' }), link)))
        throw new Error('nothing was kept');
    },
    raiseDocumentRevision: async () => invoices.raiseDocumentRevision(...owner, (await fresh()).id),
    requestEmail: async () => invoices.requestEmail(await fresh(), { sending: 1 } as never),
    retryNow: [
      async () => invoices.retryNow((await claimed()).invoice.id),
      async () => invoices.retryNow((await fresh({}, { 'work.blocked': 'digest_mismatch' })).id),
    ],
    releaseHeldUp: {
      call: () => invoices.releaseHeldUp(7, 9),
      scatters: [
        'updateMany invoices by work.blocked, work.dueAt, work.failures, work.stage, work.token',
        'updateMany invoices by work.token, work.tried',
      ],
      because: FEW,
    },
    hurry: async () => invoices.hurry((await fresh({}, { 'work.idle': true })).id, new Date()),
  };

  const waiting = {
    needingAttention: {
      call: () => invoices.needingAttention(5),
      scatters: ['work.attempts', 'work.blocked', 'work.claims'].map((field) => `find invoices by ${field}`),
      because: FEW,
    },
    idleCount: { call: () => invoices.idleCount(9), scatters: ['find invoices by work.lane'], because: FEW },
    unsignedLive: {
      call: () => invoices.unsignedLive(new Set(['ten_1']), 9),
      scatters: ['find invoices by tenantId, work.lane'],
      because: FEW,
    },
    unfinishedLive: {
      call: () => invoices.unfinishedLive(9),
      scatters: ['find invoices by work.lane', 'find invoices by environment, work.blocked'],
      because: FEW,
    },
  };

  const claiming = {
    due: {
      call: () => invoices.due('stages', ALL_PARTITIONS, 5),
      scatters: ['find invoices by work.dueAt, work.lane, work.partition'],
      because: CLAIMERS,
    },
    transmissionsByTenant: {
      call: () => invoices.transmissionsByTenant(9, 9),
      scatters: ['find invoices by work.dueAt, work.lane, work.partition'],
      because: FEW,
    },
    backlog: {
      call: () => invoices.backlog('stages', 5),
      scatters: ['find invoices by work.dueAt, work.lane, work.partition'],
      because: FEW,
    },
    claimMany: async () => {
      const claims = await invoices.claimMany('stages', [(await fresh()).id, newId('inv')], LEASE_MS);
      if (claims.length === 0) throw new Error('the invoice could not be claimed');
    },
    release: async () => invoices.release([await claimed()]),
    reschedule: {
      call: () => invoices.reschedule(new Date(), LEASE_MS),
      scatters: [
        'updateMany invoices by $or, work.dueAt, work.lane, work.partition',
        'updateMany invoices by outbox.dueAt',
        'updateMany invoices by unsummed',
      ],
      because: 'only when a clock was set back',
    },
  };

  return {
    createInvoiceRepository: subject(invoices, { ...reading, ...changing, ...waiting, ...claiming }),
    createLostNumbers: subject(lost, {
      continueAfter: {
        call: () =>
          lost.continueAfter({ tenantId: newId('ten'), environment }, { name: '2026', serial: 5 }, { mayBegin: true }),
        scatters: ['find invoice_numbers by _id'],
        because: 'an operator does it once after a restore; each shard reads one key',
      },
    }),
    createIssuedDays: subject(days, {
      between: {
        call: () => days.between(OWNER, { from: null, through: null }, 5),
        scatters: ['find day_sums by _id'],
        because: 'a person looks at a list, and each shard reads its share of the days',
      },
    }),
    createIssuedNumbers: subject(issued, {
      taken: {
        call: () => issued.taken(OWNER, '2026', { above: 0, upTo: null }, 5),
        scatters: ['find invoice_numbers by _id'],
        because: 'a person reads a ledger, and each shard reads its share of a page',
      },
      lost: {
        call: () => issued.lost(OWNER, '2026', { above: 0, upTo: null }, 5),
        scatters: ['find invoice_numbers by _id, lostFrom'],
        because: 'a person reads a ledger, and there are few of them',
      },
      documents: async () => issued.documents([(await fresh({})).id]),
    }),
    createNumberSeries: subject(series, {
      lastNumbers: {
        call: () => series.lastNumbers(OWNER),
        scatters: ['find invoice_numbers by _id'],
        because: 'an operator does it once after a restore; each shard reads one key',
      },
    }),
    createOutbox: outboxCases(store, fresh),
    createPeriodSums: periodSumsCases(store, fresh),
    createPeriodDocuments: periodDocumentsCases(store, fresh),
    createTransmissions: transmissionCases(store, fresh),
  };
}

type Fresh = (changes: Partial<Invoice>, set?: object) => Promise<Invoice>;

function outboxCases({ db }: Store, fresh: Fresh): Subject {
  const outbox = createOutbox(db);
  return subject(outbox, {
    takeUnpublished: {
      call: async () => {
        await fresh({}, { outbox: { sequence: 1, dueAt: new Date(0) } });
        await outbox.takeUnpublished(5, 1000);
      },
      scatters: ['find invoices by outbox.dueAt'],
      because: FEW,
    },
  });
}

function periodSumsCases({ db }: Store, fresh: Fresh): Subject {
  const sums = createPeriodSums(db);
  return subject(sums, {
    record: async () => {
      const invoice = await fresh({}, { outbox: { sequence: 1, dueAt: new Date(0) } });
      await sums.record([{ ...summedOf(invoice), sequence: 1 }]);
    },
    recordWaiting: async () => {
      const mark = new Date();
      await sums.recordWaiting([summedOf(await fresh({}, { unsummed: mark }))], mark);
    },
    takeWaiting: {
      call: async () => {
        await fresh({}, { unsummed: new Date(0) });
        await sums.takeWaiting(5, 1000);
      },
      scatters: ['find invoices by unsummed'],
      because: FEW,
    },
    days: () => sums.days(OWNER, ['2026-11-01', '2026-11-30']),
  });
}

function periodDocumentsCases({ db }: Store, fresh: Fresh): Subject {
  const documents = createPeriodDocuments(db);
  return subject(documents, {
    accepted: {
      call: async () => {
        await fresh({ status: 'accepted' });
        await documents.accepted(OWNER, 'invoice', periodNamed('2026'), null);
      },
      scatters: ['find invoices by createdAt, environment, kind, order, status, tenantId'],
      because: A_LIST,
    },
    filed: {
      call: async () => {
        await fresh({ status: 'accepted' });
        await documents.filed(OWNER, 'invoice', periodNamed('2026'), new Date(), null);
      },
      scatters: ['find invoices by createdAt, environment, kind, order, status, tenantId, updatedAt'],
      because: A_LIST,
    },
  });
}

function transmissionCases({ db }: Store, fresh: Fresh): Subject {
  const transmissions = createTransmissions(db);
  const ofLedger = (call: () => Promise<unknown>, ...scatters: string[]): Case => ({ call, scatters, because: LEDGER });
  const heldElsewhere = async () => {
    const work = { 'work.stage': 'decide', 'work.dueAt': new Date(Date.now() + LEASE_MS), 'work.token': null };
    await fresh({ environment: 'live' }, { ...work, heldAs: 'inv_held' });
    if ((await transmissions.makeLookUpDue('inv_held', RULE)) === null) throw new Error('nothing was made due');
  };
  return subject(transmissions, {
    bySubmission: ofLedger(
      () => transmissions.bySubmission(['inv_1']),
      'find invoices by heldAs',
      'find kept_invoices by heldAs',
    ),
    byDigest: ofLedger(
      () => transmissions.byDigest(['00']),
      'find invoices by environment, xml.sha256',
      'find kept_invoices by environment, xml.sha256',
    ),
    decided: ofLedger(
      () => drained(transmissions.decided(new Date(0), new Date())),
      'find invoices by environment, status, updatedAt',
    ),
    makeLookUpDue: {
      call: heldElsewhere,
      scatters: [
        'find invoices by $expr, $or, authorityAttempts, environment, heldAs, work.blocked, work.dueAt, work.token',
      ],
      because: 'the authority may hold an invoice under another id; few hints come that early',
    },
    makeLookUpsDue: () => transmissions.makeLookUpsDue(['inv_1', 'inv_2'], RULE),
  });
}
