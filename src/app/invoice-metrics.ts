import { Counter, Gauge, type Registry } from 'prom-client';
import { statusOfEvent } from '../domain/event.ts';
import { ATTENTION_REASONS, attentionOf } from '../domain/invoice/attention.ts';
import { LANE_NAMES } from '../domain/invoice/lanes.ts';
import type {
  Claim,
  InvoiceChange,
  InvoiceClaims,
  InvoiceTransitions,
  WaitingInvoices,
} from '../domain/invoice/repository.ts';
import { MOST_WAITING } from '../domain/limits.ts';
import { ageOf, type Instruments, shared, storedGauge, timing } from './instruments.ts';

/** What of a repository of invoices is observed. */
export interface ObservedInvoices
  extends Pick<InvoiceClaims, 'claimMany' | 'backlog'>,
    Pick<InvoiceTransitions, 'change' | 'changeAll'>,
    Pick<WaitingInvoices, 'needingAttention' | 'idleCount'> {}

/**
 * Returns the repository with metrics of this process's status changes, stages and mails. The numbers of invoices that
 * are due or need attention are read from the store at each exposition.
 */
export function observeInvoices<Invoices extends ObservedInvoices>(
  invoices: Invoices,
  instruments: Instruments,
): Invoices {
  const { registers } = instruments;
  const { statuses, stages, failures, mails } = invoiceInstruments(instruments);
  const since = new WeakMap<object, number>();
  watchAttention(invoices, registers);
  watchQueues(invoices, registers);
  const help = `PDFs that nobody has asked for and that are not drawn yet, counted up to ${MOST_WAITING}`;
  storedGauge(registers, 'fatoura_pdfs_waiting_for_idle_time', help, () => invoices.idleCount(MOST_WAITING));
  return {
    ...invoices,
    async claimMany(lane, invoiceIds, leaseMs) {
      const claims = await invoices.claimMany(lane, invoiceIds, leaseMs);
      const now = performance.now();
      for (const claim of claims) since.set(claim, now);
      return claims;
    },
    async change(claim, change, leaseMs) {
      const changed = await invoices.change(claim, change, leaseMs);
      observeChange(claim, change, changed);
      return changed;
    },
    async changeAll(changes, leaseMs, reserved) {
      const changed = await invoices.changeAll(changes, leaseMs, reserved);
      for (const [index, [claim, change]] of changes.entries()) observeChange(claim, change, changed[index] as Claim);
      return changed;
    },
  };

  function observeChange(claim: Claim, change: InvoiceChange, changed: Claim): void {
    const now = performance.now();
    since.set(changed, now);
    const { work, environment, kind, traceparent } = claim.invoice;
    const start = since.get(claim);
    if (work && start !== undefined) stages({ stage: work.stage }, (now - start) / 1000, traceparent);
    const again = change.work?.stage === work?.stage ? change.work : null;
    if (again && !again.keep && again.in > 0 && !again.blocked) failures.inc({ stage: again.stage });
    const outcome = change.email?.status;
    if (outcome && outcome !== 'sending') mails.inc({ environment, outcome });
    for (const { type } of change.events ?? []) {
      const status = statusOfEvent(type);
      if (status !== null) statuses.inc({ environment, kind, status });
    }
  }
}

function invoiceInstruments({ registers, exemplars }: Instruments) {
  return {
    statuses: new Counter({
      name: 'fatoura_invoice_transitions_total',
      help: 'Status changes of invoices and credit notes',
      labelNames: ['environment', 'kind', 'status'],
      registers,
    }),
    stages: timing({
      name: 'fatoura_invoice_stage_duration_seconds',
      help: 'Duration of a stage of an invoice, from its claim or the end of the previous stage',
      labelNames: ['stage'],
      buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10, 60],
      registers,
      exemplars,
    }),
    failures: new Counter({
      name: 'fatoura_invoice_stage_retries_total',
      help: 'Stages of invoices that were rescheduled for a retry',
      labelNames: ['stage'],
      registers,
    }),
    mails: new Counter({
      name: 'fatoura_invoice_mails_total',
      help: 'Attempts to mail an invoice, by outcome; waiting ones are retried',
      labelNames: ['environment', 'outcome'],
      registers,
    }),
  };
}

/**
 * Exposes due work by lane, counted among at most {@link MOST_WAITING} invoices of each lane. When there are more, the
 * oldest of those counted is nearly the oldest of all, because workers take the partitions in turn.
 */
function watchQueues(invoices: Pick<InvoiceClaims, 'backlog'>, registers: Registry[]): void {
  const read = shared(async () =>
    Promise.all(LANE_NAMES.map(async (lane) => ({ lane, ...(await invoices.backlog(lane, MOST_WAITING)) }))),
  );
  const gauge = (name: string, help: string, measure: (waiting: number, oldest: Date | null) => number) =>
    new Gauge({
      name,
      help,
      registers,
      labelNames: ['lane'],
      async collect() {
        this.reset();
        for (const { lane, waiting, oldest } of (await read()) ?? []) this.set({ lane }, measure(waiting, oldest));
      },
    });
  gauge(
    'fatoura_invoices_due',
    `Invoices that are due and that no worker has, by lane, counted up to ${MOST_WAITING} each`,
    (waiting) => waiting,
  );
  gauge(
    'fatoura_invoice_oldest_due_seconds',
    'For how long the oldest of these invoices has been due, by lane; 0 without one',
    (_, oldest) => ageOf(oldest),
  );
}

/** The count of each kind stops here: operators do not need the exact number above it. */
const MOST_COUNTED = 100;

/**
 * Exposes the numbers of invoices that need attention, read from the store at each exposition: equal in every process,
 * and absent during an outage.
 */
function watchAttention(invoices: Pick<WaitingInvoices, 'needingAttention'>, registers: Registry[]): void {
  new Gauge({
    name: 'fatoura_invoices_needing_attention',
    help: `Invoices that are stuck: at most ${MOST_COUNTED} failing and ${MOST_COUNTED} waiting ones are counted`,
    labelNames: ['reason'],
    registers,
    async collect() {
      this.reset();
      const found = await invoices.needingAttention(MOST_COUNTED).catch(() => null);
      if (!found) return;
      const now = new Date();
      const reasons = found.map((invoice) => attentionOf(invoice, now)?.reason);
      for (const reason of ATTENTION_REASONS) this.set({ reason }, reasons.filter((each) => each === reason).length);
    },
  });
}
