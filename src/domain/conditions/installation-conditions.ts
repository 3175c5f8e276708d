import type { AuthorityStatus } from '../authority/status.ts';
import type { InvoiceAttention } from '../invoice/list-attention.ts';
import type { SignersCertificate } from '../tenant/ports.ts';
import type { WebhookEndpoint } from '../webhook/endpoint.ts';
import { type Condition, inOrder, ofState, ofSubjects } from './condition.ts';
import { endingOf, ofAuthority } from './tenant-conditions.ts';

/** The known facts of the whole installation. */
export interface InstallationFacts {
  readonly authority: Pick<AuthorityStatus, 'breaker' | 'since' | 'pause'>;
  readonly attention: readonly InvoiceAttention[];
  /** The failing endpoints of all tenants. */
  readonly endpoints: readonly Pick<WebhookEndpoint, 'id' | 'url' | 'failingSince'>[];
  readonly certificates: readonly SignersCertificate[];
  /** Number of live workers; null if it does not matter, because nothing runs. */
  readonly workers: number | null;
}

/** Returns what is wrong now with an installation, for its operators: pages and commands show the same. */
export function installationConditions(facts: InstallationFacts, now: Date): Condition[] {
  const { authority, attention, endpoints, certificates, workers } = facts;
  const named = attention.map(({ invoiceId: id, reason: name, since }) => ({ id, name, since }));
  return inOrder([
    ...ofState('workers_missing', workers === 0, null),
    ...ofAuthority(authority),
    ...ofSubjects('invoices_stuck', named),
    ...ofSubjects(
      'endpoints_failing',
      endpoints.map(({ id, url, failingSince }) => ({ id, name: URL.parse(url)?.host ?? null, since: failingSince })),
    ),
    ...ofSubjects('certificate_ending', endingOf(certificates, now)),
  ]);
}
