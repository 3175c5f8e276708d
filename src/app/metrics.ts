import { Counter, collectDefaultMetrics, Gauge, Registry } from 'prom-client';
import type { DifferenceRepository } from '../domain/authority/reconciliation.ts';
import type { AuthorityStateStore } from '../domain/authority/state.ts';
import type { SigningKey } from '../domain/invoice/signing-key.ts';
import { MOST_WAITING } from '../domain/limits.ts';
import type { Attempt } from '../domain/webhook/delivery.ts';
import type { DeliveryLedger } from '../domain/webhook/ports.ts';
import type { ClaimCounts } from '../jobs/claimer.ts';
import type { ConnectionPool } from '../storage/connect.ts';
import type { MeasuredRequest } from '../transport/middleware/measure.ts';
import { type ObservedAuthority, observeAuthority, watchDifferences, watchTransmission } from './authority-metrics.ts';
import { type Instruments, openMetricsRegistry, storedGauge, timing } from './instruments.ts';
import { type ObservedInvoices, observeInvoices } from './invoice-metrics.ts';
import { type CountSignature, observeSignatures, watchConnections, watchThreads } from './pool-metrics.ts';
import { observeWebhooks } from './webhook-metrics.ts';
import type { Workers } from './workers.ts';

/**
 * The Prometheus metrics of this process. Label values come from fixed sets in the code, except `signer`, which has a
 * value for each tenant with its own signing key.
 */
export interface Metrics {
  request(request: MeasuredRequest): void;
  /** Counts requests that were not written to the request log. */
  dropped(requests: number): void;
  /** Counts a GraphQL request by the executor that ran it. */
  operation(path: 'prepared' | 'yoga'): void;
  /**
   * Returns the repository with metrics of its status changes, stages and mails. Invoices that need attention are
   * counted at each exposition.
   */
  observed<Invoices extends ObservedInvoices>(invoices: Invoices): Invoices;
  /** Exposes the number of open differences from the authority's ledger, read from the store at each exposition. */
  differences(repository: Pick<DifferenceRepository, 'count'>): void;
  /** Exposes the circuit breaker of the live authority and its pause, read from the store at each exposition. */
  transmission(state: Pick<AuthorityStateStore, 'read'>): void;
  /** Exposes the number of live invoices that wait for missing settings of the live environment. */
  stranded(count: () => Promise<number>): void;
  /** Exposes the due deliveries, read from the store at each exposition. @returns a function that counts an attempt */
  webhooks(deliveries: Pick<DeliveryLedger, 'backlog'>): (attempt: Attempt, traceparent: string | null) => void;
  /** Counts a signature by its kind and outcome, or a time stamp. @param seconds its duration */
  readonly signatures: CountSignature;
  /** Exposes the use of this process's connections to the store. */
  connections(pool: () => ConnectionPool): void;
  /** Exposes the numbers of exported and lost spans. Only for a process that traces. */
  spans(counts: () => { readonly exported: number; readonly lost: number }): void;
  /** Exposes the cost of this process's claims; nothing in a process without a worker. */
  claims(counts: () => ClaimCounts | null): void;
  /** Exposes the number of workers, read from the store at each exposition. */
  workers(workers: Workers): void;
  /** Exposes the number of open event streams. */
  streams(count: () => number): void;
  /** Exposes the expiry times of the signing certificates. */
  watch(keys: ReadonlyMap<string, SigningKey>): void;
  /**
   * Exposes the connection to the live authority. @returns a function that counts a call; see
   * `HttpAuthorityParts.observe`
   */
  authority(live: ObservedAuthority): (call: string, outcome: string, seconds: number) => void;
  /** Returns all metrics in the Prometheus text format. */
  exposition(): Promise<{ readonly contentType: string; readonly text: string }>;
}

/**
 * @param options.exemplars whether histograms name traces. The exposition is then OpenMetrics, because Prometheus' own
 * format cannot name them. Default: false
 */
export function createMetrics({ exemplars = false }: { readonly exemplars?: boolean } = {}): Metrics {
  const registry: Registry = exemplars ? openMetricsRegistry() : new Registry();
  const registers = [registry];
  collectDefaultMetrics({ register: registry });
  watchThreads(registers);
  const instruments: Instruments = { registers, exemplars };
  const { requests, unrecorded, operations, expiry } = instrumentsIn(instruments);
  return {
    request({ method, route, status, seconds, traceparent }) {
      requests({ method, route, status }, seconds, traceparent);
    },
    dropped: (requests) => unrecorded.inc(requests),
    operation(path) {
      operations.inc({ path });
    },
    observed: (invoices) => observeInvoices(invoices, instruments),
    differences: (repository) => watchDifferences(repository, registers),
    stranded(count) {
      const help = `Unfinished live invoices that wait for missing settings: DGI_URL, or a signing certificate; counted up to ${MOST_WAITING}`;
      storedGauge(registers, 'fatoura_authority_stranded', help, count);
    },
    transmission: (state) => watchTransmission(state, registers),
    webhooks: (deliveries) => observeWebhooks(deliveries, instruments),
    signatures: observeSignatures(instruments),
    connections: (pool) => watchConnections(pool, registers),
    spans(counts) {
      new Counter({
        name: 'fatoura_spans_total',
        help: 'Spans of traces, by what became of them: exported, or lost because the collector did not take them',
        labelNames: ['outcome'],
        registers,
        collect() {
          const { exported, lost } = counts();
          this.reset();
          this.inc({ outcome: 'exported' }, exported);
          this.inc({ outcome: 'lost' }, lost);
        },
      });
    },
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
    workers({ count }) {
      const help = 'Processes that do the background work: stages of invoices, webhooks, mails';
      storedGauge(registers, 'fatoura_workers', help, count);
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

/** Creates the metrics that this process counts itself. */
function instrumentsIn({ registers, exemplars }: Instruments) {
  return {
    requests: timing({
      name: 'fatoura_http_request_duration_seconds',
      help: 'Duration of requests until the answer begins, by route',
      labelNames: ['method', 'route', 'status'],
      buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10],
      registers,
      exemplars,
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
    expiry: new Gauge({
      name: 'fatoura_signing_certificate_expiry_timestamp_seconds',
      help: 'Expiry time of each signing certificate, unix seconds',
      labelNames: ['signer'],
      registers,
    }),
  };
}
