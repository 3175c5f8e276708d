import type { X509Certificate } from 'node:crypto';
import { Counter, Gauge, Histogram, type Registry } from 'prom-client';
import type { HttpAuthority } from '../adapters/authority/http/authority-http.ts';
import { DIFFERENCE_KINDS, type DifferenceRepository } from '../domain/authority/reconciliation.ts';
import type { AuthorityState, AuthorityStateStore } from '../domain/authority/state.ts';
import { storedGauge } from './instruments.ts';

/** The parts of the live authority that the metrics read. */
export interface ObservedAuthority {
  readonly authority: Pick<HttpAuthority, 'state'>;
  certificates(): readonly { readonly use: string; readonly certificate: X509Certificate }[];
}

/**
 * Exposes metrics of the connection to the live authority. @returns a function that counts a call by its kind and
 * outcome
 */
export function observeAuthority(
  { authority, certificates }: ObservedAuthority,
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
    help: 'Earliest expiry time of the client certificate, of those in DGI_CA, and of the servers, unix seconds',
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

/** Exposes the number of open differences from the authority's ledger. */
export function watchDifferences(repository: Pick<DifferenceRepository, 'count'>, registers: Registry[]): void {
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
}

/** Exposes the state of the circuit breaker and of the pause. */
export function watchTransmission(store: Pick<AuthorityStateStore, 'read'>, registers: Registry[]): void {
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
}
