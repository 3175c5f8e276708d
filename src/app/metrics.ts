import { Counter, collectDefaultMetrics, Gauge, Registry } from 'prom-client';
import { DIFFERENCE_KINDS, type DifferenceRepository } from '../domain/authority/reconciliation.ts';
import type { AuthorityState, AuthorityStateStore } from '../domain/authority/state.ts';
import { statusOfEvent } from '../domain/event.ts';
import { ATTENTION_REASONS, attentionOf } from '../domain/invoice/attention.ts';
import { type Claim, type InvoiceChange, type InvoiceRepository, MOST_WAITING } from '../domain/invoice/repository.ts';
import type { SigningKey } from '../domain/invoice/signing-key.ts';
import type { ClaimCounts } from '../jobs/claimer.ts';
import type { MeasuredRequest } from '../transport/middleware/measure.ts';
import { type ObservedAuthority, observeAuthority } from './authority-metrics.ts';
import { openMetricsRegistry, timing } from './instruments.ts';

/**
 * The Prometheus metrics of this process. Label values come from fixed sets in the code, except `signer`, which has a
 * value for each tenant with its own signing key.
 */
export interface Metrics {
  request(request: MeasuredRequest): void;
  /** Counts requests that are missing in the request log. */
  dropped(requests: number): void;
  /** Counts a GraphQL request by the executor that ran it. */
  operation(path: 'prepared' | 'yoga'): void;
  /**
   * Returns the repository with metrics of its status changes, stages and mails. Invoices that need attention are
   * counted at each exposition.
   */
  observed(invoices: InvoiceRepository): InvoiceRepository;
  /** Exposes the number of open differences with the authority's ledger, read from the store at each exposition. */
  differences(repository: Pick<DifferenceRepository, 'count'>): void;
  /** Exposes the circuit breaker of the live authority and what waits, read from the store at each exposition. */
  transmission(state: Pick<AuthorityStateStore, 'read'>, invoices: Pick<InvoiceRepository, 'parkedCount'>): void;
  /** Where no live authority is configured: exposes the number of live invoices that wait for one. */
  stranded(invoices: Pick<InvoiceRepository, 'parkedCount'>): void;
  /** Exposes what the claims of this process have cost; nothing in a process without a worker. */
  claims(counts: () => ClaimCounts | null): void;
  /** Exposes the number of open event streams. */
  streams(count: () => number): void;
  /** Exposes the expiry times of the signing certificates. */
  watch(keys: ReadonlyMap<string, SigningKey>): void;
  /** Exposes the connection to the live authority. @returns counts a call; see `HttpAuthorityParts.observe` */
  authority(live: ObservedAuthority): (call: string, outcome: string, seconds: number) => void;
  /** All metrics in the Prometheus text format. */
  exposition(): Promise<{ readonly contentType: string; readonly text: string }>;
}

/**
 * @param options.exemplars whether histograms name traces; the exposition is OpenMetrics then, because Prometheus' own
 * format has none. Default: no
 */
export function createMetrics({ exemplars = false }: { readonly exemplars?: boolean } = {}): Metrics {
  const registry: Registry = exemplars ? openMetricsRegistry() : new Registry();
  const registers = [registry];
  collectDefaultMetrics({ register: registry });
  const { requests, unrecorded, operations, statuses, stages, failures, mails, expiry } = instrumentsIn(
    registers,
    exemplars,
  );
  return {
    request({ method, route, status, seconds, traceparent }) {
      requests({ method, route, status }, seconds, traceparent);
    },
    dropped: (requests) => unrecorded.inc(requests),
    operation(path) {
      operations.inc({ path });
    },
    observed(invoices) {
      const since = new WeakMap<object, number>();
      watchAttention(invoices, registers);
      const help = `PDFs that nobody has asked for and that are not drawn yet, counted up to ${MOST_WAITING}`;
      storedGauge(registers, 'fatoura_pdfs_waiting_for_idle_time', help, () => invoices.idleCount(MOST_WAITING));
      return {
        ...invoices,
        async claim(invoiceId, leaseMs) {
          const claim = await invoices.claim(invoiceId, leaseMs);
          if (claim) since.set(claim, performance.now());
          return claim;
        },
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
        async changeAll(changes, leaseMs) {
          const changed = await invoices.changeAll(changes, leaseMs);
          for (const [index, [claim, change]] of changes.entries())
            observeChange(claim, change, changed[index] as Claim);
          return changed;
        },
      };

      function observeChange(claim: Claim, change: InvoiceChange, changed: Claim): void {
        const now = performance.now();
        since.set(changed, now);
        const { work, environment } = claim.invoice;
        const start = since.get(claim);
        if (work && start !== undefined) stages({ stage: work.stage }, (now - start) / 1000, claim.invoice.traceparent);
        const again = change.work?.stage === work?.stage ? change.work : null;
        if (again && !again.keep && !again.parked && !again.blocked) failures.inc({ stage: again.stage });
        const outcome = change.email?.status;
        if (outcome && outcome !== 'sending') mails.inc({ environment, outcome });
        for (const { type } of change.events ?? []) {
          const status = statusOfEvent(type);
          if (status !== null) statuses.inc({ environment, status });
        }
      }
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
    stranded(invoices) {
      const help = `Live invoices that wait although no tax authority is configured (DGI_URL), counted up to ${MOST_WAITING}`;
      storedGauge(registers, 'fatoura_authority_stranded', help, () => invoices.parkedCount(MOST_WAITING));
    },
    transmission: (state, invoices) => watchTransmission(state, invoices, registers),
    claims(counts) {
      new Counter({
        name: 'fatoura_claims_total',
        help: 'Due invoices that this process found: claimed, or lost to a worker that was quicker',
        labelNames: ['outcome'],
        registers,
        collect() {
          const current = counts();
          if (current === null) return;
          this.reset();
          this.inc({ outcome: 'claimed' }, current.claimed);
          this.inc({ outcome: 'lost' }, current.found - current.claimed);
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
    authority: (live) => observeAuthority(live, registers),
    async exposition() {
      return { contentType: registry.contentType, text: await registry.metrics() };
    },
  };
}

/** The metrics that this process counts itself. */
function instrumentsIn(registers: Registry[], exemplars: boolean) {
  return {
    requests: timing({
      name: 'fatoura_http_request_duration_seconds',
      help: 'Duration of requests until the answer begins, by route',
      labelNames: ['method', 'route', 'status'],
      buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10],
      ...{ registers, exemplars },
    }),
    unrecorded: new Counter({
      name: 'fatoura_requests_unrecorded_total',
      help: 'Requests with API keys that are missing in the request log, because too many waited or the store was away',
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
    stages: timing({
      name: 'fatoura_invoice_stage_duration_seconds',
      help: 'Duration of a stage of an invoice, from its claim or the end of the previous stage',
      labelNames: ['stage'],
      buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10, 60],
      ...{ registers, exemplars },
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

/** Read from the store at each exposition: equal in every process, and absent during an outage of the store. */
function storedGauge(registers: Registry[], name: string, help: string, read: () => Promise<number>): void {
  new Gauge({
    name,
    help,
    registers,
    async collect() {
      this.reset();
      const value = await read().catch(() => null);
      if (value === null) this.remove();
      else this.set(value);
    },
  });
}

function watchTransmission(
  store: Pick<AuthorityStateStore, 'read'>,
  invoices: Pick<InvoiceRepository, 'parkedCount'>,
  registers: Registry[],
): void {
  const gauge = (name: string, help: string, read: () => Promise<number>) => storedGauge(registers, name, help, read);
  const ofState = (value: (state: AuthorityState) => number) => async () => value(await store.read());
  gauge(
    'fatoura_authority_breaker_open',
    'Whether the tax authority is away, so that live invoices wait: 1 or 0',
    ofState(({ breaker }) => (breaker.phase === 'open' ? 1 : 0)),
  );
  gauge(
    'fatoura_authority_paused',
    'Whether an operator paused the transmission of live invoices: 1 or 0',
    ofState(({ pause }) => (pause ? 1 : 0)),
  );
  gauge(
    'fatoura_authority_outages',
    'Outages of the tax authority since the installation',
    ofState(({ breaker }) => breaker.opened),
  );
  gauge(
    'fatoura_authority_waiting',
    `Live invoices that wait for the tax authority, counted up to ${MOST_WAITING}`,
    () => invoices.parkedCount(MOST_WAITING),
  );
}
