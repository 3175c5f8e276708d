import type { Config } from '../config.ts';
import { statusOf } from '../domain/authority/status.ts';
import { type Condition, READ_AT_MOST } from '../domain/conditions/condition.ts';
import { installationConditions } from '../domain/conditions/installation-conditions.ts';
import { createListAttention } from '../domain/invoice/list-attention.ts';
import { isLive } from '../domain/live-workers.ts';
import { createAuthorityStateStore } from '../storage/authority-state.ts';
import { createClaimMembers } from '../storage/claim-members.ts';
import { createInvoiceRepository } from '../storage/invoices.ts';
import { createSignersCertificates } from '../storage/signers-certificates.ts';
import { createWebhookEndpointRepository } from '../storage/webhook-endpoints.ts';
import { openStore } from './store.ts';

/**
 * Returns what is wrong with the installation, as `/ops` shows it. Without a running service, a missing worker is not
 * reported.
 * @throws when the store cannot be opened
 */
export async function readInstallationConditions(config: Config, now: Date): Promise<Condition[]> {
  const store = await openStore(config, { join: true });
  try {
    const { db } = store;
    const [state, members, attention, endpoints, certificates] = await Promise.all([
      createAuthorityStateStore(db).read(),
      createClaimMembers(db).list(),
      createListAttention(createInvoiceRepository(db), () => now)(),
      createWebhookEndpointRepository(db).failing(now, READ_AT_MOST),
      createSignersCertificates(db).list(now),
    ]);
    const live = members.filter((member) => isLive(member, now)).length;
    const workers = store.kind === 'own engine' ? null : live;
    return installationConditions(
      { authority: statusOf(state, members, now), attention, endpoints, certificates, workers },
      now,
    );
  } finally {
    await store.close();
  }
}
