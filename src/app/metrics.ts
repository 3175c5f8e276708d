import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import { DIFFERENCE_KINDS, type DifferenceRepository } from '../domain/authority/reconciliation.ts';
import { ATTENTION_REASONS, attentionOf } from '../domain/invoice/attention.ts';
import type { InvoiceRepository } from '../domain/invoice/repository.ts';
import type { SigningKey } from '../domain/invoice/signing-key.ts';
import type { LiveAuthority } from './authority.ts';

/**
 * The Prometheus metrics of this process. Label values come from fixed sets in the code, except `signer`, which has a
 * value for each tenant with its own signing key.
 */
export interface Metrics {
  /** Counts a request. @param route the pattern of the route, not the path @param seconds until the answer began */
  request(method: string, route: string, status: number, seconds: number): void;
  /** Counts a GraphQL request by the executor that ran it. */
  operation(path: 'prepared' | 'yoga'): void;
  /**
   * Returns the repository with metrics of its status changes, stages and mails. Invoices that need attention are
   * counted at each exposition.
   */
  observed(invoices: InvoiceRepository): InvoiceRepository;
  /** Exposes the number of open differences with the authority's ledger, read from the store at each exposition. */
  differences(repository: Pick<DifferenceRepository, 'count'>): void;
  /** Exposes the number of open event streams. */
  streams(count: () => number): void;
  /** Exposes the expiry times of the signing certificates. */
  watch(keys: ReadonlyMap<string, SigningKey>): void;
  /** Exposes the connection to the live authority. @returns counts a call; see `HttpAuthorityParts.observe` */
  authority(
    live: Pick<LiveAuthority, 'authority' | 'certificates'>,
  ): (call: string, outcome: string, seconds: number) => void;
  /** All metrics in the Prometheus text format. */
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
    differences(repository) {
      new Gauge({
        name: 'fatoura_authority_differences',
        help: 'Open differences between the ledger of the authority and this service, by kind',
        labelNames: ['kind'],
        registers,
        async collect() {
          this.reset();
          const counts = await repository.count().catch(() => null);
          if (counts) for (const kind of DIFFERENCE_KINDS) this.set({ kind }, counts[kind]);
        },
      });
    },
    streams(count) {
      new Gauge({
        name: 'fatoura_event_streams',
        help: 'Open event streams of this process, of all protocols',
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
    authority: (live) => watchAuthority(live, registers),
    async exposition() {
      return { contentType: registry.contentType, text: await registry.metrics() };
    },
  };
}

/** The metrics that this process counts itself. */
function instrumentsIn(registers: Registry[]) {
  return {
    requests: new Histogram({
      name: 'fatoura_http_request_duration_seconds',
      help: 'Duration of requests until the answer begins, by route',
      labelNames: ['method', 'route', 'status'],
      buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10],
      registers,
    }),
    operations: new Counter({
      name: 'fatoura_graphql_requests_total',
      help: 'Requests to /graphql, by executor: the prepared path or Yoga',
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
      help: 'Duration of a stage of an invoice, from its claim or the end of the previous stage',
      labelNames: ['stage'],
      buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10, 60],
      registers,
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
    expiry: new Gauge({
      name: 'fatoura_signing_certificate_expiry_timestamp_seconds',
      help: 'Expiry time of each signing certificate, unix seconds',
      labelNames: ['signer'],
      registers,
    }),
  };
}

/** Maximum of each kind that is counted; the exact number above it does not matter to operators. */
const MOST_COUNTED = 100;

/** Reads the values from the store at each exposition: equal in every process, and absent during an outage. */
function watchAttention(invoices: InvoiceRepository, registers: Registry[]): void {
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

function watchAuthority(
  { authority, certificates }: Pick<LiveAuthority, 'authority' | 'certificates'>,
  registers: Registry[],
): (call: string, outcome: string, seconds: number) => void {
  const calls = new Histogram({
    name: 'fatoura_authority_call_duration_seconds',
    help: 'Duration of the calls to the live authority, by call and outcome',
    labelNames: ['call', 'outcome'],
    buckets: [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30],
    registers,
  });
  new Gauge({
    name: 'fatoura_authority_certificate_expiry_timestamp_seconds',
    help: 'Earliest expiry time of the client certificate, and of the certificates in DGI_CA, unix seconds',
    labelNames: ['certificate'],
    registers,
    collect() {
      this.reset();
      for (const [use, all] of Map.groupBy(certificates(), (each) => each.use)) {
        const ends = all.map(({ certificate }) => certificate.validToDate.getTime());
        this.set({ certificate: use }, Math.floor(Math.min(...ends) / 1000));
      }
    },
  });
  new Gauge({
    name: 'fatoura_authority_clock_offset_seconds',
    help: "How far the live authority's clock is ahead of this machine's",
    registers,
    collect() {
      this.set((authority.state().clockOffsetMs ?? 0) / 1000);
    },
  });
  if (authority.state().token === null) return (call, outcome, seconds) => calls.observe({ call, outcome }, seconds);
  new Gauge({
    name: 'fatoura_authority_token_remaining_seconds',
    help: 'Time until the access token ends; 0 without a token',
    registers,
    collect() {
      this.set((authority.state().token?.endsInMs ?? 0) / 1000);
    },
  });
  new Counter({
    name: 'fatoura_authority_token_requests_total',
    help: 'Requests for an access token, by outcome',
    labelNames: ['outcome'],
    registers,
    collect() {
      const { renewals = 0, failures = 0 } = authority.state().token ?? {};
      this.reset();
      this.inc({ outcome: 'token' }, renewals);
      this.inc({ outcome: 'failure' }, failures);
    },
  });
  return (call, outcome, seconds) => calls.observe({ call, outcome }, seconds);
}
