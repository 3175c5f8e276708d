import { Counter, Gauge, type Registry } from 'prom-client';
import { threadTasks } from '../adapters/threads.ts';
import type { ConnectionPool } from '../storage/connect.ts';
import { type Instruments, timing } from './instruments.ts';

/** Counts a request for a signature, made by a key or by the time-stamping authority. @param seconds its duration */
export type CountSignature = (by: 'key' | 'time_stamp', outcome: 'made' | 'failed', seconds: number) => void;

/** Exposes the number and duration of this process's signatures. */
export function observeSignatures({ registers, exemplars }: Instruments): CountSignature {
  const signatures = timing({
    name: 'fatoura_signature_duration_seconds',
    help: 'Duration of signatures by keys (XML and PDF) and of time stamps, by outcome',
    labelNames: ['by', 'outcome'],
    buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 5, 10],
    registers,
    exemplars,
  });
  return (by, outcome, seconds) => signatures({ by, outcome }, seconds);
}

/** Exposes how many tasks run and wait in the threads for documents. */
export function watchThreads(registers: Registry[]): void {
  new Gauge({
    name: 'fatoura_thread_tasks',
    help: 'Tasks of the threads that write, verify and assemble documents, waiting ones included',
    labelNames: ['thread'],
    registers,
    collect() {
      this.reset();
      for (const [thread, tasks] of threadTasks()) this.set({ thread }, tasks);
    },
  });
}

/** Exposes the use of this process's connections to the store. */
export function watchConnections(pool: () => ConnectionPool, registers: Registry[]): void {
  new Gauge({
    name: 'fatoura_mongodb_connections',
    help: 'Open connections to the store, by state; those of change streams are in use',
    labelNames: ['state'],
    registers,
    collect() {
      const { open, inUse } = pool();
      this.set({ state: 'in_use' }, inUse);
      this.set({ state: 'idle' }, Math.max(0, open - inUse));
    },
  });
  new Gauge({
    name: 'fatoura_mongodb_connections_max',
    help: 'Maximum number of connections to a server of the store',
    registers,
  }).set(pool().max);
  new Gauge({
    name: 'fatoura_mongodb_checkouts_waiting',
    help: 'Commands that wait for a connection to the store',
    registers,
    collect() {
      this.set(pool().waiting);
    },
  });
  new Counter({
    name: 'fatoura_mongodb_checkout_failures_total',
    help: 'Commands that got no connection to the store',
    registers,
    collect() {
      this.reset();
      this.inc(pool().failures);
    },
  });
}
