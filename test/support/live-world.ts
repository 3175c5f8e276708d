import { vi } from 'vitest';
import { CLOSED } from '../../src/domain/authority/breaker.ts';
import { createLiveGate } from '../../src/domain/authority/live-gate.ts';
import type { Authority } from '../../src/domain/authority/ports.ts';
import type { BreakerReport } from '../../src/domain/authority/shared-breaker.ts';
import type { AuthorityState, AuthorityStateStore } from '../../src/domain/authority/state.ts';
import { createTransmissionLane } from '../../src/domain/authority/transmission-lane.ts';
import { NEVER } from '../../src/domain/invoice/attention.ts';
import type { ClaimMembers } from '../../src/domain/invoice/claim-members.ts';
import { type Invoice, NEW_WORK } from '../../src/domain/invoice/invoice.ts';
import { ALL_PARTITIONS, laneOf, slotOf } from '../../src/domain/invoice/lanes.ts';
import { createPipeline } from '../../src/domain/invoice/pipeline.ts';
import { type Claim, ClaimLost, type InvoiceRepository } from '../../src/domain/invoice/repository.ts';
import { legalNumber } from '../../src/domain/invoice/series-number.ts';
import type { PipelineReport } from '../../src/domain/invoice/stages/stage.ts';
import type { Heartbeat } from '../../src/domain/live-workers.ts';
import { createClaimRanges } from '../../src/jobs/claim-ranges.ts';
import { createClaimer } from '../../src/jobs/claimer.ts';
import { answering } from './authority.ts';
import { pendingInvoice } from './invoices.ts';

/** The state of the authority in memory, shared by the workers of a world. */
export function memoryState(): AuthorityStateStore & { current: AuthorityState } {
  const store: AuthorityStateStore & { current: AuthorityState } = {
    current: { version: 0, breaker: CLOSED, pause: null, notBefore: null },
    read: async () => store.current,
    async update(transition) {
      const { next, result } = transition(store.current.breaker);
      if (next !== null && next !== store.current.breaker)
        store.current = { ...store.current, breaker: next, version: store.current.version + 1 };
      return { state: store.current, result };
    },
    async postpone(notBefore) {
      store.current = { ...store.current, notBefore };
    },
    async pause(pause) {
      store.current = { ...store.current, pause };
    },
    async resume() {
      const { pause } = store.current;
      store.current = { ...store.current, pause: null };
      return pause;
    },
  };
  return store;
}

/** The heartbeats of workers in memory, shared by the workers of a world. */
export function memoryMembers(): ClaimMembers & { current: readonly Heartbeat[] } {
  const members: ClaimMembers & { current: readonly Heartbeat[] } = {
    current: [],
    list: async () => members.current,
    async heartbeat(heartbeat) {
      members.current = [...members.current.filter(({ id }) => id !== heartbeat.id), heartbeat];
      return members.current;
    },
    async forget(workerId) {
      members.current = members.current.filter(({ id }) => id !== workerId);
    },
  };
  return members;
}

/** Makes a store of invoices in memory with the parts that the pipeline and the claimer use. */
function memoryInvoices() {
  const stored = new Map<string, { invoice: Invoice; token: string | null }>();
  let tokens = 0;
  const held = ({ invoice: { id }, token }: Claim) => {
    const entry = stored.get(id);
    if (entry?.token !== token) throw new ClaimLost('lost');
    return entry;
  };
  const withWork = (invoice: Invoice, changes: Partial<NonNullable<Invoice['work']>>): Invoice => ({
    ...invoice,
    work: invoice.work && { ...invoice.work, ...changes },
  });
  const repository = {
    async renew(leases) {
      const kept = leases.filter(({ claim }) => stored.get(claim.invoice.id)?.token === claim.token);
      for (const { claim, leaseMs } of kept) {
        const entry = held(claim);
        entry.invoice = withWork(entry.invoice, { dueAt: new Date(Date.now() + leaseMs) });
      }
      return kept.length;
    },
    async change(claim, { work, events = [], series, ...fields }, leaseMs) {
      const entry = held(claim);
      if (entry.invoice.status !== claim.invoice.status) throw new ClaimLost('lost');
      const now = Date.now();
      const dueAt = work?.blocked ? NEVER : new Date(now + (work?.keep ? leaseMs : (work?.in ?? 0)));
      entry.token = work?.keep ? claim.token : null;
      entry.invoice = {
        ...entry.invoice,
        ...fields,
        ...(series && { number: legalNumber(series) }),
        events: [...entry.invoice.events, ...events],
        work: work && { ...NEW_WORK, ...work, dueAt, claims: work.keep ? 1 : 0, since: new Date(now) },
      };
      return { invoice: entry.invoice, token: claim.token };
    },
    async changeAll(changes, leaseMs) {
      for (const [claim] of changes) held(claim);
      return Promise.all(changes.map(([claim, change]) => repository.change(claim, change, leaseMs)));
    },
    async due(lane, { from, until }, limit, lateMs = 0) {
      // Read once, because fake timers make a date at each call.
      const latest = Date.now() - lateMs;
      return [...stored.values()]
        .filter(({ invoice: { environment, work } }) => {
          return work && work.dueAt.getTime() <= latest && laneOf(environment, work) === lane;
        })
        .map(({ invoice }) => ({ invoice, slot: slotOf(invoice, 'transmissions') }))
        .filter(({ slot }) => slot >= from && slot < until)
        .sort((a, b) => a.slot - b.slot || Number(a.invoice.work?.dueAt) - Number(b.invoice.work?.dueAt))
        .slice(0, limit)
        .map(({ invoice, slot }) => ({ invoiceId: invoice.id, slot }));
    },
    async claimMany(_lane, ids, leaseMs) {
      return ids.flatMap((id) => {
        const entry = stored.get(id);
        if (!entry?.invoice.work || entry.invoice.work.dueAt.getTime() > Date.now()) return [];
        entry.token = String(++tokens);
        const { claims } = entry.invoice.work;
        entry.invoice = withWork(entry.invoice, { claims: claims + 1, dueAt: new Date(Date.now() + leaseMs) });
        return [{ invoice: entry.invoice, token: entry.token }];
      });
    },
    async release(claims) {
      for (const claim of claims) {
        const entry = held(claim);
        entry.token = null;
        entry.invoice = withWork(entry.invoice, { dueAt: new Date() });
      }
    },
    async releaseHeldUp(from, to) {
      for (const entry of stored.values()) {
        const { work, createdAt } = entry.invoice;
        const isHeldUp = work?.failures.some((number) => from <= number && number <= to) && work.dueAt > new Date();
        if (!work || work.blocked || entry.token !== null || !(isHeldUp || work.tried)) continue;
        entry.invoice = withWork(entry.invoice, { dueAt: createdAt, tried: false });
      }
    },
    highestSerial: async () => 0,
    async retryNow(id) {
      const entry = stored.get(id);
      if (entry) entry.invoice = withWork(entry.invoice, { dueAt: new Date(), blocked: null });
      return entry !== undefined;
    },
  } satisfies Partial<InvoiceRepository> as unknown as InvoiceRepository;
  return { stored, repository };
}

export interface WorldOptions {
  readonly schedule?: readonly number[];
  readonly concurrency?: number;
  readonly workers?: number;
}

/**
 * Makes workers of live invoices on one store in memory, under fake timers. Every invoice begins at `transmit`, signed.
 * @param parts methods of the authority; the others answer like `answering`
 */
export function liveWorld(parts: Partial<Authority>, options: WorldOptions = {}) {
  const authority = answering(parts);
  const { stored, repository } = memoryInvoices();
  const state = memoryState();
  const members = memoryMembers();
  const reports: (PipelineReport | BreakerReport)[] = [];
  const failures: unknown[] = [];
  const claimers = new Set<ReturnType<typeof createClaimer>>();
  let numberOfWorkers = 0;

  function startWorker() {
    const worker = `w${++numberOfWorkers}`;
    let isDead = false;
    const ranges = createClaimRanges(
      {
        heartbeat: (beat) => (isDead ? new Promise(() => undefined) : members.heartbeat(beat)),
        forget: async (id, at) => {
          if (!isDead) await members.forget(id, at);
        },
      },
      worker,
      (error) => failures.push(error),
    );
    const gate = createLiveGate({
      store: state,
      authority,
      workers: ranges.workers,
      concurrency: options.concurrency ?? 4,
      report: (entry) => reports.push(entry),
    });
    const pipeline = createPipeline({
      invoices: repository,
      documents: { put: async () => ({ file: 'f', sha256: 'ab', size: 1 }), get: async () => Buffer.from('<a/>') },
      turns: { enter: async () => () => undefined },
      queue: { enqueue: async ({ id }, ms) => void setTimeout(() => wake(id), Math.max(0, ms)) },
      writer: { write: async () => ({ octets: Buffer.from('<a/>'), signatureAt: 0, sha256: '' }) },
      signerOf: () => ({ sign: async () => Buffer.from('<a/>') }),
      authorityOf: () => authority,
      checkCleared: async () => null,
      gateOf: () => gate,
      renderer: { render: async () => Buffer.from('%PDF') },
      logos: { find: async () => null },
      mailer: { messageIdOf: (id) => `<${id}@example.test>`, send: async () => undefined },
      publish: () => undefined,
      isErased: async () => false,
      isAwaited: () => true,
      verifyUrlOf: () => 'https://example.test',
      transmitSchedule: () => options.schedule ?? [0, 1000, 2000, 3000, 4000],
      report: (entry) => reports.push(entry),
    });
    const lane = createTransmissionLane({
      gate,
      releaseHeldUp: repository.releaseHeldUp,
      report: (_, error) => failures.push(error),
    });
    const claimer = createClaimer({
      invoices: repository,
      ranges: { own: () => ALL_PARTITIONS },
      lanes: ['transmissions', 'answers'],
      gates: { transmissions: lane },
      run: (claim) => pipeline.runClaimed(claim),
      isAnswering: () => false,
      report: (_, error) => isDead || failures.push(error),
    });
    claimers.add(claimer);
    return {
      gate,
      async start() {
        await ranges.start(gate.inFlight.bind(gate));
        await lane.start();
        claimer.start();
      },
      async stop() {
        await Promise.all([claimer.stop(0), vi.advanceTimersByTimeAsync(0)]);
        await lane.stop();
        await ranges.stop();
      },
      /** Ends without a clean stop: nothing of it continues except its calls at the authority. */
      die() {
        isDead = true;
        claimers.delete(claimer);
        void claimer.stop(0);
        void lane.stop();
        void ranges.stop();
      },
    };
  }

  /** Wakes the workers, as a job does. */
  function wake(id: string): void {
    const { environment, work } = stored.get(id)?.invoice ?? {};
    const lane = environment && work && laneOf(environment, work);
    if (lane) for (const claimer of claimers) claimer.wake(lane, ALL_PARTITIONS);
  }

  const workers = Array.from({ length: options.workers ?? 1 }, startWorker);
  return {
    authority,
    state,
    members,
    reports,
    failures,
    workers,
    startWorker,
    wake,
    retry: (id: string) => repository.retryNow(id).then(() => wake(id)),
    start: () => Promise.all(workers.map((worker) => worker.start())),
    async stop() {
      await Promise.all(workers.map((worker) => worker.stop()));
      vi.clearAllTimers();
    },
    /** Adds an invoice and wakes a worker for it. @returns its id */
    add(changes: Partial<Invoice> = {}): string {
      const now = new Date();
      const invoice = pendingInvoice({
        environment: 'live',
        status: 'signing',
        number: '2026-000001',
        ...changes,
        xml: { file: 'f', sha256: 'ab'.repeat(32), size: 4 },
        // Ordered by age, as the previous stage leaves it.
        work: {
          ...NEW_WORK,
          stage: 'transmit',
          dueAt: changes.createdAt ?? now,
          claims: 0,
          since: now,
          ...changes.work,
        },
      });
      stored.set(invoice.id, { invoice, token: null });
      wake(invoice.id);
      return invoice.id;
    },
    invoice(id: string): Invoice {
      const entry = stored.get(id);
      if (!entry) throw new Error(`no invoice ${id}`);
      return entry.invoice;
    },
    all: () => [...stored.values()].map(({ invoice }) => invoice),
    /** Advances the time by `ms`, with its timers. */
    pass: (ms: number) => vi.advanceTimersByTimeAsync(ms),
    /**
     * Advances the time by `ms` at once, like a machine that sleeps: no timer runs meanwhile, and overdue timers fire
     * afterwards.
     */
    sleep: (ms: number) => vi.setSystemTime(Date.now() + ms),
  };
}
