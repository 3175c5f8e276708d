import type { AuthorityState } from '../authority/state.ts';
import { type AuthorityStatus, statusOf } from '../authority/status.ts';
import { DAY_MS, MINUTE_MS } from '../durations.ts';
import { legalWarnings } from '../invoice/legal-warnings.ts';
import type { InvoiceReading } from '../invoice/repository.ts';
import { holdsScope } from '../principal.ts';
import type { RequestFailures, RequestLog } from '../request-log/request-record.ts';
import type { SignersCertificate, SignersCertificates } from '../tenant/ports.ts';
import type { Owner } from '../tenant/tenant.ts';
import type { Call, UseCase } from '../use-case.ts';
import { isFailing } from '../webhook/endpoint.ts';
import type { EndpointRepository } from '../webhook/ports.ts';
import { type Condition, inOrder, ofCount, ofState, ofSubjects, READ_AT_MOST, type Subject } from './condition.ts';

/** Age from which an open invoice is said to wait, milliseconds. */
const LATE_MS = 10 * MINUTE_MS;
/** How long a rejected invoice that nobody replaces is shown, milliseconds. */
const REJECTED_MS = 30 * DAY_MS;
/** Age of a draft's last change from which it waits, milliseconds. */
const IDLE_DRAFT_MS = 7 * DAY_MS;
/** Remaining validity from which a certificate is ending, milliseconds: having one issued takes weeks. */
const CERTIFICATE_MS = 30 * DAY_MS;
/** The latest invoices whose warnings are read, how young they are (milliseconds) and how large together (bytes). */
const LATEST = { most: 10, youngerMs: 7 * DAY_MS, maxBytes: 1024 ** 2 };
/** Number of failed calls of a day from which they are worth a look, if none of them is the fault of the service. */
const MANY_CALLS = 10;
const MOST_KINDS = 50;

/**
 * Finds the objects of conditions. Each method takes a bounded number of round trips and reads at most `limit` of a
 * kind.
 */
export interface ConditionReading {
  /** Returns the rejected documents created since `from` (UNIX milliseconds) that none replaces, newest first. */
  rejected(owner: Owner, from: number, limit: number): Promise<Subject[]>;
  /** Returns the documents created before `until` (UNIX milliseconds) of which nothing is decided, oldest first. */
  waiting(owner: Owner, until: number, limit: number): Promise<Subject[]>;
  /** Returns the drafts that were changed last before `until` (UNIX milliseconds), oldest first. */
  idleDrafts(owner: Owner, until: number, limit: number): Promise<Subject[]>;
}

export interface TenantConditionNeeds {
  readonly conditionReading: ConditionReading;
  readonly endpoints: Pick<EndpointRepository, 'list'>;
  readonly requestLog: Pick<RequestLog, 'failures'>;
  readonly certificates: Pick<SignersCertificates, 'of'>;
  readonly invoices: Pick<InvoiceReading, 'page'>;
  readonly authorityState: { read(): Promise<AuthorityState> };
  readonly now: () => Date;
}

/**
 * Returns what is wrong now in the caller's tenant and environment. Calls are shown to those who may read their log.
 */
export const conditions = {
  scope: 'read',
  run: (needs: TenantConditionNeeds, { by }: Call): Promise<Condition[]> =>
    findTenantConditions(needs, { tenantId: by.tenant.id, environment: by.environment }, holdsScope(by, 'operate')),
} as const satisfies UseCase;

/** Finds what is wrong now with a tenant in an environment. The number of reads does not grow with its data. */
export async function findTenantConditions(
  needs: TenantConditionNeeds,
  owner: Owner,
  withCalls: boolean,
): Promise<Condition[]> {
  const { conditionReading, endpoints, requestLog, certificates } = needs;
  const { tenantId, environment } = owner;
  const now = needs.now();
  const ago = (milliseconds: number) => now.getTime() - milliseconds;
  const [rejected, waiting, drafts, receivers, failures, certificate, warned, authority] = await Promise.all([
    conditionReading.rejected(owner, ago(REJECTED_MS), READ_AT_MOST),
    conditionReading.waiting(owner, ago(LATE_MS), READ_AT_MOST),
    conditionReading.idleDrafts(owner, ago(IDLE_DRAFT_MS), READ_AT_MOST),
    endpoints.list(tenantId, environment),
    withCalls ? requestLog.failures(tenantId, environment, now, MOST_KINDS) : [],
    certificates.of(tenantId, now),
    warnedOf(needs, owner, ago(LATEST.youngerMs)),
    environment === 'live' ? needs.authorityState.read() : null,
  ]);
  return inOrder([
    ...(authority ? ofAuthority(statusOf(authority, [], now)) : []),
    ...ofSubjects('invoices_rejected', rejected),
    ...ofSubjects('invoices_waiting', waiting),
    ...ofSubjects(
      'endpoints_failing',
      receivers
        .filter((endpoint) => isFailing(endpoint, now))
        .map(({ id, url, failingSince }) => ({ id, name: URL.parse(url)?.host ?? null, since: failingSince })),
    ),
    ...ofCalls(failures),
    ...ofSubjects('certificate_ending', certificate ? endingOf([certificate], now) : []),
    ...ofSubjects('invoices_warned', warned),
    ...ofSubjects('drafts_waiting', drafts),
  ]);
}

/** Returns the conditions that keep live invoices from being sent. */
export function ofAuthority({
  pause,
  breaker,
  since,
}: Pick<AuthorityStatus, 'pause' | 'breaker' | 'since'>): Condition[] {
  return [
    ...ofState('authority_paused', pause !== null, pause?.since ?? null),
    ...ofState('authority_away', breaker !== 'closed', since),
  ];
}

/** Returns the certificates that end within {@link CERTIFICATE_MS}, or have ended. */
export function endingOf(certificates: readonly SignersCertificate[], now: Date): Subject[] {
  return certificates
    .filter(({ validTo }) => validTo.getTime() - now.getTime() < CERTIFICATE_MS)
    .map(({ signer, subject, validTo }) => ({
      id: signer,
      name: subject,
      since: new Date(validTo.getTime() - CERTIFICATE_MS),
    }));
}

/** Calls of the present day (UTC), by which they are counted. */
function ofCalls(failures: readonly RequestFailures[]): Condition[] {
  const isThrottled = ({ code }: RequestFailures) => code === 'rate_limit_exceeded';
  const throttled = failures.filter(isThrottled);
  const others = failures.filter((each) => !isThrottled(each));
  const count = (groups: readonly RequestFailures[]) => groups.reduce((sum, each) => sum + each.count, 0);
  const since = (groups: readonly RequestFailures[]) =>
    groups.length === 0 ? null : new Date(Math.min(...groups.map(({ firstAt }) => firstAt.getTime())));
  const isServices = others.some(({ status }) => status >= 500);
  return [
    ...ofCount('calls_throttled', count(throttled), since(throttled)),
    ...(isServices || count(others) >= MANY_CALLS ? ofCount('calls_failing', count(others), since(others)) : []),
  ];
}

/** Returns the latest invoices with warnings, without rejected ones, which have a condition of their own. */
async function warnedOf({ invoices }: TenantConditionNeeds, owner: Owner, from: number): Promise<Subject[]> {
  const { most: limit, maxBytes } = LATEST;
  const of = { kind: 'invoice', status: null, match: null, cursor: null } as const;
  const { invoices: latest } = await invoices.page({
    ...owner,
    ...of,
    limit,
    maxBytes,
    createdFrom: from,
    createdUntil: null,
  });
  return latest
    .filter((invoice) => invoice.status !== 'rejected' && legalWarnings(invoice).length > 0)
    .map(({ id, number, createdAt }) => ({ id, name: number, since: createdAt }));
}
