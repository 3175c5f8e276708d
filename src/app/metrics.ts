import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import { ATTENTION_REASONS, attentionOf } from '../domain/invoice/attention.ts';
import type { InvoiceRepository } from '../domain/invoice/repository.ts';
import type { SigningKey } from '../domain/invoice/signing-key.ts';

/** The metrics of this process, for Prometheus. The code fixes the values of every label, except the names of tenants with keys of their own. */
export interface Metrics {
  /** Counts a request. @param route the pattern that matched, not the path @param seconds until the answer began */
  request(method: string, route: string, status: number, seconds: number): void;
  /** Counts a GraphQL request by how it was executed. */
  operation(path: 'prepared' | 'yoga'): void;
  /** The same repository, which counts status changes, stages and mails. Invoices that need attention are counted at each exposition. */
  observed(invoices: InvoiceRepository): InvoiceRepository;
  /** Shows how many event streams are open. */
  streams(count: () => number): void;
  /** Shows until when the signing certificates are valid. */
  watch(keys: ReadonlyMap<string, SigningKey>): void;
  /** All metrics, in Prometheus' text format. */
  exposition(): Promise<{ readonly contentType: string; readonly text: string }>;
}

export function createMetrics(): Metrics {
  const registers = [new Registry()];
  const [registry] = registers as [Registry];
  collectDefaultMetrics({ register: registry });
  const { requests, operations, statuses, stages, failures, mails, expiry } = instrumentsIn(registers);
  return {
    request(method, route, status, seconds) {
      requests.observe({ method, route, status }, seconds);
    },
    operation(path) {
      operations.inc({ path });
    },
    observed(invoices) {
      const since = new WeakMap<object, number>();
      watchAttention(invoices, registers);
      return {
        ...invoices,
        async claim(invoiceId, leaseMs) {
          const claim = await invoices.claim(invoiceId, leaseMs);
          if (claim) since.set(claim, performance.now());
          return claim;
        },
        async change(claim, change, leaseMs) {
          const changed = await invoices.change(claim, change, leaseMs);
          const now = performance.now();
          since.set(changed, now);
          const { work, environment } = claim.invoice;
          const start = since.get(claim);
          if (work && start !== undefined) stages.observe({ stage: work.stage }, (now - start) / 1000);
          if (work && change.work?.stage === work.stage && !change.work.keep) failures.inc({ stage: work.stage });
          const outcome = change.email?.status;
          if (outcome && outcome !== 'sending') mails.inc({ environment, outcome });
          if (change.status) statuses.inc({ environment, status: change.status });
          return changed;
        },
      };
    },
    streams(count) {
      new Gauge({
        name: 'fatoura_event_streams',
        help: 'Open event streams of this process, by whichever protocol',
        registers,
        collect() {
          this.set(count());
        },
      });
    },
    watch(keys) {
      for (const [signer, { certificateChain }] of keys) {
        expiry.set({ signer }, Math.floor(certificateChain[0].validToDate.getTime() / 1000));
      }
    },
    async exposition() {
      return { contentType: registry.contentType, text: await registry.metrics() };
    },
  };
}

/** The metrics that the process counts itself. */
function instrumentsIn(registers: Registry[]) {
  return {
    requests: new Histogram({
      name: 'fatoura_http_request_duration_seconds',
      help: 'Requests by route, until the answer begins',
      labelNames: ['method', 'route', 'status'],
      buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10],
      registers,
    }),
    operations: new Counter({
      name: 'fatoura_graphql_requests_total',
      help: 'Requests to /graphql, by whether they ran on the prepared path or through Yoga',
      labelNames: ['path'],
      registers,
    }),
    statuses: new Counter({
      name: 'fatoura_invoice_transitions_total',
      help: 'Status changes of invoices',
      labelNames: ['environment', 'status'],
      registers,
    }),
    stages: new Histogram({
      name: 'fatoura_invoice_stage_duration_seconds',
      help: 'Work on a stage of an invoice, from when it was claimed or the stage before it ended',
      labelNames: ['stage'],
      buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10, 60],
      registers,
    }),
    failures: new Counter({
      name: 'fatoura_invoice_stage_retries_total',
      help: 'Stages of invoices that were put off after an attempt',
      labelNames: ['stage'],
      registers,
    }),
    mails: new Counter({
      name: 'fatoura_invoice_mails_total',
      help: 'Attempts to mail an invoice, by what came of them: waiting ones are tried again',
      labelNames: ['environment', 'outcome'],
      registers,
    }),
    expiry: new Gauge({
      name: 'fatoura_signing_certificate_expiry_timestamp_seconds',
      help: 'End of the validity of each signing certificate, unix time',
      labelNames: ['signer'],
      registers,
    }),
  };
}

/** Invoices of each kind that are counted at most. */
const MOST_COUNTED = 100;

/** Reads from the store at each exposition, so every process shows the same. The metric is absent while the store does not answer. */
function watchAttention(invoices: InvoiceRepository, registers: Registry[]): void {
  new Gauge({
    name: 'fatoura_invoices_needing_attention',
    help: `Invoices that do not go on as they should, at most ${MOST_COUNTED} that fail and ${MOST_COUNTED} that wait`,
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
