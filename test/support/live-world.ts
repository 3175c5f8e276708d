import { vi } from 'vitest';
import { CLOSED } from '../../src/domain/authority/breaker.ts';
import { createDispatcher } from '../../src/domain/authority/dispatcher.ts';
import { createLiveGate } from '../../src/domain/authority/live-gate.ts';
import type { Authority } from '../../src/domain/authority/ports.ts';
import type { BreakerReport } from '../../src/domain/authority/shared-breaker.ts';
import type { AuthorityState, AuthorityStateStore } from '../../src/domain/authority/state.ts';
import { NEVER } from '../../src/domain/invoice/attention.ts';
import { type Invoice, NEW_WORK } from '../../src/domain/invoice/invoice.ts';
import { createPipeline } from '../../src/domain/invoice/pipeline.ts';
import { type Claim, ClaimLost, type InvoiceRepository } from '../../src/domain/invoice/repository.ts';
import type { PipelineReport } from '../../src/domain/invoice/stages/stage.ts';
import { answering } from './authority.ts';
import { pendingInvoice } from './invoices.ts';

/** The state of the authority in memory, shared by the workers of a world. */
export function memoryState(): AuthorityStateStore & { current: AuthorityState } {
  const store: AuthorityStateStore & { current: AuthorityState } = {
    current: { version: 0, breaker: CLOSED, pause: null, notBefore: null, workers: [] },
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
    async heartbeat(heartbeat) {
      const others = store.current.workers.filter(({ id }) => id !== heartbeat.id);
      store.current = { ...store.current, workers: [...others, heartbeat] };
      return store.current;
    },
    async forget(workerId) {
      const workers = store.current.workers.filter(({ id }) => id !== workerId);
      store.current = { ...store.current, workers };
    },
  };
  return store;
}

/**
 * Invoices in memory with what the pipeline and the dispatcher use of the store.
 * @param onDue queues an invoice that was made due, as the claimer finds it
 */
function memoryInvoices(onDue: (invoiceId: string) => void) {
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
    async claim(id, leaseMs) {
      const entry = stored.get(id);
      if (!entry?.invoice.work || entry.invoice.work.dueAt.getTime() > Date.now()) return null;
      entry.token = String(++tokens);
      const { claims } = entry.invoice.work;
      entry.invoice = withWork(entry.invoice, { claims: claims + 1, dueAt: new Date(Date.now() + leaseMs) });
      return { invoice: entry.invoice, token: entry.token };
    },
    async renew(claim, leaseMs) {
      const entry = held(claim);
      entry.invoice = withWork(entry.invoice, { dueAt: new Date(Date.now() + leaseMs) });
    },
    async renewMany(leases) {
      for (const { claim, leaseMs } of leases) await repository.renew(claim, leaseMs).catch(() => undefined);
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
        ...(series && { number: `${series.year}-${series.serial}` }),
        events: [...entry.invoice.events, ...events],
        work: work && { ...NEW_WORK, ...work, dueAt, claims: work.keep ? 1 : 0, since: new Date(now) },
      };
      return { invoice: entry.invoice, token: claim.token };
    },
    async changeAll(changes, leaseMs) {
      for (const [claim] of changes) held(claim);
      return Promise.all(changes.map(([claim, change]) => repository.change(claim, change, leaseMs)));
    },
    async nextParked(after, except) {
      const waiting = [...stored.values()]
        .map(({ invoice }) => invoice)
        .filter(({ id, tenantId, work }) => {
          const due = work?.parked && work.dueAt.getTime() <= Date.now();
          return due && tenantId > (after ?? '') && !except.has(id);
        });
      const [tenantId] = waiting.map((invoice) => invoice.tenantId).sort();
      const [first] = waiting
        .filter((invoice) => invoice.tenantId === tenantId)
        .sort((a, b) => Number(a.work?.dueAt) - Number(b.work?.dueAt));
      return first ? { invoiceId: first.id, tenantId: first.tenantId } : null;
    },
    async releaseHeldUp(from, to) {
      for (const entry of stored.values()) {
        const { id, work, createdAt } = entry.invoice;
        const isHeldUp = work?.failures.some((number) => from <= number && number <= to) && work.dueAt > new Date();
        if (!work || work.blocked || entry.token !== null || !(isHeldUp || work.tried)) continue;
        entry.invoice = withWork(entry.invoice, { dueAt: createdAt, tried: false });
        onDue(id);
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
 * Workers of live invoices on one store in memory, under fake timers. Every invoice begins at `transmit`, signed.
 * @param parts the authority; what is left out answers as `answering` does
 */
export function liveWorld(parts: Partial<Authority>, options: WorldOptions = {}) {
  const authority = answering(parts);
  const { stored, repository } = memoryInvoices((id) => void setTimeout(() => wake(id), 1000));
  const state = memoryState();
  const reports: (PipelineReport | BreakerReport)[] = [];
  const runs = new Map<string, (id: string) => void>();
  const failures: unknown[] = [];
  let numberOfWorkers = 0;

  function startWorker() {
    const worker = `w${++numberOfWorkers}`;
    const gate = createLiveGate({
      store: state,
      authority,
      worker,
      concurrency: options.concurrency ?? 4,
      report: (entry) => reports.push(entry),
    });
    const run = (id: string) => pipeline.run(id).catch((error: unknown) => void failures.push(error));
    const pipeline = createPipeline({
      invoices: repository,
      documents: { put: async () => ({ file: 'f', sha256: 'ab', size: 1 }), get: async () => Buffer.from('<a/>') },
      turns: { enter: async () => () => undefined },
      queue: { enqueue: async ({ id }, ms) => void setTimeout(() => wake(id), ms) },
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
    const { nextParked, releaseHeldUp } = repository;
    const dispatcher = createDispatcher({
      gate,
      nextParked,
      releaseHeldUp,
      run,
      report: (_, error) => failures.push(error),
    });
    runs.set(worker, (id) => void run(id));
    return {
      worker,
      gate,
      dispatcher,
      /** Ends without a goodbye: nothing of it runs any more, except what is at the authority. */
      die() {
        runs.delete(worker);
        void dispatcher.stop(0);
      },
    };
  }

  /** A job: any live worker runs it. */
  function wake(id: string): void {
    const [run] = [...runs.values()];
    run?.(id);
  }

  const workers = Array.from({ length: options.workers ?? 1 }, startWorker);
  return {
    authority,
    state,
    reports,
    failures,
    workers,
    startWorker,
    wake,
    retry: (id: string) => repository.retryNow(id).then(() => wake(id)),
    start: () => Promise.all(workers.map(({ dispatcher }) => dispatcher.start())),
    async stop() {
      await Promise.all(workers.map(({ dispatcher }) => dispatcher.stop(0)));
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
        work: { ...NEW_WORK, stage: 'transmit', dueAt: now, claims: 0, since: now, ...changes.work },
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
    /** Lets this much time pass. */
    pass: (ms: number) => vi.advanceTimersByTimeAsync(ms),
  };
}
